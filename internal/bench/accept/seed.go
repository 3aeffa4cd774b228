package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"httpgen/internal/bench/lab"
	"httpgen/internal/report"
)

// The command that measurements with httperf are usually made with.
const (
	seedRate  = 2000
	seedCount = 100000
	seedRuns  = 3
)

// seed checks the usual httperf command line, pasted: in two runs of three all
// is exact, ends on time, and is valid.
func seed(ctx context.Context, b *bench) error {
	s, err := b.Nginx(ctx)
	if err != nil {
		return err
	}
	defer s.Stop()
	runs := b.repeat(seedRuns)
	good := 0
	for range runs {
		wrong, err := seedRun(ctx, b, s)
		if err != nil {
			return err
		}
		if len(wrong) == 0 {
			good++
			continue
		}
		b.note("run", strings.Join(wrong, "; "))
	}
	b.atLeast("good runs", float64(good), float64((2*runs+2)/3), "")
	return nil
}

// seedRun makes one run and returns what is wrong with it.
func seedRun(ctx context.Context, b *bench, s *lab.Server) ([]string, error) {
	file := b.Path("seed.json")
	argv := append([]string{b.Httpgen, "-q", "-o", "text", "-o", "json=" + file}, s.Flags()...)
	argv = append(argv, "--rate", fmt.Sprint(seedRate), "--num-conn", fmt.Sprint(seedCount), "--num-call", "1", "--timeout", "5")
	const seconds = float64(seedCount) / seedRate
	o, err := lab.Run(ctx, lab.ClientCore, time.Minute+time.Duration(seconds*1e9), argv...)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("exit code %d: %w", o.Code, err)
	}
	var r report.Result
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	wrong := judgeSeed(&r, seedCount, seconds)
	if o.Code != 0 {
		wrong = append(wrong, fmt.Sprintf("exit code %d", o.Code))
	}
	return append(wrong, compareText(o.Stdout, &r)...), nil
}

// judgeSeed returns what is wrong with the result of a run of count arrivals
// over that many seconds.
func judgeSeed(r *report.Result, count uint64, seconds float64) []string {
	var wrong []string
	t := &r.Totals
	for _, n := range []struct {
		name string
		got  uint64
	}{{"connections", t.Connections.Attempted}, {"requests", t.Requests}, {"replies", t.Replies}, {"completed", t.Completed}} {
		if n.got != count {
			wrong = append(wrong, fmt.Sprintf("%s %d", n.name, n.got))
		}
	}
	if d := r.Run.TotalSeconds; d < seconds-.5 || d > seconds+.5 {
		wrong = append(wrong, fmt.Sprintf("%.3f s", d))
	}
	if n := r.Rates.Replies.Samples; n != 10 {
		wrong = append(wrong, fmt.Sprintf("%d samples", n))
	}
	if a := accounts(t); a != "" {
		wrong = append(wrong, a)
	}
	if r.Verdict.Status != report.Valid {
		wrong = append(wrong, fmt.Sprintf("%s (%s)", r.Verdict.Status, codes(&r.Verdict)))
	}
	return wrong
}

// columns are what scripts that drive httperf take from its report.
var columns = []struct {
	name    string
	pattern *regexp.Regexp
	want    func(r *report.Result) []string // of the pattern's groups
}{
	{"replies", regexp.MustCompile(`(?m)^Total: .*replies (\d+)`), func(r *report.Result) []string {
		return []string{fmt.Sprint(r.Totals.Replies)}
	}},
	{"duration", regexp.MustCompile(`(?m)^Total: .*test-duration (\d+\.\d+) s`), func(r *report.Result) []string {
		return []string{fmt.Sprintf("%.3f", r.Run.TotalSeconds)}
	}},
	{"connection rate", regexp.MustCompile(`(?m)^Connection rate: (\d+\.\d)`), func(r *report.Result) []string {
		return []string{tenth(r.Rates.ConnectionsPerSecond)}
	}},
	{"request rate", regexp.MustCompile(`(?m)^Request rate: (\d+\.\d)`), func(r *report.Result) []string {
		return []string{tenth(r.Rates.RequestsPerSecond)}
	}},
	{"reply rate", regexp.MustCompile(`(?m)^Reply rate .*min (\d+\.\d) avg (\d+\.\d) max (\d+\.\d) stddev (\d+\.\d)`), func(r *report.Result) []string {
		s := &r.Rates.Replies
		return []string{tenth(s.Min), tenth(s.Avg), tenth(s.Max), tenth(s.StdDev)}
	}},
	{"reply time", regexp.MustCompile(`(?m)^Reply time .* response (\d+\.\d)`), func(r *report.Result) []string {
		return []string{tenth(1e3 * r.Times.FirstByte.Mean)}
	}},
	{"net I/O", regexp.MustCompile(`(?m)^Net I/O: (\d+\.\d)`), func(r *report.Result) []string {
		b := &r.Totals.Bytes
		return []string{tenth(report.Per(b.Request+b.Header+b.Body, r.Run.TotalSeconds) / 1024)}
	}},
	{"errors", regexp.MustCompile(`(?m)^Errors: total (\d+)`), func(r *report.Result) []string {
		return []string{fmt.Sprint(r.Totals.Errors.Total)}
	}},
}

func tenth(v float64) string { return fmt.Sprintf("%.1f", v) }

// compareText returns where the report in text says something else than r.
func compareText(text string, r *report.Result) []string {
	var wrong []string
	for _, c := range columns {
		want := strings.Join(c.want(r), " ")
		m := c.pattern.FindStringSubmatch(text)
		switch {
		case m == nil:
			wrong = append(wrong, c.name+" is not in the text")
		case strings.Join(m[1:], " ") != want:
			wrong = append(wrong, fmt.Sprintf("%s %s in the text and %s in the JSON", c.name, strings.Join(m[1:], " "), want))
		}
	}
	return wrong
}
