package main

import (
	"fmt"
	"io"
	"math"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"httpgen/internal/report"
	"httpgen/internal/target"
)

// resetting starts a server that resets each connection once it has brought
// something.
func resetting(t *testing.T) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				c.Read(make([]byte, 1))
				c.(*net.TCPConn).SetLinger(0)
				c.Close()
			}()
		}
	}()
	return "http://" + l.Addr().String() + "/"
}

// The last values that a real Prometheus has of a run are those of its result,
// in each of both kinds of histograms; the run is long enough for rates in one
// case only.
func TestPrometheus(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if code, _, stderr := call("httpgen", "dashboard", "--out", dir); code != exitOK {
		t.Fatalf("dashboard: exit code %d: %s", code, stderr)
	}
	classic := prometheus.start(t, "rule_files: ["+filepath.Join(dir, "rules.yml")+"]\n"+scrapeConf)
	native := nativePrometheus.start(t, scrapeConf)
	one, both := []*realServer{classic}, []*realServer{classic, native}

	web := nginx.start(t, nginxConf)
	tls, certs := startTLS(t)
	fast := serverFor(t, target.Options{})
	slow := serverFor(t, target.Options{Service: target.Exponential(3 * time.Millisecond)})
	silent := serverFor(t, target.Options{Silent: true})
	list := filepath.Join(inFolder(t, map[string]string{"list": "/page\n/moved\n/empty\n/missing\n"}), "list")

	long := watch(t, "long", both, slow.URL(), "--timeout", "20", "-r", "500", "-z", "15", "--window", "0.1")
	whole := watch(t, "whole", one, fast.URL(), "--timeout", "20", "-r", "200", "-n", "300")
	tests := []struct {
		name   string
		args   string
		native bool               // both servers are to scrape it
		want   map[string]float64 // besides what the result says
		run    *background
	}{
		{name: "codes", native: true, args: web.url("main", "/") + " --timeout 20 -r 400 -n 200 --wlog y," + list, want: map[string]float64{
			"httpgen_replies_total{200}": 50, "httpgen_replies_total{302}": 50, "httpgen_replies_total{204}": 50, "httpgen_replies_total{404}": 50,
			"httpgen_replies_total{500}": 0, "httpgen_replies_total{other}": 0, "httpgen_goodput_total": 200,
		}},
		{name: "expected", args: web.url("main", "/") + " --timeout 20 -r 400 -n 80 --expect-status 2xx --wlog y," + list, want: map[string]float64{
			"httpgen_errors_total{unexpected_status}": 40, "httpgen_arrivals_completed_total": 40, "httpgen_goodput_total": 40,
		}},
		{name: "refused", args: fmt.Sprintf("http://127.0.0.1:%d/ -r 200 -n 40", refusing(t)), want: map[string]float64{
			"httpgen_errors_total{connect_refused}": 40, "httpgen_connections_failed_total": 40, "httpgen_calls_total{unsent}": 40, "httpgen_replies_total{200}": 0,
		}},
		{name: "reset", args: resetting(t) + " --timeout 20 -r 200 -n 40", want: map[string]float64{
			"httpgen_errors_total{reset}": 40, "httpgen_connections_established_total": 40, "httpgen_lost_calls_total": 40,
		}},
		{name: "timeout", args: silent.URL() + " --connect-timeout 20 --reply-timeout 0.3 -r 200 -n 40", want: map[string]float64{
			"httpgen_errors_total{reply_timeout}": 40, "httpgen_calls_total{unanswered}": 40, "httpgen_deadline_misses_total": 0,
		}},
		{name: "deadline", args: silent.URL() + " --deadline 0.3 -r 200 -n 40", want: map[string]float64{
			"httpgen_errors_total{deadline}": 40, "httpgen_deadline_misses_total": 40,
		}},
		{name: "shed", args: silent.URL() + " --connect-timeout 20 --reply-timeout 3 --max-inflight 5 -r 200 -n 40", want: map[string]float64{
			"httpgen_arrivals_scheduled_total": 40, "httpgen_arrivals_shed_total{inflight}": 35, "httpgen_arrivals_started_total": 5,
		}},
		{name: "unfinished", args: silent.URL() + " --drain 0.5 -r 200 -n 40", want: map[string]float64{
			"httpgen_arrivals_unfinished_total": 40, "httpgen_calls_total{unfinished}": 40,
		}},
		{name: "calls", args: web.url("main", "/three") + " --timeout 20 -r 200 -n 20 --num-calls 5", want: map[string]float64{
			"httpgen_calls_planned_total": 100, "httpgen_calls_total{replied}": 60, "httpgen_calls_total{unsent}": 40, "httpgen_lost_calls_total": 40,
			"httpgen_reply_bytes_total{body}": 60 * pageSize,
		}},
		{name: "chunked", args: web.url("main", "/chunked") + " --timeout 20 -r 200 -n 40 -c 3", want: map[string]float64{
			"httpgen_replies_total{200}": 40, "httpgen_requests_total": 40, "httpgen_reply_bytes_total{body}": 40 * pageSize,
		}},
		{name: "interim", args: web.url("main", "/relay") + " --timeout 20 -r 200 -n 20 -d some=body -H Expect:100-continue", want: map[string]float64{
			"httpgen_interim_replies_total": 20, "httpgen_replies_total{200}": 20,
		}},
		{name: "retries", args: fmt.Sprintf("http://made-up.test:%[1]d/page --resolve made-up.test:%[1]d:127.0.0.2,127.0.0.1 --timeout 20 -n 20", web.ports["main"]), want: map[string]float64{
			"httpgen_retries_total": 1, "httpgen_connections_failed_total": 1, "httpgen_connections_attempted_total": 21,
		}},
		{name: "warmup", args: fast.URL() + " --timeout 20 -r 200 -n 40 --warmup 0.1", want: map[string]float64{
			"httpgen_arrivals_scheduled_total": 40, "httpgen_replies_total{200}": 40,
		}},
		{name: "tls", native: true, args: strings.Replace(tls.url("both", "/page"), "http", "https", 1) + " --timeout 20 -r 100 -n 20 --cacert " + filepath.Join(certs, "server.pem"), want: map[string]float64{
			"httpgen_replies_total{200}": 20,
		}},
		{name: "sessions", args: web.url("main", "/page") + " --timeout 20 -r 50 --wsess 20,3,0.01", want: map[string]float64{
			"httpgen_arrivals_completed_total": 20, "httpgen_session_connections_total": 20, "httpgen_session_seconds_count": 20, "httpgen_replies_total{200}": 60,
		}},
		{name: "closed", args: fast.URL() + " --timeout 20 --closed 2 -n 40", want: map[string]float64{
			"httpgen_arrivals_started_total": 40, "httpgen_replies_total{200}": 40,
		}},
	}
	for i := range tests {
		servers := one
		if tests[i].native {
			servers = both
		}
		tests[i].run = watch(t, tests[i].name, servers, strings.Fields(tests[i].args)...)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := tt.run.result(t)
			labels := fmt.Sprintf("instance=%q", tt.name)
			c, n := &source{classic, labels, false}, &source{native, labels, false}
			c.final(t, r)
			if tt.native {
				n.final(t, r)
				n.native(t, r)
			}
			have := map[string]float64{}
			for _, p := range classic.ask(t, "{"+labels+"}") {
				have[key(&p)] = p.value
			}
			for name, want := range tt.want {
				if have[name] != want {
					t.Errorf("%s is %v, want %v", name, have[name], want)
				}
			}
			if r.Warmup == nil {
				c.classic(t, r)
			}
			leaves(t, tt.run, r)
		})
	}
	// The first scrape was that of a run that had not begun.
	t.Run("whole", func(t *testing.T) {
		r := whole.result(t)
		classic.await(t, `httpgen_run_end_timestamp_seconds{instance="whole"} > 0`)
		last := classic.value(t, `timestamp(httpgen_arrivals_started_total{instance="whole"})`)
		at := " @ " + strconv.FormatFloat(last, 'f', 3, 64)
		same(t, "increase", classic.value(t, `increase(httpgen_arrivals_started_total{instance="whole"}[1h]`+at+`)`), float64(r.Totals.Arrivals.Started))
		same(t, "start", classic.value(t, `min_over_time(httpgen_arrivals_started_total{instance="whole"}[1h])`), 0)
		leaves(t, whole, r)
	})
	t.Run("long", func(t *testing.T) {
		r := long.result(t)
		const labels = `instance="long"`
		c, n := &source{classic, labels, false}, &source{native, labels, false}
		c.final(t, r)
		n.final(t, r)
		c.classic(t, r)
		n.native(t, r)
		if off := c.rates(t, r); off > 0.02 {
			t.Errorf("rates are %.1f %% off the report's windows, want 2 %% at most", 100*off)
		}
		for name, timing := range timings(r) {
			if timing.P99 == nil {
				continue
			}
			for q, want := range map[float64]float64{0.5: *timing.P50, 0.99: *timing.P99} {
				c.inBucket(t, name, q, want)
				// A bucket is 9 % wide, 0.1 % of which the sampler does not see.
				if have := n.value(t, fmt.Sprintf("histogram_quantile(%v,%s{%s})", q, name, labels)); want > 10e-6 && (have < want/1.093 || have > want*1.093) {
					t.Errorf("quantile %v of native %s is %v, want %v within 9 %%", q, name, have, want)
				}
			}
		}
		leaves(t, long, r)
	})
	t.Run("rules", func(t *testing.T) {
		var data struct {
			Groups []struct {
				Rules []struct{ Name, LastError string }
			}
		}
		classic.api(t, "rules", url.Values{}, &data)
		if len(data.Groups) != 1 || len(data.Groups[0].Rules) == 0 {
			t.Fatalf("rules %+v, want a group of them", data)
		}
		for _, rule := range data.Groups[0].Rules {
			if all := classic.ask(t, `last_over_time({__name__="`+rule.Name+`"}[1h])`); rule.LastError != "" || len(all) == 0 {
				t.Errorf("%s has %d series, last error %q; want some, and no error", rule.Name, len(all), rule.LastError)
			}
		}
		// Two clients are there most of the time, of which one has most replies.
		share := classic.value(t, `max_over_time(instance_client:httpgen_reply_share:ratio_rate30s{instance="long"}[1h])`)
		if share <= 0 || share > 1 {
			t.Errorf("the share of a client is %v, want more than 0 and at most 1", share)
		}
	})
}

