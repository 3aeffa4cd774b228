package http1

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

// nginx771 is a reply as nginx sends it for a small static file.
var nginx771 = []byte("HTTP/1.1 200 OK\r\nServer: nginx/1.24.0\r\nDate: Mon, 02 Jun 2025 10:00:00 GMT\r\n" +
	"Content-Type: text/html\r\nContent-Length: 771\r\nLast-Modified: Mon, 02 Jun 2025 09:00:00 GMT\r\n" +
	"Connection: keep-alive\r\nETag: \"683d6a10-303\"\r\nAccept-Ranges: bytes\r\n\r\n" + strings.Repeat("x", 771))

// chunked771 is the same size of body in two chunks.
var chunked771 = []byte("HTTP/1.1 200 OK\r\nServer: nginx/1.24.0\r\nDate: Mon, 02 Jun 2025 10:00:00 GMT\r\n" +
	"Content-Type: text/html\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n" +
	"200\r\n" + strings.Repeat("x", 512) + "\r\n103\r\n" + strings.Repeat("x", 259) + "\r\n0\r\n\r\n")

func BenchmarkFeed(b *testing.B) {
	for _, bb := range []struct {
		name    string
		data    []byte
		replies int
		step    int // bytes fed at once
	}{
		{"nginx771", nginx771, 1, len(nginx771)},
		{"chunked", chunked771, 1, len(chunked771)},
		{"bytewise", nginx771, 1, 1},
		{"pipelined4", bytes.Repeat(nginx771, 4), 4, 4 * len(nginx771)},
	} {
		b.Run("reply="+bb.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(bb.data)))
			var p Parser
			for b.Loop() {
				left, end := bb.data, 0
				for range bb.replies {
					p.Reset(false)
					for done := false; !done; {
						var n int
						var err error
						end = min(max(end, bb.step), len(left))
						n, done, err = p.Feed(left[:end])
						if err != nil {
							b.Fatal(err)
						}
						left, end = left[n:], end-n
					}
				}
				if len(left) != 0 {
					b.Fatalf("%d bytes left", len(left))
				}
			}
		})
	}
}

func BenchmarkReadResponse(b *testing.B) {
	for _, bb := range []struct {
		name string
		data []byte
	}{
		{"nginx771", nginx771},
		{"chunked", chunked771},
	} {
		b.Run("reply="+bb.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(bb.data)))
			src := bytes.NewReader(nil)
			br := bufio.NewReader(src)
			for b.Loop() {
				src.Reset(bb.data)
				br.Reset(src)
				resp, err := http.ReadResponse(br, nil)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, resp.Body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
