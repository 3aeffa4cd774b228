package client

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// sent returns what goes over the wire for a call with that number.
func sent(r *Request, seq uint64) string {
	return string((&loop{}).expand(r, &Session{Seq: seq}))
}

func TestRequestWith(t *testing.T) {
	t.Parallel()
	expand := &Expand{Client: 5}
	for _, tt := range []struct {
		name  string
		o     RequestOptions
		lines []Header
		want  string // of call 7
	}{
		{"plain", RequestOptions{Host: "test"}, []Header{{"X", "1"}}, "GET / HTTP/1.1\r\nUser-Agent: httpgen\r\nHost: test\r\nX: 1\r\n\r\n"},
		{"several", RequestOptions{Host: "test"}, []Header{{"X", "1"}, {"X", "2"}}, "GET / HTTP/1.1\r\nUser-Agent: httpgen\r\nHost: test\r\nX: 1\r\nX: 2\r\n\r\n"},
		{"empty value", RequestOptions{Host: "test"}, []Header{{"X", ""}}, "GET / HTTP/1.1\r\nUser-Agent: httpgen\r\nHost: test\r\nX: \r\n\r\n"},
		{"body", RequestOptions{Method: "POST", Host: "test", Body: []byte("a\r\n\r\nb")}, []Header{{"X", "1"}}, "POST / HTTP/1.1\r\nUser-Agent: httpgen\r\nHost: test\r\nContent-Length: 6\r\nX: 1\r\n\r\na\r\n\r\nb"},
		{"placeholders", RequestOptions{Host: "test", URI: "/{seq}", Header: []Header{{"Y", "{client}"}}, Body: []byte("{seq}"), Expand: expand}, []Header{{"X", "{seq}"}, {"Z", "2"}},
			"GET /7 HTTP/1.1\r\nUser-Agent: httpgen\r\nHost: test\r\nContent-Length: 5\r\nY: 5\r\nX: {seq}\r\nZ: 2\r\n\r\n{seq}"},
		{"placeholder at the end", RequestOptions{Host: "test", Header: []Header{{"Y", "{seq}"}}, Expand: expand}, []Header{{"X", "1"}}, "GET / HTTP/1.1\r\nUser-Agent: httpgen\r\nHost: test\r\nY: 7\r\nX: 1\r\n\r\n"},
		{"no placeholder", RequestOptions{Host: "test", Expand: expand}, []Header{{"X", "{seq}"}}, "GET / HTTP/1.1\r\nUser-Agent: httpgen\r\nHost: test\r\nX: {seq}\r\n\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			first := request(t, tt.o)
			before := sent(first, 7)
			r := first
			for _, h := range tt.lines {
				var err error
				if r, err = r.With(h); err != nil {
					t.Fatal(err)
				}
			}
			if have := sent(r, 7); have != tt.want {
				t.Errorf("sent %q, want %q", have, tt.want)
			}
			if have := sent(first, 7); have != before {
				t.Errorf("With changed its receiver from %q to %q", before, have)
			}
		})
	}
}

func TestRequestWithRefuses(t *testing.T) {
	t.Parallel()
	r := request(t, RequestOptions{Host: "test"})
	for _, h := range []Header{{"", "1"}, {"X Y", "1"}, {"X:Y", "1"}, {"X\r\nY", "1"}, {"X", "1\r\nY: 2"}, {"X", "1\n"}, {"X", "1\r"}, {"X", "1\r\n\r\n"}, {"X", "\x00"}, {"\u00fc", "1"}} {
		if _, err := r.With(h); err == nil || !strings.HasPrefix(err.Error(), "client: header ") {
			t.Errorf("header %q: error %v, want one of the header", h, err)
		}
	}
}

func TestRequestURI(t *testing.T) {
	t.Parallel()
	for _, uri := range []string{"/", "*", "/a?b=c", "http://test/x", "/{seq}"} {
		if have := request(t, RequestOptions{URI: uri, Host: "test", Expand: &Expand{}}).URI(); have != uri {
			t.Errorf("URI %q, want %q", have, uri)
		}
	}
	if have := request(t, RequestOptions{Host: "test"}).URI(); have != "/" {
		t.Errorf("URI %q, want /", have)
	}
}

