package http2

import (
	"slices"
	"strings"
	"testing"

	h2 "golang.org/x/net/http2"
)

func TestNewRequest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name                            string
		method, scheme, authority, path string
		header                          []Field
		body                            string
		want                            []string
	}{
		{"defaults", "", "http", "", "", nil, "",
			[]string{":method: GET", ":scheme: http", ":path: /"}},
		{"usual", "GET", "https", "h:8443", "/a?b", []Field{{"User-Agent", "httpgen/1"}, {"Accept", " */* "}}, "",
			[]string{":method: GET", ":scheme: https", ":authority: h:8443", ":path: /a?b", "user-agent: httpgen/1", "accept: */*"}},
		{"method as given", "head", "http", "h", "/", nil, "",
			[]string{":method: head", ":scheme: http", ":authority: h", ":path: /"}},
		{"all of the server", "OPTIONS", "http", "h", "*", nil, "",
			[]string{":method: OPTIONS", ":scheme: http", ":authority: h", ":path: *"}},
		{"body", "GET", "http", "h", "/", []Field{{"Content-Length", "99"}}, "hello",
			[]string{":method: GET", ":scheme: http", ":authority: h", ":path: /", "content-length: 5"}},
		{"empty body", "POST", "http", "h", "/", nil, "",
			[]string{":method: POST", ":scheme: http", ":authority: h", ":path: /", "content-length: 0"}},
		{"fields of HTTP/1", "GET", "http", "h", "/", []Field{{"HOST", "other"}, {"Connection", "close"}, {"Keep-Alive", "5"}, {"Proxy-Connection", "x"},
			{"Transfer-Encoding", "chunked"}, {"Upgrade", "h2c"}, {"TE", "gzip"}, {"TE", "Trailers"}}, "",
			[]string{":method: GET", ":scheme: http", ":authority: other", ":path: /", "te: Trailers"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := NewRequest(tt.method, tt.scheme, tt.authority, tt.path, tt.header, []byte(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			if r.block[0] != 0x20 {
				t.Errorf("block begins with %#x, want the change of the table's size, 0x20", r.block[0])
			}
			for _, block := range [][]byte{r.block, r.block[1:]} {
				var d decoder
				d.reset()
				if got, ok := decode(&d, block); !ok || !slices.Equal(got, tt.want) {
					t.Errorf("fields %q, ok %v, want %q", got, ok, tt.want)
				}
				if len(d.entries) > 0 {
					t.Errorf("%d entries of the dynamic table are used, want 0", len(d.entries))
				}
			}
		})
	}
}

func TestNewRequestErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name                            string
		method, scheme, authority, path string
		field                           Field
		want                            string
	}{
		{"method", "GET /", "http", "h", "/", Field{"a", ""}, `http2: method "GET /": want a token`},
		{"tunnel", "CONNECT", "http", "h", "/", Field{"a", ""}, `http2: method "CONNECT": want a token such as GET, and not CONNECT`},
		{"scheme", "GET", "ftp", "h", "/", Field{"a", ""}, `http2: scheme "ftp": want http or https`},
		{"authority", "GET", "http", "h h", "/", Field{"a", ""}, `http2: authority "h h": want no blanks`},
		{"host", "GET", "http", "h", "/", Field{"Host", "a\nb"}, `http2: authority "a\nb": want no blanks`},
		{"path", "GET", "http", "h", "/a b", Field{"a", ""}, `http2: path "/a b": want one that begins with /`},
		{"whole URL", "GET", "http", "h", "http://h/", Field{"a", ""}, `http2: path "http://h/": want one that begins with /`},
		{"pseudo-field", "GET", "http", "h", "/", Field{":path", "/"}, `http2: header name ":path": want a token`},
		{"no name", "GET", "http", "h", "/", Field{"", "/"}, `http2: header name "": want a token`},
		{"line end", "GET", "http", "h", "/", Field{"X", "a\r\nb"}, `http2: header X: value "a\r\nb": want no CR`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := NewRequest(tt.method, tt.scheme, tt.authority, tt.path, []Field{tt.field}, nil)
			if r != nil || err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("NewRequest = %v, %v, want an error that begins with %s", r, err, tt.want)
			}
		})
	}
}

// TestSendFrames checks how a request is cut, and that a peer that shrinks the
// dynamic table is told once, ahead of the fields, that it is not used.
func TestSendFrames(t *testing.T) {
	t.Parallel()
	r, err := NewRequest("PUT", "http", "h", "/", []Field{{"X", strings.Repeat("\x01", 2*maxFrame)}}, make([]byte, maxFrame+1))
	if err != nil {
		t.Fatal(err)
	}
	var c Conn
	c.Reset(0)
	s := newServer()
	s.settings(h2.Setting{ID: h2.SettingHeaderTableSize, Val: 100})
	s.settings(h2.Setting{ID: h2.SettingHeaderTableSize, Val: 0})
	if err := c.Feed(s.out.Bytes(), &recorder{}); err != nil {
		t.Fatal(err)
	}
	for _, told := range []bool{true, false} {
		c.Out = c.Out[:0]
		if id, whole := c.Send(r, 1); id == 0 || !whole {
			t.Fatalf("Send = %d, %v, want all of it to be sent", id, whole)
		}
		if got := c.Out[frameHeaderLen]; (got == 0x20) != told {
			t.Errorf("field block begins with %#x, want the change of the table's size, 0x20: %v", got, told)
		}
		var got []string
		for _, f := range frames(t, c.Out) {
			typ, rest, _ := strings.Cut(f, " ")
			_, rest, _ = strings.Cut(rest, ":")
			got = append(got, typ+rest)
		}
		want := []string{"HEADERS end false", "CONTINUATION", "CONTINUATION", "DATA 16384 bytes, end false", "DATA 1 bytes, end true"}
		if !slices.Equal(got, want) {
			t.Errorf("frames %q, want %q", got, want)
		}
		s := newServer()
		s.settings(h2.Setting{ID: h2.SettingHeaderTableSize, Val: 50})
		if err := c.Feed(s.out.Bytes(), &recorder{}); err != nil {
			t.Fatal(err)
		}
	}
}
