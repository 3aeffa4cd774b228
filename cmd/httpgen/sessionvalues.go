package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"httpgen/internal/script"
)

// A sessionCount is httperf's N1,N2,X: N1 sessions of N2 calls with X between
// bursts.
type sessionCount struct {
	n     uint64 // 0: it was not given
	calls int
	think time.Duration
}

func (s *sessionCount) UnmarshalText(b []byte) error {
	part := strings.Split(string(b), ",")
	if len(part) != 3 {
		return fmt.Errorf("%q: want N1,N2,X: sessions, calls of each, and the time to think between bursts", b)
	}
	n, err := parseCount(part[0], 1, 1e18)
	calls, err2 := parseCount(part[1], 1, 1e9)
	think, err3 := parseDuration(part[2])
	*s = sessionCount{uint64(n), int(calls), think}
	return errors.Join(err, err2, err3)
}

// A sessionLog is httperf's N,X,FILE: N sessions of a file, in turn, with X between
// bursts that do not say otherwise.
type sessionLog struct {
	n        uint64
	think    time.Duration
	file     string
	sessions []script.Session
}

func (s *sessionLog) UnmarshalText(b []byte) error {
	part := strings.SplitN(string(b), ",", 3)
	if len(part) != 3 || part[2] == "" {
		return fmt.Errorf("%q: want N,X,FILE: sessions, the time to think between bursts, and a file of sessions", b)
	}
	n, err := parseCount(part[0], 1, 1e18)
	think, err2 := parseDuration(part[1])
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	content, err := readFile(part[2])
	if err != nil {
		return err
	}
	*s = sessionLog{n: uint64(n), think: think, file: part[2]}
	s.sessions, err = script.ParseSessions(part[2], content, readFile)
	return err
}

// serverList is a file of servers.
type serverList struct {
	file    string
	servers []script.Server
}

func (l *serverList) UnmarshalText(b []byte) error {
	content, err := readFile(string(b))
	if err != nil {
		return err
	}
	l.file = string(b)
	l.servers, err = script.ParseServers(l.file, content)
	return err
}

// targetList is a file of requests.
type targetList struct {
	file     string
	requests []script.Request
}

func (l *targetList) UnmarshalText(b []byte) error {
	content, err := readFile(string(b))
	if err != nil {
		return err
	}
	l.file = string(b)
	l.requests, err = script.ParseTargets(l.file, content, readFile)
	return err
}

// archive is an HTTP archive.
type archive struct {
	file     string
	requests []script.Request
	starts   []time.Duration
	skipped  map[string]int
}

func (a *archive) UnmarshalText(b []byte) error {
	content, err := readFile(string(b))
	if err != nil {
		return err
	}
	*a = archive{file: string(b)}
	entries, skipped, err := script.ParseHAR(a.file, content)
	for _, e := range entries {
		a.requests, a.starts = append(a.requests, e.Request), append(a.starts, e.Start)
	}
	a.skipped = skipped
	return err
}

// speed is how many times as fast as it was recorded something is replayed.
type speed float64

func (s *speed) UnmarshalText(b []byte) error {
	n, err := number(strings.TrimSuffix(string(b), "x"))
	v := 0.
	if err == nil {
		v, _ = n.Float64()
	}
	if v < 0.001 || v > 1e9 {
		return fmt.Errorf("%q: want a number from 0.001 to 1000000000, such as 2 or 0.5", b)
	}
	*s = speed(v)
	return nil
}
