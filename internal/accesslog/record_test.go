package accesslog

import (
	"strings"
	"testing"
	"time"
)

// head is a line up to the request.
const head = `192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] `

var noon = time.Date(2000, time.October, 10, 20, 55, 36, 0, time.UTC)

func TestParse(t *testing.T) {
	t.Parallel()
	get := Entry{Time: noon, Method: "GET", URI: "/a", Protocol: "HTTP/1.1", Status: 200}
	with := func(change func(*Entry)) Entry {
		e := get
		change(&e)
		return e
	}
	for _, tt := range []struct {
		name, line string
		want       Entry
	}{
		{"common", head + `"GET /a HTTP/1.1" 200 2326`, get},
		{"no bytes", head + `"GET /a HTTP/1.1" 200 -`, get},
		{"no status", head + `"GET /a HTTP/1.1" - 0`, with(func(e *Entry) { e.Status = 0 })},
		{"status 000", head + `"GET /a HTTP/1.1" 000 0`, with(func(e *Entry) { e.Status = 0 })},
		{"combined", head + `"GET /a HTTP/1.1" 200 1 "http://example.com/" "Mozilla/5.0 (X11; Linux)"`,
			with(func(e *Entry) { e.Referer, e.UserAgent = "http://example.com/", "Mozilla/5.0 (X11; Linux)" })},
		{"combined, empty", head + `"GET /a HTTP/1.1" 200 1 "-" "-"`, get},
		{"referer alone", head + `"GET /a HTTP/1.1" 200 1 "r"`, with(func(e *Entry) { e.Referer = "r" })},
		{"more in quotes", head + `"GET /a HTTP/1.1" 200 1 "-" "curl" "203.0.113.7"`, with(func(e *Entry) { e.UserAgent = "curl" })},
		{"more without", head + `"GET /a HTTP/1.1" 200 1 0.004 "x`, get},
		{"blank at the end", head + `"GET /a HTTP/1.1" 200 1 `, get},
		{"escapes", head + `"GET /\"\\\xC3\xa4\q HTTP/1.1" 200 1 "\x22" "a\tb\"c\\"`,
			with(func(e *Entry) { e.URI, e.Referer, e.UserAgent = `/"\ä\q`, `"`, "a\tb\"c\\" })},
		{"half an escape", head + `"GET /\x4 HTTP/1.1" 200 1 "\xg0" "\x"`,
			with(func(e *Entry) { e.URI, e.Referer, e.UserAgent = `/\x4`, `\xg0`, `\x` })},
		{"user", `::1 - frank [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200 1`, get},
		{"user with blanks", `::1 - frank the great [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200 1`, get},
		{"user like a time", `::1 - a [1.5] b [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200 1`, get},
		{"empty user", `::1 - "" [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200 1`, get},
		{"virtual host", "example.com:443 " + head + `"GET /a HTTP/1.1" 200 1`, with(func(e *Entry) { e.Host = "example.com:443" })},
		{"virtual IPv6", "[2001:db8::1]:80 " + head + `"GET /a HTTP/1.1" 200 1`, with(func(e *Entry) { e.Host = "[2001:db8::1]:80" })},
		{"IPv6 client with blanks in the user", `2001:db8::1 - a b [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200 1`, get},
		{"fraction", `::1 - - [10/Oct/2000:13:55:36.1 -0700] "GET /a HTTP/1.1" 200 1`,
			with(func(e *Entry) { e.Time = noon.Add(100 * time.Millisecond) })},
		{"epoch", `::1 - - [971211336.123456789] "GET /a HTTP/1.1" 200 1`,
			with(func(e *Entry) { e.Time = noon.Add(123456789) })},
		{"HTTP/2", head + `"POST /a HTTP/2.0" 200 1`, with(func(e *Entry) { e.Method, e.Protocol = "POST", "HTTP/2.0" })},
		{"HTTP/0.9", head + `"GET /a" 200 1`, with(func(e *Entry) { e.Protocol = "" })},
		{"proxy", head + `"HEAD http://example.com/ HTTP/1.0" 200 1`,
			with(func(e *Entry) { e.Method, e.URI, e.Protocol = "HEAD", "http://example.com/", "HTTP/1.0" })},
		{"star", head + `"OPTIONS * HTTP/1.1" 200 1`, with(func(e *Entry) { e.Method, e.URI = "OPTIONS", "*" })},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var r record
			what, err := r.parse([]byte(tt.line))
			if what != request || err != nil {
				t.Fatalf("parse(%q) = %d, %v, want a request", tt.line, what, err)
			}
			if got := r.entry(); got != tt.want {
				t.Errorf("parse(%q)\ngot  %+v\nwant %+v", tt.line, got, tt.want)
			}
		})
	}
}