func TestRequestTo(t *testing.T) {
	t.Parallel()
	post := RequestOptions{Method: "POST", URI: "/from", Host: "test", Header: []Header{
		{"content-type", "t"}, {"Content-Encoding", "gzip"}, {"Contents", "kept"}, {"Content", "kept"}, {"Authorization", "kept"}, {"Cookie", "kept"},
	}, Body: []byte("body")}
	chunked := RequestOptions{Method: "POST", Host: "test", Header: []Header{{"TRANSFER-ENCODING", "chunked"}, {"X", "kept"}}, Body: []byte("0\r\n\r\n")}
	numbered := RequestOptions{Method: "POST", URI: "/{seq}", Host: "test", Header: []Header{{"X", "{seq}"}}, Body: []byte("{seq}"), Expand: &Expand{}}
	const kept = "Contents: kept\r\nContent: kept\r\nAuthorization: kept\r\nCookie: kept\r\n\r\n"
	for _, tt := range []struct {
		name, method, uri string
		o                 RequestOptions
		body              bool
		want              string // of call 7
	}{
		{"other method", "GET", "/to", post, false, "GET /to HTTP/1.1\r\nUser-Agent: httpgen\r\nHost: test\r\n" + kept},
		{"same method", "POST", "/to", post, true, "POST /to HTTP/1.1\r\nUser-Agent: httpgen\r\nHost: test\r\nContent-Length: 4\r\ncontent-type: t\r\nContent-Encoding: gzip\r\n" + kept + "body"},
		{"chunked", "GET", "/to", chunked, false, "GET /to HTTP/1.1\r\nUser-Agent: httpgen\r\nHost: test\r\nX: kept\r\n\r\n"},
		{"chunked, kept", "POST", "/to", chunked, true, "POST /to HTTP/1.1\r\nUser-Agent: httpgen\r\nHost: test\r\nTRANSFER-ENCODING: chunked\r\nX: kept\r\n\r\n0\r\n\r\n"},
		{"no body", "GET", "/to", RequestOptions{Host: "test"}, false, "GET /to HTTP/1.1\r\nUser-Agent: httpgen\r\nHost: test\r\n\r\n"},
		{"no body, kept", "POST", "/to", RequestOptions{Method: "POST", Host: "test"}, true, "POST /to HTTP/1.1\r\nUser-Agent: httpgen\r\nHost: test\r\nContent-Length: 0\r\n\r\n"},
		{"http/1.0", "GET", "/to", RequestOptions{HTTP10: true, NoHost: true}, false, "GET /to HTTP/1.0\r\nUser-Agent: httpgen\r\nConnection: keep-alive\r\n\r\n"},
		{"blanks", "GET", "/a b?c d", RequestOptions{Host: "test"}, false, "GET /a%20b?c%20d HTTP/1.1\r\nUser-Agent: httpgen\r\nHost: test\r\n\r\n"},
		{"placeholders", "POST", "/to?{seq}", numbered, true, "POST /to?{seq} HTTP/1.1\r\nUser-Agent: httpgen\r\nHost: test\r\nContent-Length: 5\r\nX: 7\r\n\r\n{seq}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := request(t, tt.o)
			n := r.to(tt.method, tt.uri, tt.body)
			if have := sent(n, 7); have != tt.want {
				t.Errorf("sent %q, want %q", have, tt.want)
			}
			if n.head || n.host != r.host || n.idempotent != (tt.method == "GET") {
				t.Errorf("head %v, host %q, idempotent %v: want false, %q, %v", n.head, n.host, n.idempotent, r.host, tt.method == "GET")
			}
		})
	}
	if n := request(t, RequestOptions{Host: "test"}).to("HEAD", "/", false); !n.head || !n.idempotent {
		t.Errorf("head %v, idempotent %v: want both", n.head, n.idempotent)
	}
}

func TestExpandPlaces(t *testing.T) {
	t.Parallel()
	const random = "1f7eb044eaaabde3" // of seed 9, call 12
	for _, tt := range []struct {
		name, uri, header string
		body              string
		wantURI           string
		wantHeader        string
		parts             int
	}{
		{"none", "/a", "b", "", "/a", "b", 0},
		{"in the URI", "/a/{seq}/b", "b", "", "/a/12/b", "b", 2},
		{"in a header", "/a", "<{client}>", "", "/a", "<-3>", 2},
		{"adjacent", "/{seq}{seq}{client}{rand}", "{seq}{client}", "", "/1212-3" + random, "12-3", 7},
		{"no placeholders", "/{}/{Seq}/{seq/seq}/{seq%7D", "{ seq}{{}}", "", "/{}/{Seq}/{seq/seq}/{seq%7D", "{ seq}{{}}", 0},
		{"braces around", "/{{seq}}{", "}{seq}{", "", "/{12}{", "}12{", 3},
		{"begun twice", "/{se{seq}", "{client{client}", "", "/{se12", "{client-3", 3},
		{"not in the body", "/{seq}", "b", "{seq}{rand}", "/12", "b", 2},
		{"only in the body", "/a", "b", "{seq}", "/a", "b", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := request(t, RequestOptions{URI: tt.uri, Host: "test", Header: []Header{{"X", tt.header}}, Body: []byte(tt.body), Expand: &Expand{Seed: 9, Client: -3}})
			want := string(request(t, RequestOptions{URI: tt.wantURI, Host: "test", Header: []Header{{"X", tt.wantHeader}}, Body: []byte(tt.body)}).Bytes())
			if have := sent(r, 12); have != want || len(r.parts) != tt.parts {
				t.Errorf("sent %q in %d parts, want %q in %d", have, len(r.parts), want, tt.parts)
			}
			if plain := request(t, RequestOptions{URI: tt.uri, Host: "test", Header: []Header{{"X", tt.header}}, Body: []byte(tt.body)}); sent(plain, 12) != string(r.Bytes()) {
				t.Errorf("without Expand %q is sent, want %q", sent(plain, 12), r.Bytes())
			}
		})
	}
}