// rates returns how far rates of the replies, each over 9 s of a run of 15 s, are
// off what the report has of the same time. A counter may be 100 ms old; a scrape
// that was held up is older, so it is the median of several rates.
func (s *source) rates(t *testing.T, r *report.Result) float64 {
	t.Helper()
	epoch := float64(r.Run.EpochUnixNanos) / 1e9
	// replies returns how many there were until then, in seconds from the start.
	replies := func(at float64) (n float64) {
		for i := range r.Windows {
			w := &r.Windows[i]
			n += float64(w.Replies) * min(max(0, (at-w.StartSeconds)/w.LengthSeconds), 1)
		}
		return n
	}
	const series = `httpgen_replies_total{%s,code="200"}[9s] @ %.3f`
	var all []float64
	for at := 10.5; at < 15; at++ {
		selector := fmt.Sprintf(series, s.labels, epoch+at)
		values := s.samples(t, selector)
		if len(values) < 2 {
			t.Fatalf("%s has %d values, want one a second", selector, len(values))
		}
		first, last := values[0].at-epoch, values[len(values)-1].at-epoch
		want := (replies(last) - replies(first)) / (last - first)
		all = append(all, math.Abs(s.value(t, "rate("+selector+")")/want-1))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// final waits until the server has scraped the run after its end, and compares
// the counters.
func (s *source) final(t *testing.T, r *report.Result) {
	t.Helper()
	s.await(t, "httpgen_run_end_timestamp_seconds{"+s.labels+"} > 0")
	s.counters(t, r)
}

// leaves ends a run that stays for scrapes. Its exit code is that of its result.
func leaves(t *testing.T, b *background, r *report.Result) {
	t.Helper()
	b.signal(t, syscall.SIGINT)
	if code, said := b.end(t); code != resultCode(r, nil) || strings.Contains(said, "warning: metrics") {
		t.Errorf("exit code %d, want %d: %s", code, resultCode(r, nil), said)
	}
}

// inBucket compares a quantile that is taken from classic buckets with the exact
// one, which lies in the same bucket.
func (s *source) inBucket(t *testing.T, name string, q, exact float64) {
	t.Helper()
	low, high := 0., math.Inf(1)
	for _, p := range s.ask(t, s.last(fmt.Sprintf("__name__=%q", name+"_bucket"))) {
		le, err := strconv.ParseFloat(p.labels["le"], 64)
		if err != nil {
			t.Fatal(err)
		}
		// The sampler's own buckets are up to 512 ns or 0.1 % wide.
		if slack := max(1e-3*le, 512e-9); le < exact-slack {
			low = max(low, le)
		} else if le > exact+slack {
			high = min(high, le)
		}
	}
	have := s.value(t, fmt.Sprintf("histogram_quantile(%v,%s)", q, s.last(fmt.Sprintf("__name__=%q", name+"_bucket"))))
	if have < low || have > high {
		t.Errorf("quantile %v of classic %s is %v, want %v to %v, as %v is", q, name, have, low, high, exact)
	}
}

// The endpoint stays for as long as is asked for, when the result is out, and
// has the final totals.
func TestMetricsLinger(t *testing.T) {
	t.Parallel()
	s := serverFor(t, target.Options{})
	for _, tt := range []struct {
		name    string
		args    string
		scraped bool           // before the run
		stays   bool           // and is scraped then
		signal  syscall.Signal // ends it
	}{
		{name: "default, not scraped"},
		{name: "default, scraped", args: "--web.wait-scrape", scraped: true, stays: true},
		{name: "none", args: "--web.wait-scrape --metrics-linger 0", scraped: true},
		{name: "time", args: "--metrics-linger 0.1"},
		{name: "time, signal", args: "--metrics-linger 10m", stays: true, signal: syscall.SIGINT},
		{name: "scrape", args: "--metrics-linger scrape", stays: true},
		{name: "scrape, signal", args: "--metrics-linger scrape", signal: syscall.SIGTERM},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := inBackground(t, append(append([]string{s.URL(), "--web.listen-address", "127.0.0.1:0"}, load...), strings.Fields(tt.args)...)...)
			address := b.endpoint(t)
			if tt.scraped {
				if have := value(t, address, `httpgen_replies_total{client="1",code="200",target="1"}`); have != "0" {
					t.Errorf("%s replies before the run, want 0", have)
				}
			}
			r := b.result(t)
			if tt.stays {
				if have := value(t, address, `httpgen_replies_total{client="1",code="200",target="1"}`); have != "40" {
					t.Errorf("%s replies after the run, want 40", have)
				}
			}
			if tt.signal != 0 {
				untilLine(t, b.stderr, "The metrics stay for ")
				b.signal(t, tt.signal)
			}
			code, said := b.end(t)
			if code != resultCode(r, nil) || strings.Contains(said, "warning: metrics") {
				t.Errorf("exit code %d, want %d: %s", code, resultCode(r, nil), said)
			}
		})
	}
}

