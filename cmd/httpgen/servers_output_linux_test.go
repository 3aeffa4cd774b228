package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"httpgen/internal/report"
)

// All formats of one run agree, number by number.
func TestServersFormats(t *testing.T) {
	t.Parallel()
	s := nginx.start(t, nginxConf)
	for _, tt := range []struct {
		name, args, want string
	}{
		{"two statuses", "http://127.0.0.1:@main@/once -r 200 -n 60 --num-calls 2", "started 60 completed 60 connections 60 requests 120 replies 120 200=1 503=119"},
		{"lost calls", "http://127.0.0.1:@main@/three -r 200 -n 60 --num-calls 5", "started 60 completed 60 connections 60 requests 180 replies 180 unsent 120 lost 120 200=180 " + pages(180)},
		{"errors", "http://127.0.0.1:@main@/hangup -r 200 -n 60", "started 60 completed 0 connections 60 requests 60 replies 0 unanswered 60 lost 60 closed_early 60"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := func(format string) string { return filepath.Join(dir, format) }
			args := append(strings.Fields(s.fill(t, tt.args)), "--timeout", "20", "--window", "0.1")
			for _, format := range []string{"text", "httperf", "csv", "ndjson"} {
				args = append(args, "-o", format+"="+file(format))
			}
			r := measure(t, args...)
			counted(t, r, tt.want)
			read := func(format string) string {
				b, err := os.ReadFile(file(format))
				if err != nil {
					t.Fatal(err)
				}
				return string(b)
			}
			sameText(t, read("text"), r)
			sameText(t, read("httperf"), r)
			sameCSV(t, read("csv"), r)
			sameNDJSON(t, read("ndjson"), r)
		})
	}
}

// sameText compares httperf's part of a report with the result.
func sameText(t *testing.T, text string, r *report.Result) {
	t.Helper()
	n := &r.Totals
	e, s, d := &n.Errors, &n.Status, r.Run.TotalSeconds
	timeouts := e.ConnectTimeout + e.SendTimeout + e.ReplyTimeout + e.Deadline
	fd, addresses := e.FDUnavailable, e.AddressUnavailable
	known := timeouts + e.SocketTimeout + e.ConnectRefused + e.Reset + e.ClosedEarly + fd + addresses + e.FileTableFull
	samples := &r.Rates.Replies
	for _, want := range []string{
		r.Run.Echo,
		fmt.Sprintf("Maximum connect burst length: %d", n.Connections.MaxBurst),
		fmt.Sprintf("Total: connections %d requests %d replies %d test-duration %.3f s", n.Connections.Attempted, n.Requests, n.Replies, d),
		fmt.Sprintf("Reply rate [replies/s]: min %.1f avg %.1f max %.1f stddev %.1f (%d samples)", samples.Min, samples.Avg, samples.Max, samples.StdDev, samples.Samples),
		fmt.Sprintf("Reply status: 1xx=%d 2xx=%d 3xx=%d 4xx=%d 5xx=%d", s.Class1, s.Class2, s.Class3, s.Class4, s.Class5),
		fmt.Sprintf("Errors: total %d client-timo %d socket-timo %d connrefused %d connreset %d", e.Total, timeouts, e.SocketTimeout, e.ConnectRefused, e.Reset+e.ClosedEarly),
		fmt.Sprintf("Errors: fd-unavail %d addrunavail %d ftab-full %d other %d", fd, addresses, e.FileTableFull, e.Total-known),
	} {
		if !slices.Contains(strings.Split(text, "\n"), want) {
			t.Errorf("no line %q in:\n%s", want, text)
		}
	}
}

// sameCSV compares the rows with the windows of the result.
func sameCSV(t *testing.T, text string, r *report.Result) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(r.Windows)+1 {
		t.Fatalf("csv: %d rows, want a heading and %d", len(rows), len(r.Windows))
	}
	for i, row := range rows[1:] {
		w := &r.Windows[i]
		for name, want := range map[string]float64{
			"start_seconds": w.StartSeconds, "length_seconds": w.LengthSeconds,
			"scheduled": float64(w.Scheduled), "started": float64(w.Started), "replies": float64(w.Replies),
			"status_2xx": float64(w.Status.Class2), "status_5xx": float64(w.Status.Class5),
			"errors_total": float64(w.Errors.Total), "errors_closed_early": float64(w.Errors.ClosedEarly),
			"unfinished": float64(w.Unfinished), "inflight": float64(w.Inflight), "connections": float64(w.Connections),
			"latency_count": float64(w.Latency.Count), "latency_mean_seconds": w.Latency.Mean, "service_max_seconds": w.Service.Max,
			"lag_max_seconds": w.Lag.Max,
		} {
			column := slices.Index(rows[0], name)
			if column < 0 {
				t.Fatalf("csv: no column %s in %q", name, rows[0])
			}
			if have, err := strconv.ParseFloat(row[column], 64); err != nil || have != want {
				t.Errorf("csv: row %d: %s is %s, want %v", i, name, row[column], want)
			}
		}
	}
}