func TestParseWithoutRequest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		request string // and what follows the closing quote, if there is one
		want    content
	}{
		{`-`, notHTTP},
		{``, notHTTP},
		{`GET`, notHTTP},
		{`GET HTTP/1.1`, notHTTP},
		{`GET  HTTP/1.1`, notHTTP},
		{`POST /a`, notHTTP},
		{`GET /a b`, notHTTP},
		{`GET /a HTTP/`, notHTTP},
		{`GET /a HTTP/x`, notHTTP},
		{` / HTTP/1.1`, notHTTP},
		{`G(T / HTTP/1.1`, notHTTP},
		{`\x16\x03\x01\x02\x00\x01\x00\x01`, notHTTP},
		{`\x16\x03 \x01 \x02`, notHTTP},
		{`SSH-2.0-Go`, notHTTP},
		{`GET /a b HTTP/1.1`, unusable},
		{`GET /a\x20b HTTP/1.1`, unusable},
		{`GET /a\nb HTTP/1.1`, unusable},
		{`GET /a\x7f HTTP/1.1`, unusable},
		{`GET / HTTP/1.1" 200 1 "a\r\nb" "-`, unusable},
		{`GET / HTTP/1.1" 200 1 "-" "a\b\f\v`, unusable},
	} {
		t.Run(tt.request, func(t *testing.T) {
			t.Parallel()
			line := head + `"` + tt.request + `"`
			if !strings.Contains(tt.request, `"`) {
				line += " 400 0"
			}
			var r record
			if what, err := r.parse([]byte(line)); what != tt.want || err != nil {
				t.Errorf("parse(%q) = %d, %v, want %d", line, what, err, tt.want)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	const (
		shape  = `host, ident, user, [time] and "request"`
		before = "host, ident and user"
		clock  = "a time such as [10/Oct/2000:13:55:36 -0700] or [1700000000.123]"
	)
	for _, tt := range []struct{ name, line, want string }{
		{"one word", `garbage`, `8: "": want ` + shape},
		{"JSON", `{"time": "x", "request": "GET /"}`, `26: "\"GET /\"}": want ` + shape},
		{"no request", `a - - [10/Oct/2000:13:55:36 -0700]`, `7: "[10/Oct/2000:13:55:36 -0700]": want ` + shape},
		{"no bracket", `a - - x] "GET / HTTP/1.1" 200 1`, `7: "x] \"GET / HTTP/1.1\" 200 1": want ` + shape},
		{"two fields", `a - [1.5] "GET / HTTP/1.1" 200 1`, `5: "[1.5] \"GET / HTTP/1.1\" 200 1": want ` + before + " before the time"},
		{"two blanks", `a  - [1.5] "GET / HTTP/1.1" 200 1`, `1: "a  - [1.5] \"GET / HTTP/1.1\" 200 1": want ` + before + " with one blank"},
		{"no such time", `a - - [yesterday] "GET / HTTP/1.1" 200 1`, `7: "[yesterday] \"GET / HTTP/1.1\" 200 1": want ` + clock},
		{"open request", head + `"GET / HTTP/1.1 200 1`, `44: "\"GET / HTTP/1.1 200 1": want a request in quotes`},
		{"escaped quote at the end", head + `"GET /\"`, `44: "\"GET /\\\"": want a request in quotes`},
		{"backslash at the end", head + `"GET /\`, `44: "\"GET /\\": want a request in quotes`},
		{"quote in the request", head + `"GET /"a HTTP/1.1" 200 1`, `44: "\"GET /\"a HTTP/1.1\" 200 1": want a request in quotes`},
		{"end after the request", head + `"GET / HTTP/1.1"`, `60: "": want a status`},
		{"status", head + `"GET / HTTP/1.1" 20x 1`, `61: "20x 1": want a status of three digits`},
		{"status of two", head + `"GET / HTTP/1.1" 20 1`, `63: " 1": want a status of three digits`},
		{"no status", head + `"GET / HTTP/1.1"  1`, `61: " 1": want a status of three digits`},
		{"bytes", head + `"GET / HTTP/1.1" 200 1k`, `65: "1k": want a number of bytes`},
		{"no bytes", head + `"GET / HTTP/1.1" 200`, `64: "": want a number of bytes`},
		{"open referer", head + `"GET / HTTP/1.1" 200 1 "http`, `67: "\"http": want a closing quote`},
		{"open user agent", head + `"GET / HTTP/1.1" 200 1 "-" "curl`, `71: "\"curl": want a closing quote`},
		{"long", strings.Repeat("x", 1000), `1001: "": want ` + shape},
		{"long excerpt", `a - - ` + strings.Repeat("x", 1000), `7: "` + strings.Repeat("x", 40) + `": want ` + shape},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var r record
			if _, err := r.parse([]byte(tt.line)); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("parse(%q): %v, want %s", tt.line, err, tt.want)
			}
		})
	}
}
