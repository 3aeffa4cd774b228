package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"httpgen/internal/report"
)

// dividing are the labels that divide the counters of a client.
var dividing = []string{"cause", "code", "label", "outcome", "part", "reason"}

// key returns how exported names a series: the name, and what divides it.
func key(p *point) string {
	for _, label := range dividing {
		if v, ok := p.labels[label]; ok {
			return p.name() + "{" + v + "}"
		}
	}
	return p.name()
}

// counts returns the fields of an object of the JSON.
func counts(t *testing.T, object any) map[string]uint64 {
	t.Helper()
	b, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]uint64{}
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// exported returns the counters that Prometheus should have, going by a result.
// What it does not name should be 0.
func exported(t *testing.T, r *report.Result) map[string]float64 {
	t.Helper()
	s := sessions(r)
	all := map[string]float64{"httpgen_session_connections_total": math.Round(s.ConnectionsPerSession * float64(s.OK))}
	for _, n := range []*report.Totals{&r.Totals, r.Warmup} {
		if n == nil {
			continue
		}
		a, b, c := &n.Arrivals, &n.Bytes, &n.Connections
		for name, v := range map[string]uint64{
			"arrivals_scheduled": a.Scheduled, "arrivals_started": a.Started, "arrivals_started_late": a.StartedLate,
			"arrivals_completed": n.Completed, "arrivals_unfinished": n.Unfinished,
			"deadline_misses": n.Errors.Deadline, "goodput": n.Replies - n.Errors.UnexpectedStatus,
			"calls_planned": n.Calls.Planned, "lost_calls": n.LostCalls, "retries": n.Retries,
			"connections_attempted": c.Attempted, "connections_established": c.Established, "connections_failed": c.Failed,
			"requests": n.Requests, "interim_replies": n.Status.Class1,
			"sent_bytes": b.Sent, "received_bytes": b.Received, "request_bytes": b.Request,
			"reply_bytes{header}": b.Header, "reply_bytes{body}": b.Body, "reply_bytes{trailer}": b.Trailer, "reply_bytes{framing}": b.Framing,
			"calls{replied}": n.Calls.Replied, "calls{unanswered}": n.Calls.Unanswered, "calls{unsent}": n.Calls.Unsent, "calls{unfinished}": n.Calls.Unfinished,
			// One client with few codes is never folded.
			"label_overflow{client}": 0, "label_overflow{target}": 0, "label_overflow{code}": 0, "replies{other}": 0,
		} {
			name, part, divided := strings.Cut(name, "{")
			if name += "_total"; divided {
				name += "{" + part
			}
			all["httpgen_"+name] += float64(v)
		}
		for name, fields := range map[string]map[string]uint64{
			"arrivals_shed": counts(t, a.Shed), "errors": counts(t, n.Errors), "replies": n.Codes,
		} {
			for value, v := range fields {
				if value != "total" {
					all["httpgen_"+name+"_total{"+value+"}"] += float64(v)
				}
			}
		}
	}
	return all
}

// sessions returns what a result says of sessions, nothing if there were none.
func sessions(r *report.Result) *report.Sessions {
	if r.Sessions == nil {
		return &report.Sessions{}
	}
	return r.Sessions
}

// timings returns the times of a result by the names of their histograms.
func timings(r *report.Result) map[string]*report.Timing {
	t, s := &r.Times, sessions(r)
	return map[string]*report.Timing{
		"httpgen_latency_seconds": &t.Latency, "httpgen_service_seconds": &t.Service, "httpgen_lag_seconds": &t.Lag, "httpgen_wait_seconds": &t.Wait,
		"httpgen_connect_seconds": &t.Connect, "httpgen_tls_seconds": &t.TLS, "httpgen_first_byte_seconds": &t.FirstByte,
		"httpgen_transfer_seconds": &t.Transfer, "httpgen_lifetime_seconds": &t.Lifetime, "httpgen_failure_seconds": &t.Failure,
		"httpgen_session_seconds": {Count: s.OK, Mean: s.LifetimeSeconds},
	}
}

// near says whether two sums of the same numbers are equal but for rounding.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b), 1) }

// counters compares every counter that a server has of a run with the result.
func (s *source) counters(t *testing.T, r *report.Result) {
	t.Helper()
	want := exported(t, r)
	all := s.ask(t, s.last(`__name__=~"httpgen_.+_total",__name__!~"httpgen_push_.+"`))
	if len(all) < len(want) {
		t.Errorf("%d counters, want %d or more", len(all), len(want))
	}
	known := map[string]bool{}
	for k := range want {
		name, _, _ := strings.Cut(k, "{")
		known[name] = true
	}
	for _, p := range all {
		k := key(&p)
		if !known[p.name()] {
			t.Errorf("%s: this test does not know what it should be", k)
		}
		if p.value != want[k] {
			t.Errorf("%s is %v, want %v", k, p.value, want[k])
		}
		delete(want, k)
	}
	for _, k := range slices.Sorted(maps.Keys(want)) {
		t.Errorf("%s is not there, want %v", k, want[k])
	}
}

// classic compares the counts and sums of all histograms with the result.
func (s *source) classic(t *testing.T, r *report.Result) {
	t.Helper()
	all := s.ask(t, s.last(`__name__=~"httpgen_.+_seconds_(count|sum)"`))
	want := timings(r)
	if len(all) != 2*len(want) {
		t.Errorf("%d counts and sums of histograms, want %d", len(all), 2*len(want))
	}
	for _, p := range all {
		name, count := strings.CutSuffix(p.name(), "_count")
		if w := want[strings.TrimSuffix(name, "_sum")]; w == nil {
			t.Errorf("%s: this test does not know what it should be", p.name())
		} else if count {
			same(t, p.name(), p.value, float64(w.Count))
		} else {
			same(t, p.name(), p.value, w.Mean*float64(w.Count))
		}
	}
}

// native does the same with native histograms, while they last.
func (s *source) native(t *testing.T, r *report.Result) {
	t.Helper()
	for name, w := range timings(r) {
		h := s.last(fmt.Sprintf("__name__=%q", name))
		same(t, name+" count", s.value(t, "histogram_count("+h+")"), float64(w.Count))
		same(t, name+" sum", s.value(t, "histogram_sum("+h+")"), w.Mean*float64(w.Count))
	}
	if all := s.ask(t, s.last(`__name__=~"httpgen_.+_(bucket|count|sum)"`)); len(all) > 0 {
		t.Errorf("%d classic series, such as %v; want none", len(all), all[0].labels)
	}
}

func same(t *testing.T, what string, have, want float64) {
	t.Helper()
	if !near(have, want) {
		t.Errorf("%s is %v, want %v", what, have, want)
	}
}
