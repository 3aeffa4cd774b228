package client

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"httpgen/internal/poll"
	"httpgen/pacer"
	"httpgen/sampler"
)

// A script answers one connection; it returns when it has closed it.
type script func(c net.Conn, r *bufio.Reader)

// serve starts a server that runs s on each connection and returns its
// address.
func serve(t *testing.T, s script) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go answer(l, s)
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// answer runs s on each connection until l is closed.
func answer(l net.Listener, s script) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			c.SetDeadline(time.Now().Add(20 * time.Second))
			s(c, bufio.NewReader(c))
		}()
	}
}

// readRequest reads a request without a body and says whether there was one.
func readRequest(r *bufio.Reader) bool {
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return false
		}
		if strings.TrimSpace(line) == "" {
			return true
		}
	}
}

// each answers every request with text and keeps the connection open.
func each(text string) script {
	return func(c net.Conn, r *bufio.Reader) {
		for readRequest(r) {
			c.Write([]byte(text))
		}
	}
}

// once answers the first request with text and closes.
func once(text string) script {
	return func(c net.Conn, r *bufio.Reader) {
		if readRequest(r) {
			c.Write([]byte(text))
		}
	}
}

// onceForBurst is once for a burst: it takes all of its requests first, so that
// its close is no reset.
func onceForBurst(text string) script {
	return func(c net.Conn, r *bufio.Reader) {
		if !readRequest(r) {
			return
		}
		c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		io.Copy(io.Discard, r)
		c.Write([]byte(text))
	}
}

// pieces answers every request with text in the given pieces, each in a
// segment of its own.
func pieces(parts ...string) script {
	return func(c net.Conn, r *bufio.Reader) {
		for readRequest(r) {
			for _, p := range parts {
				c.Write([]byte(p))
				pause(time.Millisecond)
			}
		}
	}
}

// drip answers the first request with text, a byte every 20 ms, for ever.
func drip(head, unit string) script {
	return func(c net.Conn, r *bufio.Reader) {
		if !readRequest(r) {
			return
		}
		if _, err := c.Write([]byte(head)); err != nil {
			return
		}
		for {
			pause(20 * time.Millisecond)
			if _, err := c.Write([]byte(unit)); err != nil {
				return
			}
		}
	}
}

// pause is part of a server's script: the delay is the behaviour under test.
func pause(d time.Duration) { <-time.After(d) }

// lean answers requests without allocating.
func lean(c net.Conn, _ *bufio.Reader) {
	c.SetDeadline(time.Time{}) // it may serve for minutes
	buf := make([]byte, 4096)
	end, reply := []byte("\r\n\r\n"), []byte(plainReply)
	for {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		for range bytes.Count(buf[:n], end) {
			c.Write(reply)
		}
	}
}

// silent reads and never answers.
func silent(c net.Conn, r *bufio.Reader) {
	for {
		if _, err := r.ReadByte(); err != nil {
			return
		}
	}
}

func bytewise(text string) []string { return strings.Split(text, "") }

const (
	plainReply   = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
	chunkedReply = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
)

// want is what a run of one arrival has to come to.
type want struct {
	outcome sampler.Class
	replies uint64
	lost    uint64
	status  int // digit that all replies count under; default 2
}

var (
	ok1 = want{replies: 1}
	ok3 = want{replies: 3}
)

func bad(c sampler.Class, replies, lost uint64) want {
	return want{outcome: c, replies: replies, lost: lost}
}