// sameNDJSON compares the lines with the windows, the totals and the verdict.
func sameNDJSON(t *testing.T, text string, r *report.Result) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) != len(r.Windows)+1 {
		t.Fatalf("ndjson: %d lines, want %d windows and the result", len(lines), len(r.Windows))
	}
	for i := range r.Windows {
		var line struct {
			Type string
			report.Window
		}
		if err := json.Unmarshal([]byte(lines[i]), &line); err != nil {
			t.Fatal(err)
		}
		if line.Type != "window" || !reflect.DeepEqual(line.Window, r.Windows[i]) {
			t.Errorf("ndjson: line %d is %s\nwant %+v", i, lines[i], r.Windows[i])
		}
	}
	var last struct {
		Type    string
		Totals  report.Totals
		Verdict report.Verdict
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		t.Fatal(err)
	}
	if last.Type != "result" || !reflect.DeepEqual(last.Totals, r.Totals) || !reflect.DeepEqual(last.Verdict, r.Verdict) {
		t.Errorf("ndjson: the last line is %s\nwant %+v\n%+v", lines[len(lines)-1], r.Totals, r.Verdict)
	}
}

// autobench finds its columns in httperf's report by these patterns, line by
// line.
var autobench = []struct{ name, pattern string }{
	{"replies", `^Total: .*replies (\d+)`},
	{"connection rate", `^Connection rate: (\d+\.\d)`},
	{"request rate", `^Request rate: (\d+\.\d)`},
	{"reply rate", `^Reply rate .*min (\d+\.\d) avg (\d+\.\d) max (\d+\.\d) stddev (\d+\.\d)`},
	{"reply time", `^Reply time .* response (\d+\.\d)`},
	{"net I/O", `^Net I/O: (\d+\.\d)`},
	{"errors", `^Errors: total (\d+)`},
}

// The report is read by autobench's patterns, called with its options.
func TestServersAutobench(t *testing.T) {
	t.Parallel()
	s := nginx.start(t, nginxConf)
	for _, tt := range []struct {
		uri             string
		calls           int
		replies, errors string
	}{
		{"/page", 2, "100", "0"},
		{"/hangup", 2, "0", "50"},
	} {
		t.Run(tt.uri, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "json")
			code, stdout, stderr := finish(t, "httperf", "--timeout", "20", "--hog", "--server", "127.0.0.1", "--port", strconv.Itoa(s.ports["main"]), "--uri", tt.uri,
				"--rate", "100", "--num-conn", "50", "--num-call", strconv.Itoa(tt.calls), "-o", "httperf", "-o", "json="+file)
			if code != exitOK && code != exitInvalid && code != exitSilent {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			r := decode(t, string(b))
			rates := &r.Rates
			want := map[string]string{
				"replies":         tt.replies,
				"connection rate": fmt.Sprintf("%.1f", rates.ConnectionsPerSecond),
				"request rate":    fmt.Sprintf("%.1f", rates.RequestsPerSecond),
				"reply rate":      fmt.Sprintf("%.1f %.1f %.1f %.1f", rates.Replies.Min, rates.Replies.Avg, rates.Replies.Max, rates.Replies.StdDev),
				"reply time":      fmt.Sprintf("%.1f", 1e3*r.Times.FirstByte.Mean),
				"net I/O":         fmt.Sprintf("%.1f", float64(r.Totals.Bytes.Sent+r.Totals.Bytes.Received)/1024/r.Run.TotalSeconds),
				"errors":          tt.errors,
			}
			for _, p := range autobench {
				var have []string
				for line := range strings.Lines(stdout) {
					if m := regexp.MustCompile(p.pattern).FindStringSubmatch(line); m != nil {
						have = append(have, strings.Join(m[1:], " "))
					}
				}
				if !slices.Equal(have, []string{want[p.name]}) {
					t.Errorf("%s: found %q, want %q once in:\n%s", p.name, have, want[p.name], stdout)
				}
			}
		})
	}
}

// A server that goes away in the middle of a run leaves refused connections and
// complete accounts, one that is reloaded leaves no trace.
func TestServersSignalled(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		signal syscall.Signal
		want   string
	}{
		{"stopped", syscall.SIGTERM, "started [0-9]+ completed [1-9].* 200=.* connect_refused [1-9].*"},
		{"reloaded", syscall.SIGHUP, "started [0-9]+ completed [1-9][0-9]* connections [0-9]+ requests [0-9]+ replies [0-9]+( shed [0-9]+)? 200=[0-9]+ body [0-9]+"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := nginx.start(t, nginxConf)
			c := process(t, "httpgen", s.url("main", "/page"), "-r", "100", "--window", "0.1", "--timeout", "20", "-o", "json")
			var stdout bytes.Buffer
			c.Stdout = &stdout
			stderr := started(t, c)
			untilLine(t, stderr, "offered")
			if tt.signal == syscall.SIGHUP {
				if err := s.Process.Signal(tt.signal); err != nil {
					t.Fatal(err)
				}
			} else {
				s.end(t, tt.signal)
			}
			for range 4 {
				untilLine(t, stderr, "offered")
			}
			if err := c.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(stderr)
			if err != nil {
				t.Fatal(err)
			}
			if code := outcome(t, c.Wait()); code != exitSignal+int(syscall.SIGINT) {
				t.Fatalf("exit code %d: %s", code, text)
			}
			r := decode(t, stdout.String())
			coherent(t, r)
			counted(t, r, tt.want)
		})
	}
}

func TestServersRefused(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := finish(t, "httpgen", fmt.Sprintf("http://127.0.0.1:%d/", refusing(t)), "-n", "20", "-q", "-o", "json")
	if code != exitSilent || stderr != "" {
		t.Errorf("exit code %d, standard error %q; want %d and none", code, stderr, exitSilent)
	}
	r := decode(t, stdout)
	coherent(t, r)
	counted(t, r, "started 20 completed 0 connections 0 requests 0 replies 0 failed connections 20 unsent 20 lost 20 connect_refused 20")
}
