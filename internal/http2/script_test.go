package http2

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	h2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// A recorder notes events as lines of text. Before it returns to the
// connection, the reaction to the line runs.
type recorder struct {
	events    []string
	reactions map[string]func()
}

func (r *recorder) note(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	r.events = append(r.events, line)
	if f := r.reactions[line]; f != nil {
		f()
	}
}

func (r *recorder) Begun(ref uint64) { r.note("begun %d", ref) }
func (r *recorder) Sent(ref uint64)  { r.note("sent %d", ref) }
func (r *recorder) Settings()        { r.note("settings") }
func (r *recorder) Reply(ref uint64, p *Reply) {
	r.note("reply %d: %d, %d interim, %d body", ref, p.Status, p.Informational, p.BodyBytes)
}
func (r *recorder) Failed(ref uint64, f Failure) { r.note("failed %d: %v", ref, f) }
func (r *recorder) Goaway(code h2.ErrCode, last uint32) {
	r.note("goaway %v, last %d", code, last)
}

// A server writes what a server sends.
type server struct {
	*h2.Framer
	out   bytes.Buffer
	block bytes.Buffer
	enc   *hpack.Encoder
}

func newServer() *server {
	s := &server{}
	s.Framer = h2.NewFramer(&s.out, nil)
	s.AllowIllegalWrites = true
	s.enc = hpack.NewEncoder(&s.block)
	return s
}

// fields encodes names and values, which alternate.
func (s *server) fields(nv ...string) []byte {
	s.block.Reset()
	for i := 0; i < len(nv); i += 2 {
		_ = s.enc.WriteField(hpack.HeaderField{Name: nv[i], Value: nv[i+1]})
	}
	return slices.Clone(s.block.Bytes())
}

// headers writes a HEADERS frame.
func (s *server) headers(id uint32, end bool, nv ...string) {
	_ = s.WriteHeaders(h2.HeadersFrameParam{StreamID: id, BlockFragment: s.fields(nv...), EndStream: end, EndHeaders: true})
}

// data writes a DATA frame of n bytes.
func (s *server) data(id uint32, end bool, n int) {
	_ = s.WriteData(id, end, bytes.Repeat([]byte("x"), n))
}

// raw writes a frame of any kind.
func (s *server) raw(typ h2.FrameType, flags h2.Flags, id uint32, payload string) {
	_ = s.WriteRawFrame(typ, flags, id, []byte(payload))
}

// settings writes the first frame of every good server.
func (s *server) settings(set ...h2.Setting) { _ = s.WriteSettings(set...) }

// frames lists frames in words.
func frames(t *testing.T, b []byte) (list []string) {
	t.Helper()
	f := h2.NewFramer(nil, bytes.NewReader(b))
	f.SetMaxReadFrameSize(1<<24 - 1)
	f.AllowIllegalReads = true
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			if err.Error() != "EOF" {
				t.Fatalf("frames sent: %v after %q", err, list)
			}
			return list
		}
		h := frame.Header()
		line := fmt.Sprintf("%v %d", h.Type, h.StreamID)
		switch g := frame.(type) {
		case *h2.DataFrame:
			line = fmt.Sprintf("%s: %d bytes, end %v", line, len(g.Data()), g.StreamEnded())
		case *h2.HeadersFrame:
			line = fmt.Sprintf("%s: end %v", line, g.StreamEnded())
		case *h2.RSTStreamFrame:
			line = fmt.Sprintf("%s: %v", line, g.ErrCode)
		case *h2.WindowUpdateFrame:
			line = fmt.Sprintf("%s: %d", line, g.Increment)
		case *h2.GoAwayFrame:
			line = fmt.Sprintf("%s: %v", line, g.ErrCode)
		case *h2.PingFrame:
			line = fmt.Sprintf("%s: ack %v, %q", line, g.IsAck(), g.Data)
		case *h2.SettingsFrame:
			line = fmt.Sprintf("%s: ack %v", line, g.IsAck())
		}
		list = append(list, line)
	}
}

// request makes a request.
func request(t testing.TB, method string, body int) *Request {
	t.Helper()
	r, err := NewRequest(method, "http", "h", "/", nil, make([]byte, body))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A script is what a server sends to requests that were sent at once, with the
// references 1, 2, and so on, on the streams 1, 3, and so on.
type script struct {
	name      string
	requests  []string // methods; POST has a body of 100000 bytes
	server    func(s *server)
	reactions map[string]func(c *Conn)
	events    []string
	sent      []string   // frames after those of the requests
	err       h2.ErrCode // of the connection; 0 for none
}

// run feeds the script in pieces and returns what came of it.
func (s *script) run(t *testing.T, piece int) (events []string, sent []byte, err error) {
	t.Helper()
	var c Conn
	c.Reset(1 << 10)
	c.Open()
	for i, method := range s.requests {
		body := 0
		if method == "POST" {
			body = 100000
		}
		if id, _ := c.Send(request(t, method, body), uint64(i+1)); id != uint32(2*i+1) {
			t.Fatalf("request %d is on stream %d, want %d", i+1, id, 2*i+1)
		}
	}
	c.Out = c.Out[:0]
	r := recorder{reactions: map[string]func(){}}
	for line, f := range s.reactions {
		r.reactions[line] = func() { f(&c) }
	}
	srv := newServer()
	s.server(srv)
	for b := range slices.Chunk(srv.out.Bytes(), piece) {
		if err = c.Feed(b, &r); err != nil {
			break
		}
	}
	if n := len(c.waiting); n > c.streams.open {
		t.Errorf("%d bodies wait on %d open streams", n, c.streams.open)
	}
	return r.events, c.Out, err
}

func (s *script) test(t *testing.T) {
	t.Parallel()
	events, sent, err := s.run(t, 1<<30)
	if !slices.Equal(events, s.events) {
		t.Errorf("events\ngot  %s\nwant %s", strings.Join(events, "\n     "), strings.Join(s.events, "\n     "))
	}
	if got := frames(t, sent); !slices.Equal(got, s.sent) {
		t.Errorf("frames sent\ngot  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(s.sent, "\n     "))
	}
	code := h2.ConnectionError(0)
	if errors.As(err, &code) != (s.err != 0) || h2.ErrCode(code) != s.err {
		t.Errorf("error %v, want %v", err, s.err)
	}
	for _, piece := range []int{1, 7} {
		events2, sent2, err2 := s.run(t, piece)
		if !slices.Equal(events2, events) || !bytes.Equal(sent2, sent) || fmt.Sprint(err2) != fmt.Sprint(err) {
			t.Errorf("in pieces of %d: events %q, sent %q, error %v\nwhole: events %q, sent %q, error %v", piece, events2, sent2, err2, events, sent, err)
		}
	}
}