// behaviours are servers seen in the wild, with what has to come of one
// connection with one call and of one with three.
var behaviours = []struct {
	name       string
	server     script
	method     string
	burst      int
	one, three want
}{
	{name: "plain", server: each(plainReply), one: ok1, three: ok3},
	{name: "chunked and trailers", server: each("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: 1\r\nB: 2\r\n\r\n"), one: ok1, three: ok3},
	{name: "chunk extension, upper case", server: each("HTTP/1.1 200 OK\r\ntransfer-ENCODING: Chunked\r\n\r\nA;x=\"y;z\"\r\n0123456789\r\n0\r\n\r\n"), one: ok1, three: ok3},
	{name: "gzip, chunked", server: each("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"), one: ok1, three: ok3},
	{name: "length and chunked", server: each("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"), one: ok1, three: want{replies: 1, lost: 2}},
	{name: "body cut short", server: once("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nhello"), one: bad(sampler.ClosedEarly, 0, 1), three: bad(sampler.ClosedEarly, 0, 3)},
	{name: "chunked body cut short", server: once("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"), one: bad(sampler.ClosedEarly, 0, 1), three: bad(sampler.ClosedEarly, 0, 3)},
	{name: "end before any byte", server: once(""), one: bad(sampler.ClosedEarly, 0, 1), three: bad(sampler.ClosedEarly, 0, 3)},
	{name: "end after status line", server: once("HTTP/1.1 200 OK\r\n"), one: bad(sampler.ClosedEarly, 0, 1), three: bad(sampler.ClosedEarly, 0, 3)},
	{name: "end inside a header line", server: once("HTTP/1.1 200 OK\r\nContent-Le"), one: bad(sampler.ClosedEarly, 0, 1), three: bad(sampler.ClosedEarly, 0, 3)},
	{name: "end after a second reply began", server: func(c net.Conn, r *bufio.Reader) {
		readRequest(r)
		c.Write([]byte(plainReply))
		readRequest(r)
		c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe"))
	}, one: ok1, three: bad(sampler.ClosedEarly, 1, 2)},
	{name: "continue in one segment", server: each("HTTP/1.1 100 Continue\r\n\r\n" + plainReply), one: ok1, three: ok3},
	{name: "continue in two segments", server: pieces("HTTP/1.1 100 Continue\r\n\r\n", plainReply), one: ok1, three: ok3},
	{name: "early hints", server: each("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + chunkedReply), one: ok1, three: ok3},
	{name: "http/1.0 without length", server: once("HTTP/1.0 200 OK\r\n\r\nhello"), one: ok1, three: want{replies: 1, lost: 2}},
	{name: "close without length", server: once("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello"), one: ok1, three: want{replies: 1, lost: 2}},
	{name: "close with length", server: once("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello"), one: ok1, three: want{replies: 1, lost: 2}},
	{name: "pipelined burst, closed after one", server: onceForBurst(plainReply), burst: 4, one: ok1, three: bad(sampler.ClosedEarly, 1, 2)},
	{name: "pipelined burst, close announced", server: onceForBurst("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello"), burst: 4, one: ok1, three: bad(sampler.ClosedEarly, 1, 2)},
	{name: "pipelined burst, answered at once", server: func(c net.Conn, r *bufio.Reader) {
		readRequest(r)
		pause(5 * time.Millisecond)
		c.Write([]byte(plainReply + plainReply + plainReply))
		silent(c, r)
	}, burst: 3, one: ok1, three: ok3},
	{name: "head with length", server: each("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n"), method: "HEAD", one: ok1, three: ok3},
	{name: "head in lower case", server: each(plainReply), method: "head", one: ok1, three: ok3},
	{name: "204 with length", server: each("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n"), one: ok1, three: ok3},
	{name: "304 with length", server: each("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"), one: want{replies: 1, status: 3}, three: want{replies: 3, status: 3}},
	{name: "204 with stray bytes", server: each("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello"), one: ok1, three: bad(sampler.Protocol, 1, 2)},
	{name: "stray bytes after a reply", server: each(plainReply + "x"), one: ok1, three: bad(sampler.Protocol, 1, 2)},
	{name: "no reason", server: each("HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello"), one: ok1, three: ok3},
	{name: "no reason, blank", server: each("HTTP/1.1 200 \r\nContent-Length: 5\r\n\r\nhello"), one: ok1, three: ok3},
	{name: "status 999", server: each("HTTP/1.1 999 No\r\nContent-Length: 5\r\n\r\nhello"), one: want{replies: 1, status: -1}, three: want{replies: 3, status: -1}},
	{name: "status 600", server: each("HTTP/1.1 600 No\r\nContent-Length: 5\r\n\r\nhello"), one: want{replies: 1, status: -1}, three: want{replies: 3, status: -1}},
	{name: "http/2", server: each("HTTP/2 200\r\nContent-Length: 5\r\n\r\nhello"), one: bad(sampler.Protocol, 0, 1), three: bad(sampler.Protocol, 0, 3)},
	{name: "icy", server: each("ICY 200 OK\r\n\r\nhello"), one: bad(sampler.Protocol, 0, 1), three: bad(sampler.Protocol, 0, 3)},
	{name: "http/0.9", server: once("<html>hello</html>"), one: bad(sampler.Protocol, 0, 1), three: bad(sampler.Protocol, 0, 3)},
	{name: "empty line first", server: each("\r\n" + plainReply), one: ok1, three: ok3},
	{name: "length +5", server: each("HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello"), one: bad(sampler.Protocol, 0, 1), three: bad(sampler.Protocol, 0, 3)},
	{name: "length abc", server: each("HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\nhello"), one: bad(sampler.Protocol, 0, 1), three: bad(sampler.Protocol, 0, 3)},
	{name: "length -1", server: each("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nhello"), one: bad(sampler.Protocol, 0, 1), three: bad(sampler.Protocol, 0, 3)},
	{name: "lengths unequal", server: each("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"), one: bad(sampler.Protocol, 0, 1), three: bad(sampler.Protocol, 0, 3)},
	{name: "lengths equal", server: each("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello"), one: ok1, three: ok3},
	{name: "lengths in a list", server: each("HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello"), one: ok1, three: ok3},
	{name: "bad chunk size", server: each("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n"), one: bad(sampler.Protocol, 0, 1), three: bad(sampler.Protocol, 0, 3)},
	{name: "header line of 5 KB", server: each("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("a", 5<<10) + "\r\nContent-Length: 5\r\n\r\nhello"), one: ok1, three: ok3},
	{name: "reason of 3 KB", server: each("HTTP/1.1 200 " + strings.Repeat("a", 3<<10) + "\r\nContent-Length: 5\r\n\r\nhello"), one: ok1, three: ok3},
	{name: "108 KB of headers", server: each("HTTP/1.1 200 OK\r\n" + strings.Repeat("X: "+strings.Repeat("a", 1000)+"\r\n", 108) + "Content-Length: 5\r\n\r\nhello"), one: bad(sampler.Protocol, 0, 1), three: bad(sampler.Protocol, 0, 3)},
	{name: "a byte a segment", server: pieces(bytewise(chunkedReply)...), one: ok1, three: ok3},
	{name: "slow body", server: drip("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", "x"), one: bad(sampler.ReplyTimeout, 0, 1), three: bad(sampler.ReplyTimeout, 0, 3)},
	{name: "slow chunks", server: drip("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n"), one: bad(sampler.ReplyTimeout, 0, 1), three: bad(sampler.ReplyTimeout, 0, 3)},
	{name: "slow header", server: drip("HTTP/1.1 200 OK\r\n", "X: y\r\n"), one: bad(sampler.ReplyTimeout, 0, 1), three: bad(sampler.ReplyTimeout, 0, 3)},
	{name: "slow status line", server: drip("HTTP/1.1 200 ", "x"), one: bad(sampler.ReplyTimeout, 0, 1), three: bad(sampler.ReplyTimeout, 0, 3)},
	{name: "never answers", server: silent, one: bad(sampler.ReplyTimeout, 0, 1), three: bad(sampler.ReplyTimeout, 0, 3)},
	{name: "reset after the request", server: func(c net.Conn, r *bufio.Reader) {
		readRequest(r)
		netConnOf(c).(*net.TCPConn).SetLinger(0)
		netConnOf(c).Close()
	}, one: bad(sampler.Reset, 0, 1), three: bad(sampler.Reset, 0, 3)},
	{name: "redirect", server: each("HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n"), one: want{replies: 1, status: 3}, three: want{replies: 3, status: 3}},
	{name: "large body", server: each("HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" + strings.Repeat("x", 300000)), one: ok1, three: ok3},
}

// plan returns options for arrivals on one stream to an address.
func plan(t *testing.T, to Target, n uint64, calls Calls) Options {
	t.Helper()
	if calls.Request == nil {
		calls.Request = request(t, RequestOptions{Host: "test"})
	}
	return Options{
		Streams: []Stream{{
			Process:  pacer.First(pacer.Constant{N: 1000, Per: time.Second}, n),
			Target:   to,
			Workload: &calls,
			Timeouts: Timeouts{Connect: 10 * time.Second, Send: 10 * time.Second, Reply: 10 * time.Second},
		}},
		Drain: 15 * time.Second,
	}
}

func to(a netip.AddrPort) Target { return Target{Addrs: []netip.AddrPort{a}} }

func request(t *testing.T, o RequestOptions) *Request {
	t.Helper()
	r, err := NewRequest(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// do carries out a run and checks what holds for every run: the accounts add
// up and no descriptor leaks.
func do(t *testing.T, o Options) *Result {
	t.Helper()
	if !poll.Supported {
		t.Skip("no engine for this platform")
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Streams {
		for _, m := range append(r.Streams[i].Check(), r.Streams[i].Warmup.Check()...) {
			t.Errorf("stream %s: %s", r.Streams[i].Name, m)
		}
	}
	if r.Inflight != 0 || r.Connections != 0 {
		t.Errorf("after the run %d arrivals and %d connections are open, want none", r.Inflight, r.Connections)
	}
	if n := c.inflight.Load(); n != 0 {
		t.Errorf("after the run the in-flight count is %d, want 0", n)
	}
	return r
}

func (w want) check(t *testing.T, r *Result, calls int) {
	t.Helper()
	a := &r.All
	if a.Started != 1 || a.Outcomes[w.outcome] != 1 {
		t.Errorf("started %d, outcomes %v: want 1 %v", a.Started, outcomes(a), w.outcome)
	}
	if a.Replies != w.replies || a.LostCalls != w.lost || a.Planned != uint64(calls) {
		t.Errorf("replies %d, lost calls %d of %d: want %d and %d of %d", a.Replies, a.LostCalls, a.Planned, w.replies, w.lost, calls)
	}
	digit := w.status
	if digit == 0 {
		digit = 2
	}
	if got := a.Status(max(0, digit)); got != w.replies {
		t.Errorf("replies of status class %d = %d, want %d", digit, got, w.replies)
	}
}

func outcomes(t *sampler.Totals) string {
	var b strings.Builder
	for c, n := range t.Outcomes {
		if n > 0 {
			fmt.Fprintf(&b, "%v=%d ", sampler.Class(c), n)
		}
	}
	return b.String()
}

func TestServerBehaviours(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			e.behaviours(t)
		})
	}
}

// engines are the ways to the same outcome.
var engines = []engineCase{{name: "loop"}, {name: "conn", portable: true}, {name: "tls", tls: true}}

type engineCase struct {
	name     string
	portable bool
	tls      bool
}

// on makes o use the engine.
func (e engineCase) on(o Options) Options {
	o.portable = e.portable
	if e.tls {
		for i := range o.Streams {
			o.Streams[i].TLS = &tls.Config{RootCAs: certificate().roots, ServerName: "127.0.0.1"}
		}
	}
	return o
}

// serve is serve, behind TLS where the engine speaks it.
func (e engineCase) serve(t *testing.T, s script) netip.AddrPort {
	t.Helper()
	if !e.tls {
		return serve(t, s)
	}
	config := &tls.Config{Certificates: certificate().pair}
	return serve(t, func(c net.Conn, _ *bufio.Reader) {
		tc := tls.Server(c, config)
		if tc.Handshake() == nil {
			s(tc, bufio.NewReader(tc))
			tc.Close()
		}
	})
}

// certificate returns one for 127.0.0.1, made once.
var certificate = sync.OnceValue(func() (c struct {
	pair  []tls.Certificate
	roots *x509.CertPool
}) {
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	c.pair = s.TLS.Certificates
	c.roots = x509.NewCertPool()
	c.roots.AddCert(s.Certificate())
	return c
})

func (e engineCase) behaviours(t *testing.T) {
	for _, tt := range behaviours {
		for _, calls := range []int{1, 3} {
			t.Run(fmt.Sprintf("%s/calls=%d", tt.name, calls), func(t *testing.T) {
				t.Parallel()
				method := tt.method
				if method == "" {
					method = "GET"
				}
				o := plan(t, to(e.serve(t, tt.server)), 1, Calls{
					Request: request(t, RequestOptions{Method: method, Host: "test"}), Calls: calls, Burst: tt.burst,
				})
				w := tt.one
				if calls == 3 {
					w = tt.three
				}
				if w.outcome == sampler.ReplyTimeout {
					o.Streams[0].Timeouts.Reply = 100 * time.Millisecond
				}
				w.check(t, do(t, e.on(o)), calls)
			})
		}
	}
}

// Replies that come as fast as can be, to requests written behind one another.
func TestQuickBursts(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			o := e.on(plan(t, to(e.serve(t, each(plainReply))), 1, Calls{Calls: 40, Burst: 8}))
			s := &o.Streams[0]
			s.Process, s.Closed, s.Limit = nil, 16, 500
			a := do(t, o).All
			if a.Completed() != 500 || a.Requests != 20000 || a.Replies != 20000 {
				t.Errorf("outcomes %s, requests %d, replies %d: want 500 ok, 20000 and 20000", outcomes(&a), a.Requests, a.Replies)
			}
			if min := a.Times.FirstByte.Min(); min < 0 {
				t.Errorf("a first byte came %v after its request", min)
			}
		})
	}
}

func TestByteCounts(t *testing.T) {
	t.Parallel()
	head := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	for _, tt := range []struct {
		name                                  string
		server                                script
		header, body, trailer, framing, inter uint64
	}{
		{"length", each(plainReply), uint64(len(plainReply)) - 5, 5, 0, 0, 0},
		{"chunked", each(chunkedReply), uint64(len(head)), 5, 2, 3 + 2 + 3, 0},
		{"bytewise", pieces(bytewise(chunkedReply)...), uint64(len(head)), 5, 2, 3 + 2 + 3, 0},
		{"trailers", each(head + "5\r\nhello\r\n0\r\nA: 1\r\n\r\n"), uint64(len(head)), 5, 8, 3 + 2 + 3, 0},
		{"interim", each("HTTP/1.1 100 C\r\n\r\n" + plainReply), uint64(len(plainReply)) - 5 + 18, 5, 0, 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := do(t, plan(t, to(serve(t, tt.server)), 1, Calls{Calls: 3}))
			a := &r.All
			got := [...]uint64{a.HeaderBytes, a.BodyBytes, a.TrailerBytes, a.FramingBytes, a.Interim}
			want := [...]uint64{3 * tt.header, 3 * tt.body, 3 * tt.trailer, 3 * tt.framing, 3 * tt.inter}
			if got != want {
				t.Errorf("header, body, trailer, framing, interim = %v, want %v", got, want)
			}
			if all := got[0] + got[1] + got[2] + got[3]; a.ReceivedBytes != all {
				t.Errorf("received %d bytes, parts sum to %d", a.ReceivedBytes, all)
			}
			if n := uint64(len(request(t, RequestOptions{Host: "test"}).Bytes())); a.RequestBytes != 3*n || a.SentBytes != 3*n {
				t.Errorf("sent %d bytes, of requests %d, want %d", a.SentBytes, a.RequestBytes, 3*n)
			}
		})
	}
}

