package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"httpgen/internal/bench/lab"
	"httpgen/internal/bench/wire"
	"httpgen/internal/report"
)

func TestSheet(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	s := sheet{w: &b, check: "c"}
	for _, tt := range []struct {
		name string
		put  func()
		ok   bool
	}{
		{"at most, equal", func() { s.atMost("f", 2, 2, " us") }, true},
		{"at most, above", func() { s.atMost("f", 2.1, 2, "") }, false},
		{"at least, equal", func() { s.atLeast("f", 2, 2, "") }, true},
		{"at least, below", func() { s.atLeast("f", 1.9, 2, "") }, false},
		{"within, low end", func() { s.within("f", 9, 10, 1, "") }, true},
		{"within, high end", func() { s.within("f", 11, 10, 1, "") }, true},
		{"within, below", func() { s.within("f", 8.9, 10, 1, "") }, false},
		{"within, above", func() { s.within("f", 11.1, 10, 1, "") }, false},
		{"equal", func() { s.equal("f", 7, 7) }, true},
		{"not equal", func() { s.equal("f", 7, 8) }, false},
		{"is", func() { s.is("f", "a", "a") }, true},
		{"is not", func() { s.is("f", "a", "b") }, false},
		{"not", func() { s.not("f", "a", "b") }, true},
		{"not not", func() { s.not("f", "a", "a") }, false},
		{"verdict", func() { s.verdict(&report.Verdict{Status: "valid"}, "valid") }, true},
		{"other verdict", func() { s.verdict(&report.Verdict{Status: "invalid"}, "valid") }, false},
		{"failed", func() { s.failed(errors.New("broken")) }, false},
	} {
		b.Reset()
		before := s.short
		tt.put()
		if ok := s.short == before; ok != tt.ok {
			t.Errorf("%s: ok %v, want %v", tt.name, ok, tt.ok)
		}
		want := "  ok\n"
		if !tt.ok {
			want = "  FELL SHORT\n"
		}
		if got := b.String(); !strings.HasSuffix(got, want) || !strings.HasPrefix(got, "c.") || strings.Count(got, "\n") != 1 {
			t.Errorf("%s: printed %q, want one line that ends with %q", tt.name, got, want)
		}
	}
	before := s.short
	s.note("n", "1")
	s.skip("no")
	if s.short != before {
		t.Error("a note or a skipped check counts as fallen short")
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		v    float64
		want string
	}{{0, "0"}, {10, "10"}, {.1 + .2, "0.3"}, {1.00004, "1"}, {.00012, "0.00012"}, {-1, "-1"}, {1e6, "1000000"}} {
		if got := number(tt.v); got != tt.want {
			t.Errorf("number(%v) = %s, want %s", tt.v, got, tt.want)
		}
	}
}

// exact returns totals that add up, with something in every place.
func exact() report.Totals {
	t := report.Totals{
		Arrivals:  report.Arrivals{Scheduled: 13, Started: 10, Shed: report.Shed{Late: 2, Inflight: 1}},
		Completed: 6, Unfinished: 1,
		Calls: report.Calls{Planned: 10, Replied: 6, Unanswered: 2, Unsent: 1, Unfinished: 1},
	}
	t.Errors.Add("reset", 2)
	t.Errors.Add("reply_timeout", 1)
	return t
}

func TestAccounts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*report.Totals)
		want   string
	}{
		{"exact", func(*report.Totals) {}, ""},
		{"scheduled", func(t *report.Totals) { t.Arrivals.Shed.Late++ }, "scheduled: 14 of 13"},
		{"started", func(t *report.Totals) { t.Completed-- }, "started: 9 of 10"},
		{"calls", func(t *report.Totals) { t.Calls.Unsent++ }, "calls: 11 of 10"},
		{"errors", func(t *report.Totals) { t.Errors.Reset++ }, "errors: 4 of 3"},
	} {
		totals := exact()
		tt.change(&totals)
		if got := accounts(&totals); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestNamed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		errors report.Errors
		want   bool
	}{
		{"none", report.Errors{}, false},
		{"timeouts", report.Errors{Total: 3, ConnectTimeout: 2, ReplyTimeout: 1}, true},
		{"others too", report.Errors{Total: 3, ConnectTimeout: 2, Other: 1}, false},
	} {
		if got := named(&tt.errors); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	if got, want := list(counts(report.Errors{Total: 3, Reset: 1, ClosedEarly: 2})), "closed_early 2, reset 1"; got != want {
		t.Errorf("list = %q, want %q", got, want)
	}
}

