package prom

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"

	"httpgen/sampler"
)

// scripted carries out a run of two streams with known outcomes.
func scripted(b *bench) *sampler.Result {
	for i := range 100 {
		b.reply(0, i < 10, time.Duration(i)*10*milli, time.Duration(i+1)*milli, 200)
	}
	for range 3 {
		b.reply(1, false, 1100*milli, 7*milli, 503)
	}
	b.fail(0, 1200*milli, milli, sampler.ConnectRefused)
	b.fail(0, 1201*milli, milli, sampler.ConnectRefused)
	b.fail(0, 1202*milli, 2*milli, sampler.Reset)
	b.fail(1, 1203*milli, 50*milli, sampler.Deadline)
	b.fail(1, 1204*milli, 50*milli, sampler.ReplyTimeout)
	b.src.main[0] += 5
	for range 4 {
		b.r.Shed(0, false, 1300*milli, 1301*milli, sampler.ShedInflight)
	}
	b.r.Shed(0, false, 1300*milli, 1301*milli, sampler.ShedLate)
	b.start(0, false, 1400*milli, 3*milli)
	b.r.Burst(7)
	b.r.Closed(&sampler.Conn{Ended: 1900 * milli, Unfinished: true})
	b.r.Arrival(&sampler.Arrival{Started: 1403 * milli, Ended: 1900 * milli, Unfinished: true, Planned: 2, Unsent: 2})
	return b.finish(2 * time.Second)
}

var twoStreams = sampler.Options{Streams: []string{"a", "b"}, Warmup: 100 * milli}

