package pacer

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const ms = time.Millisecond

func TestTraceOffsets(t *testing.T) {
	t.Parallel()
	text := "# recorded on a Monday\n\n0\n  .25 # a comment\n250ms\r\n1\n1.5s\n1700000000.123456789\n"
	want := []time.Duration{0, 250 * ms, 250 * ms, time.Second, 1500 * ms, 1700000000123456789}
	for _, p := range []*Trace{openTrace(t, text, 1), openTrace(t, strings.TrimSpace(text), 1), memoryTrace(t, want...)} {
		if got := offsets(t, p, 10); !slices.Equal(got, want) {
			t.Errorf("%v: offsets = %d, want %d", p, got, want)
		}
	}
}

func TestTraceSpeed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		speed float64
		want  []time.Duration
		rate  float64
	}{
		{1, []time.Duration{time.Second, time.Second, 3 * time.Second}, 1},
		{2, []time.Duration{500 * ms, 500 * ms, 1500 * ms}, 2},
		{0.5, []time.Duration{2 * time.Second, 2 * time.Second, 6 * time.Second}, 0.5},
	} {
		file := openTrace(t, "1\n1\n3\n", tt.speed)
		memory, err := NewTrace([]time.Duration{time.Second, time.Second, 3 * time.Second}, tt.speed)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []*Trace{file, memory} {
			if got := offsets(t, p, 4); !slices.Equal(got, tt.want) {
				t.Errorf("speed %v: offsets = %d, want %d", tt.speed, got, tt.want)
			}
			if got := p.Rate(0); got != tt.rate {
				t.Errorf("speed %v: Rate = %v, want %v", tt.speed, got, tt.rate)
			}
		}
	}
}

func TestTraceErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		speed      float64
		want       string // after the file name
	}{
		{"disorder", "0\n# two\n2\n1\n", 1, ":4: offset 1s after 2s: want offsets in order"},
		{"negative", "-1\n", 1, `:1: offset "-1": negative`},
		{"negative duration", "+1s\n-1s\n", 1, `:2: offset "-1s": negative`},
		{"text", "0\nGET /\n", 1, `:2: offset "GET /": neither a number of seconds nor a duration such as 10ms`},
		{"too large", "1e400\n", 1, `:1: offset "1e400": out of range`},
		{"too slow", "0\n1\n", 1e-300, ":2: offset 1s at speed 1e-300: want less than 2562047h47m16.854775807s"},
		{"empty", "# nothing\n\n", 1, ": no arrivals: want one offset a line"},
		{"long line", "0\n" + strings.Repeat("1", 1<<17), 1, ":2: line too long: want one offset a line"},
		{"no speed", "0\n", 0, ": speed 0: want a number above 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := writeTrace(t, tt.text)
			_, err := OpenTrace(path, tt.speed)
			if want := "pacer: trace " + path + tt.want; err == nil || err.Error() != want {
				t.Errorf("OpenTrace: %v, want %s", err, want)
			}
			if tt.speed != 1 {
				return
			}
			_, err = Parse("trace:" + path)
			if want := fmt.Sprintf("pacer: rate %q: trace %s%s", "trace:"+path, path, tt.want); err == nil || err.Error() != want {
				t.Errorf("Parse: %v, want %s", err, want)
			}
		})
	}
	if _, err := OpenTrace("no such file", 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	dir := t.TempDir()
	if _, err := OpenTrace(dir, 1); err == nil || err.Error() != "pacer: trace: "+dir+": want a regular file" {
		t.Errorf("a directory: %v", err)
	}
	if _, err := NewTrace([]time.Duration{5, 3}, 1); err == nil || err.Error() != "pacer: trace in memory, arrival 1: offset 3ns after 5ns: want offsets in order" {
		t.Errorf("disorder in memory: %v", err)
	}
	if _, err := NewTrace(nil, 1); err == nil {
		t.Error("nothing in memory: no error")
	}
	if _, err := NewTrace([]time.Duration{-5}, 1); err == nil || !strings.HasSuffix(err.Error(), "arrival 0: offset -5ns: want 0 or more") {
		t.Errorf("negative in memory: %v", err)
	}
}

// A file that changed since it was opened ends the schedule, with a reason.
func TestTraceBroken(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		after string // what the file holds when the schedule reads it
		want  int    // arrivals
		err   string // after the file name
	}{
		{"shortened", "0\n1\n", 2, ": ends after 2 arrivals, it had 4 when it was opened"},
		{"garbage", "0\n1\n2\nx\n", 3, `:4: offset "x": neither a number of seconds nor a duration such as 10ms`},
		{"disorder", "0\n1\n.5\n3\n", 2, ":3: offset 500ms after 1s: want offsets in order"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := openTrace(t, "0\n1\n2\n3\n", 1)
			writeFile(t, p.path, tt.after)
			for _, s := range []Schedule{p.Schedule(0, 1, 0), For(p, time.Hour).Schedule(0, 1, 0)} {
				got := 0
				for {
					if _, _, ok := s.Next(); !ok {
						break
					}
					got++
				}
				if want := "pacer: trace " + p.path + tt.err; got != tt.want || s.Err() == nil || s.Err().Error() != want {
					t.Errorf("%d arrivals, Err() = %v, want %d and %s", got, s.Err(), tt.want, want)
				}
				if _, _, ok := s.Next(); ok {
					t.Error("an arrival after the end")
				}
			}
			if _, ok := Count(p, time.Hour, 0); ok {
				t.Error("Count of a broken trace is ok")
			}
		})
	}
	t.Run("removed", func(t *testing.T) {
		p := openTrace(t, "0\n", 1)
		if err := os.Remove(p.path); err != nil {
			t.Fatal(err)
		}
		s := p.Schedule(0, 1, 0)
		if _, _, ok := s.Next(); ok || !errors.Is(s.Err(), fs.ErrNotExist) {
			t.Errorf("Next() is %t, Err() = %v, want fs.ErrNotExist", ok, s.Err())
		}
	})
}

// A schedule gives its file back when it ends, when it is bounded, and on Close.
func TestTraceCloses(t *testing.T) {
	t.Parallel()
	p := openTrace(t, "0\n1\n2\n3\n", 1)
	open := func(s Schedule) bool {
		if l, ok := s.(*limitSchedule); ok {
			s = l.s
		}
		return s.(*traceSchedule).file != nil
	}
	for _, tt := range []struct {
		p Process
		n int // arrivals
	}{{p, 4}, {For(p, 2*time.Second), 2}, {First(p, 3), 3}} {
		s := tt.p.Schedule(0, 1, 0)
		if got := len(take(t, s, 9)); got != tt.n || open(s) {
			t.Errorf("%v: %d arrivals, file open: %t", tt.p, got, open(s))
		}
		s = tt.p.Schedule(0, 1, 0)
		s.Next()
		if !open(s) {
			t.Errorf("%v: the file is closed after one arrival", tt.p)
		}
		if err := s.(io.Closer).Close(); err != nil || open(s) {
			t.Errorf("%v: Close() = %v, file open: %t", tt.p, err, open(s))
		}
		if _, _, ok := s.Next(); ok || s.Err() != nil {
			t.Errorf("%v: after Close Next() is %t, Err() = %v", tt.p, ok, s.Err())
		}
	}
}

// writeTrace writes a trace file and returns its path.
func writeTrace(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "arrivals.txt")
	writeFile(t, path, text)
	return path
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
