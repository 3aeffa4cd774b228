package run

import (
	"cmp"
	"time"

	"httpgen/client"
	"httpgen/pacer"
)

// A stream is one client of a run, as it is planned.
type stream struct {
	name       string
	weight     float64
	o          Options         // with the defaults filled in
	targets    []client.Target // one at least
	as         client.Stream   // what the client package is told
	replay     *replay         // nil without a log
	plannedEnd time.Duration   // 0 if it is not known
	count      uint64          // arrivals planned, 0 if it is not known
}

// newStream plans a client as far as that takes no others.
func newStream(c Client) (*stream, error) {
	s := &stream{name: c.Name, weight: cmp.Or(c.Weight, 1), o: c.Options}
	o := &s.o
	if err := o.fill(); err != nil {
		return nil, err
	}
	all, index, err := o.servers()
	if err != nil {
		return nil, err
	}
	if err := o.checkServers(all); err != nil {
		return nil, err
	}
	o.Server, o.Port = all[0].name, all[0].port
	work, err := o.workload(all, index)
	if err != nil {
		return nil, err
	}
	s.replay, _ = work.(*replay)
	if s.targets, err = o.targets(all); err != nil {
		return nil, err
	}
	s.as = client.Stream{
		Name: s.name, Seed: o.Seed, Closed: o.Closed, KeepOpen: o.KeepOpen, Target: s.targets[0], Others: s.targets[1:],
		Workload: work, Sessions: o.sessions(), HTTP2: o.HTTP2, MaxStreams: o.MaxStreams,
		Pool: o.Pool, Backlog: o.Backlog, Sources: o.Sources, Hog: o.Hog,
		Timeouts:   client.Timeouts{Connect: o.ConnectTimeout, Send: o.Timeout, Reply: o.ReplyTimeout, Deadline: o.Deadline},
		SendBuffer: o.SendBuffer, ReceiveBuffer: o.ReceiveBuffer, MaxHeader: o.MaxHeader,
	}
	if o.Unix != "" {
		// A unix socket has no address to come from, and no local port.
		s.as.Sources, s.as.Hog = nil, false
	}
	if o.TLS != nil {
		if s.as.TLS, err = o.TLS.config(o.Server); err != nil {
			return nil, err
		}
	}
	if s.as.Timeouts.Reply > 0 || o.ThinkTimeout > 0 {
		s.as.Timeouts.Reply += o.ThinkTimeout
	}
	if o.Closed > 0 {
		s.as.Limit, s.as.For = o.NumConns, o.Duration
	}
	if o.Expect != nil {
		s.as.Expect = o.Expect.Has
	}
	return s, nil
}

// schedule bounds the process and works out when it ends; ends and counted say
// whether the end and the number of arrivals are known.
func (s *stream) schedule() (ends, counted bool) {
	o := &s.o
	if o.Process == nil {
		s.plannedEnd, s.count = o.Duration, o.NumConns
		return o.Duration > 0, o.NumConns > 0
	}
	if o.NumConns > 0 {
		o.Process = pacer.First(o.Process, o.NumConns)
	}
	if o.Duration > 0 {
		o.Process = pacer.For(o.Process, o.Duration)
	}
	end, n, known := pacer.PlannedEnd(o.Process, o.Seed)
	if known {
		s.plannedEnd, s.count = end, n
	}
	s.as.Process, s.as.PlannedEnd = o.Process, s.plannedEnd
	return known, known
}

// meanRate returns the mean rate of an open stream until its planned end, or the
// rate now where there is none.
func (s *stream) meanRate() float64 {
	if s.plannedEnd > 0 && s.count > 0 {
		return float64(s.count) / s.plannedEnd.Seconds()
	}
	return s.o.Process.Rate(0)
}

// process names the kind of the arrivals.
func (s *stream) process() string {
	if s.o.Process == nil {
		return "closed"
	}
	return pacer.Kind(s.o.Process)
}

// opens says whether each arrival of an open model opens a connection.
func (s *stream) opens() bool { return s.o.Process != nil && s.o.Pool == 0 }

// url returns the target as a URL without secrets.
func (s *stream) url() string {
	o := s.o
	o.ServerName = ""
	if o.TLS != nil {
		return "https://" + hostHeader(&o) + o.URI
	}
	return "http://" + hostHeader(&o) + o.URI
}

// broken returns why a recording could not be replayed to its end, nil if it was.
func (s *stream) broken() error {
	if s.replay == nil {
		return nil
	}
	return s.replay.err()
}
