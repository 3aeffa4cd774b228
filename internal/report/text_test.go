package report

import (
	"regexp"
	"strings"
	"testing"
)

// skeleton is httperf's report with every number as a #.
const skeleton = `Maximum connect burst length: #

Total: connections # requests # replies # test-duration # s

Connection rate: # conn/s (# ms/conn, <=# concurrent connections)
Connection time [ms]: min # avg # max # median # stddev #
Connection time [ms]: connect #
Connection length [replies/conn]: #

Request rate: # req/s (# ms/req)
Request size [B]: #

Reply rate [replies/s]: min # avg # max # stddev # (# samples)
Reply time [ms]: response # transfer #
Reply size [B]: header # content # footer # (total #)
Reply status: 1xx=# 2xx=# 3xx=# 4xx=# 5xx=#

CPU time [s]: user # system # (user #% system #% total #%)
Net I/O: # KB/s (#*10^6 bps)

Errors: total # client-timo # socket-timo # connrefused # connreset #
Errors: fd-unavail # addrunavail # ftab-full # other #
`

// sessionSkeleton follows in a run of sessions.
const sessionSkeleton = `
Session rate [sess/s]: min # avg # max # stddev # (#/#)
Session: avg # connections/session
Session lifetime [s]: #
Session failtime [s]: #
Session length histogram: # # #
`

func TestClassicSkeleton(t *testing.T) {
	t.Parallel()
	// A number stands after a blank, a bracket, an =, a / between numbers, or the < of the peak; 1xx and 10^6 are no numbers.
	number := regexp.MustCompile(`([ (=]|\(\d+/|<=)(\d+(?:\.\d+)?)\b`)
	for _, tt := range []struct {
		name   string
		result *Result
		want   string
	}{
		{"connections", ordinary(), skeleton},
		{"sessions", overload(), skeleton + sessionSkeleton},
		{"nothing happened", nothing(), skeleton},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, got, _ := strings.Cut(render(t, Details{}.Classic, tt.result), "\n")
			got = regexp.MustCompile(`\d+/\d+\)`).ReplaceAllString(got, "#/#)")
			got = number.ReplaceAllString(got, "${1}#")
			if got != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
			if text := render(t, Details{}.Text, tt.result); !strings.HasPrefix(text, render(t, Details{}.Classic, tt.result)) {
				t.Errorf("Text does not begin with what Classic prints:\n%s", text)
			}
		})
	}
}

