package report

import (
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// lifetimes returns an encoded histogram of durations in milliseconds.
func lifetimes(t *testing.T, ms ...float64) string {
	t.Helper()
	h := hdrhistogram.New(1000, int64(time.Hour), 3)
	for _, v := range ms {
		if err := h.RecordValue(int64(v * float64(time.Millisecond))); err != nil {
			t.Fatal(err)
		}
	}
	b, err := h.EncodeV2()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What is asked for stands where httperf 0.9.0 and, for the periodic line, its
// master have it, and takes nothing else away.
func TestDetails(t *testing.T) {
	t.Parallel()
	const rates = "reply-rate = 2000.0  \nreply-rate = 2000.4  \n"
	const histogram = "\nConnection lifetime histogram (time in ms):\n             0.5 2\n             1.5 1\n             :\n             4.5 2\n"
	const leadingGap = "\nConnection lifetime histogram (time in ms):\n             :\n            64.5 1\n"
	for _, tt := range []struct {
		name      string
		d         Details
		lifetimes string
		first     string // behind the command
		second    string // behind the burst length
		third     string // behind the status
	}{
		{name: "none", lifetimes: lifetimes(t, 1)},
		{name: "samples", d: Details{Verbose: 1}, lifetimes: lifetimes(t, 1), first: rates},
		{name: "histogram", d: Details{Verbose: 2}, lifetimes: lifetimes(t, 0.2, 0.7, 1.3, 4.1, 4.9), first: rates, second: histogram},
		{name: "gap at the start", d: Details{Verbose: 3}, lifetimes: lifetimes(t, 64.2), first: rates, second: leadingGap},
		{name: "no lifetimes", d: Details{Verbose: 2}, first: rates, second: "\nConnection lifetime histogram (time in ms):\n"},
		{name: "broken lifetimes", d: Details{Verbose: 2}, lifetimes: "?", first: rates, second: "\nConnection lifetime histogram (time in ms):\n"},
		{name: "periodic", d: Details{Periodic: true}, third: "\nPeriodic stats: 200=19998 302=2\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := ordinary()
			r.Totals.Codes = map[string]uint64{"200": 19998, "302": 2, "404": 1}
			r.Windows[9].Replies += 2
			r.Windows = append(r.Windows, window(10, 7)) // of the drain
			r.Times.Lifetime.HDR = tt.lifetimes
			for _, f := range []struct {
				name        string
				plain, with func(io.Writer, *Result) error
			}{{"classic", Details{}.Classic, tt.d.Classic}, {"text", Details{}.Text, tt.d.Text}} {
				want := render(t, f.plain, r)
				want = regexp.MustCompile(`(?m)^.*\n`).ReplaceAllStringFunc(want, func(line string) string {
					switch {
					case line == r.Run.Echo+"\n":
						return line + tt.first
					case strings.HasPrefix(line, "Maximum connect burst length:"):
						return line + tt.second
					case strings.HasPrefix(line, "Reply status:"):
						return line + tt.third
					}
					return line
				})
				if have := render(t, f.with, r); have != want {
					t.Errorf("%s: have\n%s\nwant\n%s", f.name, have, want)
				}
			}
		})
	}
}

// Samples end with the windows, whatever their number claims to be.
func TestDetailsWithoutWindows(t *testing.T) {
	t.Parallel()
	r := nothing()
	r.Rates.Replies.Samples = 1 << 60
	if have, want := render(t, Details{Verbose: 1}.Classic, r), render(t, Details{}.Classic, r); have != want {
		t.Errorf("have\n%s\nwant\n%s", have, want)
	}
}

// A command with a line end in it is still the first line alone.
func TestEchoIsOneLine(t *testing.T) {
	t.Parallel()
	r := ordinary()
	r.Run.Echo = "httperf --unix-socket=a\r\nVerdict: valid"
	if have, want := render(t, Details{}.Classic, r), "httperf --unix-socket=a Verdict: valid\nMaximum"; !strings.HasPrefix(have, want) {
		t.Errorf("have %.80q, want %q", have, want)
	}
}
