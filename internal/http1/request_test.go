package http1

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestRequestAppend(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		r    Request
		want string
	}{
		{"zero", Request{}, "GET / HTTP/1.1\r\nHost: \r\n\r\n"},
		{"usual", Request{Method: "HEAD", URI: "/a?b", UserAgent: "httpgen/1", Host: "h:81"},
			"HEAD /a?b HTTP/1.1\r\nUser-Agent: httpgen/1\r\nHost: h:81\r\n\r\n"},
		{"method as given", Request{Method: "head", Host: "h"}, "head / HTTP/1.1\r\nHost: h\r\n\r\n"},
		{"no host", Request{Host: "h", NoHost: true}, "GET / HTTP/1.1\r\n\r\n"},
		{"1.0", Request{Version: "1.0", Host: "h"}, "GET / HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n"},
		{"1.0 with Connection", Request{Version: "1.0", Host: "h", Header: []Field{{"connection", "close"}}},
			"GET / HTTP/1.0\r\nHost: h\r\nconnection: close\r\n\r\n"},
		{"body", Request{Host: "h", Body: []byte("hello")}, "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello"},
		{"POST without body", Request{Method: "POST", Host: "h"}, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n"},
		{"PUT without body", Request{Method: "PUT", Host: "h"}, "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n"},
		{"PATCH without body", Request{Method: "PATCH", Host: "h"}, "PATCH / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n"},
		{"DELETE without body", Request{Method: "DELETE", Host: "h"}, "DELETE / HTTP/1.1\r\nHost: h\r\n\r\n"},
		{"fields replace defaults", Request{Method: "POST", UserAgent: "a", Host: "h", Body: []byte("x"),
			Header: []Field{{"HOST", "other"}, {"user-agent", "b"}, {"Content-length", "9"}, {"X", ""}, {"X", "y"}}},
			"POST / HTTP/1.1\r\nHOST: other\r\nuser-agent: b\r\nContent-length: 9\r\nX: \r\nX: y\r\n\r\nx"},
		{"no length beside a coding", Request{Method: "POST", Host: "h", Body: []byte("0\r\n\r\n"), Header: []Field{{"Transfer-Encoding", "chunked"}}},
			"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
		{"URI with obs-text", Request{URI: "/\xe4", Host: "h"}, "GET /\xe4 HTTP/1.1\r\nHost: h\r\n\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := tt.r.Append([]byte("before|"))
			if want := "before|" + tt.want; string(got) != want || err != nil {
				t.Errorf("Append = %q, %v\nwant %q", got, err, want)
			}
		})
	}
}

// TestRequestReadable has net/http read what Append wrote.
func TestRequestReadable(t *testing.T) {
	t.Parallel()
	r := Request{Method: "PUT", URI: "/a%20b?c=d", UserAgent: "httpgen/1", Host: "[::1]:8080",
		Header: []Field{{"X-A", "1"}, {"X-A", "2"}}, Body: []byte("hello")}
	b, err := r.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(b)))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got.Method != r.Method || got.RequestURI != r.URI || got.Host != r.Host || got.UserAgent() != r.UserAgent ||
		strings.Join(got.Header["X-A"], ",") != "1,2" || string(body) != "hello" {
		t.Errorf("net/http read %+v with body %q from %q", got, body, b)
	}
}

func TestRequestAppendErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		r    Request
		want string
	}{
		{"method with blank", Request{Method: "GET /x"}, `http1: method "GET /x": want a token`},
		{"method with line end", Request{Method: "GET\r\n"}, `http1: method "GET\r\n": want a token`},
		{"URI with blank", Request{URI: "/a b"}, `http1: URI "/a b": want no blanks`},
		{"URI with tab", Request{URI: "/a\tb"}, `http1: URI "/a\tb": want no blanks`},
		{"URI with DEL", Request{URI: "/\x7f"}, `http1: URI "/\x7f": want no blanks`},
		{"version", Request{Version: "2"}, `http1: version "2": want 1.0 or 1.1`},
		{"host with line end", Request{Host: "h\nX: y"}, `http1: host "h\nX: y": want no blanks`},
		{"user agent with line end", Request{UserAgent: "a\rb"}, `http1: header User-Agent: value with CR, LF or NUL`},
		{"empty name", Request{Header: []Field{{"", "x"}}}, `http1: header name "": want a token`},
		{"name with colon", Request{Header: []Field{{"X:", "x"}}}, `http1: header name "X:": want a token`},
		{"value with line end", Request{Header: []Field{{"X", "a\nb"}}}, `http1: header X: value with CR, LF or NUL`},
		{"value with NUL", Request{Header: []Field{{"X", "a\x00"}}}, `http1: header X: value with CR, LF or NUL`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := tt.r.Append([]byte("before"))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) || string(got) != "before" {
				t.Errorf("Append = %q, %v\nwant an error that begins with %s", got, err, tt.want)
			}
		})
	}
}

func TestHostHeader(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		host              string
		port, defaultPort int
		want              string
	}{
		{"example.com", 80, 80, "example.com"},
		{"example.com", 8080, 80, "example.com:8080"},
		{"example.com", 80, 443, "example.com:80"},
		{"example.com", 0, 80, "example.com"},
		{"127.0.0.1", 81, 80, "127.0.0.1:81"},
		{"::1", 80, 80, "[::1]"},
		{"::1", 81, 80, "[::1]:81"},
		{"[::1]", 81, 80, "[::1]:81"},
		{"fe80::1%eth0", 81, 80, "[fe80::1]:81"},
		{"::ffff:1.2.3.4", 81, 80, "[::ffff:1.2.3.4]:81"},
	} {
		if got := HostHeader(tt.host, tt.port, tt.defaultPort); got != tt.want {
			t.Errorf("HostHeader(%q, %d, %d) = %q, want %q", tt.host, tt.port, tt.defaultPort, got, tt.want)
		}
	}
}