func TestKnownOutcomes(t *testing.T) {
	t.Parallel()
	b := newBench(t, twoStreams)
	c := newCollector(t)
	run := attach(t, c, b.s, Info{Streams: []Stream{{Target: "x"}, {Client: "second", Target: "y", Weight: 2.5, Judged: true}}})
	res := scripted(b)
	run.End(time.Unix(2000, 5e8))
	got := scrape(t, c)
	wantSeries(t, got, map[string]float64{
		"arrivals_scheduled_total{client=a,target=x}":                     109,
		"arrivals_scheduled_total{client=second,target=y}":                5,
		"arrivals_started_total{client=a,target=x}":                       104,
		"arrivals_started_total{client=second,target=y}":                  5,
		"arrivals_shed_total{cause=inflight,client=a,target=x}":           4,
		"arrivals_shed_total{cause=late,client=a,target=x}":               1,
		"arrivals_shed_total{cause=stopped,client=a,target=x}":            0,
		"arrivals_completed_total{client=a,target=x}":                     100,
		"arrivals_unfinished_total{client=a,target=x}":                    1,
		"errors_total{client=a,reason=connect_refused,target=x}":          2,
		"errors_total{client=a,reason=reset,target=x}":                    1,
		"errors_total{client=a,reason=other,target=x}":                    0,
		"errors_total{client=second,reason=deadline,target=y}":            1,
		"errors_total{client=second,reason=reply_timeout,target=y}":       1,
		"deadline_misses_total{client=second,target=y}":                   1,
		"goodput_total{client=a,target=x}":                                100,
		"goodput_total{client=second,target=y}":                           0, // none was as expected
		"calls_planned_total{client=a,target=x}":                          105,
		"calls_total{client=a,outcome=replied,target=x}":                  100,
		"calls_total{client=a,outcome=unsent,target=x}":                   3,
		"calls_total{client=a,outcome=unfinished,target=x}":               2,
		"lost_calls_total{client=a,target=x}":                             3,
		"connections_attempted_total{client=a,target=x}":                  104,
		"connections_established_total{client=a,target=x}":                100,
		"connections_failed_total{client=a,target=x}":                     3,
		"requests_total{client=a,target=x}":                               100,
		"replies_total{client=a,code=200,target=x}":                       100,
		"replies_total{client=a,code=503,target=x}":                       0,
		"replies_total{client=a,code=other,target=x}":                     0,
		"replies_total{client=second,code=503,target=y}":                  3,
		"sent_bytes_total{client=a,target=x}":                             7000,
		"received_bytes_total{client=a,target=x}":                         100000,
		"request_bytes_total{client=a,target=x}":                          7000,
		"reply_bytes_total{client=a,part=body,target=x}":                  80000,
		"reply_bytes_total{client=a,part=header,target=x}":                20000,
		"latency_seconds_count{client=a,target=x}":                        100,
		"latency_seconds_sum{client=a,target=x}":                          5.05,
		"latency_seconds_bucket{client=a,target=x}0.01":                   9, // and one that ends with the bound
		"latency_seconds_bucket{client=a,target=x}0.1":                    99,
		"latency_seconds_bucket{client=a,target=x}0.2":                    100,
		"service_seconds_sum{client=a,target=x}":                          5.049,
		"lag_seconds_count{client=a,target=x}":                            104,
		"lag_seconds_sum{client=a,target=x}":                              .00403,
		"lag_seconds_bucket{client=a,target=x}5e-06":                      0,
		"lag_seconds_bucket{client=a,target=x}2e-05":                      103,
		"connect_seconds_bucket{client=a,target=x}5e-05":                  100,
		"connect_seconds_count{client=a,target=x}":                        100,
		"first_byte_seconds_count{client=second,target=y}":                3,
		"lifetime_seconds_count{client=a,target=x}":                       100,
		"failure_seconds_count{client=a,target=x}":                        3,
		"failure_seconds_sum{client=second,target=y}":                     .1,
		"wait_seconds_count{client=a,target=x}":                           0,
		"inflight{client=a,target=x}":                                     0,
		"connections{client=a,state=connecting,target=x}":                 0,
		"connections{client=a,state=established,target=x}":                0,
		"client_weight{client=a,target=x}":                                1,
		"client_weight{client=second,target=y}":                           2.5,
		"connections_peak{}":                                              1,
		"connect_burst_peak{}":                                            7,
		"loops{}":                                                         1,
		"verdict{status=invalid}":                                         1,
		"verdict{status=valid}":                                           0,
		"client_verdict{client=a,status=invalid,target=x}":                1,
		"run_end_timestamp_seconds{}":                                     2000.5,
		"build_info{goarch=" + goarch(got) + "}":                          1,
		"label_overflow_total{label=client}":                              0,
		"label_overflow_total{label=code}":                                0,
		"run_phase{phase=done}":                                           1,
		"run_phase{phase=running}":                                        0,
		"run_info{engine=,model=open,process=,run_id=}":                   1,
		"tls_seconds_count{client=a,target=x}":                            0,
		"transfer_seconds_count{client=a,target=x}":                       100,
		"transfer_seconds_sum{client=a,target=x}":                         0,
		"transfer_seconds_bucket{client=a,target=x}5e-06":                 100,
		"arrivals_started_late_total{client=a,target=x}":                  0,
		"interim_replies_total{client=a,target=x}":                        0,
		"retries_total{client=a,target=x}":                                0,
		"calls_total{client=second,outcome=unsent,target=y}":              2,
		"calls_total{client=second,outcome=unanswered,target=y}":          0,
		"reply_bytes_total{client=a,part=trailer,target=x}":               0,
		"reply_bytes_total{client=a,part=framing,target=x}":               0,
		"failure_seconds_bucket{client=second,target=y}0.05":              0,
		"failure_seconds_bucket{client=second,target=y}0.1":               2,
		"run_planned_duration_seconds{}":                                  0,
		"run_start_timestamp_seconds{}":                                   0,
		"inflight_limit{}":                                                0,
		"busy_ratio{}":                                                    0,
		"target_rate{client=a,target=x}":                                  0,
		"connections_failed_total{client=second,target=y}":                2,
		"connections_established_total{client=second,target=y}":           3,
		"latency_seconds_count{client=second,target=y}":                   3,
		"latency_seconds_sum{client=second,target=y}":                     .021,
		"errors_total{client=second,reason=address_unavailable,target=y}": 0,
	})
	// And all of it is the sampler's own result.
	for i, labels := range []string{"{client=a,target=x}", "{client=second,target=y}"} {
		s := &res.Streams[i]
		wantSeries(t, got, map[string]float64{
			"arrivals_started_total" + labels:   float64(s.Started + s.Warmup.Started),
			"arrivals_completed_total" + labels: float64(s.Completed() + s.Warmup.Completed()),
			"requests_total" + labels:           float64(s.Requests + s.Warmup.Requests),
			"latency_seconds_count" + labels:    float64(s.Replies + s.Warmup.Replies),
			"lag_seconds_count" + labels:        float64(s.Started + s.Warmup.Started),
		})
	}
}

