package run

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"httpgen/client"
	"httpgen/internal/report"
	"httpgen/pacer"
)

func parse(t *testing.T, rate string) pacer.Process {
	t.Helper()
	p, err := pacer.Parse(rate)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// planned makes a run without carrying it out.
func planned(t *testing.T, o Options) *Run {
	t.Helper()
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func server(t *testing.T, h http.HandlerFunc) (host string, port int) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	a := s.Listener.Addr().(*net.TCPAddr)
	return a.IP.String(), a.Port
}

func do(t *testing.T, o Options) *report.Result {
	t.Helper()
	res, err := planned(t, o).Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func hello(w http.ResponseWriter, r *http.Request) { w.Write([]byte("hello")) }

func TestResultOfAnOpenRun(t *testing.T) {
	t.Parallel()
	host, port := server(t, hello)
	res := do(t, Options{
		Server: host, Port: port, Process: parse(t, "200"), RateText: "200", NumConns: 50, NumCalls: 2, Timeout: 5 * time.Second,
		Argv: []string{"httpgen", "-H", "Authorization: secret"}, Header: []client.Header{{Name: "Authorization", Value: "secret"}},
	})
	to := &res.Totals
	if to.Arrivals.Scheduled != 50 || to.Completed != 50 || to.Requests != 100 || to.Replies != 100 || to.Codes["200"] != 100 {
		t.Errorf("totals = %+v: want 50 arrivals with 100 calls answered", to)
	}
	if res.Run.PlannedSeconds == nil || *res.Run.PlannedSeconds != .25 || res.Run.SendingSeconds != .25 || res.Rates.OfferedPerSecond != 200 {
		t.Errorf("planned %v, sending %v, offered %v: want 0.25, 0.25, 200", res.Run.PlannedSeconds, res.Run.SendingSeconds, res.Rates.OfferedPerSecond)
	}
	// Samples of 100 ms: two are full in 250 ms.
	if s := res.Rates.Replies; s.Samples != 2 || s.WindowSeconds != .1 || s.Avg < 150 || s.Avg > 400 {
		t.Errorf("reply rate = %+v: want 2 samples of 0.1 s near 400/s", s)
	}
	if res.Model != report.Open || res.Run.StopReason != "count" || !res.Run.Complete {
		t.Errorf("model %s, stopped by %s, complete %v: want open, count, true", res.Model, res.Run.StopReason, res.Run.Complete)
	}
	if b, _ := json.Marshal(res); strings.Contains(string(b), "secret") {
		t.Error("the result holds the secret of a header")
	}
	var scheduled, replies uint64
	for _, w := range res.Windows {
		scheduled += w.Scheduled
		replies += w.Replies
	}
	if scheduled != 50 || replies != 100 {
		t.Errorf("windows hold %d arrivals and %d replies, want 50 and 100", scheduled, replies)
	}
}

func TestResultOfAClosedRun(t *testing.T) {
	t.Parallel()
	host, port := server(t, hello)
	for _, tt := range []struct {
		name string
		o    Options
	}{
		{"sequential", Options{NumConns: 5}},
		{"callers", Options{NumConns: 5, Closed: 2, KeepOpen: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Server, tt.o.Port = host, port
			if res := do(t, tt.o); res.Model != report.Closed || res.Totals.Completed != 5 || res.Times.Lag.Max != 0 {
				t.Errorf("model %s, completed %d, lag %v: want closed, 5, none", res.Model, res.Totals.Completed, res.Times.Lag.Max)
			}
		})
	}
}

func TestClientsDrawDifferentArrivals(t *testing.T) {
	t.Parallel()
	draw := func(o Options) string {
		o.Server, o.NumConns, o.Process = "127.0.0.1", 5, parse(t, "poisson:100")
		r := planned(t, o)
		s := r.streams[0].as.Process.Schedule(0, 1, r.streams[0].as.Seed)
		var at []time.Duration
		for range 5 {
			_, d, _ := s.Next()
			at = append(at, d)
		}
		return fmt.Sprint(at)
	}
	alone, first, second := draw(Options{}), draw(Options{Clients: 2}), draw(Options{Client: 1, Clients: 2})
	if alone != first || first == second || second != draw(Options{Client: 1, Clients: 2}) {
		t.Errorf("client 0/1 draws %s, 0/2 %s, 1/2 %s: want the first two equal, the last another, and always the same", alone, first, second)
	}
}

func TestWarmupHasItsOwnTotals(t *testing.T) {
	t.Parallel()
	host, port := server(t, hello)
	res := do(t, Options{Server: host, Port: port, Process: parse(t, "200"), NumConns: 60, Warmup: 100 * time.Millisecond})
	if res.Warmup == nil || res.Warmup.Arrivals.Scheduled != 20 || res.Totals.Arrivals.Scheduled != 40 {
		t.Fatalf("warm-up %+v, totals %+v: want 20 and 40 arrivals", res.Warmup, res.Totals.Arrivals)
	}
	if *res.Run.PlannedSeconds != .2 || res.Rates.OfferedPerSecond != 200 || res.Windows[0].StartSeconds != .1 {
		t.Errorf("planned %v, offered %v, first window at %v: want 0.2, 200, 0.1", *res.Run.PlannedSeconds, res.Rates.OfferedPerSecond, res.Windows[0].StartSeconds)
	}
}

func TestFollowYieldsWindowsAndSamples(t *testing.T) {
	t.Parallel()
	host, port := server(t, hello)
	r := planned(t, Options{Server: host, Port: port, Process: parse(t, "200"), Duration: 400 * time.Millisecond, Window: 200 * time.Millisecond})
	done := make(chan *report.Result)
	go func() {
		res, _ := r.Do(context.Background())
		done <- res
	}()
	var base, samples int
	var scheduled uint64
	for w := range r.Follow() {
		base++
		scheduled += w.All.Scheduled
		if w.Sample != nil && w.Sample.LengthSeconds == .2 {
			samples++
		}
	}
	if res := <-done; base < 4 || samples != 2 || scheduled != 80 || res.Rates.Replies.Samples != 2 {
		t.Errorf("%d windows, %d samples, %d arrivals, reply rate of %d samples: want at least 4, 2, 80, 2", base, samples, scheduled, res.Rates.Replies.Samples)
	}
}

func TestCancelledRunIsWhole(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	host, port := server(t, func(w http.ResponseWriter, r *http.Request) { cancel(); hello(w, r) })
	r := planned(t, Options{Server: host, Port: port, Process: parse(t, "100"), Forever: true})
	res, err := r.Do(ctx)
	if err != nil {
		t.Fatal(err)
	}
	a := res.Totals.Arrivals
	if res.Run.Complete || res.Run.StopReason != "signal" || res.Run.PlannedSeconds != nil {
		t.Errorf("run = %+v: want incomplete, by a signal, without a planned end", res.Run)
	}
	if a.Scheduled == 0 || a.Scheduled != a.Started+a.Shed.Total() {
		t.Errorf("arrivals = %+v: want scheduled = started + shed", a)
	}
}

func TestPlanText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		o    Options
		want []string
		warn string
	}{
		{"httperf's", Options{Server: "127.0.0.1", Port: 8081, Process: parse(t, "2000"), NumConns: 100000, Timeout: 5 * time.Second},
			[]string{"2000 connections/s x 1 call = 2000 calls/s for 50 s, 100000 connections", "To http://127.0.0.1:8081/ at 127.0.0.1:8081"}, ""},
		{"several calls", Options{Server: "127.0.0.1", Process: parse(t, "0.5"), Duration: 4 * time.Second, NumCalls: 10},
			[]string{"0.5 connections/s x 10 calls = 5 calls/s for 4 s, 2 connections", "No timeout: a silent server is waited for 30 s"}, ""},
		{"pool", Options{Server: "127.0.0.1", Process: parse(t, "2000"), Duration: time.Second, Pool: 20},
			[]string{"2000 calls/s on a pool of 20 kept-open connections for 1 s, 2000 calls"}, ""},
		{"closed", Options{Server: "127.0.0.1", Closed: 50, KeepOpen: true, Duration: time.Second},
			[]string{"Closed model: 50 arrivals at a time on kept-open connections"}, ""},
		{"until a signal", Options{Server: "127.0.0.1", Process: parse(t, "poisson:100"), Forever: true},
			[]string{"100 connections/s x 1 call = 100 calls/s (poisson, mean) until a signal"}, ""},
		{"out of ports", Options{Server: "192.0.2.1", Process: parse(t, "5000"), Duration: 100 * time.Second, CloseMode: "fin"},
			nil, "local ports run dry after"},
		{"reset instead", Options{Server: "192.0.2.1", Process: parse(t, "5000"), Duration: 100 * time.Second},
			[]string{"closed by reset"}, "--close-mode fin forces it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := planned(t, tt.o).Plan()
			all := strings.Join(p.Header, "\n")
			for _, w := range tt.want {
				if !strings.Contains(all, w) {
					t.Errorf("plan:\n%s\n%q is missing", all, w)
				}
			}
			if warn := strings.Join(p.Warnings, "\n"); !strings.Contains(warn, tt.warn) || tt.warn == "" && warn != "" {
				t.Errorf("warnings %q, want %q", warn, tt.warn)
			}
		})
	}
}

func TestOptionsRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, want string
		o          Options
	}{
		{"port", "port 70000", Options{Port: 70000}},
		{"calls", "-1 calls", Options{NumCalls: -1}},
		{"close mode", `close mode "x"`, Options{CloseMode: "x"}},
		{"pool and closed", "closed model", Options{Pool: 1, Closed: 1}},
		{"pool and calls", "an arrival is one call", Options{Pool: 1, Process: parse(t, "1"), NumCalls: 2}},
		{"client", "client 2/2", Options{Client: 2, Clients: 2}},
		{"duration", "duration -1s", Options{Duration: -time.Second}},
		{"warm-up", "nothing would be measured", Options{Process: parse(t, "10"), NumConns: 10, Warmup: time.Minute}},
		{"pool beyond descriptors", "descriptors", Options{Process: parse(t, "10"), Pool: 1 << 30}},
		{"family", "no address of the family", Options{Server: "127.0.0.1", IPv6: true}},
		{"resolve", `resolve "x"`, Options{Server: "x", Resolve: []string{"x"}}},
		{"method", "method", Options{Method: "GE T"}},
		{"source", "source 192.0.2.7", Options{Server: "127.0.0.1", Sources: []netip.Addr{netip.MustParseAddr("192.0.2.7")}}},
		{"unix path", "unix socket", Options{Unix: "/" + strings.Repeat("x", 200)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := New(tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New = %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestUnixSocket(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	go http.Serve(l, http.HandlerFunc(hello))
	defer l.Close()
	if res := do(t, Options{Unix: path, Process: parse(t, "1000"), NumConns: 10}); res.Totals.Completed != 10 || res.Config.Target.Unix != path {
		t.Errorf("completed %d on %q: want 10 on %q", res.Totals.Completed, res.Config.Target.Unix, path)
	}
}

func TestResolved(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in    string
		match bool
		want  string
	}{
		{"example.test:80:127.0.0.1", true, "[127.0.0.1]"},
		{"EXAMPLE.test:80:127.0.0.1,[::1]", true, "[127.0.0.1 ::1]"},
		{"*:80:::1", true, "[::1]"},
		{"example.test:*:127.0.0.1", true, "[127.0.0.1]"},
		{"example.test:81:127.0.0.1", false, "[127.0.0.1]"},
		{"other.test:80:127.0.0.1", false, "[127.0.0.1]"},
		{"[::2]:80:127.0.0.1", false, "[127.0.0.1]"},
	} {
		ips, match, err := resolved(tt.in, "example.test", 80)
		if err != nil || match != tt.match || fmt.Sprint(ips) != tt.want {
			t.Errorf("resolved(%q) = %v, %v, %v: want %s, %v", tt.in, ips, match, err, tt.want, tt.match)
		}
	}
	for _, in := range []string{"", "a", "a:80", "a:80:", ":80:127.0.0.1", "a:x:127.0.0.1", "a:80:b", "a:99999:127.0.0.1"} {
		if _, _, err := resolved(in, "a", 80); err == nil {
			t.Errorf("resolved(%q): no error", in)
		}
	}
}

func TestHostHeader(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		o    Options
		want string
	}{
		{Options{Server: "a", Port: 80}, "a"},
		{Options{Server: "a", Port: 81}, "a:81"},
		{Options{Server: "::1", Port: 81}, "[::1]:81"},
		{Options{Server: "[::1]", Port: 80}, "[::1]"},
		{Options{Server: "a", Port: 81, ServerName: "b"}, "b"},
		{Options{Server: "a", Port: 81, Unix: "/s"}, "a"},
	} {
		if got := hostHeader(&tt.o); got != tt.want {
			t.Errorf("hostHeader(%+v) = %q, want %q", tt.o, got, tt.want)
		}
	}
}

func TestStatusSet(t *testing.T) {
	t.Parallel()
	s, err := ParseStatusSet("200, 3xx,404-406")
	if err != nil {
		t.Fatal(err)
	}
	for code, want := range map[int]bool{199: false, 200: true, 201: false, 300: true, 399: true, 400: false, 404: true, 406: true, 407: false, 1200: false, -1: false} {
		if got := s.Has(code); got != want {
			t.Errorf("Has(%d) = %v, want %v", code, got, want)
		}
	}
	for _, in := range []string{"", "x", "99", "1000", "300-200", "200,", "2x", "xxx"} {
		if _, err := ParseStatusSet(in); err == nil || !strings.Contains(err.Error(), "want codes") {
			t.Errorf("ParseStatusSet(%q) = %v, want an error that says what is wanted", in, err)
		}
	}
}

func TestEchoedCommand(t *testing.T) {
	t.Parallel()
	r := planned(t, Options{Server: "127.0.0.1", Port: 81, URI: "/x", Process: parse(t, "2000"), RateText: "2000", NumConns: 10, Timeout: 1500 * time.Millisecond, Classic: true})
	want := "httperf --timeout=1.5 --client=0/1 --server=127.0.0.1 --port=81 --uri=/x --rate=2000 --num-conns=10 --num-calls=1"
	if got := r.echo(); got != want {
		t.Errorf("echo = %q, want %q", got, want)
	}
}

// TestDrainIsPatient holds the default drain against what the timeouts allow: a
// run must not cut off arrivals that keep within them.
func TestDrainIsPatient(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		o    Options
		want time.Duration
	}{
		{"none", Options{}, 30 * time.Second},
		{"one call", Options{Timeout: time.Second}, 4 * time.Second},
		{"calls", Options{Timeout: time.Second, NumCalls: 5}, 12 * time.Second},
		{"bursts", Options{Timeout: time.Second, NumCalls: 5, Burst: 2, Pause: time.Second}, 11 * time.Second},
		{"think", Options{Timeout: time.Second, ThinkTimeout: 2 * time.Second}, 6 * time.Second},
		{"connect alone", Options{ConnectTimeout: time.Second}, 30 * time.Second},
		{"deadline", Options{Deadline: 2 * time.Second}, 3 * time.Second},
	} {
		if r := planned(t, Options(tt.o)); *r.o.Drain != tt.want {
			t.Errorf("%s: drain %v, want %v", tt.name, *r.o.Drain, tt.want)
		}
	}
	host, port := server(t, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	res := do(t, Options{Server: host, Port: port, Process: parse(t, "200"), NumConns: 20, Timeout: 100 * time.Millisecond})
	if res.Totals.Errors.ReplyTimeout != 20 || res.Totals.Unfinished != 0 {
		t.Errorf("reply timeouts %d, unfinished %d: want 20 and none", res.Totals.Errors.ReplyTimeout, res.Totals.Unfinished)
	}
}