// descriptors returns how many descriptors the process has open.
func descriptors(t *testing.T) int {
	t.Helper()
	d, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc/self/fd")
	}
	return len(d)
}

// tapped collects what a Tap sees.
type tapped struct{ requests, replies bytes.Buffer }

func (p *tapped) Request(call uint64, data []byte) { fmt.Fprintf(&p.requests, "%d %s", call, data) }

func (p *tapped) Reply(call uint64, part Part, data []byte, done bool) {
	fmt.Fprintf(&p.replies, "[%d %d %q %v]", call, part, data, done)
}

func TestTapSeesEveryByte(t *testing.T) {
	t.Parallel()
	var p tapped
	o := plan(t, to(serve(t, each(chunkedReply))), 1, Calls{Calls: 2})
	o.Tap = &p
	do(t, o)
	req := string(request(t, RequestOptions{Host: "test"}).Bytes())
	if got, want := p.requests.String(), "0 "+req+"1 "+req; got != want {
		t.Errorf("requests = %q, want %q", got, want)
	}
	for _, w := range []string{`[0 1 "hello" false]`, `[0 0 "" true]`, `[1 1 "hello" false]`, `[1 0 "" true]`} {
		if !strings.Contains(p.replies.String(), w) {
			t.Errorf("replies = %s: %s is missing", p.replies.String(), w)
		}
	}
}