// TestScrapers runs the patterns of programs that read httperf's report, line
// by line with the last match winning, as autobench does.
func TestScrapers(t *testing.T) {
	t.Parallel()
	r := ordinary()
	// Streams repeat some of the heads. They must not be found.
	s := Stream{Name: "a", Verdict: Verdict{Status: Valid}, Rates: Rates{Replies: NewSamples([]float64{7}, 5)}}
	r.Streams = []Stream{s, s}
	text := render(t, Details{}.Text, r)
	for _, tt := range []struct {
		pattern string
		want    []string
	}{
		{`^Total: .*requests (\d+) replies (\d+)`, []string{"20000", "20000"}},
		{`^Total: connections (\d+) .*test-duration (\d+\.\d+) s`, []string{"20000", "10.000"}},
		{`^Total: connections 20000 requests 20000 replies 20000 test-duration (9|10)\.[0-9]{3} s`, []string{"10"}},
		{`^Connection rate: (\d+\.\d)`, []string{"1999.9"}},
		{`^Connection rate: [0-9.]+ conn/s \(([0-9.]+) ms/conn, <=(\d+) concurrent`, []string{"0.5", "4"}},
		{`^Connection time \[ms\]: min ([0-9.]+) avg ([0-9.]+) max ([0-9.]+) median ([0-9.]+) stddev ([0-9.]+)`, []string{"0.2", "0.4", "0.8", "0.3", "0.1"}},
		{`^Connection time \[ms\]: connect ([0-9.]+)`, []string{"0.1"}},
		{`^Connection length \[replies/conn\]: ([0-9.]+)`, []string{"1.000"}},
		{`^Request rate: (\d+\.\d)`, []string{"1999.9"}},
		{`^Request size \[B\]: ([0-9.]+)`, []string{"62.5"}},
		{`^Reply rate .*min (\d+\.\d) avg (\d+\.\d) max (\d+\.\d) stddev (\d+\.\d)`, []string{"1999.8", "2000.0", "2000.2", "0.3"}},
		{`^Reply rate \[replies/s\]: min [0-9.]+ avg [0-9.]+ max [0-9.]+ stddev [0-9.]+ \(([0-9]+) samples\)`, []string{"2"}},
		{`^Reply time .* response (\d+\.\d)`, []string{"0.2"}},
		{`^Reply time \[ms\]: response [0-9.]+ transfer ([0-9.]+)`, []string{"0.0"}},
		{`^Reply size \[B\]: header ([0-9.]+) content ([0-9.]+) footer ([0-9.]+) \(total ([0-9.]+)\)`, []string{"184.0", "771.0", "0.0", "955.0"}},
		{`^Reply status: 1xx=0 2xx=(\d+) 3xx=0 4xx=0 5xx=0`, []string{"20000"}},
		{`^CPU time \[s\]: user ([0-9.]+) system ([0-9.]+) \(user ([0-9.]+)% system ([0-9.]+)% total ([0-9.]+)%\)`, []string{"0.52", "2.31", "5.2", "23.1", "28.3"}},
		{`^Net I/O: (\d+\.\d) KB/s \((\d+\.\d+)\*10\^6 bps\)`, []string{"1987.2", "16.3"}},
		{`^Errors: total (\d+) client-timo 0 socket-timo 0 connrefused 0 connreset 0`, []string{"0"}},
		{`^Errors: fd-unavail (\d+) addrunavail 0 ftab-full 0 other 0`, []string{"0"}},
		{`(?i)(verdict).*[^n]\bvalid\b`, []string{"Verdict"}},
	} {
		var got []string
		for line := range strings.Lines(text) {
			if m := regexp.MustCompile(tt.pattern).FindStringSubmatch(line); m != nil {
				got = m[1:]
			}
		}
		if strings.Join(got, " ") != strings.Join(tt.want, " ") {
			t.Errorf("%s found %v, want %v", tt.pattern, got, tt.want)
		}
	}
}

func TestVerdictLine(t *testing.T) {
	t.Parallel()
	believed := regexp.MustCompile(`(?i)verdict.*[^n]\bvalid\b`)
	for _, status := range []string{Valid, Degraded, Invalid} {
		r := overload() // One of its streams is valid.
		r.Verdict.Status = status
		if got, want := believed.MatchString(render(t, Details{}.Text, r)), status == Valid; got != want {
			t.Errorf("%s: match is %t, want %t", status, got, want)
		}
	}
}

// TestErrorMapping raises each reason alone: it must show under its counter of
// httperf's and in the total, and nowhere else.
func TestErrorMapping(t *testing.T) {
	t.Parallel()
	counters := map[string]string{
		"connect_timeout": "client-timo", "send_timeout": "client-timo", "reply_timeout": "client-timo", "deadline": "client-timo",
		"socket_timeout": "socket-timo", "connect_refused": "connrefused", "reset": "connreset", "closed_early": "connreset",
		"fd_unavailable": "fd-unavail", "address_unavailable": "addrunavail", "file_table_full": "ftab-full",
	}
	for _, c := range new(Errors).counts() {
		r := nothing()
		if !r.Totals.Errors.Add(c.name, 7) {
			t.Fatalf("Add(%q) = false", c.name)
		}
		counter := counters[c.name]
		if counter == "" {
			counter = "other"
		}
		var got []string
		for _, m := range regexp.MustCompile(`([a-z-]+) 7\b`).FindAllStringSubmatch(render(t, Details{}.Classic, r), -1) {
			got = append(got, m[1])
		}
		if want := "total " + counter; strings.Join(got, " ") != want {
			t.Errorf("%s shows as %v, want %s", c.name, got, want)
		}
	}
}

