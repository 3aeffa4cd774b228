package experiment

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"httpgen/internal/experiment/stat"
	"httpgen/internal/report"
)

// steady returns a second of n calls, of which some fail and the others take the
// latency.
func steady(t *testing.T, n, failed int, reason string, latency float64) *report.Result {
	t.Helper()
	c := newCalls(t, 2*time.Second, 100*time.Millisecond)
	for i := range n {
		if at := float64(i) / float64(n); i < failed {
			c.fail(at, reason)
		} else {
			c.reply(at, latency)
		}
	}
	return c.result()
}

func TestJudge(t *testing.T) {
	t.Parallel()
	with := func(r *report.Result, change func(*report.Result)) *report.Result {
		change(r)
		return r
	}
	for _, tt := range []struct {
		name   string
		r      *report.Result
		want   stat.Outcome
		missed string
		reason string
	}{
		{"met", steady(t, 1000, 0, "", 0.01), stat.Met, "", ""},
		{"slow", steady(t, 1000, 0, "", 0.06), stat.Missed, "p99", "p99 is 60"},
		{"failures are infinitely late", steady(t, 1000, 20, "reset", 0.01), stat.Missed, "p99,errors,achieved", "p99 is infinite, want p99<50ms; errors is 2 %, want errors<0.1%"},
		{"a failure too many", steady(t, 1000, 1, "reset", 0.01), stat.Missed, "errors", "errors is 0.1 %, want errors<0.1%"},
		{"met, invalid", invalid(steady(t, 1000, 0, "", 0.01), "cpu"), stat.Invalid, "", "cpu is above its limit"},
		{"missed by far more than the generator was late", with(invalid(steady(t, 1000, 0, "", 0.9), "lag"), func(r *report.Result) { r.Times.Lag.Max = 0.1 }), stat.Missed, "p99", "p99 is 9"},
		{"the generator was late", with(invalid(steady(t, 1000, 0, "", 0.2), "lag"), func(r *report.Result) { r.Times.Lag.Max = 0.1 }), stat.Invalid, "p99", "lag is above"},
		{"late once, and slow", with(invalid(steady(t, 1000, 0, "", 0.2), "punctuality"), func(r *report.Result) { r.Times.Lag.Max, r.Times.Lag.P99 = 1, new(0.01) }), stat.Missed, "p99", "p99 is 2"},
		{"late, and its timeouts", with(invalid(steady(t, 1000, 20, "deadline", 0.01), "lag"), func(r *report.Result) { r.Times.Lag.Max = 1 }), stat.Invalid, "p99,errors,achieved", "lag is above"},
		{"late, but reset", with(invalid(steady(t, 1000, 20, "reset", 0.01), "lag"), func(r *report.Result) { r.Times.Lag.Max = 1 }), stat.Missed, "p99,errors,achieved", "errors is 2 %"},
		{"out of ports", invalid(steady(t, 1000, 200, "address_unavailable", 0.01), "address_unavailable"), stat.Invalid, "p99,errors,achieved", "address_unavailable is above"},
		{"out of a few ports", steady(t, 1000, 1, "address_unavailable", 0.01), stat.Invalid, "errors", "0 arrivals were shed and 1 failed by the generator's own limits"},
		{"out of ports, and slow", invalid(steady(t, 1000, 200, "address_unavailable", 0.06), "address_unavailable"), stat.Missed, "p99,errors,achieved", "p99 is infinite"},
		{"too many open", with(invalid(steady(t, 1000, 0, "", 0.01), "inflight"), func(r *report.Result) {
			r.Totals.Arrivals.Scheduled += 500
			r.Totals.Arrivals.Shed.Add("inflight", 500)
		}), stat.Invalid, "p99,achieved", "inflight is above"},
		{"too many open, since the target is slow", with(invalid(steady(t, 1000, 0, "", 0.06), "inflight"), func(r *report.Result) {
			r.Totals.Arrivals.Scheduled += 500
			r.Totals.Arrivals.Shed.Add("inflight", 500)
		}), stat.Missed, "p99,achieved", "p99 is infinite"},
		{"open calls grow", with(steady(t, 1000, 0, "", 0.01), func(r *report.Result) { r.Windows[19].Inflight = 40 }), stat.Missed, "stable", "the number of open calls grew"},
		{"open calls grow a little", with(steady(t, 1000, 0, "", 0.01), func(r *report.Result) { r.Windows[19].Inflight = 15 }), stat.Met, "", ""},
		{"a closed model is stable", with(steady(t, 1000, 0, "", 0.01), func(r *report.Result) { r.Windows[19].Inflight, r.Model = 40, report.Closed }), stat.Met, "", ""},
		{"counts that do not add up", invalid(steady(t, 1000, 100, "reset", 0.9), "accounting"), stat.Invalid, "p99,errors,achieved", "accounting is"},
		{"nothing", steady(t, 0, 0, "", 0), stat.Invalid, "", "no arrival was scheduled"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j, err := parseObjective(t, "p99<50ms,errors<0.1%,achieved>99%").Judge(tt.r)
			if err != nil {
				t.Fatal(err)
			}
			if j.Outcome != tt.want || strings.Join(j.Missed, ",") != tt.missed || !strings.Contains(j.Reason, tt.reason) || (j.Reason == "") != (tt.want == stat.Met) {
				t.Errorf("got %v, missed %v, %q; want %v, missed %s, with %q", j.Outcome, j.Missed, j.Reason, tt.want, tt.missed, tt.reason)
			}
		})
	}
}

