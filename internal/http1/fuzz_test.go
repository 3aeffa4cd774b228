package http1

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// A reading is what net/http makes of the same bytes.
type reading struct {
	status  int
	interim int
	body    int64
	reuse   bool
	used    int
	err     error
}

// readResponse reads the first final reply in data with net/http.
func readResponse(data []byte, head bool) (r reading) {
	src := bytes.NewReader(data)
	br := bufio.NewReader(src)
	req := &http.Request{Method: "GET"}
	if head {
		req.Method = "HEAD"
	}
	for {
		resp, err := http.ReadResponse(br, req)
		if err == nil {
			r.body, err = io.Copy(io.Discard, resp.Body)
		}
		if err != nil {
			r.err = err
			return r
		}
		if resp.StatusCode/100 != 1 || resp.StatusCode == http.StatusSwitchingProtocols {
			r.status, r.reuse = resp.StatusCode, !resp.Close
			r.used = len(data) - src.Len() - br.Buffered()
			return r
		}
		r.interim++
	}
}

var (
	validStatusLine = regexp.MustCompile(`^HTTP/1\.[0-9] [1-9][0-9]{2}( [\t -~\x80-\xff]*)?\r?\n`)
	blankInName     = regexp.MustCompile(`(?m)^[^:\r\n]* [^:\r\n]*:`)
	foldedFraming   = regexp.MustCompile(`(?mi)^(content-length|transfer-encoding|connection):[^\n]*\n[ \t]`)
	controlInChunk  = regexp.MustCompile(`(?m)^[0-9A-Fa-f]+[ \t]*;[^\r\n]*[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]`)
)

// difference compares what a parser made of data with net/http's reading. It
// returns the class of a difference that the package comment lists, the empty
// string when they agree, and an error for any other difference.
func difference(p *Parser, got outcome, ref reading, data []byte) (class string, err error) {
	oldCoding := p.sawCoding && p.minor == 0
	switch {
	case got.err != nil && ref.err != nil:
		return "", nil
	case got.err != nil:
		return refusal(got, data, oldCoding)
	case ref.err != nil:
		return acceptance(p, got, ref.err)
	case oldCoding && !p.head:
		return "Transfer-Encoding in HTTP/1.0", nil
	}
	if got.status != ref.status || got.interim != ref.interim || got.body != ref.body || got.used != ref.used {
		return "", fmt.Errorf("status %d, %d interim replies, body %d, consumed %d; net/http has %d, %d, %d, %d",
			got.status, got.interim, got.body, got.used, ref.status, ref.interim, ref.body, ref.used)
	}
	switch {
	case got.reuse == ref.reuse:
		return "", nil
	case got.reuse:
	case got.status == http.StatusSwitchingProtocols:
		return "no reuse after 101", nil
	case got.ignored:
		return "no reuse after Content-Length beside Transfer-Encoding", nil
	case oldCoding:
		return "Transfer-Encoding in HTTP/1.0", nil
	}
	return "", fmt.Errorf("reuse = %v, net/http has %v", got.reuse, ref.reuse)
}

// refusal classes a reply that is refused here only.
func refusal(got outcome, data []byte, oldCoding bool) (class string, err error) {
	reply := data[got.before:]
	switch {
	case oldCoding:
		return "Transfer-Encoding in HTTP/1.0", nil
	case got.err == ErrStatusLine && !validStatusLine.Match(reply):
		return "status line", nil
	case got.err == ErrField && blankInName.Match(reply):
		return "blank in a name", nil
	case got.err == ErrFold && foldedFraming.Match(reply):
		return "folded framing field", nil
	case got.err == ErrHeaderSize && got.header == DefaultMaxHeaderBytes:
		return "header size", nil
	case got.err == ErrChunkSize && controlInChunk.Match(reply):
		return "control in a chunk extension", nil
	}
	return "", fmt.Errorf("error %v, net/http has none", got.err)
}

// acceptance classes a reply that is accepted here only.
func acceptance(p *Parser, got outcome, refused error) (class string, err error) {
	text := refused.Error()
	has := func(s string) bool { return strings.Contains(text, s) }
	undecisive := p.bodyless() || p.sawCoding || got.interim > 0
	switch {
	case has("transfer encoding") && (p.sawCoding || got.interim > 0):
		return "transfer codings", nil
	case has("Content-Length") && undecisive && !has("bad trailer key"):
		return "Content-Length that decides nothing", nil
	case has("Content-Length") && p.hasLength && !has("bad trailer key"):
		return "equal lengths", nil
	case has(`malformed HTTP response ""`) && got.before > 0:
		return "empty line first", nil
	case has("bad trailer key") && p.sawCoding || has("bad trailer key") && got.interim > 0:
		return "announced framing trailer", nil
	case !p.trailer:
	case has("suspiciously long trailer"), has("EOF reading trailer"):
		return "trailers", nil
	case has("header line too long"), has("too much non-data"), has("chunk length too large"):
		return "long chunk-size lines", nil
	case has("invalid byte in chunk length"):
		return "blank before an extension", nil
	}
	return "", fmt.Errorf("no error, net/http has %w", refused)
}

