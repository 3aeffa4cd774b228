package run

import (
	"context"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"httpgen/client"
	"httpgen/internal/accesslog"
	"httpgen/internal/report"
	"httpgen/pacer"
)

// together carries out a run of several clients.
func together(t *testing.T, clients ...Client) *report.Result {
	t.Helper()
	r, err := NewClients(clients)
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Streams) != len(clients) {
		t.Fatalf("%d streams, want %d", len(res.Streams), len(clients))
	}
	for i, c := range clients {
		if have := res.Streams[i].Name; have != c.Name {
			t.Errorf("stream %d is %q, want %q", i, have, c.Name)
		}
	}
	return res
}

// A seen counts requests by what it is told of them.
type seen struct {
	mu sync.Mutex
	n  map[string]int
}

func (s *seen) add(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n == nil {
		s.n = map[string]int{}
	}
	s.n[what]++
}

// Each client has its own rate, count, URI, headers, and what it expects.
func TestClientsAreTheirOwn(t *testing.T) {
	t.Parallel()
	var asked seen
	host, port := server(t, func(w http.ResponseWriter, r *http.Request) {
		asked.add(r.URL.Path + " " + r.Header.Get("X-Client"))
		if r.URL.Path == "/c" {
			w.WriteHeader(404)
		}
	})
	of := func(name string, rate string, n uint64) Options {
		return Options{
			Server: host, Port: port, URI: "/" + name, Process: parse(t, rate), RateText: rate, NumConns: n, Timeout: 10 * time.Second,
			Header: []client.Header{{Name: "X-Client", Value: name}},
		}
	}
	a, b, c := of("a", "200", 40), of("b", "150", 30), of("c", "100", 20)
	a.NumCalls, a.Warmup = 2, 50*time.Millisecond
	b.Expect, _ = ParseStatusSet("204")
	c.Expect, _ = ParseStatusSet("404")
	res := together(t, Client{"a", 0, a}, Client{"b", 2.5, b}, Client{"c", 4, c})

	if want := map[string]int{"/a a": 80, "/b b": 30, "/c c": 20}; fmt.Sprint(asked.n) != fmt.Sprint(want) {
		t.Errorf("the server was asked for %v, want %v", asked.n, want)
	}
	for i, want := range []struct {
		weight                         float64
		scheduled, completed, replies  uint64
		unexpected, without, warmedOut uint64
	}{
		{1, 30, 30, 60, 0, 0, 10},
		{2.5, 22, 0, 22, 22, 22, 8},
		{4, 15, 15, 15, 0, 0, 5},
	} {
		s := &res.Streams[i]
		to := &s.Totals
		if s.Weight != want.weight || to.Arrivals.Scheduled != want.scheduled || to.Completed != want.completed || to.Replies != want.replies || to.Errors.UnexpectedStatus != want.unexpected || to.Errors.Total != want.unexpected {
			t.Errorf("client %s: weight %g, totals %+v: want %+v", s.Name, s.Weight, to, want)
		}
		if s.Times.All.Failed != want.without || s.Times.Latency.Count != want.replies {
			t.Errorf("client %s: %d calls of %d without a good reply: want %d of %d", s.Name, s.Times.All.Failed, s.Times.Latency.Count, want.without, want.replies)
		}
		if url := fmt.Sprintf("http://%s:%d/%s", host, port, s.Name); s.Target != url {
			t.Errorf("client %s: target %s, want %s", s.Name, s.Target, url)
		}
		var scheduled, replies uint64
		for _, w := range s.Windows {
			scheduled += w.Scheduled
			replies += w.Replies
		}
		if scheduled != want.scheduled || replies > want.replies+2*want.warmedOut || len(s.Windows) != len(res.Windows) {
			t.Errorf("client %s: %d windows with %d arrivals and %d replies: want %d, %d, at most %d", s.Name, len(s.Windows), scheduled, replies, len(res.Windows), want.scheduled, want.replies+2*want.warmedOut)
		}
	}
	to := &res.Totals
	if to.Arrivals.Scheduled != 67 || to.Completed != 45 || to.Replies != 97 || res.Times.All.Failed != 22 || res.Times.All.Count != 97 || res.Warmup.Arrivals.Scheduled != 23 {
		t.Errorf("totals %+v, without a good reply %d of %d, warm-up %+v: want 67 arrivals, 45 good, 97 replies, 22 of 97, 23", to, res.Times.All.Failed, res.Times.All.Count, res.Warmup.Arrivals)
	}
	cfg := &res.Config
	if cfg.Rate != "200+150+100" || cfg.RatePerSecond != 450 || cfg.Process != "constant" || cfg.CallsPerConnection != 2 || cfg.Target.URL != "" || len(cfg.Target.Addresses) != 1 ||
		cfg.Workload.Servers != 1 || cfg.Workload.Kind != "calls" || *cfg.Timeouts.ReplySeconds != 10 || res.Model != report.Open {
		t.Errorf("config %+v", cfg)
	}
	if want := .15; math.Abs(*res.Run.PlannedSeconds-want) > 1e-9 || res.Run.StopReason != "count" || !res.Run.Complete {
		t.Errorf("planned %v, stopped by %s, complete %v: want %v, count, true", *res.Run.PlannedSeconds, res.Run.StopReason, res.Run.Complete, want)
	}
	echo := fmt.Sprintf("httpgen a: --timeout=10 --client=0/1 --server=%s --port=%d --uri=/a --rate=200 --num-conns=40 --num-calls=2 --warmup=0.05; b: ", host, port)
	if !strings.HasPrefix(res.Run.Echo, echo) || strings.Contains(res.Run.Echo, "\n") {
		t.Errorf("echo %q, want one line that begins with %q", res.Run.Echo, echo)
	}
	checkRenderings(t, res)
}

