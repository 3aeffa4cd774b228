package accesslog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// write makes a log and returns its name.
func write(t testing.TB, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "access.log")
	rewrite(t, name, text)
	return name
}

func rewrite(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// openLog opens a log of that text for the time of the test.
func openLog(t testing.TB, text string, o Options) *Log {
	t.Helper()
	l, err := Open(write(t, text), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// get is a line of a request at a number of seconds, written as given.
func get(seconds, uri string) string {
	return fmt.Sprintf("192.0.2.1 - - [%s] \"GET %s HTTP/1.1\" 200 5 \"-\" \"x\"\n", seconds, uri)
}

// numbered is a log of n requests for /0, /1 and so on, one a millisecond, with
// a line to be skipped before each third.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		if i%3 == 0 {
			b.WriteString(head + "\"-\" 408 0\n")
		}
		b.WriteString(get(fmt.Sprintf("17%08d.%03d", i/1000, i%1000), fmt.Sprintf("/%d", i)))
	}
	return b.String()
}

func TestOpen(t *testing.T) {
	t.Parallel()
	good := get("1.5", "/")
	for _, tt := range []struct {
		name, text string
		len        uint64
		skipped    Skipped
		disordered uint64
		span       time.Duration
	}{
		{"one", good, 1, Skipped{}, 0, 0},
		{"no end of line", strings.TrimSuffix(good, "\n"), 1, Skipped{}, 0, 0},
		{"CRLF and blank lines", "\n" + strings.Replace(good, "\n", "\r\n\r\n", 1) + good, 2, Skipped{}, 0, 0},
		{"skipped", good + head + "\"-\" 408 0\n" + head + "\"GET /a b HTTP/1.1\" 200 0\n" + head + "\"\\x16\" 400 0\n", 1, Skipped{NotHTTP: 2, Unusable: 1}, 0, 0},
		{"skipped first", head + "\"-\" 408 0\n" + get("7", "/") + get("9", "/"), 2, Skipped{NotHTTP: 1}, 0, 2 * time.Second},
		{"truncated", good + good[:40], 1, Skipped{Truncated: 1}, 0, 0},
		{"disordered", get("5", "/") + get("4", "/") + get("5", "/") + get("7", "/") + get("6.9", "/"), 5, Skipped{}, 2, 2 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := openLog(t, tt.text, Options{})
			if l.Len() != tt.len || l.Skipped() != tt.skipped || l.Disordered() != tt.disordered || l.Span() != tt.span {
				t.Errorf("%d requests, %+v, %d disordered in %s; want %d, %+v, %d, %s",
					l.Len(), l.Skipped(), l.Disordered(), l.Span(), tt.len, tt.skipped, tt.disordered, tt.span)
			}
		})
	}
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	good := get("1.5", "/")
	for _, tt := range []struct {
		name, text string
		want       string // after the file name
	}{
		{"empty", "", ": no request in 0 lines (0 not HTTP, 0 unusable, 0 truncated): want at least one"},
		{"nothing usable", head + "\"-\" 408 0\n\nx", ": no request in 3 lines (1 not HTTP, 0 unusable, 1 truncated): want at least one"},
		{"garbage", good + "\n" + "garbage\n" + good, `:3:8: "": want host, ident, user, [time] and "request"`},
		{"garbage at the end", good + "garbage\n", `:2:8: "": want host, ident, user, [time] and "request"`},
		{"status", good + head + "\"GET / HTTP/1.1\" x 1\n", `:2:61: "x 1": want a status of three digits`},
		{"long line", good + strings.Repeat("x", 1<<20), `:2:1: "` + strings.Repeat("x", 40) + `": want a line of less than 131072 bytes`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			name := write(t, tt.text)
			_, err := Open(name, Options{})
			if want := "accesslog: " + name + tt.want; err == nil || err.Error() != want {
				t.Errorf("Open: %v, want %s", err, want)
			}
		})
	}
	dir := t.TempDir()
	for name, want := range map[string]string{
		dir:             "accesslog: " + dir + ": a directory: want a regular file",
		os.DevNull:      "accesslog: " + os.DevNull + ": a device: want a regular file",
		"access.log.gz": "accesslog: access.log.gz: compressed: want a plain log (zcat access.log.gz > access.log)",
	} {
		if _, err := Open(name, Options{}); err == nil || err.Error() != want {
			t.Errorf("Open(%q): %v, want %s", name, err, want)
		}
	}
	if _, err := Open(filepath.Join(dir, "none"), Options{}); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "accesslog: ") {
		t.Errorf("Open of no file: %v, want fs.ErrNotExist", err)
	}
}