func TestTextBlock(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*Result)
		want   string // a line of the output
	}{
		{"open", func(*Result) {}, "Model: open, 2000.0 arrivals/s asked, constant"},
		{"kept open", func(r *Result) { r.Config.Closed, r.Config.KeepOpen = 4, true }, "Offered rate: 2000.0 arrivals/s, started 2000.0 arrivals/s, over 10.000 s of sending; an arrival is a call on a kept-open connection"},
		{"closed", func(r *Result) { r.Model, r.Config.Closed = Closed, 4 }, "Model: closed, 4 callers, each waiting for its reply before the next call (not an open load)"},
		{"sequential", func(r *Result) { r.Model, r.Config.Closed = Closed, 1 }, "Model: closed, 1 caller, each waiting for its reply before the next call (not an open load)"},
		{"calls", func(r *Result) { r.Config.CallsPerConnection = 3 },
			"Offered rate: 2000.0 arrivals/s, started 2000.0 arrivals/s, over 10.000 s of sending; an arrival is a new connection with 3 calls"},
		{"pool", func(r *Result) { r.Config.Connections = 8 },
			"Offered rate: 2000.0 arrivals/s, started 2000.0 arrivals/s, over 10.000 s of sending; an arrival is a call on a pool of 8 connections"},
		{"sessions", func(r *Result) { r.Sessions = &Sessions{} },
			"Offered rate: 2000.0 arrivals/s, started 2000.0 arrivals/s, over 10.000 s of sending; an arrival is a session"},
		{"samples", func(*Result) {}, "Samples: 2 windows of 5.0 s; the reply rate's avg is their mean, its stddev has n-1"},
		{"no sample", func(r *Result) { r.Rates.Replies = NewSamples(nil, 5) }, "Samples: none, no window of 5.0 s was full"},
		{"stopped", func(r *Result) { r.Run.Complete, r.Run.StopReason = false, "signal" }, "Stopped: before the planned end (signal)"},
		{"percentile", func(*Result) {}, "  p99                      0.614          0.594          0.614"},
		{"too few", func(*Result) {}, "  -: too few samples for p99.99 (38397 wanted); there are 20000 replies"},
		{"failures", func(r *Result) { r.Times.All.Failed, r.Times.All.P99 = 300, nil; r.Times.All.BeyondSeconds = 1 },
			"  p99                      0.614          0.594     > 1000.000"},
		{"lag", func(*Result) {}, "Lag [ms]: p50 0.006 p99 0.012 max 0.015 (the generator's own delay)"},
		{"wait", func(r *Result) { r.Times.Wait, r.Config.Connections = timing(100, 2), 4 }, "Wait [ms]: p50 2.000 p99 - max 5.000 (for a free connection of the pool)"},
		{"wait without a pool", func(r *Result) { r.Times.Wait, r.Config.Connections = timing(100, 2), 0 }, "Wait [ms]: p50 2.000 p99 - max 5.000 (behind others that were due at the same instant)"},
		{"lost", func(r *Result) { r.Totals.LostCalls, r.Totals.Calls.Unsent = 2, 2 }, "Lost calls: 2 of 20000 (0 sent and not answered, 2 not sent)"},
		{"codes", func(r *Result) { r.Totals.Status.Class2--; r.Totals.Codes = map[string]uint64{"404": 1, "200": 19999} }, "Replies by code: 200=19999 404=1"},
		{"shed", func(r *Result) { r.Totals.Arrivals.Shed = Shed{Inflight: 2, Stopped: 1} }, "Shed by cause: inflight 2 stopped 1"},
		{"reasons", func(r *Result) { r.Totals.Errors.Add("tls", 2); r.Totals.Errors.Add("reset", 1) }, "Failed by reason: reset 1 tls 2"},
		{"TLS failures", func(r *Result) { r.Totals.TLSFailures = map[string]uint64{"not_tls": 2, "alert_internal_error": 1} }, "TLS failures: alert_internal_error 1 not_tls 2"},
		{"one line a reason", func(r *Result) { r.Verdict = Verdict{Invalid, []Reason{{Code: "c", Message: "a\r\nVerdict: valid"}}} }, "  c: a Verdict: valid"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := ordinary()
			tt.change(r)
			got := render(t, Details{}.Text, r)
			if !strings.Contains(got, "\n"+tt.want+"\n") {
				t.Errorf("no line %q in:\n%s", tt.want, got)
			}
		})
	}
}

// TestTextQuiet holds that what did not happen has no line.
func TestTextQuiet(t *testing.T) {
	t.Parallel()
	got := render(t, Details{}.Text, ordinary())
	for _, head := range []string{"Stopped:", "Wait ", "Failed by", "TLS failures:", "Shed by", "Lost calls:", "Retries:", "Replies by code:", "Warm-up:", "Stream", "  >:"} {
		if strings.Contains(got, "\n"+head) {
			t.Errorf("a line begins with %q in:\n%s", head, got)
		}
	}
}
