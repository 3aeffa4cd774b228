package accesslog

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// seeds are lines of every kind.
var seeds = []string{
	head + `"GET /a HTTP/1.1" 200 2326`,
	"example.com:443 " + head + `"GET /\"\\\xC3\xa4 HTTP/1.1" 200 1 "http://example.com/" "Mozilla/5.0 \x22x\x22" "-"`,
	`::1 - a b [1700000000.123] "OPTIONS * HTTP/2.0" - -`,
	`::1 - - [10/Oct/2000:13:55:36.123 -0700] "GET /" 200 1 "-" "a\tb"`,
	head + `"\x16\x03\x01" 400 0 "-" "-"`,
	head + `"-" 408 0`,
	head + `"GET /a\x20b HTTP/1.1" 200 1`,
	head + `"GET / HTTP/1.1" 200 1 "`,
	`garbage`,
	`] "`,
	` [] "\`,
}

// FuzzParse holds the parser to what it promises of a request.
func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var r record
		what, err := r.parse(bytes.Clone(line))
		if err != nil {
			m, ok := err.(*malformed)
			if !ok || m.column < 1 || m.column > len(line)+1 {
				t.Fatalf("parse(%q): %v, want a column of the line", line, err)
			}
			return
		}
		if what != request {
			return
		}
		e := r.entry()
		control := func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }
		blank := func(c rune) bool { return c <= ' ' || c == 0x7f }
		switch {
		case e.URI == "" || strings.ContainsFunc(e.URI, blank):
			t.Errorf("parse(%q): URI %q", line, e.URI)
		case e.Method == "" || strings.ContainsFunc(e.Method, func(c rune) bool { return blank(c) || c > 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c) }):
			t.Errorf("parse(%q): method %q", line, e.Method)
		case strings.ContainsFunc(e.Host, blank):
			t.Errorf("parse(%q): host %q", line, e.Host)
		case strings.ContainsFunc(e.Referer, control) || strings.ContainsFunc(e.UserAgent, control):
			t.Errorf("parse(%q): referer %q, user agent %q", line, e.Referer, e.UserAgent)
		case e.Protocol != "" && !strings.HasPrefix(e.Protocol, "HTTP/"):
			t.Errorf("parse(%q): protocol %q", line, e.Protocol)
		case e.Status < 0 || e.Status > 999:
			t.Errorf("parse(%q): status %d", line, e.Status)
		}
	})
}

// FuzzLog replays whatever Open accepts: as many arrivals as requests, in order.
func FuzzLog(f *testing.F) {
	f.Add([]byte(strings.Join(seeds[:7], "\n")), true)
	f.Add([]byte(strings.Join(seeds[:2], "\r\n\n")+"\n"), false)
	f.Add([]byte(head+"\"GET / HTTP/1.1\" 200 1\n"+head+"\"GET / HTTP/1.1\" 20"), true)
	// Every worker is a process of its own with its own directory, and runs one
	// input at a time.
	name := filepath.Join(f.TempDir(), "access.log")
	f.Fuzz(func(t *testing.T, text []byte, spread bool) {
		if err := os.WriteFile(name, text, 0o666); err != nil {
			t.Fatal(err)
		}
		l, err := Open(name, Options{Spread: spread})
		if err != nil {
			return
		}
		defer l.Close()
		p := l.Process(3)
		end, count, known := p.(*replay).Ends()
		if !known || count != l.Len() {
			t.Fatalf("Ends() = %s, %d, %t, want %d arrivals", end, count, known, l.Len())
		}
		s := p.Schedule(0, 1, 0)
		before := end
		for i := range count {
			index, at, ok := s.Next()
			if !ok || index != i || at < 0 || at >= end || i == 0 && at != 0 || i > 0 && at < before {
				t.Fatalf("arrival %d: index %d at %s after %s, %t, %v; the end is %s", i, index, at, before, ok, s.Err(), end)
			}
			before = at
			if _, err := l.Request(i); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, ok := s.Next(); ok || s.Err() != nil {
			t.Fatalf("after the end: %t, %v", ok, s.Err())
		}
	})
}
