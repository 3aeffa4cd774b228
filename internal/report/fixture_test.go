package report

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// timing returns a Timing of n samples whose median is p50, in milliseconds.
func timing(n uint64, p50 float64) Timing {
	return Timing{
		Count: n, Mean: 1.1 * p50 / 1e3, StdDev: 0.2 * p50 / 1e3, Min: 0.5 * p50 / 1e3,
		Percentiles: NewPercentiles(n, func(q float64) float64 { return (p50 + 2*p50*(q-0.5)) / 1e3 }),
		Max:         2.5 * p50 / 1e3, HDR: "HISTFAAAAA==",
	}
}

// ordinary returns the result of a run that went well: 20000 connections at
// 2000 per second, one call each.
func ordinary() *Result {
	const n = 20000
	r := &Result{
		Schema: ResultSchema,
		Tool:   Tool{Name: "httpgen", Version: "1.0.0", Go: "go1.26", OS: "linux", Kernel: "6.1.0", CPUs: 2},
		Run: Run{
			ID: "7f3a", Argv: []string{"httpgen", "--rate", "2000", "http://127.0.0.1:8080/?a=1&b=<2>"},
			Echo:      "httperf --client=0/1 --server=127.0.0.1 --port=8080 --uri=/ --rate=2000 --send-buffer=4096 --recv-buffer=16384 --num-conns=20000 --num-calls=1",
			StartedAt: time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC), EpochUnixNanos: 1740830400000000000,
			StopReason: "schedule", Complete: true, PlannedSeconds: new(10.0), SendingSeconds: 10, TotalSeconds: 10.0004,
		},
		Config: Config{
			Rate: "2000", Process: "constant", RatePerSecond: 2000, CallsPerConnection: 1, BurstLength: 1, MaxInflight: 20000, Loops: 1,
			SpinSeconds: 1e-4, CatchUp: "2x", Seed: 1, CloseMode: "auto", CloseModeUsed: "fin",
			DrainSeconds: 30, WindowSeconds: 5, BaseWindowSeconds: 1, Method: "GET", Workload: Workload{Kind: "calls"}, Engine: "loop", Nofile: 1048576,
			Target: Target{URL: "http://127.0.0.1:8080/", Addresses: []string{"127.0.0.1:8080"}, HostHeader: "127.0.0.1"},
		},
		Model:   Open,
		Verdict: Verdict{Status: Valid},
		Totals: Totals{
			Arrivals: Arrivals{Scheduled: n, Started: n, StartedLate: 3}, Completed: n,
			Calls:       Calls{Planned: n, Replied: n},
			Connections: Connections{Attempted: n, Established: n, PeakOpen: 4, MaxBurst: 2},
			Requests:    n, Replies: n, Codes: map[string]uint64{"200": n},
			Bytes: Bytes{Sent: 62 * n, Received: 955 * n, Request: 62*n + 10000, Header: 184 * n, Body: 771 * n},
		},
		Rates: Rates{OfferedPerSecond: 2000, StartedPerSecond: 2000, ConnectionsPerSecond: Per(n, 10.0004), RequestsPerSecond: Per(n, 10.0004),
			Replies: NewSamples([]float64{1999.8, 2000.2}, 5)},
		Times: Times{
			Latency: timing(n, 0.31), Service: timing(n, 0.3),
			All: NewAllArrivals(n, 0, 0.000775, func(q float64) float64 { return (0.31 + 0.62*(q-0.5)) / 1e3 }),
			Lag: timing(n, 0.006), Connect: timing(n, 0.05), FirstByte: timing(n, 0.2), Transfer: timing(n, 0.04), Lifetime: timing(n, 0.33),
		},
		CPU: CPU{UserSeconds: 0.52, SystemSeconds: 2.31},
	}
	r.Totals.Status.Add(200, n)
	for i := range 10 {
		r.Windows = append(r.Windows, window(float64(i), 2000))
	}
	return r
}

// window returns a window of one second in which n arrivals were started and replied to.
func window(start float64, n uint64) Window {
	s := Summary{Count: n, Min: 0.0002, Mean: 0.00032, Max: 0.0011, StdDev: 0.00004}
	s.Percentiles(func(q float64) float64 { return 0.001 * q })
	w := Window{StartSeconds: start, LengthSeconds: 1, Scheduled: n, Started: n, Replies: n, Inflight: 2, Connections: 2,
		Latency: s, Service: s, Lag: WindowLag{P99: new(0.00002), Max: 0.0001}}
	w.Status.Add(200, n)
	return w
}