// The published outputs of SplitMix64 from seed 0.
func TestMix(t *testing.T) {
	t.Parallel()
	state := uint64(0)
	for i, want := range []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f} {
		if have := mix(state); have != want {
			t.Errorf("output %d is %#x, want %#x", i, have, want)
		}
		state += 0x9e3779b97f4a7c15
	}
}

// read returns what net/http makes of a request, and its body.
func read(b []byte) (*http.Request, []byte, error) {
	rest := bufio.NewReader(bytes.NewReader(b))
	r, err := http.ReadRequest(rest)
	if err != nil {
		return nil, nil, err
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, nil, err
	}
	if _, err := rest.Peek(1); err == nil {
		body = append(body, " and more"...)
	}
	return r, body, nil
}

// A request that net/http understands stays one when its placeholders are
// replaced, and keeps its body.
func FuzzExpand(f *testing.F) {
	f.Add("GET", "/{seq}?{rand}", "test", "X", "{client}", []byte("{seq}"), uint64(1), 3, false)
	f.Add("POST", "/{rand}{seq}{client}", "{client}.test", "Content-Type", "{", []byte(""), uint64(1<<63), -1, true)
	f.Add("PUT", "http://test/{seq}", "test:80", "Content-Length", "4", []byte("body"), uint64(9), 0, false)
	f.Add("GET", "*", "[::1]", "Range", "bytes={seq}-", []byte(nil), uint64(0), 1, false)
	f.Fuzz(func(t *testing.T, method, uri, host, name, value string, body []byte, seq uint64, client int, old bool) {
		r, err := NewRequest(RequestOptions{Method: method, URI: uri, Host: host, HTTP10: old, Header: []Header{{name, value}}, Body: body, Expand: &Expand{Seed: 1, Client: client}})
		if err != nil {
			return
		}
		plain, content, err := read(r.Bytes())
		if err != nil {
			return
		}
		b := []byte(sent(r, seq))
		full, have, err := read(b)
		if err != nil {
			t.Fatalf("%q is read, but with its placeholders replaced %q: %v", r.Bytes(), b, err)
		}
		if full.Method != plain.Method || len(full.Header) != len(plain.Header) || !bytes.Equal(have, content) {
			t.Errorf("%q is read as %s with %d header fields and body %q, want %s, %d, %q", b, full.Method, len(full.Header), have, plain.Method, len(plain.Header), content)
		}
		for _, text := range []string{"{seq}", "{rand}", "{client}"} {
			if strings.Contains(full.RequestURI, text) {
				t.Errorf("%q has still %s in its URI", b, text)
			}
		}
	})
}

// What a browser makes of any reply are requests that net/http understands, and an
// end.
func FuzzBrowse(f *testing.F) {
	f.Add(302, []byte("HTTP/1.1 302 Found\r\nLocation: /a b?c d\r\nSet-Cookie: x=\"1 2\"\r\n\r\n"), "/o")
	f.Add(200, []byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nSet-Cookie: x={seq}; Path=/; Secure\r\n\r\n"), "/o /{rand} //x/y ../z ?q \r")
	f.Add(303, []byte("HTTP/1.1 303 X\r\nLocation: http://test:80\r\nlocation:\r\nLocation: //test/%2f#f\r\n"), "")
	f.Add(308, []byte("Location: ?{seq}\nSet-Cookie: a=b; Domain=test; Expires=x\n"), "")
	f.Fuzz(func(t *testing.T, status int, header []byte, objects string) {
		req := request(t, RequestOptions{Method: "POST", URI: "/d/{seq}", Host: "test", Header: []Header{{"X", "{rand}"}}, Body: []byte("body"), Expand: &Expand{}})
		links := strings.Split(objects, " ")
		w := &Browse{
			Workload: &Calls{Request: req, Calls: 2}, Cookies: true, Follow: true,
			Objects: func(*url.URL, []byte) []string { return links },
		}
		s := Session{}
		w.Begin(0, &s)
		var last *Reply
		calls := 0
		for {
			req, _, ok := w.Next(&s, last)
			if !ok {
				break
			}
			b := []byte(sent(req, s.Seq))
			line, _, _ := strings.Cut(string(b), "\r\n")
			if strings.Count(line, " ") != 2 || strings.Count(string(b[:bytes.Index(b, []byte("\r\n\r\n"))]), "\r\nHost: test\r\n") != 1 {
				t.Fatalf("sent %q: want a request line of three words and one Host", b)
			}
			// What a page calls an object need not be a URI; what a server calls a
			// location was read as one.
			if _, body, err := read(b); err != nil && !req.object || err == nil && len(body) > 0 && string(body) != "body" {
				t.Fatalf("sent %q: read with body %q, %v", b, body, err)
			}
			last = &Reply{Status: status, Header: header, Body: []byte("page")}
			w.Replied(&s, req, last)
			calls++
		}
		if most := (2 + 2*len(links)) * (1 + maxRedirects); calls != s.Planned+s.Extra || calls > most {
			t.Errorf("%d calls, want %d planned and %d further ones, at most %d", calls, s.Planned, s.Extra, most)
		}
	})
}