// goarch returns the labels of the build from the architecture on: what comes
// behind depends on the machine.
func goarch(got map[string]float64) string {
	for name := range got {
		if rest, ok := strings.CutPrefix(name, "build_info{goarch="); ok && strings.HasSuffix(rest, "version=1.2.3}") {
			return strings.TrimSuffix(rest, "}")
		}
	}
	return "missing"
}

func TestBeforeTheFirstRun(t *testing.T) {
	t.Parallel()
	got := scrape(t, newCollector(t))
	wantSeries(t, got, map[string]float64{
		"run_phase{phase=warmup}": 0, "run_phase{phase=running}": 0, "run_phase{phase=draining}": 0, "run_phase{phase=done}": 0,
		"verdict{status=valid}": 0, "verdict{status=degraded}": 0, "verdict{status=invalid}": 0,
		"run_start_timestamp_seconds{}": 0, "label_overflow_total{label=client}": 0, "label_overflow_total{label=target}": 0,
		"label_overflow_total{label=code}": 0,
	})
	for name := range got {
		if strings.HasPrefix(name, "run_info") || strings.HasPrefix(name, "trial_info") || strings.Contains(name, "client=") {
			t.Errorf("%s is there before a run", name)
		}
	}
}

func TestEverythingStartsAtZero(t *testing.T) {
	t.Parallel()
	b := newBench(t, sampler.Options{})
	c := newCollector(t)
	attach(t, c, b.s, Info{})
	before := scrape(t, c)
	for name, v := range before {
		if strings.HasPrefix(name, "client_weight") || strings.HasSuffix(name, "verdict{status=valid}") || strings.Contains(name, "_info") ||
			strings.HasPrefix(name, "client_verdict{client=1,status=valid") || name == "loops{}" {
			continue
		}
		if v != 0 {
			t.Errorf("%s = %v at the start, want 0", name, v)
		}
	}
	for i := range 40 {
		b.reply(0, false, time.Duration(i)*milli, 100*micro, knownCodes[i%len(knownCodes)])
	}
	for i := sampler.OK + 1; i < sampler.NumClasses; i++ {
		b.fail(0, 50*milli, milli, i)
	}
	for i := sampler.Cause(0); i < sampler.NumCauses; i++ {
		b.r.Shed(0, false, 60*milli, 60*milli, i)
	}
	b.finish(time.Second)
	// No series appears with its first event, which rate() would miss.
	for name := range scrape(t, c) {
		if _, ok := before[name]; !ok {
			t.Errorf("%s was not there from the start", name)
		}
	}
}

func TestLevels(t *testing.T) {
	t.Parallel()
	b := newBench(t, twoStreams)
	c := newCollector(t)
	attach(t, c, b.s, Info{})
	b.start(0, true, 0, 0)
	b.start(0, false, 0, 0)
	b.start(1, false, 0, 0)
	b.start(1, false, 0, 0)
	b.r.Connected(0, true, milli, milli)
	b.r.Connected(1, false, milli, milli)
	b.r.Closed(&sampler.Conn{Stream: 1, Ended: 2 * milli}) // failed
	b.handOver(300 * milli)
	got := scrape(t, c)
	wantSeries(t, got, map[string]float64{
		"inflight{client=a,target=1}": 2, "inflight{client=b,target=1}": 2,
		"connections{client=a,state=connecting,target=1}": 1, "connections{client=a,state=established,target=1}": 1,
		"connections{client=b,state=connecting,target=1}": 0, "connections{client=b,state=established,target=1}": 1,
		"arrivals_started_total{client=a,target=1}": 2,
		// What is still open is no mistake in the accounts.
		"verdict{status=valid}": 1, "verdict{status=invalid}": 0,
	})
}

