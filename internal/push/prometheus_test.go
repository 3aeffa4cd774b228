package push

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

var listening = regexp.MustCompile(`msg="Listening on" address=([^ ]+)`)

// startPrometheus starts a server that accepts remote write, and returns its
// URL. The test is skipped if there is none on this machine.
func startPrometheus(t *testing.T, args ...string) string {
	t.Helper()
	path, err := exec.LookPath("prometheus")
	if err != nil {
		t.Skip("no prometheus on this machine: this test needs the server in PATH")
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(config, []byte("global: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	c := exec.CommandContext(ctx, path, append(args, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address=127.0.0.1:0", "--web.enable-remote-write-receiver")...)
	log, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel() // kills it
		c.Wait()
	})
	var address, said string
	ready := false // it says so before or after it tells the address
	lines := bufio.NewScanner(log)
	for (address == "" || !ready) && lines.Scan() {
		said += lines.Text() + "\n"
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			address = m[1]
		}
		ready = ready || strings.Contains(lines.Text(), "ready to receive web requests")
	}
	if address == "" || !ready {
		t.Fatalf("prometheus does not start; it said:\n%s", said)
	}
	go io.Copy(io.Discard, log)
	return "http://" + address
}

// A result is a series that a query returned.
type result struct {
	Metric     map[string]string
	Value      [2]any               // time, value of an instant
	Values     [][2]any             // of a range
	Histograms [][2]json.RawMessage // of a range
}

// query asks the server for an instant vector or a range.
func query(t *testing.T, server, q string) []result {
	t.Helper()
	resp, err := http.Get(server + "/api/v1/query?query=" + url.QueryEscape(q))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct {
		Status, Error string
		Data          struct{ Result []result }
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	if answer.Status != "success" {
		t.Fatalf("%s: %s", q, answer.Error)
	}
	return answer.Data.Result
}

// pushAll pushes what r gathers at least three times, changes it, and finishes.
func pushAll(t *testing.T, o Options, r prometheus.Gatherer, change func()) {
	t.Helper()
	gathered := make(chan struct{}, 1000)
	o.Interval = minInterval
	p, err := newPusher(o, prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		gathered <- struct{}{}
		return r.Gather()
	}), noEnv, newBase())
	if err != nil {
		t.Fatal(err)
	}
	done := run(t.Context(), p)
	for range 3 {
		<-gathered
	}
	change()
	if err := p.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-done
	if p.Failures() != 0 {
		t.Errorf("%d failures, first %v", p.Failures(), p.FirstError())
	}
}

// A real Prometheus has the very values after a push, and every series has
// ended.
func TestPrometheusClassic(t *testing.T) {
	t.Parallel()
	server := startPrometheus(t)
	r := prometheus.NewRegistry()
	replies := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "replies_total"}, []string{"code", "Zone"})
	latency := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "latency_seconds", Buckets: []float64{5e-6, 0.001, 0.25, 1, 100}, NativeHistogramBucketFactor: 1.1})
	pause := prometheus.NewSummary(prometheus.SummaryOpts{Name: "pause_seconds", Objectives: map[float64]float64{0.5: 0.05}})
	level := prometheus.NewGauge(prometheus.GaugeOpts{Name: "level"})
	r.MustRegister(replies, latency, pause, level)
	replies.WithLabelValues("200", "z")
	o := Options{RemoteWrite: server + "/api/v1/write", Instance: "h:1", RunID: "r1", Labels: map[string]string{"team": "é \"quoted\""}}
	pushAll(t, o, r, func() {
		replies.WithLabelValues("200", "z").Add(123456789012345)
		replies.WithLabelValues("503", "").Inc()
		level.Set(0.1)
		pause.Observe(1e-9)
		for i := range 1000 {
			latency.Observe(float64(i) * float64(i) * 1e-5)
		}
	})

	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	message, samples, err := newEncoder([]label{{"instance", "h:1"}, {"job", "httpgen"}, {"run_id", "r1"}, {"team", "é \"quoted\""}}, false).encode(families, 1)
	if err != nil {
		t.Fatal(err)
	}
	points, err := decode(message)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{}
	for _, p := range points {
		labels := map[string]string{}
		for _, l := range p.labels {
			labels[l.name] = l.value
		}
		want[fmt.Sprint(labels)] = p.value
	}
	got := query(t, server, `last_over_time({job="httpgen"}[1h])`)
	if len(got) != int(samples) {
		t.Errorf("%d series, want %d", len(got), samples)
	}
	for _, s := range got {
		v, err := strconv.ParseFloat(s.Value[1].(string), 64)
		if w, ok := want[fmt.Sprint(s.Metric)]; err != nil || !ok || v != w {
			t.Errorf("%v is %v, want %v", s.Metric, v, w)
		}
	}
	if left := query(t, server, `{job="httpgen"}`); len(left) != 0 {
		t.Errorf("%d series go on, want none: %v", len(left), left)
	}
	if zeros := query(t, server, `min_over_time(replies_total{code="200"}[1h])`); len(zeros) != 1 || zeros[0].Value[1] != "0" {
		t.Errorf("the least value is %v, want the 0 of the start", zeros)
	}

	// Without the feature a native histogram makes it refuse everything.
	o.Native, o.Instance = true, "h:2"
	p, err := newPusher(o, r, noEnv, newBase())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p.receiver = &spy{p.receiver, func(error) { cancel() }}
	if err := p.Finish(ctx); err == nil || !strings.Contains(p.FirstError().Error(), "500 Internal Server Error") {
		t.Errorf("Finish: %v, want a refusal", err)
	}
}