// FuzzParser compares the parser with net/http.
func FuzzParser(f *testing.F) {
	for _, c := range replyCases {
		if in, _ := c.cut(); c.limit == 0 {
			f.Add(in, c.head)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, head bool) {
		var p Parser
		p.Reset(head)
		got := read(t, &p, data)
		if _, err := difference(&p, got, readResponse(data, head), data); err != nil {
			t.Errorf("%q, head %v: %v", data, head, err)
		}
		if sum := got.before + got.header + got.body + got.framing + got.trail; sum != int64(got.used) {
			t.Errorf("%q: the counters add up to %d, want the %d bytes consumed", data, sum, got.used)
		}
	})
}

// FuzzSplit compares a reply in one piece with the same in many.
func FuzzSplit(f *testing.F) {
	for i, c := range replyCases {
		in, _ := c.cut()
		f.Add(in, c.head, uint64(i), int32(c.limit))
	}
	f.Fuzz(func(t *testing.T, data []byte, head bool, seed uint64, limit int32) {
		c := replyCase{head: head, limit: limit}
		want := read(t, c.parser(), data)
		rnd := rand.New(rand.NewPCG(seed, 0))
		if got := read(t, c.parser(), pieces(rnd, data)...); got != want {
			t.Errorf("%q, head %v, limit %d\ngot  %+v\nwant %+v", data, head, limit, got, want)
		}
	})
}

// TestDifferences shows each difference from net/http that the package comment
// lists, and that it is one.
func TestDifferences(t *testing.T) {
	t.Parallel()
	const chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"
	for _, tt := range []struct {
		name  string
		in    string
		head  bool
		class string
	}{
		{"list of codings", ok + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", false, "transfer codings"},
		{"another coding", ok + "Transfer-Encoding: gzip\r\n\r\n", false, "transfer codings"},
		{"empty coding", ok + "Transfer-Encoding:\r\n\r\n", false, "transfer codings"},
		{"two lines of codings", ok + "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false, "transfer codings"},
		{"codings of 204", "HTTP/1.1 204 x\r\nTransfer-Encoding: chunked, chunked\r\n\r\n", false, "transfer codings"},
		{"list of lengths", ok + "Content-Length: 1, 1\r\n\r\nx", false, "equal lengths"},
		{"lengths equal as numbers", ok + "Content-Length: 1\r\nContent-Length: 01\r\n\r\nx", false, "equal lengths"},
		{"length to HEAD", ok + "Content-Length: x\r\n\r\n", true, "Content-Length that decides nothing"},
		{"length of 304", "HTTP/1.1 304 x\r\nContent-Length: x\r\n\r\n", false, "Content-Length that decides nothing"},
		{"length of 100", "HTTP/1.1 100 x\r\nContent-Length:\r\n\r\n" + ok + "\r\n", false, "Content-Length that decides nothing"},
		{"lengths beside chunked", ok + "Content-Length: 1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false, "Content-Length that decides nothing"},
		{"empty line first", "\r\n" + ok + "\r\n", false, "empty line first"},
		{"bare LF in trailers", chunked + "0\r\nA: b\n\n", false, "trailers"},
		{"bare LF for trailers", chunked + "0\r\n\n", false, "trailers"},
		{"5 KB of trailers", chunked + "0\r\nA: " + long(5<<10) + "\r\n\r\n", false, "trailers"},
		{"announced framing trailer", ok + "Trailer: Content-Length\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false, "announced framing trailer"},
		{"5 KB of extension", chunked + "0;" + long(5<<10) + "\r\n\r\n", false, "long chunk-size lines"},
		{"more than 16 digits", chunked + strings.Repeat("0", 17) + "\r\n\r\n", false, "long chunk-size lines"},
		{"more extension than data", chunked + strings.Repeat("1;"+long(3000)+"\r\nx\r\n", 8) + "0\r\n\r\n", false, "long chunk-size lines"},
		{"blank before an extension", chunked + "0 ;x\r\n\r\n", false, "blank before an extension"},

		{"another major version", "HTTP/2.0 200 OK\r\n\r\n", false, "status line"},
		{"status below 100", "HTTP/1.1 099 OK\r\n\r\n", false, "status line"},
		{"two blanks", "HTTP/1.1  200 OK\r\n\r\n", false, "status line"},
		{"control in the reason", "HTTP/1.1 200 \x01\r\n\r\n", false, "status line"},
		{"control in an extension", chunked + "0;\x01\r\n\r\n", false, "control in a chunk extension"},
		{"blank in a name", ok + "A B: c\r\n\r\n", false, "blank in a name"},
		{"blank before the colon", ok + "A : c\r\n\r\n", false, "blank in a name"},
		{"folded framing field", ok + "Content-Length:\r\n 1\r\n\r\nx", false, "folded framing field"},
		{"header size", ok + "A: " + long(64<<10) + "\r\n\r\n", false, "header size"},

		{"chunked in 1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false, "Transfer-Encoding in HTTP/1.0"},
		{"no chunks in 1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhello", false, "Transfer-Encoding in HTTP/1.0"},
		{"coding and HEAD in 1.0", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n", true, "Transfer-Encoding in HTTP/1.0"},
		{"101", "HTTP/1.1 101 x\r\n\r\n", false, "no reuse after 101"},
		{"length beside chunked", ok + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false, "no reuse after Content-Length beside Transfer-Encoding"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var p Parser
			p.Reset(tt.head)
			data := []byte(tt.in)
			got := read(t, &p, data)
			class, err := difference(&p, got, readResponse(data, tt.head), data)
			if class != tt.class || err != nil {
				t.Errorf("class %q, error %v, want %q", class, err, tt.class)
			}
		})
	}
}