// onlyGrows says whether a series is a counter or of a histogram.
func onlyGrows(name string) bool {
	name, _, _ = strings.Cut(name, "{")
	for _, end := range []string{"_total", "_count", "_sum", "_bucket"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

func TestCountersNeverDecrease(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	last := map[string]float64{}
	look := func() {
		t.Helper()
		got := scrape(t, c)
		for name, v := range last {
			if have, ok := got[name]; onlyGrows(name) && (!ok || have < v) {
				t.Fatalf("%s went from %v to %v (there: %v)", name, v, have, ok)
			}
		}
		last = got
	}
	const runs = 4
	for k := range runs {
		o := twoStreams
		if k == 2 {
			o.Streams = []string{"a"}
		}
		if k == 3 {
			// Many streams have coarser histograms.
			for i := range 17 {
				o.Streams = append(o.Streams, fmt.Sprint(i))
			}
		}
		b := newBench(t, o)
		run := attach(t, c, b.s, Info{ID: fmt.Sprint(k)})
		look()
		for i := range 200 {
			b.reply(0, i < 2, time.Duration(i)*20*milli, time.Duration(1+k*i)*50*micro, 200+i%50)
			if i%20 == 0 {
				look()
			}
		}
		b.finish(5 * time.Second)
		look()
		run.End(time.Now())
		look()
	}
	wantSeries(t, last, map[string]float64{
		"latency_seconds_count{client=a,target=1}":             runs * 200,
		"replies_total{client=a,code=200,target=1}":            runs * 4,
		"arrivals_started_total{client=a,target=1}":            runs * 200,
		"arrivals_started_total{client=b,target=1}":            0,
		"client_weight{client=b,target=1}":                     1,
		"run_info{engine=,model=open,process=,run_id=3}":       1,
		"client_verdict{client=a,status=valid,target=1}":       1,
		"connections{client=a,state=established,target=1}":     0,
		"arrivals_completed_total{client=a,target=1}":          runs * 200,
		"connections_established_total{client=a,target=1}":     runs * 200,
		"latency_seconds_bucket{client=a,target=1}100":         runs * 200,
		"calls_total{client=a,outcome=unfinished,target=1}":    0,
		"reply_bytes_total{client=a,part=body,target=1}":       runs * 200 * 800,
		"arrivals_shed_total{cause=backlog,client=a,target=1}": 0,
	})
}

func TestOverflow(t *testing.T) {
	t.Parallel()
	const streams = 1000
	var names []string
	for i := range streams {
		names = append(names, fmt.Sprintf("client-%d", i))
	}
	c := newCollector(t)
	var before map[string]float64
	replies, folded := 0., 0.
	for _, tt := range []struct {
		name  string
		names []string
		fold  int // of the clients
	}{
		{"all at once", names, streams - maxPairs},
		{"those that were folded, alone", names[900:], 100},
		{"one that was kept", names[:1], 0},
	} {
		b := newBench(t, sampler.Options{Streams: tt.names})
		run := attach(t, c, b.s, Info{})
		for i := range streams {
			// Codes of no class at all are codes too.
			b.reply(i%len(tt.names), false, 0, milli, i)
		}
		b.finish(time.Second)
		run.End(time.Now())
		got := scrape(t, c)
		for name := range got {
			if _, ok := before[name]; !ok && before != nil {
				t.Errorf("%s: %s is new", tt.name, name)
			}
		}
		before = got
		clients, codes, sum := map[string]bool{}, map[string]bool{}, 0.
		for name, v := range got {
			if rest, ok := strings.CutPrefix(name, "replies_total{client="); ok {
				client, rest, _ := strings.Cut(rest, ",code=")
				code, _, _ := strings.Cut(rest, ",")
				clients[client], codes[code] = true, true
				sum += v
			}
		}
		if len(clients) != maxPairs+1 || len(codes) != maxCodes+1 || !clients[other] || !codes[other] {
			t.Errorf("%s: %d clients and %d codes have series, want %d and %d", tt.name, len(clients), len(codes), maxPairs+1, maxCodes+1)
		}
		replies += streams
		folded += float64(tt.fold)
		if sum != replies {
			t.Errorf("%s: %v replies, want %v", tt.name, sum, replies)
		}
		wantSeries(t, got, map[string]float64{
			"label_overflow_total{label=client}":       folded,
			"label_overflow_total{label=target}":       folded,
			"label_overflow_total{label=code}":         1000 - maxCodes,
			"client_weight{client=other,target=other}": float64(tt.fold),
		})
	}
	wantSeries(t, before, map[string]float64{
		"arrivals_started_total{client=other,target=other}":   streams - maxPairs + streams,
		"latency_seconds_count{client=other,target=other}":    streams - maxPairs + streams,
		"arrivals_completed_total{client=client-63,target=1}": 1,
		"arrivals_completed_total{client=client-0,target=1}":  1 + streams,
	})
}

func TestStreamsOfOnePair(t *testing.T) {
	t.Parallel()
	b := newBench(t, twoStreams)
	c := newCollector(t)
	start := time.Unix(1000, 0)
	c.clock = func() time.Time { return start.Add(time.Second) }
	rate := func(at time.Duration) float64 { return 10 * at.Seconds() }
	run := attach(t, c, b.s, Info{Streams: []Stream{{Client: "both", Rate: rate, Weight: 2}, {Client: "both", Rate: rate}}})
	run.Begin(start)
	b.reply(0, false, 0, milli, 200)
	b.reply(1, false, 0, milli, 200)
	b.reply(1, false, 0, milli, 200)
	b.finish(time.Second)
	wantSeries(t, scrape(t, c), map[string]float64{
		"replies_total{client=both,code=200,target=1}": 3,
		"client_weight{client=both,target=1}":          3,
		"target_rate{client=both,target=1}":            20,
	})
	run.End(start.Add(2 * time.Second))
	wantSeries(t, scrape(t, c), map[string]float64{
		"replies_total{client=both,code=200,target=1}": 3,
		"client_weight{client=both,target=1}":          3,
		"target_rate{client=both,target=1}":            0,
	})
}

func TestPhases(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	c := newCollector(t)
	now := start.Add(-time.Hour)
	c.clock = func() time.Time { return now }
	b := newBench(t, sampler.Options{Warmup: time.Second})
	run := attach(t, c, b.s, Info{
		ID: "r", Process: "poisson", Engine: "loop", Closed: true, Warmup: time.Second, Planned: 10 * time.Second, MaxInflight: 99,
		Streams: []Stream{{Rate: func(at time.Duration) float64 { return 100 + at.Seconds() }}},
	})
	check := func(at time.Duration, want string, rate float64) {
		t.Helper()
		now = start.Add(at)
		got := scrape(t, c)
		for _, name := range []string{"warmup", "running", "draining", "done"} {
			if have := got["run_phase{phase="+name+"}"]; have != truth(name == want) {
				t.Errorf("at %v phase %s is %v, want that of %q", at, name, have, want)
			}
		}
		wantSeries(t, got, map[string]float64{
			"target_rate{client=1,target=1}":                              rate,
			"run_info{engine=loop,model=closed,process=poisson,run_id=r}": 1,
			"run_planned_duration_seconds{}":                              10,
			"inflight_limit{}":                                            99,
		})
	}
	check(0, "", 0)
	run.Begin(start)
	check(-time.Millisecond, "", 0)
	check(0, "warmup", 100)
	check(time.Second, "running", 101)
	check(9*time.Second, "running", 109)
	check(10*time.Second, "draining", 0)
	wantSeries(t, scrape(t, c), map[string]float64{"run_start_timestamp_seconds{}": 1000, "run_end_timestamp_seconds{}": 0})
	check(5*time.Second, "running", 105)
	run.Drain()
	check(5*time.Second, "draining", 0)
	b.finish(6 * time.Second)
	run.End(start.Add(6 * time.Second))
	check(7*time.Second, "done", 0)
	run.End(start.Add(time.Hour))
	run.Begin(start.Add(time.Hour))
	wantSeries(t, scrape(t, c), map[string]float64{"run_start_timestamp_seconds{}": 1000, "run_end_timestamp_seconds{}": 1006})
	b = newBench(t, sampler.Options{})
	if _, err := c.Attach(b.s, Info{ID: "next"}); err != nil {
		t.Fatal(err)
	}
	got := scrape(t, c)
	wantSeries(t, got, map[string]float64{
		"run_phase{phase=done}": 0, "run_start_timestamp_seconds{}": 0, "run_end_timestamp_seconds{}": 0,
		"run_info{engine=,model=open,process=,run_id=next}": 1,
	})
	if _, ok := got["run_info{engine=loop,model=closed,process=poisson,run_id=r}"]; ok {
		t.Error("the run before is still shown")
	}
}

func TestTrial(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	const name = "trial_info{arm=nginx,experiment=compare,rung=3,trial=17}"
	if err := c.SetTrial("compare", "nginx", 3, 17); err != nil {
		t.Fatal(err)
	}
	if got := scrape(t, c); got[name] != 1 {
		t.Errorf("%s is %v, want 1", name, got[name])
	}
	if err := c.SetTrial("", "", 0, 0); err != nil {
		t.Fatal(err)
	}
	if _, ok := scrape(t, c)[name]; ok {
		t.Error("the trial is shown after the experiment")
	}
	for _, bad := range []string{"\xff", strings.Repeat("x", maxName+1)} {
		if c.SetTrial(bad, "a", 0, 0) == nil || c.SetTrial("a", bad, 0, 0) == nil {
			t.Errorf("%.10q is a label value", bad)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, twoStreams)
	c := newCollector(t)
	for _, tt := range []struct {
		name string
		s    *sampler.Sampler
		i    Info
		want string
	}{
		{"no sampler", nil, Info{}, "prom: no sampler: want one"},
		{"too few streams", b.s, Info{Streams: []Stream{{}}}, "prom: 1 streams: want 2, as many as the sampler has"},
		{"client", b.s, Info{Streams: []Stream{{Client: "\xff"}, {}}}, `prom: client "\xff": want valid UTF-8 of at most 128 bytes`},
		{"target", b.s, Info{Streams: []Stream{{}, {Target: strings.Repeat("t", 129)}}}, "want valid UTF-8 of at most 128 bytes"},
		{"run", b.s, Info{ID: "\xff"}, `prom: run "\xff"`},
		{"process", b.s, Info{Process: "\xff"}, `prom: process "\xff"`},
		{"engine", b.s, Info{Engine: "\xff"}, `prom: engine "\xff"`},
		{"warm-up", b.s, Info{Warmup: -1}, "prom: warm-up -1ns, planned 0s, bound of 0 in flight: want none below 0"},
		{"weight", b.s, Info{Streams: []Stream{{}, {Weight: -1}}}, `prom: weight -1 of client "b": want more than 0`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := c.Attach(tt.s, tt.i); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Attach: %v, want %s", err, tt.want)
			}
		})
	}
	run := attach(t, c, b.s, Info{ID: "first"})
	if _, err := c.Attach(b.s, Info{}); err == nil || err.Error() != `prom: run "first" is attached: want it ended before the next` {
		t.Errorf("a second run: %v", err)
	}
	run.End(time.Now())
	attach(t, c, newBench(t, twoStreams).s, Info{})
	if _, err := New(Options{Version: "\xff"}); err == nil {
		t.Error("a version that is no text is taken")
	}
}

// What is in use already must not be changed through the caller's slice.
func TestInfoIsNotChanged(t *testing.T) {
	t.Parallel()
	streams := []Stream{{}, {Client: "x"}}
	attach(t, newCollector(t), newBench(t, twoStreams).s, Info{Streams: streams})
	if streams[0].Client != "" || streams[0].Weight != 0 || streams[1].Target != "" {
		t.Errorf("the caller's streams became %+v", streams)
	}
}

func TestLint(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	lint := func(when string) {
		t.Helper()
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(c)
		problems, err := testutil.GatherAndLint(registry)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			t.Errorf("%s: %s: %s", when, p.Metric, p.Text)
		}
	}
	lint("before")
	b := newBench(t, twoStreams)
	run := attach(t, c, b.s, Info{})
	if err := c.SetTrial("fair", "a", 0, 1); err != nil {
		t.Fatal(err)
	}
	lint("attached")
	scripted(b)
	run.End(time.Now())
	lint("after")
}

