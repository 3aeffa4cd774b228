package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"httpgen/internal/report"
)

// prometheus stores classic histograms, and nativePrometheus native ones instead.
var (
	prometheus = daemon{
		"prometheus", []string{"--storage.tsdb.path=@dir@/data", "--web.listen-address=127.0.0.1:@web@", "--web.enable-remote-write-receiver", "--config.file"},
		"Server is ready to receive web requests", syscall.SIGTERM,
	}
	nativePrometheus = daemon{
		prometheus.name, append([]string{"--enable-feature=native-histograms"}, prometheus.args...), prometheus.ready, prometheus.quit,
	}
)

// scrapeConf makes Prometheus scrape what is registered with it.
const scrapeConf = `
scrape_configs:
- job_name: httpgen
  scrape_interval: 1s
  file_sd_configs: [{files: ["@dir@/*.json"], refresh_interval: 1s}]
`

// register makes Prometheus scrape an address from now on. It takes notice
// within 5 s.
func (s *realServer) register(t *testing.T, instance, address string) {
	t.Helper()
	b, err := json.Marshal([]map[string]any{{"targets": []string{address}, "labels": map[string]string{"instance": instance}}})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(s.dir, instance)
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name, name+".json"); err != nil {
		t.Fatal(err)
	}
}

// A point is the value of a series at an instant.
type point struct {
	labels map[string]string
	at     float64 // Unix time in seconds
	value  float64
}

// name returns the metric's name.
func (p *point) name() string { return p.labels["__name__"] }

// api decodes what Prometheus answers.
func (s *realServer) api(t *testing.T, path string, query url.Values, into any) {
	t.Helper()
	resp, err := http.Get(s.url("web", "/api/v1/"+path+"?"+query.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer := struct {
		Status, Error string
		Data          any
	}{Data: into}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		t.Fatalf("%s: %v", resp.Status, err)
	}
	if answer.Status != "success" {
		t.Fatalf("%s %s: %s", path, query, answer.Error)
	}
}

// A timed value is a time and a value, as Prometheus writes them.
type timed [2]any

// point returns it as the value of a series.
func (v timed) point(t *testing.T, labels map[string]string) point {
	t.Helper()
	at, ok := v[0].(float64)
	text, isText := v[1].(string)
	x, err := strconv.ParseFloat(text, 64)
	if !ok || !isText || err != nil {
		t.Fatalf("%v is %v, want a time and a number", labels, v)
	}
	return point{labels, at, x}
}

// ask returns the result of an instant query.
func (s *realServer) ask(t *testing.T, query string) (all []point) {
	t.Helper()
	var data struct {
		Result []struct {
			Metric map[string]string
			Value  timed
		}
	}
	s.api(t, "query", url.Values{"query": {query}}, &data)
	for _, r := range data.Result {
		all = append(all, r.Value.point(t, r.Metric))
	}
	return all
}

// samples returns the values of the one series that a range selects.
func (s *realServer) samples(t *testing.T, selector string) (all []point) {
	t.Helper()
	var data struct {
		Result []struct {
			Metric map[string]string
			Values []timed
		}
	}
	s.api(t, "query", url.Values{"query": {selector}}, &data)
	if len(data.Result) != 1 {
		t.Fatalf("%s is %v, want one series", selector, data.Result)
	}
	for _, v := range data.Result[0].Values {
		all = append(all, v.point(t, data.Result[0].Metric))
	}
	return all
}

// value returns the result of a query that has one.
func (s *realServer) value(t *testing.T, query string) float64 {
	t.Helper()
	all := s.ask(t, query)
	if len(all) != 1 {
		t.Fatalf("%s is %v, want one value", query, all)
	}
	return all[0].value
}

// await waits until a query has a result.
func (s *realServer) await(t *testing.T, query string) {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(patience)
	for len(s.ask(t, query)) == 0 {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("no result within %v: %s", patience, query)
		}
	}
}