// A line as long as it may be is read, wherever it begins in a buffer.
func TestLongLines(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 10 {
		line := get("1.5", "/")
		b.WriteString(get("1.5", "/"+strings.Repeat("a", maxLine-len(line)-i)))
		b.WriteString(line)
	}
	l := openLog(t, b.String(), Options{})
	if l.Len() != 20 {
		t.Fatalf("%d requests, want 20", l.Len())
	}
	for i := range uint64(20) {
		want := 1
		if i%2 == 0 {
			want = 1 + maxLine - len(get("1.5", "/")) - int(i/2)
		}
		if e, err := l.Request(i); len(e.URI) != want || err != nil {
			t.Errorf("request %d: URI of %d bytes, %v, want %d", i, len(e.URI), err, want)
		}
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()
	const n = 10*blockSize*2 + 100
	l := openLog(t, numbered(n), Options{})
	check := func(i uint64) {
		e, err := l.Request(i)
		want := fmt.Sprintf("/%d", i%n)
		at := time.Unix(1700000000, 0).UTC().Add(time.Duration(i%n) * time.Millisecond)
		if e.URI != want || !e.Time.Equal(at) || e.UserAgent != "x" || err != nil {
			t.Errorf("request %d = %+v, %v, want %s at %s", i, e, err, want, at)
		}
	}
	var loops sync.WaitGroup
	for k := range uint64(4) {
		loops.Go(func() {
			for i := k; i < 3*n; i += 4 { // nearly in order, again and again
				check(i)
			}
		})
	}
	loops.Wait()
	for i := range uint64(200) { // in no order
		check(i * 7919)
	}
	check(^uint64(0))
}

// A log that a server goes on writing is the one that was opened.
func TestGrows(t *testing.T) {
	t.Parallel()
	whole := numbered(300)
	name := write(t, whole[:len(whole)-20]) // the last line is cut
	l, err := Open(name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	rewrite(t, name, whole+"garbage\n")
	if got := draw(t, l.Process(1), 1); len(got) != 299 || l.Len() != 299 || l.Skipped() != (Skipped{NotHTTP: 100, Truncated: 1}) {
		t.Errorf("%d arrivals of %d, %+v, want 299", len(got), l.Len(), l.Skipped())
	}
	if e, err := l.Request(298); e.URI != "/298" || err != nil {
		t.Errorf("Request(298) = %+v, %v", e, err)
	}
}

// A file that is not what it was ends the schedule and fails the request, with
// a reason.
func TestChanged(t *testing.T) {
	t.Parallel()
	text := strings.Repeat(get("1000000000", "/"), 100) + strings.Repeat(get("1000000001", "/"), 500)
	line := len(get("1000000000", "/"))
	for _, tt := range []struct {
		name  string
		after string // what the file holds when it is read again
		want  uint64 // arrivals
		err   string // after the file name
		fails bool   // for request 300 as well
	}{
		{"shortened", text[:line*10], 10, fmt.Sprintf("ends after %d bytes, it had %d when it was opened", line*10, len(text)), true},
		{"emptied", "", 0, fmt.Sprintf("ends after 0 bytes, it had %d when it was opened", len(text)), true},
		{"garbage", text[:line*10] + strings.Repeat("x\n", len(text)/2-line*5), 10, fmt.Sprintf("changed near byte %d since it was opened: want a log that at most grows", line*10), true},
		{"fewer lines", strings.Repeat(get("1000000001", "/aaaa"), 600), 0, "changed near byte 0 since it was opened: want a log that at most grows", true},
		{"longer lines", text[:line*100] + strings.Repeat(get("1000000001", "/aaaa"), 500), 256, "changed near byte", true},
		{"other times", strings.Repeat(get("1000000000", "/"), 600), 600, "changed near byte", false},
		{"later", text[:line*599] + get("1000000002", "/"), 599, "changed near byte", false},
		{"no request", text[:line*20] + strings.Replace(text[line*20:], `"GET / H`, `"GET  /H`, 1), 256, "changed near byte", false}, // where request 300 is, is known
	} {
		for _, spread := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, spread=%t", tt.name, spread), func(t *testing.T) {
				t.Parallel()
				l := openLog(t, text, Options{Spread: spread})
				p := l.Process(1)
				s := p.Schedule(0, 1, 0)
				rewrite(t, l.file.Name(), tt.after)
				got := uint64(0)
				for {
					if _, _, ok := s.Next(); !ok {
						break
					}
					got++
				}
				// Where requests are spread the end of their second is read first.
				if got != tt.want && !(spread && got <= tt.want) || s.Err() == nil || !strings.HasPrefix(s.Err().Error(), "accesslog: "+l.file.Name()+": "+tt.err) {
					t.Errorf("%d arrivals, Err() = %v, want %d and %s", got, s.Err(), tt.want, tt.err)
				}
				if _, _, ok := s.Next(); ok {
					t.Error("an arrival after the end")
				}
				if _, err := l.Request(300); (err != nil) != tt.fails || tt.fails && !strings.HasPrefix(err.Error(), "accesslog: request 300: "+l.file.Name()) {
					t.Errorf("Request(300): %v, want an error: %t", err, tt.fails)
				}
			})
		}
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	l := openLog(t, get("1", "/"), Options{Spread: true})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	s := l.Process(1).Schedule(0, 1, 0)
	if _, _, ok := s.Next(); ok || !errors.Is(s.Err(), fs.ErrClosed) {
		t.Errorf("a schedule after Close: %t, %v, want fs.ErrClosed", ok, s.Err())
	}
	if _, err := l.Request(0); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a request after Close: %v, want fs.ErrClosed", err)
	}
}
