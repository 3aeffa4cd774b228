package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"httpgen/internal/target"
)

// lastHistogram returns the count and the sum of the newest sample of a native
// histogram. Prometheus 2.42 has none in last_over_time.
func (s *source) lastHistogram(t *testing.T, name string) (count, sum float64) {
	t.Helper()
	var data struct {
		Result []struct {
			Histograms [][2]json.RawMessage
		}
	}
	s.api(t, "query", url.Values{"query": {fmt.Sprintf("%s{%s}[1h]", name, s.labels)}}, &data)
	if len(data.Result) != 1 || len(data.Result[0].Histograms) == 0 {
		t.Fatalf("%s is %+v, want one series with histograms", name, data)
	}
	all := data.Result[0].Histograms
	var h struct {
		Count float64 `json:",string"`
		Sum   float64 `json:",string"`
	}
	if err := json.Unmarshal(all[len(all)-1][1], &h); err != nil {
		t.Fatal(err)
	}
	return h.Count, h.Sum
}

// The last values pushed to a real Prometheus are those of the result, and no
// series goes on after them.
func TestPush(t *testing.T) {
	t.Parallel()
	classic, native := prometheus.start(t, "global: {}\n"), nativePrometheus.start(t, "global: {}\n")
	web := serverFor(t, target.Options{})
	silent := serverFor(t, target.Options{Silent: true})
	receiver := func(s *realServer) string { return "remote-write=" + s.url("web", "/api/v1/write") }
	tests := []struct {
		name   string
		server *realServer
		native bool
		args   string
		run    *background
	}{
		{name: "classic", server: classic, args: web.URL() + " --timeout 20 -r 500 -n 700 --push-label team=a --push-label instance=mine --push " + receiver(classic)},
		{name: "native", server: native, native: true, args: web.URL() + " --timeout 20 -r 500 -n 700 --push-native --push " + receiver(native)},
		{name: "short", server: classic, args: web.URL() + " --timeout 20 -n 1 --push " + receiver(classic)},
		{name: "timeouts", server: classic, args: silent.URL() + " --connect-timeout 20 --reply-timeout 0.2 -r 200 -n 40 --push-interval 0.1 --push " + receiver(classic)},
	}
	for i := range tests {
		tests[i].run = inBackground(t, strings.Fields(tests[i].args)...)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := tt.run.result(t)
			if code, said := tt.run.end(t); code != resultCode(r, nil) || strings.Contains(said, "push:") {
				t.Errorf("exit code %d, want %d: %s", code, resultCode(r, nil), said)
			}
			s := &source{tt.server, fmt.Sprintf("job=%q,run_id=%q", "httpgen", r.Run.ID), true}
			s.counters(t, r)
			if tt.native {
				for name, w := range timings(r) {
					count, sum := s.lastHistogram(t, name)
					same(t, name+" count", count, float64(w.Count))
					same(t, name+" sum", sum, w.Mean*float64(w.Count))
				}
			} else {
				s.classic(t, r)
			}
			if left := s.ask(t, "{"+s.labels+"}"); len(left) > 0 {
				t.Errorf("%d series go on, such as %v; want none", len(left), left[0].labels)
			}
			for _, p := range s.ask(t, s.last(`__name__=~"httpgen_push_(failures|dropped_intervals)_total"`)) {
				if p.value != 0 {
					t.Errorf("%s is %v, want 0", p.name(), p.value)
				}
			}
		})
	}
	labelled := classic.ask(t, `last_over_time(httpgen_run_info{team="a",instance="mine"}[1h])`)
	if len(labelled) != 1 {
		t.Errorf("%d series with the labels that were given, want 1", len(labelled))
	}
}

// troubles are receivers of no use.
var troubles = map[string]http.HandlerFunc{
	"answers 500": func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "out of order", http.StatusInternalServerError)
	},
	"answers 429": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many", http.StatusTooManyRequests)
	},
	"never answers": func(_ http.ResponseWriter, r *http.Request) {
		// Behind the request the end of the connection is seen.
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	},
	"answers 400": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusBadRequest) },
}

// A receiver that is of no use changes nothing about the run but its end, which
// is put off for a bounded time. There is one warning.
func TestPushInVain(t *testing.T) {
	t.Parallel()
	web := serverFor(t, target.Options{})
	receivers := map[string]string{"dead": fmt.Sprintf("http://127.0.0.1:%d/", refusing(t))}
	for name, h := range troubles {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		receivers[name] = s.URL
	}
	type trial struct {
		name string
		run  *background
	}
	var trials []trial
	for name, to := range receivers {
		for _, kind := range []string{"remote-write", "pushgateway"} {
			trials = append(trials, trial{name + ", " + kind, inBackground(t, web.URL(), "--timeout", "20", "-r", "100", "-n", "150", "--push", kind+"="+to)})
		}
	}
	for _, tt := range trials {
		t.Run(tt.name, func(t *testing.T) {
			r := tt.run.result(t)
			if n := &r.Totals; n.Replies != 150 || n.Completed != 150 {
				t.Errorf("%d replies, %d completed; want 150", n.Replies, n.Completed)
			}
			code, said := tt.run.end(t)
			if code != resultCode(r, nil) {
				t.Errorf("exit code %d, want %d", code, resultCode(r, nil))
			}
			if n := strings.Count(said, "warning: push: "); n != 1 || !strings.Contains(said, "push: lost the final values") {
				t.Errorf("%d warnings, want 1, and that the final values are lost:\n%s", n, said)
			}
		})
	}
}

