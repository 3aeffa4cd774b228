package target

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"testing"
)

func TestParseHead(t *testing.T) {
	t.Parallel()
	const bad, part = -1, 0
	for _, tt := range []struct {
		name string
		in   string
		want request
		n    int // 0 and -1 as parseHead returns them, 1 for all of in
	}{
		{"plain", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", request{}, 1},
		{"bare line feeds", "GET / HTTP/1.1\nHost: a\n\n", request{}, 1},
		{"empty lines before it", "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", request{}, 1},
		{"head", "HEAD /x?y HTTP/1.1\r\nHost:a\r\n\r\n", request{head: true}, 1},
		{"head in lower case is another method", "head / HTTP/1.1\r\nHost: a\r\n\r\n", request{}, 1},
		{"close", "GET / HTTP/1.1\r\nhost: a\r\nCONNECTION: foo , Close\r\n\r\n", request{close: true}, 1},
		{"old", "GET / HTTP/1.0\r\n\r\n", request{old: true, close: true}, 1},
		{"old and kept", "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", request{old: true}, 1},
		{"length", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 12 \r\n\r\n", request{length: 12}, 1},
		{"same length twice", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n", request{length: 2}, 1},
		{"chunked", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip,\tChunked\r\n\r\n", request{chunked: true}, 1},
		{"chunked and length", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n", request{chunked: true, close: true}, 1},
		{"expects", "PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n", request{length: 2, expects: true}, 1},
		{"names as long as known ones", "GET / HTTP/1.1\r\nHost: a\r\nX-nnection: close\r\nX: \r\n\r\n", request{}, 1},
		{"nothing", "", request{}, part},
		{"part of the line", "GET / HT", request{}, part},
		{"part of a field", "GET / HTTP/1.1\r\nHos", request{}, part},
		{"no empty line", "GET / HTTP/1.1\r\nHost: a\r\n\r", request{}, part},
		{"hello of TLS", "\x16\x03\x01\x02", request{}, bad},
		{"no host", "GET / HTTP/1.1\r\n\r\n", request{}, bad},
		{"no target", "GET  HTTP/1.1\r\nHost: a\r\n\r\n", request{}, bad},
		{"no protocol", "GET /\r\nHost: a\r\n\r\n", request{}, bad},
		{"HTTP/2", "PRI * HTTP/2.0\r\n\r\n", request{}, bad},
		{"method is no token", "G(T / HTTP/1.1\r\nHost: a\r\n\r\n", request{}, bad},
		{"blank line end", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n", request{}, bad},
		{"folded field", "GET / HTTP/1.1\r\nHost: a\r\n b: c\r\n\r\n", request{}, bad},
		{"blank before the colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", request{}, bad},
		{"no colon", "GET / HTTP/1.1\r\nHost\r\n\r\n", request{}, bad},
		{"no name", "GET / HTTP/1.1\r\n: a\r\n\r\n", request{}, bad},
		{"length with a sign", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\n", request{}, bad},
		{"length empty", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n", request{}, bad},
		{"length too long", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1234567890123456789\r\n\r\n", request{}, bad},
		{"two lengths", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", request{}, bad},
		{"last coding is not chunked", "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n", request{}, bad},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.n
			if want == 1 {
				want = len(tt.in)
			}
			got, n := parseHead([]byte(tt.in))
			if n != want {
				t.Fatalf("parseHead = %d bytes, want %d", n, want)
			}
			if n > 0 && got != tt.want {
				t.Errorf("parseHead = %+v, want %+v", got, tt.want)
			}
			if n <= 0 {
				return
			}
			for i := range len(tt.in) {
				if _, n := parseHead([]byte(tt.in[:i])); n != 0 {
					t.Errorf("parseHead of the first %d bytes = %d, want 0", i, n)
				}
			}
		})
	}
}

func TestSkipBody(t *testing.T) {
	t.Parallel()
	chunked := request{chunked: true}
	for _, tt := range []struct {
		name string
		req  request
		in   string
		rest string // what of in lies behind the body
		ok   bool
		done bool
	}{
		{"none", request{}, "GET", "GET", true, true},
		{"length", request{length: 3}, "abcGET", "GET", true, true},
		{"length, a part", request{length: 3}, "ab", "", true, false},
		{"chunks", chunked, "3\r\nabc\r\n0A\r\n0123456789\r\n0\r\n\r\nGET", "GET", true, true},
		{"upper and lower case, extension", chunked, "1 ;x=\"y\"\r\na\r\n0;z\r\n\r\nGET", "GET", true, true},
		{"trailers", chunked, "0\r\nA: b\r\nC: d\r\n\r\nGET", "GET", true, true},
		{"bare line feeds", chunked, "1\na\n0\n\nGET", "GET", true, true},
		{"a part", chunked, "5\r\nabc", "", true, false},
		{"no digit", chunked, "\r\n", "", false, false},
		{"not hexadecimal", chunked, "1g\r\n", "", false, false},
		{"too large", chunked, "1000000000001\r\n", "", false, false},
		{"more data than said", chunked, "1\r\nab\r\n", "", false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, step := range []int{len(tt.in), 1, 3} {
				d := tt.req.body()
				in, ok := tt.in, true
				for ok && len(in) > 0 && d.state != noBody {
					var n int
					n, ok = d.skip([]byte(in[:min(step, len(in))]))
					in = in[n:]
				}
				if ok != tt.ok || ok && (d.state == noBody) != tt.done {
					t.Errorf("in steps of %d: ok %v, state %d, want ok %v, done %v", step, ok, d.state, tt.ok, tt.done)
				}
				if ok && in != tt.rest {
					t.Errorf("in steps of %d: %q is left, want %q", step, in, tt.rest)
				}
			}
		})
	}
}

// FuzzRequest checks that a request which net/http takes for one with the same
// framing is understood alike, and that malformed ones are survived.
func FuzzRequest(f *testing.F) {
	for _, s := range []string{
		"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
		"POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET",
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nT: x\r\n\r\nGET",
		"HEAD / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
		"\r\nGET / HTTP/1.1\nHost: a\n\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		r, n := parseHead(in)
		if n <= 0 {
			return
		}
		d := r.body()
		k, ok := d.skip(in[n:])
		if n > len(in) || k > len(in)-n {
			t.Fatalf("%d + %d bytes of %d used", n, k, len(in))
		}
		if !ok || d.state != noBody {
			return
		}
		after := in[n+k:]
		in = bytes.TrimLeft(in, "\r\n")
		br := bufio.NewReader(bytes.NewReader(in))
		std, err := http.ReadRequest(br)
		if err != nil || std.ProtoMajor != 1 || r.old && r.chunked {
			return // net/http ignores the codings of HTTP/1.0
		}
		if _, err := io.Copy(io.Discard, std.Body); err != nil {
			return
		}
		if want := std.Method == "HEAD"; r.head != want {
			t.Errorf("head = %v, want %v", r.head, want)
		}
		if want := len(std.TransferEncoding) > 0; r.chunked != want {
			t.Errorf("chunked = %v, want %v", r.chunked, want)
		}
		if rest, _ := io.ReadAll(br); !bytes.Equal(rest, after) {
			t.Errorf("%q lies behind the request, want %q", after, rest)
		}
	})
}