// checkRenderings looks for the clients of a result in what is made of it.
func checkRenderings(t *testing.T, res *report.Result) {
	t.Helper()
	var text, csv, lines strings.Builder
	if err := (report.Details{}).Text(&text, res); err != nil {
		t.Error(err)
	}
	if err := report.CSV(&csv, res); err != nil {
		t.Error(err)
	}
	n := report.NewNDJSON(&lines, res.Run.ID)
	for _, s := range res.Streams {
		if want := fmt.Sprintf("Stream %s: %s, weight %g\n  Total: connections %d ", s.Name, s.Target, s.Weight, s.Totals.Connections.Attempted); !strings.Contains(text.String(), want) {
			t.Errorf("text:\n%s\n%q is missing", &text, want)
		}
		if have := strings.Count(csv.String(), "\n"+s.Name+","); have != len(s.Windows) {
			t.Errorf("%d rows of client %s in CSV, want %d", have, s.Name, len(s.Windows))
		}
		for _, w := range s.Windows {
			if err := n.Window(s.Name, w); err != nil {
				t.Error(err)
			}
		}
		if have := strings.Count(lines.String(), fmt.Sprintf(`"stream":%q`, s.Name)); have != len(s.Windows) {
			t.Errorf("%d lines of client %s in NDJSON, want %d", have, s.Name, len(s.Windows))
		}
	}
}

// A client that joins later has no arrivals before, one that leaves none after.
func TestClientsJoinAndLeave(t *testing.T) {
	t.Parallel()
	host, port := server(t, hello)
	none, some := pacer.Constant{Per: time.Second}, pacer.Constant{N: 100, Per: time.Second}
	of := func(p pacer.Process) Options {
		return Options{Server: host, Port: port, Process: p, Duration: 500 * time.Millisecond, Window: 100 * time.Millisecond}
	}
	res := together(t,
		Client{"stays", 1, of(some)},
		Client{"joins", 1, of(pacer.Steps{{Rate: none, For: 300 * time.Millisecond}, {Rate: some}})},
		Client{"leaves", 1, of(pacer.Steps{{Rate: some, For: 200 * time.Millisecond}, {Rate: none}})},
	)
	for i, want := range []string{"[10 10 10 10 10]", "[0 0 0 10 10]", "[10 10 0 0 0]"} {
		s := &res.Streams[i]
		var have []uint64
		for _, w := range s.Windows[:5] {
			have = append(have, w.Scheduled)
		}
		if fmt.Sprint(have) != want || s.Totals.Completed != s.Totals.Arrivals.Scheduled {
			t.Errorf("client %s: arrivals %v, %d of %d completed: want %s, all", s.Name, have, s.Totals.Completed, s.Totals.Arrivals.Scheduled, want)
		}
	}
	if *res.Run.PlannedSeconds != .5 || res.Run.SendingSeconds != .5 || res.Config.Process != "mixed" || res.Run.StopReason != "duration" {
		t.Errorf("planned %v s, sent %v s, process %s, stopped by %s: want 0.5, 0.5, mixed, duration", *res.Run.PlannedSeconds, res.Run.SendingSeconds, res.Config.Process, res.Run.StopReason)
	}
}

