package dashboard

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
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
)

// A server is a Prometheus that scrapes one endpoint every second and has the
// rules.
type server struct {
	url   string
	since time.Time
}

// newServer starts a Prometheus, which ends with the test.
func newServer(t *testing.T, e *endpoint, flags ...string) *server {
	t.Helper()
	prometheus, err := exec.LookPath("prometheus")
	if err != nil {
		t.Skip("no prometheus here")
	}
	dir := mustWrite(t)
	config, err := os.ReadFile(filepath.Join(dir, "scrape.yml"))
	if err != nil {
		t.Fatal(err)
	}
	const target = "127.0.0.1:9797"
	if !strings.Contains(string(config), target) {
		t.Fatalf("scrape.yml has no target %s", target)
	}
	config = []byte(strings.ReplaceAll(string(config), target, e.Listener.Addr().String()))
	if err := os.WriteFile(filepath.Join(dir, "scrape.yml"), config, 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"--config.file=scrape.yml", "--storage.tsdb.path=" + t.TempDir(), "--web.listen-address=127.0.0.1:0"}
	cmd := exec.CommandContext(t.Context(), prometheus, append(args, flags...)...)
	cmd.Dir = dir
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	since := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// It ends when the context of the test does, which is before this.
	t.Cleanup(func() { cmd.Wait() })
	listening := regexp.MustCompile(`msg="Listening on" address=(\S+)`)
	var said strings.Builder
	var address string
	for lines := bufio.NewScanner(log); lines.Scan(); {
		fmt.Fprintln(&said, lines.Text())
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			address = m[1]
		}
		if address != "" && strings.Contains(lines.Text(), "Server is ready") {
			go func() {
				// A full pipe would stop it.
				for lines.Scan() {
				}
			}()
			return &server{"http://" + address, since}
		}
	}
	t.Fatalf("prometheus did not start:\n%s", said.String())
	return nil
}

// get decodes what the server answers under a path.
func (s *server) get(ctx context.Context, path string, query url.Values, into any) error {
	req, err := http.NewRequestWithContext(ctx, "GET", s.url+path+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer := struct {
		Status, Error string
		Data          any
	}{Data: into}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return fmt.Errorf("%s: %w", resp.Status, err)
	}
	if answer.Status != "success" {
		return fmt.Errorf("%s: %s", resp.Status, answer.Error)
	}
	return nil
}

// A series is a line of a graph.
type series struct {
	Metric     map[string]string
	Values     []point
	Histograms []any
}

// A point is a time and a value.
type point struct{ at, value float64 }

// UnmarshalJSON reads a pair of a number and a string.
func (p *point) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &[]any{&p.at, &text}); err != nil {
		return err
	}
	var err error
	p.value, err = strconv.ParseFloat(text, 64)
	return err
}

// last returns the last value that is a number.
func (s *series) last() (v float64, ok bool) {
	for _, p := range s.Values {
		if !math.IsNaN(p.value) {
			v, ok = p.value, true
		}
	}
	return v, ok
}

// graph returns the series of an expression since the server was started that
// have a value or a histogram.
func (s *server) graph(ctx context.Context, expr string) ([]series, error) {
	var data struct{ Result []series }
	err := s.get(ctx, "/api/v1/query_range", url.Values{
		"query": {expr}, "step": {"1"}, "start": {fmt.Sprint(s.since.Unix())}, "end": {fmt.Sprint(time.Now().Unix() + 1)},
	}, &data)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, expr)
	}
	var all []series
	for _, one := range data.Result {
		if _, ok := one.last(); ok || len(one.Histograms) > 0 {
			all = append(all, one)
		}
	}
	return all, nil
}

// await returns the series of an expression as soon as there are any.
func (s *server) await(ctx context.Context, expr string) ([]series, error) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		all, err := s.graph(ctx, expr)
		if err != nil || len(all) > 0 {
			return all, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("no data: %s", expr)
		case <-tick.C:
		}
	}
}

// rules returns the expressions of all rules by their names.
func (s *server) rules(ctx context.Context) (map[string]string, error) {
	var data struct {
		Groups []struct {
			Rules []struct{ Name, Query, LastError string }
		}
	}
	if err := s.get(ctx, "/api/v1/rules", nil, &data); err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, g := range data.Groups {
		for _, r := range g.Rules {
			if r.LastError != "" {
				return nil, fmt.Errorf("rule %s: %s", r.Name, r.LastError)
			}
			all[r.Name] = r.Query
		}
	}
	return all, nil
}
