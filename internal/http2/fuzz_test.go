package http2

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
)

// FuzzFeed compares bytes in one piece with the same in many, and checks that
// every request ends once, that the answers are no longer than what arrived and
// the bodies that waited, and that memory is bounded.
func FuzzFeed(f *testing.F) {
	for _, s := range scripts {
		srv := newServer()
		if s.server(srv); srv.out.Len() < 4<<10 {
			f.Add(srv.out.Bytes(), uint8(len(s.requests)), uint8(3))
		}
	}
	const maxHeader = 1 << 10
	f.Fuzz(func(t *testing.T, data []byte, requests, piece uint8) {
		run := func(piece int) (events []string, out []byte, err error) {
			var c Conn
			c.Reset(maxHeader)
			seen := 0
			c.Observer = func(_ uint64, _ Part, b []byte) { seen += len(b) }
			methods := []string{"GET", "HEAD", "POST"}
			bodies := 0
			for i := range int(requests % 8) {
				r := request(t, methods[i%3], i%3*50000)
				bodies += len(r.body)
				c.Send(r, uint64(i))
			}
			open := c.Streams()
			c.Out = c.Out[:0]
			var r recorder
			for b := range slices.Chunk(data, piece) {
				if err = c.Feed(b, &r); err != nil {
					break
				}
			}
			out = slices.Clone(c.Out)
			c.End(&r)
			ended := 0
			for _, line := range r.events {
				if line[:5] == "reply" || line[:6] == "failed" {
					ended++
				}
			}
			if ended != open || c.Streams() != 0 || len(c.waiting) != 0 {
				t.Errorf("%d requests ended, %d are open, %d wait, want %d, 0 and 0", ended, c.Streams(), len(c.waiting), open)
			}
			// At worst a frame header is answered with a RST_STREAM or WINDOW_UPDATE,
			// and a window that opens by one byte with a frame of one byte.
			if limit := 2*len(data) + 2*bodies + 64; len(out) > limit {
				t.Errorf("%d bytes are answered with %d, want at most %d", len(data), len(out), limit)
			}
			if cap(c.block) > 2*maxHeader || cap(c.dec.scratch) > 16*maxHeader || cap(c.lines) > 4*maxHeader || cap(c.dec.text) > 3*tableSize {
				t.Errorf("buffers of %d, %d, %d and %d bytes, want them bounded", cap(c.block), cap(c.dec.scratch), cap(c.lines), cap(c.dec.text))
			}
			return append(r.events, fmt.Sprint("seen ", seen)), out, err
		}
		events, out, err := run(max(len(data), 1))
		for _, p := range []int{1, int(piece) + 1} {
			events2, out2, err2 := run(p)
			if !slices.Equal(events2, events) || !bytes.Equal(out2, out) || fmt.Sprint(err2) != fmt.Sprint(err) {
				t.Errorf("%q in pieces of %d: events %q, sent %q, error %v\nwhole: events %q, sent %q, error %v", data, p, events2, out2, err2, events, out, err)
			}
		}
	})
}
