package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"httpgen/internal/experiment/stat"
	"httpgen/internal/run"
	"httpgen/internal/target"
)

// sweepOptions are of a sweep over rates that is quick to make up.
func sweepOptions(t testing.TB) SweepOptions {
	t.Helper()
	return SweepOptions{
		Base:      run.Options{Server: "127.0.0.1", Argv: []string{"httpgen", "sweep"}},
		Objective: parseObjective(t, "p99<200ms,errors<0.1%"),
	}
}

func sweepOf(t *testing.T, l Lab, o SweepOptions) *SweepResult {
	t.Helper()
	r, err := l.Sweep(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSweepFindsTheCapacity(t *testing.T) {
	t.Parallel()
	for _, capacity := range []float64{100, 400, 3000} {
		t.Run(fmt.Sprint(capacity), func(t *testing.T) {
			t.Parallel()
			var lines []string
			m := &machine{t: t, capacity: capacity}
			r := sweepOf(t, Lab{Runner: m, Progress: func(p Progress) { lines = append(lines, p.String()) }}, sweepOptions(t))
			c := r.Capacity
			if c.Status != "found" || c.UpperPerSecond == nil || c.LowerPerSecond > capacity*1.01 || *c.UpperPerSecond < capacity || c.Width > 0.05 {
				t.Fatalf("capacity %+v, want an interval of 5 %% around %g", c, capacity)
			}
			if !strings.Contains(c.BoundBy, "p99") && !strings.Contains(c.BoundBy, "stable") {
				t.Errorf("bound by %q, want the latency or stability", c.BoundBy)
			}
			if want := 0.7 * c.LowerPerSecond; math.Abs(c.RecommendedPerSecond-want) > 1e-9 {
				t.Errorf("recommended %g, want %g", c.RecommendedPerSecond, want)
			}
			if len(lines) != 2*len(r.Trials) || !strings.HasPrefix(lines[0], "trial 1: climb at 50/s for 8s") || !strings.HasPrefix(lines[1], "trial 1: climb at 50/s for 8s: met; met at 50/s") {
				t.Errorf("%d lines of progress on %d trials, the first two are %q", len(lines), len(r.Trials), lines[:2])
			}
			if got, want := r.Run.Complete, true; got != want || r.Verdict.Status != "valid" {
				t.Errorf("complete %v, verdict %+v", got, r.Verdict)
			}
			for _, rung := range r.Rungs {
				e := rung.Evidence["p99"]
				if len(rung.TrialIDs) == 0 || e.Limit != 0.2 || rung.Outcome == "met" && (e.Value == nil || *e.Value > 0.2) {
					t.Errorf("rung %+v", rung)
				}
			}
			for i, o := range m.ran {
				if o.Deadline != time.Second || o.Closed != 0 {
					t.Fatalf("trial %d has a deadline of %v and %d callers, want 1s and none", i, o.Deadline, o.Closed)
				}
			}
			if capacity == 100 && m.settled == 0 {
				t.Error("the target was never given time after calls that failed")
			}
		})
	}
}

func TestSweepGeneratorLimited(t *testing.T) {
	t.Parallel()
	r := sweepOf(t, Lab{Runner: &machine{t: t, capacity: 1000, most: 250}}, sweepOptions(t))
	c := r.Capacity
	if c.Status != "generator_limited" || c.LowerPerSecond < 200 || c.LowerPerSecond > 250 || c.UpperPerSecond != nil || c.BoundBy != "generator" {
		t.Errorf("capacity %+v, want at least 250 and the generator's limit", c)
	}
	if r.Verdict.Status != "invalid" || r.Verdict.Reasons[0].Code != "generator_limited" || !strings.Contains(r.Verdict.Reasons[0].Message, "lag is above its limit") {
		t.Errorf("verdict %+v, want invalid for the lag", r.Verdict)
	}
	limited := 0
	for _, rung := range r.Rungs {
		if rung.Outcome == "generator_limited" {
			limited++
			if len(rung.TrialIDs) != 3 || len(rung.Evidence) != 0 {
				t.Errorf("rung %+v: want three trials and no evidence", rung)
			}
		}
	}
	if limited == 0 {
		t.Error("no rung is limited by the generator")
	}
}

func TestSweepBelowFromAndAtLeast(t *testing.T) {
	t.Parallel()
	o := sweepOptions(t)
	o.Search.From = 100
	if c := sweepOf(t, Lab{Runner: &machine{t: t, capacity: 50}}, o).Capacity; c.Status != "below_from" || c.LowerPerSecond != 0 || *c.UpperPerSecond != 100 || c.RecommendedPerSecond != 0 {
		t.Errorf("capacity %+v, want below 100", c)
	}
	o.Search.To = 400
	if c := sweepOf(t, Lab{Runner: &machine{t: t, capacity: 5000}}, o).Capacity; c.Status != "at_least" || c.LowerPerSecond != 400 || c.UpperPerSecond != nil {
		t.Errorf("capacity %+v, want at least 400", c)
	}
}

func TestSweepGivenRates(t *testing.T) {
	t.Parallel()
	o := sweepOptions(t)
	o.Search.Rates = []float64{100, 200, 300, 400, 500, 600, 700, 800, 900, 1000}
	o.Search.Repeat, o.Search.Order = 1, stat.Shuffle
	r := sweepOf(t, Lab{Runner: &machine{t: t, capacity: 400}}, o)
	if len(r.Rungs) != 10 || len(r.Trials) != 10 || r.Capacity.LowerPerSecond != 400 || *r.Capacity.UpperPerSecond != 500 {
		t.Errorf("%d rungs, %d trials, capacity %+v", len(r.Rungs), len(r.Trials), r.Capacity)
	}
	if k := r.Knee.Efficiency; k.RatePerSecond == nil || *k.RatePerSecond < 500 {
		t.Errorf("knee of efficiency %+v, want one at 500 or more", k)
	}
}

func TestSweepByConnections(t *testing.T) {
	t.Parallel()
	o := sweepOptions(t)
	o.Objective, o.Connections, o.Search.From = parseObjective(t, "errors<0.1%"), true, 10
	m := &machine{t: t, capacity: 20000} // 200 calls of 10 ms at once
	r := sweepOf(t, Lab{Runner: m}, o)
	c := r.Capacity
	if c.Status != "found" || c.LowerConnections > 200 || c.UpperConnections <= 200 || c.UpperConnections > 212 {
		t.Errorf("capacity %+v, want 200 callers", c)
	}
	last := r.Rungs[len(r.Rungs)-1]
	if last.Outcome != "missed" || len(last.Failures) != 1 || last.Failures[0].Side != "target" || last.Failures[0].Reason != "connect_refused" {
		t.Errorf("rung %+v, want connections that the target refused", last)
	}
	if c.LowerPerSecond < 100*float64(c.LowerConnections)*0.9 {
		t.Errorf("goodput %g of %d callers, want about 100 each", c.LowerPerSecond, c.LowerConnections)
	}
	for _, o := range m.ran {
		if o.Process != nil || o.Closed == 0 {
			t.Fatalf("trial with %d callers and the process %v, want a closed model", o.Closed, o.Process)
		}
	}
}

func TestSweepOverload(t *testing.T) {
	t.Parallel()
	o := sweepOptions(t)
	o.Beyond, o.Step = 3, 6*time.Second
	m := &machine{t: t, capacity: 200}
	r := sweepOf(t, Lab{Runner: m}, o)
	if r.Overload == nil {
		t.Fatalf("no overload profile; verdict %+v", r.Verdict)
	}
	if v := r.Overload; v.KeptAt2x < 0.95 || math.Abs(v.PeakGoodputPerSecond-200) > 10 || len(v.Hysteresis) != 3 || v.RecoverySeconds == nil || *v.RecoverySeconds > 2 || v.TrialID != len(r.Trials) {
		t.Errorf("overload %+v, want a server that keeps its 200/s and recovers at once", v)
	}
	if last := m.ran[len(m.ran)-1]; last.Duration != 54*time.Second || last.Window != time.Second {
		t.Errorf("the profile lasts %v in windows of %v, want 54s and 1s", last.Duration, last.Window)
	}
}

func TestSweepStopped(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	r, err := Lab{Runner: &machine{t: t, capacity: 400, stop: stop, stopAt: 6}}.Sweep(ctx, sweepOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Trials) != 5 || r.Run.Complete || r.Capacity.Status != "undecided" || r.Capacity.LowerPerSecond != 400 || *r.Capacity.UpperPerSecond != 800 || r.Verdict.Status != "degraded" {
		t.Errorf("%d trials, capacity %+v, verdict %+v: want five trials and 400 to 800", len(r.Trials), r.Capacity, r.Verdict)
	}
	// Stopped before the first trial there is still a result.
	r, err = Lab{Runner: &machine{t: t, capacity: 400}}.Sweep(ctx, sweepOptions(t))
	if err != nil || len(r.Trials) != 0 || r.Capacity.Status != "undecided" {
		t.Errorf("result %+v, error %v", r, err)
	}
}

func TestSweepTrialFails(t *testing.T) {
	t.Parallel()
	r, err := Lab{Runner: &machine{t: t, capacity: 400, err: errBroken, errAt: 3}}.Sweep(t.Context(), sweepOptions(t))
	if !errors.Is(err, errBroken) || r == nil || len(r.Trials) != 2 || r.Run.Complete {
		t.Errorf("result %+v, error %v; want the two trials before the error", r, err)
	}
}

func TestSweepResumes(t *testing.T) {
	t.Parallel()
	o := sweepOptions(t)
	want := sweepOf(t, Lab{Runner: &machine{t: t, capacity: 400}}, o)
	store, key, dir := newStore(t, o)
	ctx, stop := context.WithCancel(t.Context())
	if _, err := (Lab{Runner: &machine{t: t, capacity: 400, stop: stop, stopAt: 8}, Store: store}).Sweep(ctx, o); err != nil {
		t.Fatal(err)
	}
	store, err := OpenStore(dir, key)
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, capacity: 400}
	got := sweepOf(t, Lab{Runner: m, Store: store}, o)
	if a, b := asJSON(t, got), asJSON(t, want); a != b {
		t.Error("a sweep that was resumed has another result than one in one go")
	}
	if len(m.ran) != len(want.Trials)-7 {
		t.Errorf("%d trials were run again, want the %d that were left", len(m.ran), len(want.Trials)-7)
	}
	// All of it is kept: nothing is run.
	if store, err = OpenStore(dir, key); err != nil {
		t.Fatal(err)
	}
	if again := sweepOf(t, Lab{Runner: &machine{t: t, err: errBroken, errAt: 1}, Store: store}, o); asJSON(t, again) != asJSON(t, want) {
		t.Error("kept trials that are analysed again give another result")
	}
	// Kept trials of something else are refused.
	other := o
	other.Search.Factor = 3
	changed, err := other.Key()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		key  Key
		want string
	}{
		{"options", changed, "was made with other options"},
		{"version", Key{key.Kind, "0.0.0", key.Hash}, `was made by version "` + run.Version + `": want "0.0.0"`},
		{"kind", Key{"fair", key.Version, key.Hash}, `holds the trials of "sweep"`},
	} {
		if _, err := OpenStore(dir, tt.key); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %s", tt.name, err, tt.want)
		}
	}
	if _, err := NewStore(dir, key); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("error %v, want one about a folder that is not empty", err)
	}
	// Trials that the plan would not run come to light.
	if store, err = OpenStore(dir, key); err != nil {
		t.Fatal(err)
	}
	if _, err := (Lab{Runner: m, Store: store}).Sweep(t.Context(), other); err == nil || !strings.Contains(err.Error(), "kept trial 2") {
		t.Errorf("error %v, want one about kept trial 2", err)
	}
	for _, broken := range []string{"{", `{"id": 7, "result": {}}`, `{"id": 1}`} {
		if err := os.WriteFile(filepath.Join(dir, "trial-000001.json"), []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenStore(dir, key); err == nil || !strings.Contains(err.Error(), "trial-000001.json") {
			t.Errorf("%s: error %v, want one that names the file", broken, err)
		}
	}
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSweepRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*SweepOptions)
		want   string
	}{
		{"no objective", func(o *SweepOptions) { o.Objective = nil }, "no objective"},
		{"short steps", func(o *SweepOptions) { o.Step = time.Second }, "step 1s of the overload profile: want 4s to 1h0m0s"},
		{"little overload", func(o *SweepOptions) { o.Beyond = 1.5 }, "overload of 1.5: want 2 to 100"},
		{"overload of a closed model", func(o *SweepOptions) { o.Beyond, o.Connections = 3, true }, "want a sweep over rates"},
		{"a pool of connections", func(o *SweepOptions) { o.Base.Pool, o.Connections = 3, true }, "a pool of 3 connections"},
		{"very many connections", func(o *SweepOptions) { o.Search.To, o.Connections = 1e9, true }, "want at most 1048576"},
		{"from", func(o *SweepOptions) { o.Search.From = -1 }, "from -1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := sweepOptions(t)
			tt.change(&o)
			if r, err := (Lab{}).Sweep(t.Context(), o); err == nil || r != nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("result %v, error %v, want one with %q", r, err, tt.want)
			}
			if _, err := o.Schedule(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("schedule: error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestSweepSchedule(t *testing.T) {
	t.Parallel()
	s, err := sweepOptions(t).Schedule()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(s.String(), "   1  climb at 50/s for 8s\n   2  climb at 100/s for 4s\n") || s.Time < time.Minute || s.Time > 3*time.Minute || s.If == "" {
		t.Errorf("schedule of %v:\n%v", s.Time, s)
	}
	o := sweepOptions(t)
	o.Search.Rates, o.Search.Repeat = []float64{100, 200}, 2
	if s, err = o.Schedule(); err != nil || len(s.Trials) != 4 || s.Time != 16*time.Second || s.If != "" {
		t.Errorf("schedule %+v, error %v: want four trials in 16s", s, err)
	}
	o.Search.Rates, o.Beyond = nil, 3
	if s, err = o.Schedule(); err != nil || !strings.HasPrefix(s.Trials[len(s.Trials)-1], "overload up to ") {
		t.Errorf("schedule %+v, error %v: want the overload profile last", s, err)
	}
}

func TestConstant(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rate float64
		text string
	}{{50, "50"}, {141.4213562373, "141.4214"}, {0.001, "0.001"}, {1e9, "1000000000"}, {123456789, "123456789"}, {100 * math.Sqrt2 / 7, "20.20305"}} {
		c, text, err := constant(tt.rate)
		if err != nil || text != tt.text || math.Abs(c.Rate(0)/tt.rate-1) > 1e-6 {
			t.Errorf("%g is %q, a rate of %g, error %v; want %q", tt.rate, text, c.Rate(0), err, tt.text)
		}
	}
}

// A key must not depend on what is not written down, and must on what is.
func TestKey(t *testing.T) {
	t.Parallel()
	o := sweepOptions(t)
	key := func(change func(*SweepOptions)) string {
		c := o
		change(&c)
		k, err := c.Key()
		if err != nil {
			t.Fatal(err)
		}
		return k.Hash
	}
	same := key(func(*SweepOptions) {})
	if got := key(func(o *SweepOptions) { o.Base.Argv, o.Base.Closed, o.Search.From = nil, 7, 50 }); got != same {
		t.Error("the key depends on what does not matter")
	}
	for name, change := range map[string]func(*SweepOptions){
		"server": func(o *SweepOptions) { o.Base.Server = "127.0.0.2" }, "status": func(o *SweepOptions) { o.Base.Expect = &run.StatusSet{200: true} },
		"from": func(o *SweepOptions) { o.Search.From = 60 }, "objective": func(o *SweepOptions) { o.Objective = parseObjective(t, "errors<1%") },
		"body": func(o *SweepOptions) { o.Base.Body = []byte("x") }, "seed": func(o *SweepOptions) { o.Search.Seed = 1 },
	} {
		if key(change) == same {
			t.Errorf("the key does not depend on the %s", name)
		}
	}
}

// serve starts a server of known capacity and returns options for it.
func serve(t *testing.T, o target.Options) run.Options {
	t.Helper()
	s, err := target.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	return run.Options{Server: "127.0.0.1", Port: s.Port()}
}

// A capacity cannot be exceeded, however busy the machine is, so one side of the
// answer can be tested.
func TestSweepForReal(t *testing.T) {
	o := SweepOptions{
		Base:      serve(t, target.Options{Service: target.Constant(10 * time.Millisecond), Workers: 1}),
		Objective: parseObjective(t, "p90<300ms,achieved>90%"),
		Search:    stat.SearchOptions{From: 50, Width: 0.5, Repeat: 1, Trial: 500 * time.Millisecond, Arrivals: 40, Confirm: 800 * time.Millisecond, Settle: 100 * time.Millisecond},
	}
	r := sweepOf(t, Lab{Runner: Live{}}, o)
	if c := r.Capacity; c.LowerPerSecond > 125 || len(r.Trials) < 2 || !r.Run.Complete {
		t.Errorf("capacity %+v of a server of 100/s after %d trials", c, len(r.Trials))
	}
	for _, tr := range r.Trials {
		t.Logf("trial %d at %.1f/s: %s %s", tr.ID, tr.RatePerSecond, tr.Outcome, tr.Reason)
		if tr.Result.Totals.Arrivals.Scheduled < 25 || tr.Result.Run.StopReason != "duration" {
			t.Errorf("trial %d: %d arrivals, ended by %s", tr.ID, tr.Result.Totals.Arrivals.Scheduled, tr.Result.Run.StopReason)
		}
	}
	t.Logf("capacity %+v", r.Capacity)
}