// deaf returns a port of 127.0.0.1 where nobody listens: it is taken by a
// connection.
func deaf(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.LocalAddr().(*net.TCPAddr).Port
}

// What happens to one client is not counted for another; a closed model stays one
// beside an open model.
func TestClientsOfDifferentKinds(t *testing.T) {
	t.Parallel()
	host, port := server(t, hello)
	res := together(t,
		Client{"open", 1, Options{Server: host, Port: port, Process: parse(t, "200"), RateText: "200", NumConns: 20}},
		Client{"refused", 1, Options{Server: "127.0.0.1", Port: deaf(t), Process: parse(t, "200"), RateText: "200", NumConns: 10}},
		Client{"closed", 1, Options{Server: host, Port: port, Closed: 2, KeepOpen: true, NumConns: 30}},
		Client{"pool", 1, Options{Server: host, Port: port, Process: parse(t, "200"), RateText: "200", NumConns: 20, Pool: 2}},
	)
	for i, want := range []struct{ scheduled, completed, refused uint64 }{{20, 20, 0}, {10, 0, 10}, {30, 30, 0}, {20, 20, 0}} {
		s := &res.Streams[i]
		to := &s.Totals
		if to.Arrivals.Scheduled != want.scheduled || to.Completed != want.completed || to.Errors.ConnectRefused != want.refused || to.Errors.Total != want.refused {
			t.Errorf("client %s: %d arrivals, %d completed, errors %+v: want %+v", s.Name, to.Arrivals.Scheduled, to.Completed, to.Errors, want)
		}
	}
	if open, closed := res.Streams[0].Totals.Connections.Established, res.Streams[2].Totals.Connections.Established; open != 20 || closed != 2 {
		t.Errorf("%d and %d connections, want 20 and 2", open, closed)
	}
	if lag := res.Streams[2].Times.Lag.Max; lag != 0 {
		t.Errorf("lag %v s of a closed model, want none", lag)
	}
	cfg := &res.Config
	if res.Model != report.Open || cfg.Process != "mixed" || cfg.Closed != 2 || cfg.Connections != 2 || cfg.KeepOpen || cfg.Rate != "200+200+200" || cfg.Workload.Servers != 2 || res.Run.PlannedSeconds != nil {
		t.Errorf("model %s, config %+v, planned %v: want open, mixed, 2 callers, 2 connections, not all kept open, 2 servers, no end", res.Model, cfg, res.Run.PlannedSeconds)
	}
	var text strings.Builder
	if err := (report.Details{}).Text(&text, res); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"arrivals/s asked, mixed; beside it closed, 2 callers, ", "an arrival is a new connection or a call on one that is kept open"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("text:\n%s\n%q is missing", &text, want)
		}
	}
}

func TestClosedClients(t *testing.T) {
	t.Parallel()
	host, port := server(t, hello)
	one := Options{Server: host, Port: port, Closed: 2, NumConns: 10}
	if res := together(t, Client{"a", 1, one}, Client{"b", 1, one}); res.Model != report.Closed || res.Totals.Completed != 20 || res.Config.Closed != 4 || res.Config.Process != "closed" {
		t.Errorf("model %s, completed %d, config %+v: want closed, 20, 4 callers", res.Model, res.Totals.Completed, res.Config)
	}
}