// A run that is killed has pushed all but the newest interval.
func TestPushKilled(t *testing.T) {
	t.Parallel()
	const (
		rate     = 500
		interval = .2 // seconds
		handover = .1
	)
	receiver := prometheus.start(t, "global: {}\n")
	web := serverFor(t, target.Options{})
	b := inBackground(t, "-q", web.URL(), "--timeout", "20", "-r", fmt.Sprint(rate), "--push-interval", fmt.Sprint(interval), "--push-label", "instance=killed",
		"--push", "remote-write="+receiver.url("web", "/api/v1/write"))
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for limit := time.After(patience); web.Stats().Replies < 3*rate; {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("%d replies within %v", web.Stats().Replies, patience)
		}
	}
	if err := b.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	b.end(t)
	served := float64(web.Stats().Replies)

	values := receiver.samples(t, `httpgen_replies_total{instance="killed",code="200"}[1h]`)
	if len(values) < 5 {
		t.Fatalf("pushed %v, want at least 5 values", values)
	}
	// A machine with other things to do stretches intervals.
	longest := interval
	for i := range values[1:] {
		longest = max(longest, values[i+1].at-values[i].at)
	}
	last := values[len(values)-1].value
	// Sending takes time too, for which another tenth of a second is allowed.
	if lost := served - last; lost < 0 || lost > rate*(longest+handover+.1) {
		t.Errorf("%v of %v replies were not pushed, with intervals of up to %v s at %d/s", lost, served, longest, rate)
	}
}

// What a receiver is told of who we are is in no output, whatever becomes of it.
func TestPushSecrets(t *testing.T) {
	t.Parallel()
	web := serverFor(t, target.Options{})
	dir := inFolder(t, map[string]string{"password": "canary-password\n", "token": "canary-token\n", "header": "X-Scope: canary-header\n"})
	for _, tt := range []struct {
		name string
		args string
		env  string
		want http.Header
	}{
		{"password", "--push-user me --push-password-file DIR/password --push-header-file DIR/header", "", http.Header{
			"Authorization": {"Basic bWU6Y2FuYXJ5LXBhc3N3b3Jk"}, "X-Scope": {"canary-header"},
		}},
		{"password of the environment", "--push-user me", "HTTPGEN_PUSH_PASSWORD=canary-password", http.Header{"Authorization": {"Basic bWU6Y2FuYXJ5LXBhc3N3b3Jk"}}},
		{"token", "--push-token-file DIR/token", "", http.Header{"Authorization": {"Bearer canary-token"}}},
		{"token of the environment", "", "HTTPGEN_PUSH_TOKEN=canary-token", http.Header{"Authorization": {"Bearer canary-token"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var got http.Header
			receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				got = r.Header
				// It refuses for good, and tells the world what it was sent.
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprint(w, r.Header, r.URL)
			}))
			defer receiver.Close()
			folder := t.TempDir()
			argv := append([]string{"httpgen", "-v", "-v", web.URL(), "--push", "remote-write=" + receiver.URL + "/write"}, load...)
			argv = append(argv, strings.Fields(strings.ReplaceAll(tt.args, "DIR", dir))...)
			for _, format := range []string{"json", "csv", "ndjson", "text", "httperf"} {
				argv = append(argv, "-o", format+"="+filepath.Join(folder, format))
			}
			outputs := map[string]string{}
			for _, more := range []string{"--dry-run", "--verbose"} {
				c := process(t, append(argv, more)...)
				var stdout, stderr bytes.Buffer
				c.Stdout, c.Stderr = &stdout, &stderr
				if tt.env != "" {
					c.Env = append(c.Env, tt.env)
				}
				if code := outcome(t, c.Run()); !anyVerdict(code) {
					t.Errorf("exit code %d: %s", code, stderr.String())
				}
				outputs[more], outputs[more+", standard error"] = stdout.String(), stderr.String()
			}
			for _, name := range names(t, folder) {
				b, err := os.ReadFile(filepath.Join(folder, name))
				if err != nil {
					t.Fatal(err)
				}
				outputs[name] = string(b)
			}
			if len(outputs) != 9 {
				t.Errorf("%d outputs, want 9", len(outputs))
			}
			for name, text := range outputs {
				if strings.Contains(text, "canary") || strings.Contains(text, "bWU6") {
					t.Errorf("%s shows a secret:\n%s", name, text)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			for name := range tt.want {
				if got.Get(name) != tt.want.Get(name) {
					t.Errorf("%s: %q, want %q", name, got.Get(name), tt.want.Get(name))
				}
			}
			if !strings.Contains(outputs["--verbose, standard error"], "warning: push: ") {
				t.Errorf("no warning:\n%s", outputs["--verbose, standard error"])
			}
		})
	}
}
