package run

import (
	"slices"
	"time"

	"httpgen/client"
	"httpgen/internal/report"
)

// mixed stands for a word in which clients differ.
const mixed = "mixed"

// same returns what a and b have in common, else other.
func same[T comparable](a, b, other T) T {
	if a == b {
		return a
	}
	return other
}

// config describes the whole run.
func (r *Run) config(c *client.Result) report.Config {
	o := r.o
	cfg := r.streams[0].config()
	servers := map[string]bool{}
	for i, s := range r.streams {
		if i > 0 {
			join(&cfg, s.config())
		}
		for _, t := range s.targets {
			servers[t.Unix] = true
			if len(t.Addrs) > 0 {
				servers[t.Addrs[0].String()] = true
			}
		}
	}
	if r.several() {
		delete(servers, "")
		cfg.Workload.Servers = len(servers)
	}
	cfg.MaxInflight, cfg.Nofile, cfg.Engine = r.c.MaxInflight(), r.c.FileLimit(), r.c.Engine()
	cfg.Loops, cfg.SpinSeconds, cfg.CatchUp = o.Workers, c.Spin.Seconds(), o.CatchUp.String()
	cfg.DrainSeconds, cfg.WarmupSeconds = o.Drain.Seconds(), o.Warmup.Seconds()
	cfg.WindowSeconds, cfg.BaseWindowSeconds = o.Window.Seconds(), r.base.Seconds()
	return cfg
}

// config describes what is the client's own.
func (s *stream) config() report.Config {
	o := &s.o
	cfg := report.Config{
		Rate: o.RateText, Process: s.process(), CallsPerConnection: o.NumCalls, BurstLength: o.Burst,
		Connections: o.Pool, Closed: o.Closed, KeepOpen: o.KeepOpen,
		Seed: o.Seed, CloseMode: o.CloseMode, CloseModeUsed: "fin", Method: o.Method, HTTPVersion: "1.1",
		Target: report.Target{URL: s.url(), Unix: o.Unix}, Workload: s.workload(),
		Timeouts: report.Timeouts{
			ConnectSeconds: bound(s.as.Timeouts.Connect), SendSeconds: bound(s.as.Timeouts.Send),
			ReplySeconds: bound(s.as.Timeouts.Reply), DeadlineSeconds: bound(o.Deadline), ThinkSeconds: bound(o.ThinkTimeout),
		},
	}
	switch {
	case o.HTTP2:
		cfg.HTTPVersion = "2"
	case o.HTTP10:
		cfg.HTTPVersion = "1.0"
	}
	if s.as.CloseReset {
		cfg.CloseModeUsed = "rst"
	}
	if !o.NoHost {
		cfg.Target.HostHeader = hostHeader(o)
	}
	for _, a := range s.targets[0].Addrs {
		cfg.Target.Addresses = append(cfg.Target.Addresses, a.String())
	}
	for _, a := range o.Sources {
		cfg.Sources = append(cfg.Sources, a.String())
	}
	if o.Process != nil {
		cfg.RatePerSecond = s.meanRate()
	}
	return cfg
}

// workload says what the calls ask for.
func (s *stream) workload() report.Workload {
	o := &s.o
	w := report.Workload{Kind: "calls", File: o.From, Sessions: o.Session != nil, Servers: len(s.targets)}
	switch {
	case o.WorkingSet.N > 0:
		w.Kind, w.Entries, w.Step = "working_set", o.WorkingSet.N, o.WorkingSet.Step
	case len(o.URIs) > 0:
		w.Kind, w.Entries, w.Once = "list", len(o.URIs), o.Once
	case len(o.Requests) > 0:
		w.Kind, w.Entries, w.Once = "requests", len(o.Requests), o.Once
	case o.Log != nil:
		w.Kind, w.Entries = "log", int(o.Log.Len())
	case o.Session != nil && o.Session.Script != nil:
		w.Kind, w.Entries = "script", len(o.Session.Script)
	case o.Session != nil && o.Session.Pages:
		w.Kind = "pages"
	}
	return w
}

// join adds another client to the description of those before.
func join(cfg *report.Config, c report.Config) {
	if cfg.Rate != "" && c.Rate != "" {
		cfg.Rate += "+"
	}
	cfg.Rate += c.Rate
	cfg.Process = same(cfg.Process, c.Process, mixed)
	cfg.RatePerSecond += c.RatePerSecond
	cfg.CallsPerConnection = max(cfg.CallsPerConnection, c.CallsPerConnection)
	cfg.BurstLength = max(cfg.BurstLength, c.BurstLength)
	cfg.Connections += c.Connections
	cfg.Closed += c.Closed
	cfg.KeepOpen = cfg.KeepOpen && c.KeepOpen
	cfg.CloseMode = same(cfg.CloseMode, c.CloseMode, mixed)
	cfg.CloseModeUsed = same(cfg.CloseModeUsed, c.CloseModeUsed, mixed)
	cfg.Method = same(cfg.Method, c.Method, mixed)
	cfg.HTTPVersion = same(cfg.HTTPVersion, c.HTTPVersion, mixed)

	t := &cfg.Timeouts
	t.ConnectSeconds = looser(t.ConnectSeconds, c.Timeouts.ConnectSeconds)
	t.SendSeconds = looser(t.SendSeconds, c.Timeouts.SendSeconds)
	t.ReplySeconds = looser(t.ReplySeconds, c.Timeouts.ReplySeconds)
	t.DeadlineSeconds = looser(t.DeadlineSeconds, c.Timeouts.DeadlineSeconds)
	if a, b := t.ThinkSeconds, c.Timeouts.ThinkSeconds; a == nil || b != nil && *b > *a {
		t.ThinkSeconds = b
	}

	cfg.Sources = union(cfg.Sources, c.Sources)
	cfg.Target.Addresses = union(cfg.Target.Addresses, c.Target.Addresses)
	cfg.Target.URL = same(cfg.Target.URL, c.Target.URL, "")
	cfg.Target.HostHeader = same(cfg.Target.HostHeader, c.Target.HostHeader, "")
	cfg.Target.Unix = same(cfg.Target.Unix, c.Target.Unix, "")

	if w := &cfg.Workload; *w != c.Workload {
		w.Kind = same(w.Kind, c.Workload.Kind, mixed)
		w.File = same(w.File, c.Workload.File, "")
		w.Entries = same(w.Entries, c.Workload.Entries, 0)
		w.Once = w.Once && c.Workload.Once
		w.Step = same(w.Step, c.Workload.Step, 0)
		w.Sessions = w.Sessions && c.Workload.Sessions
	}
}

// looser returns the bound that lets more pass; nil is none.
func looser(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	return new(max(*a, *b))
}

// union adds to a what b has besides.
func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}

func bound(d time.Duration) *float64 {
	if d == 0 {
		return nil
	}
	return new(d.Seconds())
}