// What is measured of two results together is what one with all their calls says.
func TestMeasureAddsUp(t *testing.T) {
	t.Parallel()
	c := newCalls(t, time.Second, 100*time.Millisecond)
	for i := range 1000 {
		c.reply(float64(i)/1000, float64(i+1)/1e5)
	}
	c.fail(0.5, "reset")
	one := c.result()
	m, err := newMeasure(one, one)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		metric    string
		want, err float64
	}{
		{"p50", 0.00501, 1e-5}, {"p90", 0.00901, 1e-5}, {"p99", 0.00991, 1e-5}, {"p99.9", 0.01, 1e-5}, {"p99.99", math.Inf(1), 0},
		{errorShare, 1.0 / 1001, 0}, {achievedShare, 1000.0 / 1001, 0}, {goodput, 1000, 10}, {"unknown", math.NaN(), 0},
	} {
		v, low, high := m.value(tt.metric)
		if math.IsNaN(v) != math.IsNaN(tt.want) || v != tt.want && math.Abs(v-tt.want) > tt.err {
			t.Errorf("%s = %v, want %v", tt.metric, v, tt.want)
		}
		if low > v || high < v {
			t.Errorf("%s = %v is not between %v and %v", tt.metric, v, low, high)
		}
	}
	if _, _, high := m.value("p99"); !math.IsInf(high, 1) && high < 0.0099 {
		t.Errorf("upper end of p99 = %v", high)
	}
	bad := *one
	bad.Times.Latency.HDR = "no histogram"
	if _, err := newMeasure(&bad); err == nil || !strings.Contains(err.Error(), "run run: latency histogram") {
		t.Errorf("error %v, want one about the histogram of run run", err)
	}
}

// Replies that are not as expected are in the histogram and count as late.
func TestUnexpectedRepliesAreLate(t *testing.T) {
	t.Parallel()
	c := newCalls(t, time.Second, 100*time.Millisecond)
	for i := range 500 {
		c.reply(float64(i)/1000, 0.001) // these turn out to be error pages
	}
	for i := range 500 {
		c.reply(0.5+float64(i)/1000, 0.01)
	}
	r := c.result()
	r.Totals.Completed = 500
	r.Totals.Errors.Add("unexpected_status", 500)
	r.Times.All.Failed = 500
	m, err := newMeasure(r)
	if err != nil {
		t.Fatal(err)
	}
	if v := m.quantile(0.5); math.Abs(v-0.01) > 1e-4 {
		t.Errorf("median %v, want that of the good replies, 0.01", v)
	}
	if v := m.quantile(0.51); !math.IsInf(v, 1) {
		t.Errorf("p51 %v, want an infinite one", v)
	}
}

func TestCounters(t *testing.T) {
	t.Parallel()
	read := func(factor string) *Counters {
		return parseCounters(
			"TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPAbortOnData TCPAbortFailed TCPSynRetrans TCPTimeWaitOverflow\nTcpExt: 9 1"+factor+" 2"+factor+" 3"+factor+" 7 4"+factor+" 5"+factor+"\nIpExt: InNoRoutes\nIpExt: 1\n",
			"Tcp: RtoMin RetransSegs\nTcp: 200 6"+factor+"\n",
			"cpu  1 2 3 4 5 6 7 80"+factor+" 9 10\ncpu0 1 2 3 4 5 6 7 99 9 10\n",
			"version 15\ncpu0 0 0 0 0 0 0 1 1000000000"+factor+" 3\ncpu1 0 0 0 0 0 0 1 2000000000"+factor+" 3\n",
			"1.25 1.00 0.50 1/200 3000\n")
	}
	got := *read("0").since(read(""))
	want := Counters{9, 18, 27, 54, 36, 45, 7.2, 27, 1.25}
	if got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
	if d := read("").since(read("0")); d.ListenOverflows != 0 || d.StealSeconds != 0 {
		t.Errorf("counters that were reset give %+v, want none below 0", d)
	}
	if got := parseCounters("", "x", "cpu", "cpu0 1", "NaN"); *got != (Counters{}) {
		t.Errorf("nothing to read gives %+v", got)
	}
	if (*Counters)(nil).since(read("")) != nil || read("").since(nil) != nil {
		t.Error("what is not known gives counts")
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	a, b := steady(t, 10, 3, "reset", 0.01), steady(t, 10, 2, "address_unavailable", 0.01)
	b.Totals.Unfinished = 1
	b.Totals.Arrivals.Shed.Add("late", 4)
	got := failures([]*report.Result{a, b, a})
	want := []Failure{{"target", "reset", 6}, {"generator", "address_unavailable", 2}, {"target", "unfinished", 1}, {"generator", "shed", 4}}
	if !slices.Equal(got, want) {
		t.Errorf("failures %v, want %v", got, want)
	}
	// Every reason of a result has a side.
	var e report.Errors
	for _, f := range reasons(&e) {
		if !e.Add(f.Reason, 1) {
			t.Errorf("reason %q is unknown to results", f.Reason)
		}
	}
	for _, f := range reasons(&e) {
		if f.Count != 1 {
			t.Errorf("reason %q counts %d, want 1", f.Reason, f.Count)
		}
	}
	if e.Total != 20 {
		t.Errorf("%d reasons, want the 20 of results", e.Total)
	}
}