func TestSaturated(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, stats string
		want        float64
		ok          bool
	}{
		{"reached", "waiting: peak 3\nsaturated: 1599 replies in 15.990 s = 100.0 replies/s\nsource accepted\n", 100, true},
		{"never", "saturated: never\n", 0, true},
		{"not said", "requests: 3\n", 0, false},
	} {
		got, err := saturated(tt.stats)
		if got != tt.want || (err == nil) != tt.ok {
			t.Errorf("%s: %v, %v, want %v", tt.name, got, err, tt.want)
		}
	}
}

// goodSeed is a result with nothing wrong.
func goodSeed() *report.Result {
	r := &report.Result{Verdict: report.Verdict{Status: report.Valid}}
	t := &r.Totals
	t.Arrivals = report.Arrivals{Scheduled: 100, Started: 100}
	t.Completed, t.Requests, t.Replies, t.Connections.Attempted = 100, 100, 100, 100
	t.Calls = report.Calls{Planned: 100, Replied: 100}
	t.Bytes = report.Bytes{Request: 10240, Header: 20480, Body: 51200}
	r.Run.TotalSeconds = 50.123
	r.Rates = report.Rates{ConnectionsPerSecond: 1.9951, RequestsPerSecond: 2.04, Replies: report.Samples{Min: 1.2, Avg: 1.9, Max: 2.2, StdDev: .1, Samples: 10}}
	r.Times.FirstByte.Mean = .0012
	return r
}