func TestPromtool(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("no promtool here")
	}
	c := newCollector(t)
	b := newBench(t, twoStreams)
	run := attach(t, c, b.s, Info{})
	scripted(b)
	run.End(time.Now())
	var text bytes.Buffer
	for _, f := range families(t, c) {
		if _, err := expfmt.MetricFamilyToText(&text, f); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), promtool, "check", "metrics")
	cmd.Stdin = &text
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
}

func TestScrapesDuringARun(t *testing.T) {
	t.Parallel()
	b := newBench(t, twoStreams)
	c := newCollector(t)
	run := attach(t, c, b.s, Info{})
	stop := make(chan struct{})
	var scrapers sync.WaitGroup
	for range 4 {
		scrapers.Go(func() {
			last := map[string]float64{}
			for {
				got := scrape(t, c)
				for name, v := range last {
					if onlyGrows(name) && got[name] < v {
						t.Errorf("%s went from %v to %v", name, v, got[name])
					}
				}
				last = got
				// One look has to fit itself.
				for _, l := range []string{"client=a,", "client=b,"} {
					var replies float64
					for name, v := range got {
						if strings.HasPrefix(name, "replies_total{"+l) {
							replies += v
						}
					}
					if n := got["latency_seconds_count{"+l+"target=1}"]; n != replies {
						t.Errorf("%v replies with %v latencies", replies, n)
					}
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	const n = 5000
	for i := range n {
		b.reply(i%2, false, time.Duration(i)*milli, 300*micro, 200)
	}
	b.finish(n * milli)
	close(stop)
	scrapers.Wait()
	run.End(time.Now())
	wantSeries(t, scrape(t, c), map[string]float64{
		"replies_total{client=a,code=200,target=1}": n / 2, "replies_total{client=b,code=200,target=1}": n / 2,
	})
}

// Somebody who takes metrics and then stops must not hold up the next scrape.
func TestAScrapeThatHangs(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	hung := make(chan prometheus.Metric)
	gone := make(chan struct{})
	go func() {
		c.Collect(hung)
		close(gone)
	}()
	<-hung
	b := newBench(t, sampler.Options{})
	run := attach(t, c, b.s, Info{})
	b.reply(0, false, 0, milli, 200)
	b.finish(time.Second)
	run.End(time.Now())
	if got := scrape(t, c); got["replies_total{client=1,code=200,target=1}"] != 1 {
		t.Errorf("a scrape beside one that hangs: %v", got)
	}
	for {
		select {
		case <-hung:
			continue
		case <-gone:
			return
		}
	}
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	b := newBench(t, sampler.Options{})
	c := newCollector(t)
	run := attach(t, c, b.s, Info{})
	// A lag of 200 ms is nothing that a server could be blamed for.
	for i := range 500 {
		at := time.Duration(i) * milli
		b.start(0, false, at, 200*milli)
		b.r.Closed(&sampler.Conn{Ended: at + 201*milli})
		b.r.Arrival(&sampler.Arrival{Intended: at, Started: at + 200*milli, Ended: at + 201*milli, Outcome: sampler.Reset, Planned: 1, Unsent: 1})
	}
	b.handOver(800 * milli)
	want := map[string]float64{
		"verdict{status=valid}": 0, "verdict{status=degraded}": 0, "verdict{status=invalid}": 1,
		"client_verdict{client=1,status=valid,target=1}": 0, "client_verdict{client=1,status=degraded,target=1}": 0,
		"client_verdict{client=1,status=invalid,target=1}": 1,
	}
	wantSeries(t, scrape(t, c), want)
	b.finish(time.Second)
	run.End(time.Now())
	wantSeries(t, scrape(t, c), want)
}

func TestSeriesPerPair(t *testing.T) {
	t.Parallel()
	sizes := map[int]int{}
	for _, n := range []int{1, 2, 3} {
		b := newBench(t, sampler.Options{Streams: []string{"a", "b", "c"}[:n]})
		c := newCollector(t)
		attach(t, c, b.s, Info{})
		sizes[n] = len(scrape(t, c))
	}
	if a, b := sizes[2]-sizes[1], sizes[3]-sizes[2]; a != b || a > 350 {
		t.Errorf("a pair costs %d, then %d series, want the same and at most 350", a, b)
	}
}
