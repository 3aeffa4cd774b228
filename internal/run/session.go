package run

import (
	"errors"
	"fmt"
	"time"

	"httpgen/client"
	"httpgen/internal/report"
	"httpgen/internal/script"
	"httpgen/sampler"
)

// A Session says that arrivals are sessions. The zero value makes sessions of
// Options.NumCalls calls in bursts of Options.Burst with Options.Pause between
// them, over at most 4 connections of at most 32 calls each.
type Session struct {
	Script   []script.Session // taken in turn instead; Options.Pause is their default think time
	Pages    bool             // each call asks for a page and, in a burst after it, for the objects that it embeds
	MaxConns int              // connections at once; default 4
	MaxPiped int              // calls under way on a connection; default 32, 1 with HTTP/1.0
	Failure  *StatusSet       // replies that make a session fail; nil means none
	Retry    bool             // calls that failed are made again
}

// checkSession refuses what sessions do not go together with.
func (o *Options) checkSession() error {
	switch s := o.Session; {
	case s == nil:
	case o.Pool > 0 || o.KeepOpen:
		return errors.New("sessions on kept-open connections: a session opens its own, want one of them")
	case s.MaxConns < 0 || s.MaxPiped < 0:
		return fmt.Errorf("sessions of %d connections with %d calls each: want none below 0", s.MaxConns, s.MaxPiped)
	}
	return nil
}

// sessions returns what the client is told about sessions, nil without any.
func (o *Options) sessions() *client.Sessions {
	s := o.Session
	if s == nil {
		return nil
	}
	c := &client.Sessions{MaxConns: s.MaxConns, MaxPiped: s.MaxPiped, Retry: s.Retry}
	if c.MaxPiped == 0 && o.HTTP10 {
		c.MaxPiped = 1
	}
	if s.Failure != nil {
		c.Fail = s.Failure.Has
	}
	return c
}

// script builds the sessions of a script.
func (o *Options) script() (client.Workload, error) {
	var sessions []client.ScriptSession
	size := 0
	for _, s := range o.Session.Script {
		var cs client.ScriptSession
		for _, b := range s.Bursts {
			cb := client.Burst{Think: o.Pause}
			if b.HasThink {
				cb.Think = b.Think
			}
			for i := range b.Requests {
				req, err := o.scripted(&b.Requests[i])
				if err != nil {
					return nil, err
				}
				if size += len(req.Bytes()); size > maxList {
					return nil, o.tooLong()
				}
				cb.Requests = append(cb.Requests, req)
			}
			cs.Bursts = append(cs.Bursts, cb)
		}
		sessions = append(sessions, cs)
	}
	return client.NewScript(sessions), nil
}

// shape returns the most calls that a session or plain arrival makes without
// being led to more, the mean, and the longest time that it thinks, at most
// maxPatience.
func (o *Options) shape() (most int, mean float64, think time.Duration) {
	if o.Session == nil || o.Session.Script == nil {
		bursts := (o.NumCalls + o.Burst - 1) / o.Burst
		return o.NumCalls, float64(o.NumCalls), patient(bursts-1, o.Pause)
	}
	all := 0
	for _, s := range o.Session.Script {
		n := 0
		var t time.Duration
		for i, b := range s.Bursts {
			n += len(b.Requests)
			switch {
			case i == len(s.Bursts)-1:
			case b.HasThink:
				t = min(t+min(b.Think, maxPatience), maxPatience)
			default:
				t = min(t+min(o.Pause, maxPatience), maxPatience)
			}
		}
		all += n
		most, think = max(most, n), max(think, t)
	}
	return most, float64(all) / float64(len(o.Session.Script)), think
}

// sessionResult counts the sessions of a run; nil unless all arrivals are some.
func (r *Run) sessionResult(t *sampler.Totals, windows []*sampler.Window, c *client.Result) *report.Sessions {
	for _, s := range r.streams {
		if s.o.Session == nil {
			return nil
		}
	}
	s := &report.Sessions{
		OK: t.Completed(), Total: t.Completed() + t.Errors(), PerSecond: report.Per(t.Completed(), (c.Total - r.o.Warmup).Seconds()),
		Rate:            report.NewSamples(r.samples(windows, c, func(w *sampler.Window) uint64 { return w.Good }), r.o.Window.Seconds()),
		LifetimeSeconds: t.Times.Session.Mean(), FailtimeSeconds: t.Times.Failure.Mean(),
		LengthHistogram: t.Lengths,
	}
	if s.OK > 0 {
		s.ConnectionsPerSession = float64(t.SessionConns) / float64(s.OK)
	}
	return s
}

// samples returns the rate of what count counts in each full window of the
// sending time.
func (r *Run) samples(windows []*sampler.Window, c *client.Result, count func(*sampler.Window) uint64) (rates []float64) {
	k := int(r.o.Window / r.base)
	for i := 0; i+k <= len(windows); i += k {
		if windows[i].Start+r.o.Window > c.Sending {
			break
		}
		var n uint64
		for _, w := range windows[i : i+k] {
			n += count(w)
		}
		rates = append(rates, float64(n)/r.o.Window.Seconds())
	}
	return rates
}