func TestJudgeSeed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*report.Result)
		want   string
	}{
		{"good", func(*report.Result) {}, ""},
		{"a reply missing", func(r *report.Result) { r.Totals.Replies-- }, "replies 99"},
		{"late", func(r *report.Result) { r.Run.TotalSeconds = 50.6 }, "50.600 s"},
		{"early", func(r *report.Result) { r.Run.TotalSeconds = 49.4 }, "49.400 s"},
		{"samples", func(r *report.Result) { r.Rates.Replies.Samples = 9 }, "9 samples"},
		{"accounts", func(r *report.Result) { r.Totals.Unfinished = 1 }, "started: 101 of 100"},
		{"verdict", func(r *report.Result) {
			r.Verdict = report.Verdict{Status: report.Degraded, Reasons: []report.Reason{{Code: "lag"}, {Code: "cpu"}}}
		}, "degraded (lag, cpu)"},
	} {
		r := goodSeed()
		tt.change(r)
		if got := strings.Join(judgeSeed(r, 100, 50), "; "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestCompareText(t *testing.T) {
	t.Parallel()
	r := goodSeed()
	var b strings.Builder
	if err := (report.Details{}).Text(&b, r); err != nil {
		t.Fatal(err)
	}
	if got := compareText(b.String(), r); len(got) > 0 {
		t.Errorf("the result and its own text differ: %q", got)
	}
	got := compareText(strings.Replace(b.String(), "avg 1.9 max", "avg 1.8 max", 1), r)
	if len(got) != 1 || !strings.HasPrefix(got[0], "reply rate 1.2 1.8 2.2 0.1 in the text") {
		t.Errorf("another average in the text: %q, want it named", got)
	}
	if got := compareText("", r); len(got) != len(columns) {
		t.Errorf("no text: %d complaints, want %d", len(got), len(columns))
	}
}

func TestBurstTrace(t *testing.T) {
	t.Parallel()
	lines := strings.Fields(burstTrace())
	if len(lines) != burstSize*bursts || lines[0] != "0" || lines[burstSize-1] != "0" || lines[burstSize] != "0.1" || lines[len(lines)-1] != "4.9" {
		t.Errorf("%d lines, %q ... %q", len(lines), lines[:1], lines[len(lines)-1:])
	}
}

func TestOwedAtOnce(t *testing.T) {
	t.Parallel()
	// 3 s at 1000/s, 1 s without, then 1000 in 100 ms beside those that fall due.
	var g wire.Trace
	for ms := range 5000 {
		at := time.Duration(ms) * time.Millisecond
		if ms >= 3000 && ms < 4000 {
			at = 4*time.Second + time.Duration(ms-3000)*100*time.Microsecond
		}
		g = append(g, at)
	}
	slices.Sort(g)
	if got := owedAtOnce(g); got < 990 || got > 1010 {
		t.Errorf("owedAtOnce = %v, want about 1000", got)
	}
}

func TestReadings(t *testing.T) {
	t.Parallel()
	m := readings{{time.Second, 1 << 20}, {2 * time.Second, 5 << 20}, {3 * time.Second, 3 << 20}}
	for _, tt := range []struct {
		name      string
		got, want float64
	}{
		{"at the first", m.at(0), 1 << 20},
		{"at an instant between", m.at(1500 * time.Millisecond), 5 << 20},
		{"after the last", m.at(time.Minute), 3 << 20},
		{"peak", m.peak(), 5 << 20},
		{"peak after", m.peakAfter(2500 * time.Millisecond), 3 << 20},
		{"growth", m.growth(time.Second), 4},
		{"nothing read", readings(nil).growth(0), 0},
	} {
		if tt.got != tt.want {
			t.Errorf("%s = %v, want %v", tt.name, tt.got, tt.want)
		}
	}
}

func TestResultsKeepRounds(t *testing.T) {
	t.Parallel()
	r := results{}
	r.add(lab.Bare, &lab.Measurement{Rate: 10}, false)
	r.add(lab.Bare, &lab.Measurement{}, true)
	r.add(lab.Bare, &lab.Measurement{Rate: 30}, false)
	if got, want := lab.Ratios([]float64{20, 20, 30}, r[lab.Bare].rate), (lab.Spread{Median: 1.5, Min: 1, Max: 2}); got != want {
		t.Errorf("ratios = %+v, want %+v", got, want)
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ names, want string }{
		{"stall,seed", "stall seed"},
		{"growth", "growth"},
	} {
		got, err := choose(tt.names)
		var names []string
		for _, c := range got {
			names = append(names, c.name)
		}
		if err != nil || strings.Join(names, " ") != tt.want {
			t.Errorf("choose(%q) = %v, %v, want %s", tt.names, names, err, tt.want)
		}
	}
	if got, err := choose(""); err != nil || len(got) != len(checks) {
		t.Errorf("choose of nothing: %d checks, %v, want all %d", len(got), err, len(checks))
	}
	if _, err := choose("seed,sede"); err == nil || !strings.Contains(err.Error(), `"sede"`) {
		t.Errorf("choose of an unknown check: %v, want an error that quotes it", err)
	}
}

// A process that ends at once must not keep standStill from returning.
func TestStandStillOfAnEndedProcess(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	want := errors.New("enough")
	cancel(want)
	p, err := lab.Start(t.Context(), "true")
	if err != nil {
		t.Skip(err)
	}
	if err := standStill(ctx, p); !errors.Is(err, want) {
		t.Errorf("standStill = %v, want %v", err, want)
	}
	if _, err := p.Wait(); err != nil {
		t.Error(err)
	}
}

func TestRepeat(t *testing.T) {
	t.Parallel()
	b := &bench{sheet: sheet{w: io.Discard}}
	if got := b.repeat(5); got != 5 {
		t.Errorf("repeat(5) = %d without -runs, want 5", got)
	}
	b.runs = 2
	if got := b.repeat(5); got != 2 {
		t.Errorf("repeat(5) = %d with -runs 2, want 2", got)
	}
}