// One engine carries all clients: that which TLS wants also the others.
func TestClientsWithTLSAndWithout(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.HandlerFunc(hello))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that fail
	s.StartTLS()
	t.Cleanup(s.Close)
	secure := s.Listener.Addr().(*net.TCPAddr).Port
	host, port := server(t, hello)
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go http.Serve(l, http.HandlerFunc(hello))

	of := func(o Options) Options {
		o.Process, o.NumConns = parse(t, "200"), 10
		return o
	}
	res := together(t,
		Client{"plain", 1, of(Options{Server: host, Port: port})},
		Client{"secure", 1, of(Options{Server: "127.0.0.1", Port: secure, TLS: &TLS{Insecure: true}})},
		Client{"distrustful", 1, of(Options{Server: "127.0.0.1", Port: secure, TLS: &TLS{}})},
		// A source has no meaning there.
		Client{"unix", 1, of(Options{Unix: path, Sources: []netip.Addr{netip.MustParseAddr("127.0.0.1")}})},
	)
	for i, want := range []uint64{10, 10, 0, 10} {
		s := &res.Streams[i]
		if s.Totals.Completed != want || s.Totals.Errors.TLS != 10-want || s.Totals.TLSFailures["unknown_authority"] != 10-want {
			t.Errorf("client %s: completed %d, errors %+v, TLS failures %v: want %d and the rest failed by TLS", s.Name, s.Totals.Completed, s.Totals.Errors, s.Totals.TLSFailures, want)
		}
	}
	if res.Config.Engine != "conn" || res.Totals.TLSFailures["unknown_authority"] != 10 {
		t.Errorf("engine %s, TLS failures %v: want conn, 10 unknown_authority", res.Config.Engine, res.Totals.TLSFailures)
	}
	if have := []string{res.Streams[0].Target, res.Streams[1].Target}; !strings.HasPrefix(have[0], "http://") || !strings.HasPrefix(have[1], "https://") {
		t.Errorf("targets %q, want http and https", have)
	}
}

