package http2

import (
	"encoding/binary"
	"fmt"
	"testing"

	h2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// insertReply writes a reply whose fields are Huffman-coded and inserted into the
// dynamic table each time, as nginx does with those that it makes itself.
func insertReply(_ *server, i int) []byte {
	block := []byte{0x88}
	for _, f := range []struct {
		index byte
		value string
	}{
		{54, "nginx/1.28.0"}, {33, fmt.Sprintf("Mon, 30 Nov 2026 16:00:%02d GMT", i%60)}, {31, "text/html"}, {28, "10"},
		{44, "Mon, 30 Nov 2020 16:00:00 GMT"}, {34, `"5fc5164f-a"`}, {18, "bytes"},
	} {
		block = append(block, 0x40|f.index, 0x80|byte(hpack.HuffmanEncodeLength(f.value)))
		block = hpack.AppendHuffmanString(block, f.value)
	}
	return block
}

// tableReply writes a reply whose fields come from the dynamic table.
func tableReply(s *server, _ int) []byte {
	return s.fields(status, "200", "server", "go", "date", "Mon, 30 Nov 2026 16:00:00 GMT", "content-type", "text/html", length, "10")
}

// A load is a connection with calls that are sent and answered in rounds.
type load struct {
	Conn
	req     *Request
	piece   int
	replies [][]byte // their streams are filled in each time
	opening []byte
	done    int
}

func newLoad(tb testing.TB, calls int, reply func(s *server, i int) []byte) *load {
	tb.Helper()
	l := &load{req: request(tb, "GET", 0), piece: 1 << 30}
	s := newServer()
	s.settings()
	l.opening = append(l.opening, s.out.Bytes()...)
	for i := range calls {
		s.out.Reset()
		_ = s.WriteHeaders(h2.HeadersFrameParam{StreamID: 1, BlockFragment: reply(s, i), EndHeaders: true})
		s.data(1, true, 10)
		l.replies = append(l.replies, append([]byte(nil), s.out.Bytes()...))
	}
	l.connect()
	return l
}

func (l *load) connect() {
	l.Reset(0)
	l.Open()
	l.feed(l.opening)
}

// round sends all calls, then answers them.
func (l *load) round() {
	l.Out = l.Out[:0]
	before := l.done
	for i, b := range l.replies {
		id, _ := l.Send(l.req, uint64(i))
		headers := int(b[1])<<8 | int(b[2])
		binary.BigEndian.PutUint32(b[5:], id)
		binary.BigEndian.PutUint32(b[frameHeaderLen+headers+5:], id)
	}
	for _, b := range l.replies {
		l.feed(b)
	}
	if l.done != before+len(l.replies) {
		panic(fmt.Sprintf("%d calls were answered, want %d", l.done-before, len(l.replies)))
	}
}

func (l *load) feed(b []byte) {
	for len(b) > 0 {
		n := min(l.piece, len(b))
		if err := l.Feed(b[:n], l); err != nil {
			panic(err)
		}
		b = b[n:]
	}
}

func (l *load) Begun(uint64)              {}
func (l *load) Sent(uint64)               {}
func (l *load) Reply(uint64, *Reply)      { l.done++ }
func (l *load) Failed(uint64, Failure)    {}
func (l *load) Goaway(h2.ErrCode, uint32) {}
func (l *load) Settings()                 {}

// BenchmarkCalls sends 100 requests and reads their replies.
func BenchmarkCalls(b *testing.B) {
	for _, bb := range []struct {
		name  string
		reply func(s *server, i int) []byte
	}{
		{"fields=indexed", tableReply},
		{"fields=inserted", insertReply},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			l := newLoad(b, 100, bb.reply)
			for b.Loop() {
				l.round()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(l.done), "ns/call")
		})
	}
}

// BenchmarkDecode reads a field block whose fields are all inserted, with the
// decoder and with that of golang.org/x/net.
func BenchmarkDecode(b *testing.B) {
	block := insertReply(nil, 0)
	b.Run("decoder=ours", func(b *testing.B) {
		b.ReportAllocs()
		var d decoder
		d.reset()
		for b.Loop() {
			rest, ok := d.start(block)
			for ok && len(rest) > 0 {
				_, _, rest, ok = d.next(rest)
			}
			if !ok {
				b.Fatalf("%q cannot be decoded", block)
			}
		}
	})
	b.Run("decoder=x", func(b *testing.B) {
		b.ReportAllocs()
		d := hpack.NewDecoder(tableSize, func(hpack.HeaderField) {})
		for b.Loop() {
			if _, err := d.Write(block); err != nil {
				b.Fatal(err)
			}
			if err := d.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