// A run that waits for a scrape that never comes ends with a signal.
func TestMetricsWaitEnds(t *testing.T) {
	t.Parallel()
	s := serverFor(t, target.Options{})
	b := inBackground(t, append([]string{s.URL(), "--web.listen-address", "127.0.0.1:0", "--web.wait-scrape"}, load...)...)
	untilLine(t, b.stderr, "The run starts after the first scrape.")
	b.signal(t, syscall.SIGINT)
	r := b.result(t)
	if code, said := b.end(t); code != signalCode(syscall.SIGINT) || r.Totals.Arrivals.Started != 0 {
		t.Errorf("exit code %d, %d started; want %d, 0: %s", code, r.Totals.Arrivals.Started, signalCode(syscall.SIGINT), said)
	}
}

// awaitValue waits until an endpoint shows a value of a series that is as wanted.
func awaitValue(t *testing.T, address, series string, want func(v float64) bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(patience); ; {
		text := value(t, address, series)
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		if want(v) {
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("%s is still %s after %v", series, text, patience)
		}
	}
}

// A run that was told to start later has not begun, and one that was told to
// stop drains.
func TestMetricsPhases(t *testing.T) {
	t.Parallel()
	s := serverFor(t, target.Options{Silent: true})
	one := func(v float64) bool { return v == 1 }
	later := inBackground(t, s.URL(), "--web.listen-address", "127.0.0.1:0", "--start-at", "+100")
	soon := float64(time.Now().Unix() + 50)
	address := later.endpoint(t)
	awaitValue(t, address, "httpgen_run_start_timestamp_seconds", func(v float64) bool { return v > soon })
	if have := value(t, address, `httpgen_run_phase{phase="running"}`); have != "0" {
		t.Errorf("running is %s before the start, want 0", have)
	}
	later.signal(t, syscall.SIGINT)
	later.result(t)
	later.end(t)

	endless := inBackground(t, s.URL(), "--web.listen-address", "127.0.0.1:0", "-r", "100")
	address = endless.endpoint(t)
	awaitValue(t, address, `httpgen_run_phase{phase="running"}`, one)
	awaitValue(t, address, `httpgen_inflight{client="1",target="1"}`, func(v float64) bool { return v > 0 })
	endless.signal(t, syscall.SIGINT)
	awaitValue(t, address, `httpgen_run_phase{phase="draining"}`, one)
	if err := endless.Process.Kill(); err != nil {
		t.Fatal(err)
	}
}

// Scrapers that hang do not keep a run from its end.
func TestMetricsHang(t *testing.T) {
	t.Parallel()
	s := serverFor(t, target.Options{})
	b := inBackground(t, append([]string{s.URL(), "--web.listen-address", "127.0.0.1:0", "--metrics-linger", "0"}, load...)...)
	address := b.endpoint(t)
	for _, text := range []string{"", "GET /metrics HT", "GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n"} {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		// Nothing is read of what comes.
		if _, err := io.WriteString(c, strings.Repeat(text, 20)); err != nil {
			t.Fatal(err)
		}
	}
	r := b.result(t)
	if code, said := b.end(t); code != resultCode(r, nil) || r.Totals.Replies != 40 {
		t.Errorf("exit code %d, %d replies; want %d, 40: %s", code, r.Totals.Replies, resultCode(r, nil), said)
	}
}
