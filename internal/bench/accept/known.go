package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"httpgen/internal/bench/lab"
	"httpgen/internal/report"
)

// The server of the known answers: one worker, 10 ms a call, 64 connections
// that may wait.
var slowServer = []string{"--service-time", "10ms", "--workers", "1", "--overload", "accept", "--backlog", "64", "--close"}

const (
	knownLength  = 16 * time.Second
	knownTimeout = time.Second
	capacity     = 100 // calls per second of slowServer
)

// namedLosses are the ways in which slowServer loses connections beyond its
// capacity: their SYN is dropped, or the reply comes too late.
var namedLosses = []string{"connect_timeout", "reply_timeout"}

// known offers rates around the capacity of a server: below it every arrival is
// answered, above it the reply rate stays at what the server says it reached.
func known(ctx context.Context, b *bench) error {
	for _, rate := range []int{40, 80, 95, 105, 120, 160, 240} {
		r, reached, err := knownRun(ctx, b, rate)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("%d/s ", rate)
		got := r.Rates.Replies.Avg
		b.adds(name+"accounts", &r.Totals)
		b.equal(name+"scheduled", r.Totals.Arrivals.Scheduled, uint64(rate)*uint64(knownLength/time.Second))
		switch {
		case rate < capacity:
			b.within(name+"replies/s", got, float64(rate), .02*float64(rate), "")
			b.is(name+"losses", list(counts(r.Totals.Errors)), "none")
		default:
			if rate > capacity*11/10 {
				b.within(name+"replies/s", got, reached, .02*reached, "")
			} else {
				b.note(name+"replies/s", number(got))
			}
			b.put(named(&r.Totals.Errors), name+"losses", list(counts(r.Totals.Errors)), "some, each of them a timeout")
		}
		b.note(name+"verdict", r.Verdict.Status+" "+codes(&r.Verdict))
	}
	return nil
}

// named says whether there are losses and all of them are among those that
// slowServer causes.
func named(e *report.Errors) bool {
	m := counts(*e)
	var n uint64
	for _, reason := range namedLosses {
		n += m[reason]
	}
	return e.Total > 0 && n == e.Total
}

// knownRun offers a rate and returns the result, and the rate that the server
// says it reached while it was busy; 0 when it never was.
func knownRun(ctx context.Context, b *bench, rate int) (*lab.Report, float64, error) {
	s, err := b.Serve(ctx, nil, slowServer...)
	if err != nil {
		return nil, 0, err
	}
	count := rate * int(knownLength/time.Second)
	r, err := b.Generate(ctx, knownLength+30*time.Second, append(s.Flags(), "--rate", strconv.Itoa(rate),
		"--num-conns", strconv.Itoa(count), "--timeout", strconv.Itoa(int(knownTimeout.Seconds())))...)
	stats, stopErr := s.Stop()
	if err = errors.Join(err, stopErr); err != nil {
		return nil, 0, err
	}
	reached, err := saturated(stats)
	return r, reached, err
}

var (
	saturatedAt    = regexp.MustCompile(`(?m)^saturated: \d+ replies in [\d.]+ s = ([\d.]+) replies/s$`)
	neverSaturated = regexp.MustCompile(`(?m)^saturated: never$`)
)

// saturated returns the rate that the server's statistics name; 0 when it never
// was saturated.
func saturated(stats string) (float64, error) {
	if m := saturatedAt.FindStringSubmatch(stats); m != nil {
		return strconv.ParseFloat(m[1], 64)
	}
	if neverSaturated.MatchString(stats) {
		return 0, nil
	}
	return 0, fmt.Errorf("the server does not say how fast it was: %q", stats)
}