// A background is a run of the command that goes on beside the test.
type background struct {
	*exec.Cmd
	stdout *json.Decoder
	stderr *bufio.Reader
}

// inBackground starts a run whose result is JSON.
func inBackground(t *testing.T, args ...string) *background {
	t.Helper()
	return beside(t, append([]string{"httpgen", "-o", "json"}, args...)...)
}

// beside starts a command whose result is JSON. It is killed with the test if it
// has not ended.
func beside(t *testing.T, argv ...string) *background {
	t.Helper()
	b := &background{Cmd: process(t, argv...)}
	// The race detector would let every process sleep for a second at its end.
	b.Env = append(b.Env, "GORACE="+os.Getenv("GORACE")+" atexit_sleep_ms=0")
	stdout, err := b.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	b.stdout = json.NewDecoder(stdout)
	b.stderr = started(t, b.Cmd)
	t.Cleanup(func() {
		if b.ProcessState == nil {
			b.Process.Kill()
			b.Wait()
		}
	})
	return b
}

var metricsAt = regexp.MustCompile(`^Metrics at (\S+)\n$`)

// endpoint returns the address at which the run shows its metrics.
func (b *background) endpoint(t *testing.T) string {
	t.Helper()
	var said strings.Builder
	for {
		line, err := b.stderr.ReadString('\n')
		said.WriteString(line)
		if m := metricsAt.FindStringSubmatch(line); m != nil {
			return m[1]
		}
		if err != nil {
			t.Fatalf("%v before the address of the metrics in:\n%s", err, said.String())
		}
	}
}

// result waits for the run's result. The process may go on.
func (b *background) result(t *testing.T) *report.Result {
	t.Helper()
	var r report.Result
	if err := b.stdout.Decode(&r); err != nil {
		rest, _ := io.ReadAll(b.stderr)
		t.Fatalf("%v instead of a result: %s", err, rest)
	}
	balanced(t, &r.Totals)
	return &r
}

// signal sends a signal to the process.
func (b *background) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := b.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// end waits for the end of the process. It returns how that came about, and what
// was said that nobody has read.
func (b *background) end(t *testing.T) (code int, said string) {
	t.Helper()
	rest, err := io.ReadAll(b.stderr)
	if err != nil {
		t.Fatal(err)
	}
	if b.stdout.More() {
		t.Error("there is more on standard output than the result")
	}
	return outcome(t, b.Wait()), string(rest)
}

// watch starts a run that begins when one of the servers has scraped it, and
// stays until it is sent a signal.
func watch(t *testing.T, instance string, servers []*realServer, args ...string) *background {
	t.Helper()
	b := inBackground(t, append([]string{"--web.listen-address", "127.0.0.1:0", "--web.wait-scrape", "--metrics-linger", "10m"}, args...)...)
	address := b.endpoint(t)
	for _, s := range servers {
		s.register(t, instance, address)
	}
	return b
}

// A source is where a server has the last values of a run.
type source struct {
	*realServer
	labels string // that the series of the run have, such as instance="a"
	ended  bool   // the series have ended
}

// last returns the query for the last values of the series that a matcher names.
func (s *source) last(matcher string) string {
	selector := fmt.Sprintf("{%s,%s}", s.labels, matcher)
	if s.ended {
		return "last_over_time(" + selector + "[1h])"
	}
	return selector
}

// scrape returns what an endpoint shows.
func scrape(t *testing.T, address string) string {
	t.Helper()
	resp, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v", resp.Status, err)
	}
	return string(b)
}

// value returns what an endpoint shows as the value of a series.
func value(t *testing.T, address, series string) string {
	t.Helper()
	for line := range strings.Lines(scrape(t, address)) {
		if v, ok := strings.CutPrefix(line, series+" "); ok {
			return strings.TrimSpace(v)
		}
	}
	t.Fatalf("there is no %s at %s", series, address)
	return ""
}