// overload returns the result of a run in which everything went wrong that can:
// sessions of two clients against a server that answers less than half of them.
func overload() *Result {
	r := ordinary()
	r.Run.Complete, r.Run.StopReason, r.Run.PlannedSeconds = false, "signal", nil
	r.Config.WarmupSeconds = 2
	r.Config.Timeouts = Timeouts{ConnectSeconds: new(1.0), ReplySeconds: new(1.0)}
	r.Config.Sources = []string{"127.0.0.2", "127.0.0.3"}
	r.Config.Workload = Workload{Kind: "list", File: "uris", Entries: 7, Once: true}
	r.Verdict = Verdict{Invalid, []Reason{
		{"lag_p99", "the lag's p99 is 119 ms, more than 100 ms allowed:\nlower the rate or give the generator a core of its own", 0.1188, 0.1},
		{"started_share", "97.0 % of the arrivals were started, less than 99 % wanted: raise --max-inflight", 0.97, 0.99},
	}}

	t := &r.Totals
	t.Arrivals.Started, t.Completed, t.Unfinished, t.LostCalls, t.Retries = 19400, 8000, 5, 41, 7
	t.Arrivals.Shed.Add("inflight", 590)
	t.Arrivals.Shed.Add("late", 10)
	for i, c := range t.Errors.counts() {
		t.Errors.Add(c.name, uint64(i+1)) // 1+2+...+20
	}
	t.Errors.Add("reply_timeout", 11185)
	t.TLSFailures = map[string]uint64{"unknown_authority": 9, "alert_handshake_failure": 4}
	t.Calls = Calls{Planned: 19400, Replied: 8100, Unanswered: 11295, Unfinished: 5}
	t.Connections.Attempted, t.Connections.Established, t.Connections.Failed, t.Connections.PeakOpen = 19400, 19383, 17, 1940
	t.Requests, t.Replies = 19395, 8100
	t.Status = Status{}
	t.Status.Add(200, 8000)
	t.Status.Add(503, 90)
	t.Status.Add(999, 10)
	t.Codes = map[string]uint64{"503": 90, "200": 8000, "999": 10}
	t.Bytes = Bytes{Sent: 62 * 19400, Received: 962 * 8100, Request: 62 * 19395, Header: 184 * 8100, Body: 771 * 8100, Trailer: 2 * 8100, Framing: 5 * 8100}
	r.Rates = Rates{OfferedPerSecond: 2000, StartedPerSecond: 1940, ConnectionsPerSecond: Per(19400, 10.0004), RequestsPerSecond: Per(19395, 10.0004),
		Replies: NewSamples([]float64{800, 820}, 5)}

	r.Warmup = &Totals{Completed: 3900, Arrivals: Arrivals{Scheduled: 4000, Started: 3990, Shed: Shed{Late: 10}}}
	r.Warmup.Errors.Add("reset", 90)
	r.Sessions = &Sessions{OK: 8000, Total: 19395, PerSecond: Per(8000, 10.0004), Rate: NewSamples([]float64{790, 810}, 5),
		ConnectionsPerSession: 1.25, LifetimeSeconds: 0.44, FailtimeSeconds: 1.02, LengthHistogram: []uint64{11295, 0, 8100}}
	r.Times.Latency, r.Times.Service = timing(8100, 412), timing(8100, 95)
	r.Times.All = NewAllArrivals(19400, 11300, 1.75, func(q float64) float64 { return 0.824 * q })
	r.Times.Lag, r.Times.Lifetime = timing(20000, 60), timing(8100, 640)
	r.Times.Wait, r.Times.TLS, r.Times.Failure = timing(300, 3), timing(8100, 2), timing(11395, 1000)

	r.Windows = r.Windows[:2]
	r.Windows[1].Shed.Add("inflight", 30)
	r.Windows[1].Errors.Add("reply_timeout", 12)
	r.Windows[1].Unfinished = 5
	r.Windows[1].Latency = Summary{Count: 3, Min: 0.1, Mean: 0.2, Max: 0.3, StdDev: 0.1}
	for _, name := range []string{"heavy", "light, quoted"} {
		r.Streams = append(r.Streams, Stream{Name: name, Target: "http://127.0.0.1:8080/", Weight: 0.5, Verdict: Verdict{Status: Valid},
			Totals: *t, Rates: r.Rates, Times: r.Times, Windows: r.Windows})
	}
	r.Streams[1].Verdict = Verdict{Invalid, r.Verdict.Reasons[:1]}
	return r
}

// nothing returns the result of a run that ended before it began.
func nothing() *Result {
	return &Result{Schema: ResultSchema, Model: Open, Verdict: Verdict{Status: Valid}}
}

// render returns what f writes for r.
func render(t *testing.T, f func(io.Writer, *Result) error, r *Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := f(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// ndjson writes the windows of a result and of its streams, then the last line.
func ndjson(w io.Writer, r *Result) error {
	n := NewNDJSON(w, r.Run.ID)
	var errs []error
	for _, win := range r.Windows {
		errs = append(errs, n.Window("", win))
	}
	for _, s := range r.Streams {
		for _, win := range s.Windows {
			errs = append(errs, n.Window(s.Name, win))
		}
	}
	return errors.Join(append(errs, n.Result(r))...)
}

// lines writes the windows of a result as live lines.
func lines(w io.Writer, r *Result) error {
	var errs []error
	for _, win := range r.Windows {
		_, err := io.WriteString(w, Line(win, 2000)+"\n")
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// formats are all the renderings.
var formats = []struct {
	name  string
	write func(io.Writer, *Result) error
}{
	{"classic", Details{}.Classic}, {"text", Details{}.Text}, {"json", JSON}, {"csv", CSV}, {"ndjson", ndjson}, {"line", lines},
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for _, fixture := range []struct {
		name   string
		result *Result
	}{
		{"ordinary", ordinary()}, {"overload", overload()}, {"nothing", nothing()},
	} {
		for _, f := range formats {
			t.Run(fixture.name+"/"+f.name, func(t *testing.T) {
				got := render(t, f.write, fixture.result)
				file := filepath.Join("testdata", fixture.name+"."+f.name+".golden")
				if os.Getenv("UPDATE") == "1" {
					if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if got != string(want) {
					t.Errorf("output differs from %s (rewrite it with UPDATE=1 and look at the diff):\n%s", file, got)
				}
			})
		}
	}
}

// full is a writer on a full disk.
type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteError(t *testing.T) {
	t.Parallel()
	for _, f := range formats {
		if f.name == "line" {
			continue // Line returns a string.
		}
		if err := f.write(full{}, ordinary()); !errors.Is(err, errFull) {
			t.Errorf("%s: error %v, want %v", f.name, err, errFull)
		}
	}
}