// Each client replays its own log; one that breaks off ends the run, which names it.
func TestClientsReplay(t *testing.T) {
	t.Parallel()
	var asked seen
	host, port := server(t, func(w http.ResponseWriter, r *http.Request) { asked.add(r.URL.Path) })
	write := func(path string, lines int) (*accesslog.Log, string) {
		name := filepath.Join(t.TempDir(), "log")
		line := `127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET ` + path + ` HTTP/1.1" 200 5` + "\n"
		if err := os.WriteFile(name, []byte(strings.Repeat(line, lines)), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := accesslog.Open(name, accesslog.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l, name
	}
	of := func(l *accesslog.Log) Options {
		return Options{Server: host, Port: port, Log: l, From: "log", Closed: 1, NumConns: 5}
	}
	a, _ := write("/a", 2)
	b, _ := write("/b", 2)
	res := together(t, Client{"a", 1, of(a)}, Client{"b", 1, of(b)})
	if asked.n["/a"] != 5 || asked.n["/b"] != 5 || res.Config.Workload.Kind != "log" {
		t.Errorf("asked for %v, workload %+v: want 5 of each, of a log", asked.n, res.Config.Workload)
	}

	bad, name := write("/bad", 2000)
	if err := os.WriteFile(name, []byte(strings.Repeat("#", 100000)), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := NewClients([]Client{{"a", 1, of(a)}, {"bad", 1, of(bad)}})
	if err != nil {
		t.Fatal(err)
	}
	res, err = r.Do(t.Context())
	if err == nil || !strings.HasPrefix(err.Error(), "client bad: ") || res == nil {
		t.Fatalf("Do = %v, %v: want a result and an error of client bad", res, err)
	}
	if res.Verdict.Status != report.Invalid || res.Streams[1].Verdict.Status != report.Invalid || res.Run.StopReason != "error" {
		t.Errorf("verdict %s, of the client %s, stopped by %s: want invalid, invalid, error", res.Verdict.Status, res.Streams[1].Verdict.Status, res.Run.StopReason)
	}
	for _, reason := range res.Streams[0].Verdict.Reasons {
		if reason.Code == "replay" {
			t.Errorf("client a is blamed: %s", reason.Message)
		}
	}
}

func TestClientsShown(t *testing.T) {
	t.Parallel()
	host, port := server(t, hello)
	expect, err := ParseStatusSet("200")
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewClients([]Client{
		{"a", 3, Options{Server: host, Port: port, Process: parse(t, "100"), Duration: 200 * time.Millisecond, Expect: expect}},
		{"b", 0, Options{Server: host, Port: port, Process: parse(t, "50"), Duration: 200 * time.Millisecond}},
		{"c", 1, Options{Server: host, Port: port, Closed: 1, NumConns: 5, Duration: 200 * time.Millisecond}},
	})
	if err != nil {
		t.Fatal(err)
	}
	d := r.Description()
	if d.Process != "mixed" || d.Closed || d.Planned != 200*time.Millisecond || len(d.Streams) != 3 {
		t.Fatalf("description %+v: want mixed, not closed, 200 ms, 3 streams", d)
	}
	a, b, c := d.Streams[0], d.Streams[1], d.Streams[2]
	if a.Name != "a" || a.Weight != 3 || !a.Judged || a.Rate(0) != 100 || b.Weight != 1 || b.Judged || b.Rate(0) != 50 || c.Rate != nil {
		t.Errorf("described %+v, %+v, %+v", a, b, c)
	}
	done := make(chan error)
	go func() {
		_, err := r.Do(context.Background())
		done <- err
	}()
	var all, each uint64
	for w := range r.Follow() {
		all += w.All.Scheduled
		if len(w.Streams) != 3 {
			t.Fatalf("window of %d streams, want 3", len(w.Streams))
		}
		for _, s := range w.Streams {
			each += s.Scheduled
		}
		if w.Sample != nil && w.Sample.StartSeconds < .15 && w.Target != 150 {
			t.Errorf("target %v/s at %v s, want 150", w.Target, w.Sample.StartSeconds)
		}
	}
	if err := <-done; err != nil || all != 35 || each != 35 {
		t.Errorf("windows hold %d arrivals, those of the streams %d, error %v: want 35, 35, none", all, each, err)
	}

	one := planned(t, Options{Server: host, Port: port, Process: parse(t, "10")}).Description()
	if len(one.Streams) != 1 || one.Streams[0].Name != "1" || one.Streams[0].Weight != 1 || one.Process != "constant" {
		t.Errorf("description of one client %+v", one)
	}
}

// What nobody sets of the whole run follows from all clients.
func TestClientsDefaults(t *testing.T) {
	t.Parallel()
	of := func(rate string, o Options) Options {
		o.Server, o.Process = "127.0.0.1", parse(t, rate)
		return o
	}
	second := time.Second
	silent := Options{Server: "127.0.0.1", Process: pacer.Steps{{Rate: pacer.Constant{Per: second}}}, Duration: 3 * second, Timeout: second}
	for _, tt := range []struct {
		name        string
		a, b        Options
		drain, owed time.Duration
		end         time.Duration
		count       uint64
	}{
		{"the longest", of("10", Options{NumConns: 10, Timeout: second}), of("10", Options{NumConns: 20, Timeout: 2 * second}), 7 * second, 2 * second, 2 * second, 30},
		{"one without timeouts", of("10", Options{NumConns: 10, Timeout: second}), of("10", Options{NumConns: 5}), 30 * second, 30 * second, second, 15},
		{"given", of("10", Options{NumConns: 10, Drain: &second}), of("10", Options{NumConns: 5}), second, second, second, 15},
		{"one without end", of("10", Options{NumConns: 10, Timeout: second}), of("10", Options{Forever: true, Timeout: second}), 4 * second, second, 0, 0},
		{"one without arrivals", of("10", Options{NumConns: 10, Timeout: second}), silent, 4 * second, second, second, 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := NewClients([]Client{{"a", 1, tt.a}, {"b", 1, tt.b}})
			if err != nil {
				t.Fatal(err)
			}
			if *r.o.Drain != tt.drain || r.owed() != tt.owed || r.plannedEnd != tt.end || r.count != tt.count {
				t.Errorf("drain %v, owed %v, end %v, %d arrivals: want %v, %v, %v, %d", *r.o.Drain, r.owed(), r.plannedEnd, r.count, tt.drain, tt.owed, tt.end, tt.count)
			}
		})
	}
}

func TestClientsRefused(t *testing.T) {
	t.Parallel()
	ok := Options{Server: "127.0.0.1", Process: parse(t, "10"), NumConns: 1}
	with := func(change func(o *Options)) Options {
		o := ok
		change(&o)
		return o
	}
	long, short := time.Minute, time.Second
	for _, tt := range []struct {
		name, want string
		clients    []Client
	}{
		{"none", "no clients", nil},
		{"no name", `client 2 with the name ""`, []Client{{"a", 1, ok}, {"", 1, ok}}},
		{"one name twice", `client 2 with the name "a"`, []Client{{"a", 1, ok}, {"a", 1, ok}}},
		{"weight", "client b: weight -1", []Client{{"a", 1, ok}, {"b", -1, ok}}},
		{"no number", "client b: weight NaN", []Client{{"a", 1, ok}, {"b", math.NaN(), ok}}},
		{"infinite", "client b: weight +Inf", []Client{{"a", 1, ok}, {"b", math.Inf(1), ok}}},
		{"workers", "client b: Workers 2, and client a has 1", []Client{{"a", 1, with(func(o *Options) { o.Workers = 1 })}, {"b", 1, with(func(o *Options) { o.Workers = 2 })}}},
		{"not the first", "client b: Spin 1µs, and client a has 0s", []Client{{"a", 1, ok}, {"b", 1, with(func(o *Options) { o.Spin = time.Microsecond })}}},
		{"drain", "client b: Drain 1s, and client a has 1m0s", []Client{{"a", 1, with(func(o *Options) { o.Drain = &long })}, {"b", 1, with(func(o *Options) { o.Drain = &short })}}},
		{"warm-up", "client b: Warmup 1s", []Client{{"a", 1, ok}, {"b", 1, with(func(o *Options) { o.Warmup = time.Second })}}},
		{"window", "client b: Window 1s", []Client{{"a", 1, ok}, {"b", 1, with(func(o *Options) { o.Window = time.Second })}}},
		{"start", "client b: Start 2001-", []Client{{"a", 1, ok}, {"b", 1, with(func(o *Options) { o.Start = time.Unix(1e9, 0).UTC() })}}},
		{"bound", "client b: MaxInflight 3", []Client{{"a", 1, ok}, {"b", 1, with(func(o *Options) { o.MaxInflight = 3 })}}},
		{"catch-up", "client b: CatchUp burst", []Client{{"a", 1, ok}, {"b", 1, with(func(o *Options) { o.CatchUp, _ = pacer.ParseCatchUp("burst") })}}},
		{"command line", `client b: Argv ["x"]`, []Client{{"a", 1, ok}, {"b", 1, with(func(o *Options) { o.Argv = []string{"x"} })}}},
		{"name of the command", "client b: Classic true", []Client{{"a", 1, ok}, {"b", 1, with(func(o *Options) { o.Classic = true })}}},
		{"tap", "client b: Tap ", []Client{{"a", 1, ok}, {"b", 1, with(func(o *Options) { o.Tap = blind{} })}}},
		{"options", "client b: port 70000", []Client{{"a", 1, ok}, {"b", 1, with(func(o *Options) { o.Port = 70000 })}}},
		{"source", "client b: source 192.0.2.7", []Client{{"a", 1, ok}, {"b", 1, with(func(o *Options) { o.Sources = []netip.Addr{netip.MustParseAddr("192.0.2.7")} })}}},
		{"pool", "client b: a pool of 1073741824 connections", []Client{{"a", 1, ok}, {"b", 1, with(func(o *Options) { o.Pool = 1 << 30 })}}},
		{"hog beside TLS", "hog does not work over TLS", []Client{{"a", 1, with(func(o *Options) { o.TLS = &TLS{} })}, {"b", 1, with(func(o *Options) { o.Hog = true })}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := NewClients(tt.clients); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("NewClients = %v, want an error with %q", err, tt.want)
			}
		})
	}

	// The same of all, or of the first alone, is no difference.
	set := with(func(o *Options) { o.Workers, o.Drain, o.Argv, o.Tap = 1, &long, []string{"x"}, blind{} })
	if _, err := NewClients([]Client{{"a", 1, set}, {"b", 1, set}, {"c", 1, ok}}); err != nil {
		t.Error(err)
	}
}

// blind is a tap that looks at nothing.
type blind struct{}

func (blind) Request(uint64, []byte)                  {}
func (blind) Reply(uint64, client.Part, []byte, bool) {}

// All pools and callers together have to do with the descriptors that there are.
func TestClientsShareDescriptors(t *testing.T) {
	t.Parallel()
	one := Options{Server: "127.0.0.1", Process: parse(t, "10"), NumConns: 1}
	r := planned(t, one)
	one.Pool = int(r.c.FileLimit())
	if one.Pool == 0 || one.Pool > 1<<24 {
		t.Skipf("the limit of descriptors is %d", one.Pool)
	}
	if _, err := NewClients([]Client{{"a", 1, one}, {"b", 1, one}}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%d connections in the pools and closed models of the clients up to b", 2*one.Pool)) {
		t.Errorf("NewClients = %v, want an error that names the sum", err)
	}
}

func TestClientsPlanText(t *testing.T) {
	t.Parallel()
	at := func(o Options) Options {
		o.Server, o.Port = "127.0.0.1", 81
		return o
	}
	n, reuse := planned(t, Options{Server: "192.0.2.1"}).streams[0].perSource()
	most := pacer.Constant{N: uint64(.6 * float64(n) / reuse.Seconds()), Per: time.Second}
	far := func(o Options) Options {
		o.Server, o.Process, o.Duration = "192.0.2.1", most, 4*reuse
		return o
	}
	for _, tt := range []struct {
		name    string
		clients []Client
		want    []string
		not     string
		warn    []string
	}{
		{"several", []Client{
			{"a", 1, at(Options{Process: parse(t, "500"), NumConns: 1000, Timeout: time.Second, Workers: 1, Warmup: 500 * time.Millisecond})},
			{"b", 1, at(Options{Process: parse(t, "100"), NumConns: 100, NumCalls: 2, URIs: []string{"/x", "/y"}})},
			{"c", 1, at(Options{Closed: 2, KeepOpen: true, NumConns: 7, Duration: time.Second, HTTP10: true})},
		}, []string{
			"3 clients together for 2 s, 1107 arrivals (1 loop)\n",
			"\na: 500 connections/s x 1 call = 500 calls/s for 2 s, 1000 connections to http://127.0.0.1:81/ at 127.0.0.1:81 (timeout 1 s)\n",
			"\nb: 100 connections/s x 2 calls = 200 calls/s for 1 s, 100 connections to http://127.0.0.1:81/ at 127.0.0.1:81 (no timeout)\n",
			"\nb: A list of 2 URIs, in order over all calls, again and again.\n",
			"\nc: Closed model: 2 arrivals at a time on kept-open connections x 1 call for 1 s, 7 calls to ",
			"\nThe first 0.5 s are warm-up",
			"\nLimits: ",
			"\nNo timeout for 1 of 3 clients: a silent server is waited for 30 s",
		}, "local ports x", nil},
		{"timeouts", []Client{
			{"a", 1, at(Options{Process: parse(t, "500"), Duration: time.Hour, Timeout: time.Second, MaxInflight: 3000, CloseMode: "rst"})},
			{"b", 1, at(Options{Process: parse(t, "100"), Duration: time.Hour, Timeout: 2 * time.Second, CloseMode: "rst"})},
		}, []string{"Limits: 3000 arrivals in flight", "a server that stalls holds at most 700 of them (longest timeout 2 s)."}, "No timeout", nil},
		{"bound", []Client{
			{"a", 1, at(Options{Process: parse(t, "500"), Duration: time.Hour, MaxInflight: 300, CloseMode: "rst"})},
			{"b", 1, at(Options{Process: parse(t, "100"), Duration: time.Hour, CloseMode: "rst"})},
		}, []string{"fills the bound of 300 arrivals in flight after 0.5 s"}, "", nil},
		{"one source for all", []Client{{"a", 1, far(Options{CloseMode: "fin"})}, {"b", 1, far(Options{})}},
			nil, "", []string{"a: local ports run dry after ", "(with those of 1 other client from the same source) need ", "b: connections are closed by reset: closed in the ordinary way, "}},
		{"other targets", []Client{{"a", 1, far(Options{CloseMode: "fin"})}, {"b", 1, far(Options{Port: 81})}}, nil, "", nil},
		{"the other closes by reset", []Client{{"a", 1, far(Options{CloseMode: "fin"})}, {"b", 1, far(Options{CloseMode: "rst"})}}, nil, "", nil},
		{"closed", []Client{{"a", 1, at(Options{})}, {"b", 1, at(Options{})}}, []string{"2 clients together, 2 arrivals (", "\na: Closed model: 1 arrival at a time"}, "Limits", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := NewClients(tt.clients)
			if err != nil {
				t.Fatal(err)
			}
			all := strings.Join(r.Plan().Header, "\n")
			for _, w := range tt.want {
				if !strings.Contains(all, w) {
					t.Errorf("plan:\n%s\n%q is missing", all, w)
				}
			}
			if tt.not != "" && strings.Contains(all, tt.not) {
				t.Errorf("plan:\n%s\n%q is in it", all, tt.not)
			}
			warn := strings.Join(r.Plan().Warnings, "\n")
			for _, w := range tt.warn {
				if !strings.Contains(warn, w) {
					t.Errorf("warnings:\n%s\n%q is missing", warn, w)
				}
			}
			if tt.warn == nil && warn != "" {
				t.Errorf("warnings:\n%s\nwant none", warn)
			}
		})
	}
}