// With its feature enabled, a real Prometheus has the native histogram, and no
// classic series of it.
func TestPrometheusNative(t *testing.T) {
	t.Parallel()
	server := startPrometheus(t, "--enable-feature=native-histograms")
	r := prometheus.NewRegistry()
	latency := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "latency_seconds", Buckets: []float64{1}, NativeHistogramBucketFactor: 1.1, NativeHistogramZeroThreshold: 1e-6})
	idle := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "idle_seconds", NativeHistogramBucketFactor: 1.1})
	classic := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "classic_seconds", Buckets: []float64{1}})
	r.MustRegister(latency, idle, classic)
	o := Options{RemoteWrite: server + "/api/v1/write", Instance: "h:1", Native: true}
	pushAll(t, o, r, func() {
		classic.Observe(2)
		latency.Observe(0)
		latency.Observe(-3)
		for i := range 1000 {
			latency.Observe(float64(i+1) * 1e-4)
		}
	})

	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var h *dto.Histogram
	for _, f := range families {
		if f.GetName() == "latency_seconds" {
			h = f.Metric[0].Histogram
		}
	}
	// Prometheus 2.42 has no histograms in last_over_time, but all there are in a range.
	all := query(t, server, `latency_seconds[1h]`)
	if len(all) != 1 || len(all[0].Histograms) < 4 || len(all[0].Values) != 0 {
		t.Fatalf("got %v, want one series of at least 4 histograms", all)
	}
	last := all[0].Histograms[len(all[0].Histograms)-1]
	for q, want := range map[string]float64{
		fmt.Sprintf(`histogram_count(latency_seconds @ %s)`, last[0]): 1002,
		fmt.Sprintf(`histogram_sum(latency_seconds @ %s)`, last[0]):   h.GetSampleSum(),
		fmt.Sprintf(`histogram_count(idle_seconds @ %s)`, last[0]):    0,
		`last_over_time(classic_seconds_bucket{le="+Inf"}[1h])`:       1,
		`count(last_over_time({__name__=~"latency_.*"}[1h]))`:         1,
		`count(last_over_time({job="httpgen"}[1h]))`:                  6,
		`count({job="httpgen"}) or vector(0)`:                         0,
	} {
		got := query(t, server, q)
		if len(got) != 1 || got[0].Value[1] != strconv.FormatFloat(want, 'g', -1, 64) {
			t.Errorf("%s is %v, want %v", q, got, want)
		}
	}

	var stored struct{ Buckets [][4]any }
	if err := json.Unmarshal(last[1], &stored); err != nil {
		t.Fatal(err)
	}
	want := bucketsOf(h)
	if len(stored.Buckets) != len(want) {
		t.Fatalf("%d buckets, want %d", len(stored.Buckets), len(want))
	}
	for i, b := range stored.Buckets {
		top, err := strconv.ParseFloat(b[2].(string), 64)
		if err != nil || math.Abs(top-want[i].top) > 1e-9*math.Abs(top) || b[3] != fmt.Sprint(want[i].count) {
			t.Errorf("bucket %d is %v, want %v", i, b, want[i])
		}
	}
}

type bucket struct {
	top   float64
	count int64
}

// bucketsOf returns the filled native buckets of h, from the lowest on.
func bucketsOf(h *dto.Histogram) (all []bucket) {
	sides := func(spans []*dto.BucketSpan, deltas []int64, add func(index int32, count int64)) {
		var index int32
		var count int64
		for _, s := range spans {
			index += s.GetOffset()
			for range s.GetLength() {
				count += deltas[0]
				deltas = deltas[1:]
				add(index, count)
				index++
			}
		}
	}
	bound := func(index int32) float64 { return math.Exp2(float64(index) / math.Exp2(float64(h.GetSchema()))) }
	sides(h.NegativeSpan, h.NegativeDelta, func(i int32, n int64) {
		all = append([]bucket{{-bound(i - 1), n}}, all...)
	})
	all = append(all, bucket{h.GetZeroThreshold(), int64(h.GetZeroCount())})
	sides(h.PositiveSpan, h.PositiveDelta, func(i int32, n int64) {
		if n > 0 {
			all = append(all, bucket{bound(i), n})
		}
	})
	return all
}
