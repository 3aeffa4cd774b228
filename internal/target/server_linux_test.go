package target

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"httpgen/internal/poll"
)

// patience bounds what a test waits for, so that a failure ends.
const patience = 20 * time.Second

const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

func start(t testing.TB, o Options) *Server {
	t.Helper()
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	return s
}

// A client is one connection to a server.
type client struct {
	t testing.TB
	net.Conn
	r *bufio.Reader
}

func dial(t testing.TB, s *Server) *client {
	t.Helper()
	return dialFrom(t, s, "")
}

func dialFrom(t testing.TB, s *Server, source string) *client {
	t.Helper()
	var d net.Dialer
	network, addr := "tcp", s.Addr()
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		network, addr = "unix", path
	}
	if source != "" {
		d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(source)}
	}
	c, err := d.Dial(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patience))
	return &client{t: t, Conn: c, r: bufio.NewReader(c)}
}

func (c *client) send(s string) {
	c.t.Helper()
	if _, err := io.WriteString(c, s); err != nil {
		c.t.Fatal(err)
	}
}

// reply reads a whole reply to a request of the given method.
func (c *client) reply(method string) *http.Response {
	c.t.Helper()
	r, err := http.ReadResponse(c.r, &http.Request{Method: method})
	if err != nil {
		c.t.Fatal(err)
	}
	b, err := io.ReadAll(r.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(b))
	return r
}

func (c *client) wantStatus(want int) {
	c.t.Helper()
	if r := c.reply("GET"); r.StatusCode != want {
		c.t.Fatalf("status %d, want %d", r.StatusCode, want)
	}
}

func (c *client) wantEnd(want error) {
	c.t.Helper()
	if _, err := c.r.ReadByte(); !errors.Is(err, want) {
		c.t.Fatalf("read: %v, want %v", err, want)
	}
}

// reset ends the connection with a reset.
func (c *client) reset() {
	c.t.Helper()
	if err := c.Conn.(*net.TCPConn).SetLinger(0); err != nil {
		c.t.Fatal(err)
	}
	c.Close()
}

// await waits until the server's counters fulfil a condition.
func await(t testing.TB, s *Server, what string, ok func(Stats) bool) Stats {
	t.Helper()
	for end := time.Now().Add(patience); ; runtime.Gosched() {
		st := s.Stats()
		if ok(st) {
			return st
		}
		if time.Now().After(end) {
			t.Fatalf("never came: %s\n%v", what, st)
		}
	}
}

func listenAddresses(t *testing.T) []string {
	return []string{"127.0.0.1:0", "[::1]:0", "localhost:0", ":0", "unix:" + filepath.Join(t.TempDir(), "s"), "unix:@httpgen-target-" + filepath.Base(t.TempDir())}
}

func TestNetHTTP(t *testing.T) {
	t.Parallel()
	for _, addr := range listenAddresses(t) {
		t.Run(addr, func(t *testing.T) {
			s := start(t, Options{Listen: addr, Size: 1000, Status: 404})
			url := s.URL()
			transport := &http.Transport{}
			if path, ok := strings.CutPrefix(url, "unix:"); ok {
				url = "http://server/"
				transport.DialContext = func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", path) }
			}
			defer transport.CloseIdleConnections()
			hc := &http.Client{Transport: transport, Timeout: patience}
			for _, tt := range []struct {
				method string
				body   io.Reader
				want   int // bytes of the reply's body
			}{
				{"GET", nil, 1000},
				{"HEAD", nil, 0},
				{"POST", strings.NewReader(strings.Repeat("a", 300000)), 1000},
				{"PUT", io.MultiReader(strings.NewReader("chunked"), strings.NewReader(strings.Repeat("b", 200000))), 1000},
				{"DELETE", nil, 1000},
			} {
				req, err := http.NewRequest(tt.method, url+"a/b?c=d", tt.body)
				if err != nil {
					t.Fatal(err)
				}
				r, err := hc.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				b, err := io.ReadAll(r.Body)
				r.Body.Close()
				if err != nil || r.StatusCode != 404 || len(b) != tt.want || r.ContentLength != 1000 {
					t.Errorf("%s: status %d, %d bytes of %d, %v; want 404, %d of 1000", tt.method, r.StatusCode, len(b), r.ContentLength, err, tt.want)
				}
			}
			if st := s.Stats(); st.Accepted != 1 || st.Requests != 5 || st.Replies != 5 {
				t.Errorf("%d connections, %d requests, %d replies; want 1, 5, 5", st.Accepted, st.Requests, st.Replies)
			}
		})
	}
}

func TestRawRequests(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		o    Options
		in   string
		want []int // status of each reply
		ends bool  // the server ends the connection after them
	}{
		{"one", Options{}, get, []int{200}, false},
		{"pipelined", Options{}, get + get + get, []int{200, 200, 200}, false},
		{"pipelined, with a service time", Options{Service: Constant(time.Millisecond), Workers: 1}, get + get + get, []int{200, 200, 200}, false},
		{"pipelined, with bodies", Options{}, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc" +
			"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n" + get, []int{200, 200, 200}, false},
		{"the client ends it", Options{}, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", []int{200}, true},
		{"the client ends it, and goes on", Options{}, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" + get, []int{200}, true},
		{"the server ends it", Options{Close: true}, get, []int{200}, true},
		{"the server ends a burst", Options{Close: true}, get + get + get, []int{200}, true},
		{"the server ends a burst later", Options{Close: true, Service: Constant(time.Millisecond)}, get + get, []int{200}, true},
		{"HTTP/1.0", Options{}, "GET / HTTP/1.0\r\n\r\n", []int{200}, true},
		{"no content", Options{Status: 204}, get + get, []int{204, 204}, false},
		{"not modified", Options{Status: 304}, get + get, []int{304, 304}, false},
		{"no body", Options{Size: NoBody}, get + get, []int{200, 200}, false},
		{"bad", Options{}, "GET\r\n\r\n" + get, []int{400}, true},
		{"bad after a good one", Options{}, get + "GET / HTTP/1.1\r\n\r\n", []int{200, 400}, true},
		{"bad chunk", Options{}, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", []int{400}, true},
		{"TLS", Options{}, "\x16\x03\x01\x00\xa5\x01\x00\x00", []int{400}, true},
		{"endless head", Options{}, "GET / HTTP/1.1\r\nA: " + strings.Repeat("a", 2*maxHead), []int{400}, true},
	} {
		for _, step := range []int{1 << 30, 1, 7} {
			if len(tt.in) > 1000 && step < 1000 {
				continue // a write for each of its bytes takes too long
			}
			t.Run(fmt.Sprintf("%s/step=%d", tt.name, step), func(t *testing.T) {
				t.Parallel()
				s := start(t, tt.o)
				c := dial(t, s)
				for in := tt.in; len(in) > 0; {
					n := min(step, len(in))
					if _, err := io.WriteString(c, in[:n]); err != nil {
						break // the server has ended it
					}
					in = in[n:]
				}
				for _, want := range tt.want {
					c.wantStatus(want)
				}
				if !tt.ends {
					c.send(get) // it is still open, and nothing is left over
					c.wantStatus(tt.want[0])
					return
				}
				if step == 1<<30 {
					c.wantEnd(io.EOF)
				}
				c.Close()
				await(t, s, "the end", func(st Stats) bool { return st.Open == 0 })
			})
		}
	}
}

func TestReplyBytes(t *testing.T) {
	t.Parallel()
	const body = "Content-Length: 3\r\n"
	for _, tt := range []struct {
		name, in, want string
		o              Options
	}{
		{"kept", get, "HTTP/1.1 200 OK\r\n" + body + "\r\nxxx", Options{Size: 3}},
		{"ended", get, "HTTP/1.1 200 OK\r\n" + body + "Connection: close\r\n\r\nxxx", Options{Size: 3, Close: true}},
		{"old and kept", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "HTTP/1.1 200 OK\r\n" + body + "Connection: keep-alive\r\n\r\nxxx", Options{Size: 3}},
		{"head", "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 OK\r\n" + body + "\r\n", Options{Size: 3}},
		{"no content", get, "HTTP/1.1 204 No Content\r\n\r\n", Options{Status: 204}},
		{"bad", "GET\r\n\r\n", "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", Options{}},
		{"waits to send", "PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n", Options{}},
		{"old ones never wait", "PUT / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\na", "HTTP/1.1 200 OK\r\n" + body + "Connection: close\r\n\r\nxxx", Options{Size: 3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, tt.o)
			c := dial(t, s)
			c.send(tt.in)
			if err := c.Conn.(*net.TCPConn).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(c)
			if err != nil || string(got) != tt.want {
				t.Errorf("%q, %v; want %q", got, err, tt.want)
			}
			if st := await(t, s, "the end", func(st Stats) bool { return st.Open == 0 }); st.BytesIn != uint64(len(tt.in)) || st.BytesOut != uint64(len(tt.want)) {
				t.Errorf("%d bytes in, %d out; want %d, %d", st.BytesIn, st.BytesOut, len(tt.in), len(tt.want))
			}
		})
	}
}

// A client that has sent all it will send is answered in full.
func TestHalfClosed(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{{}, {Service: Constant(time.Millisecond)}, {Service: Constant(time.Millisecond), Workers: 1, Overload: AcceptLate}} {
		s := start(t, o)
		c := dial(t, s)
		c.send(get + get + get + "GET")
		if err := c.Conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			c.wantStatus(200)
		}
		c.wantEnd(io.EOF)
		if st := s.Stop(); st.Replies != 3 || st.Abandoned != 0 || st.Bad != 0 {
			t.Errorf("%+v: %d replies, %d abandoned, %d bad; want 3, 0, 0", o, st.Replies, st.Abandoned, st.Bad)
		}
	}
}

// Replies that exceed the kernel's buffers are finished when it has room.
func TestLargeReplies(t *testing.T) {
	t.Parallel()
	const size = 8 << 20
	s := start(t, Options{Size: size})
	c := dial(t, s)
	c.send(get + get + get)
	// The client reads nothing until the server got stuck.
	await(t, s, "a full buffer", func(st Stats) bool { return st.BytesOut > 0 })
	for range 3 {
		if r := c.reply("GET"); r.ContentLength != size {
			t.Fatalf("%d bytes, want %d", r.ContentLength, size)
		}
	}
	if st := s.Stop(); st.Replies != 3 || st.BytesOut < 3*size {
		t.Errorf("%d replies, %d bytes; want 3 of %d each", st.Replies, st.BytesOut, size)
	}
}

func TestLargeRequest(t *testing.T) {
	t.Parallel()
	const size = 4 << 20
	s := start(t, Options{})
	c := dial(t, s)
	c.send(fmt.Sprintf("PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", size))
	r, err := http.ReadResponse(c.r, nil)
	if err != nil || r.StatusCode != 100 {
		t.Fatalf("%v, %v; want status 100", r, err)
	}
	c.send(strings.Repeat("a", size) + get)
	c.wantStatus(200)
	c.wantStatus(200)
	if st := s.Stats(); st.Requests != 2 || st.BytesIn < size {
		t.Errorf("%d requests, %d bytes; want 2 of %d together", st.Requests, st.BytesIn, size)
	}
}

// busy starts a server whose only worker never ends, and gives it a request.
func busy(t *testing.T, o Options) (*Server, *client) {
	t.Helper()
	o.Service, o.Workers = Constant(time.Hour), 1
	s := start(t, o)
	c := dial(t, s)
	c.send(get)
	await(t, s, "a request", func(st Stats) bool { return st.Requests == 1 })
	return s, c
}

func TestOverload(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name             string
		overload         Overload
		queue            int
		waiting          uint64 // of 5 requests behind the one that is served
		rejected, resets uint64 // requests
	}{
		{"unlimited", Reject, 0, 5, 0, 0},
		{"reject", Reject, 2, 2, 6, 0},
		{"reject all", Reject, NoQueue, 0, 10, 0},
		{"reset", Reset, 2, 2, 3, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, _ := busy(t, Options{Queue: tt.queue, Overload: tt.overload})
			requests := uint64(1)
			for i := range uint64(5) {
				c := dial(t, s)
				c.send(get)
				requests++
				await(t, s, "a request", func(st Stats) bool { return st.Requests == requests })
				switch {
				case i < tt.waiting:
				case tt.overload == Reset:
					c.wantEnd(syscall.ECONNRESET)
				default:
					c.wantStatus(503)
					c.send(get) // the connection may try again
					requests++
					c.wantStatus(503)
				}
			}
			st := s.Stop()
			if st.Rejected != tt.rejected || st.Resets != tt.resets || uint64(st.PeakWaiting) != tt.waiting {
				t.Errorf("rejected %d, reset %d, peak %d; want %d, %d, %d", st.Rejected, st.Resets, st.PeakWaiting, tt.rejected, tt.resets, tt.waiting)
			}
			if want := 1 + tt.waiting; st.Unanswered() != want || st.Replies != 0 || st.Abandoned != 0 {
				t.Errorf("unanswered %d, replies %d, abandoned %d; want %d, 0, 0", st.Unanswered(), st.Replies, st.Abandoned, want)
			}
		})
	}
}

// What waits is served in the order in which it came.
func TestQueueIsInOrder(t *testing.T) {
	t.Parallel()
	s := start(t, Options{Service: Constant(20 * time.Millisecond), Workers: 1})
	var clients []*client
	for i := range uint64(4) {
		c := dial(t, s)
		c.send(get)
		await(t, s, "a request", func(st Stats) bool { return st.Requests == 1+i })
		clients = append(clients, c)
	}
	for i, c := range clients {
		c.wantStatus(200)
		if st := s.Stats(); st.Replies < uint64(i+1) {
			t.Errorf("reply %d came after %d others", i, st.Replies)
		}
	}
	if st := s.Stop(); st.Replies != 4 || st.Saturated == 0 || st.Served == 0 {
		t.Errorf("%d replies, saturated %d in %v; want 4 and some", st.Replies, st.Served, st.Saturated)
	}
}

func TestClientsGoAway(t *testing.T) {
	t.Parallel()
	s, served := busy(t, Options{Queue: 2})
	queued := dial(t, s)
	queued.send(get)
	await(t, s, "a waiting request", func(st Stats) bool { return st.Waiting == 1 })
	idle := dial(t, s)
	idle.send("GET")
	await(t, s, "a connection", func(st Stats) bool { return st.Accepted == 3 })
	for i, c := range []*client{queued, idle, served} {
		c.reset()
		await(t, s, "the connection's end", func(st Stats) bool { return st.Open == 2-i })
	}
	st := s.Stats()
	if st.Abandoned != 2 || st.Waiting != 0 || st.Unanswered() != 0 {
		t.Errorf("abandoned %d, waiting %d, unanswered %d; want 2, 0, 0", st.Abandoned, st.Waiting, st.Unanswered())
	}
	// The slots are used again, and the worker is still busy.
	c := dial(t, s)
	c.send(get)
	await(t, s, "a waiting request", func(st Stats) bool { return st.Waiting == 1 && st.Open == 1 })
}

// A client that never takes its last reply does not keep the connection.
func TestLingeringEnds(t *testing.T) {
	t.Parallel()
	s := start(t, Options{Close: true})
	c := dial(t, s)
	c.send(get + get)
	c.wantStatus(200)
	c.wantEnd(io.EOF)
	await(t, s, "the end", func(st Stats) bool { return st.Open == 0 })
}

func TestAcceptLate(t *testing.T) {
	t.Parallel()
	const clients, calls = 12, 4
	for _, tt := range []struct {
		name  string
		close bool
	}{{"new connections", true}, {"kept connections", false}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, Options{Service: Constant(time.Millisecond), Workers: 2, Overload: AcceptLate, Close: tt.close})
			var wg sync.WaitGroup
			for range clients {
				wg.Go(func() {
					c := dial(t, s)
					for range calls {
						if _, err := io.WriteString(c, get); err != nil {
							t.Error(err)
							return
						}
						if _, err := http.ReadResponse(c.r, nil); err != nil {
							t.Error(err)
							return
						}
						if tt.close {
							return
						}
						io.CopyN(io.Discard, c.r, defaultSize)
					}
				})
			}
			wg.Wait()
			st := s.Stop()
			want := uint64(clients)
			if !tt.close {
				want *= calls
			}
			if st.Accepted != clients || st.Replies != want {
				t.Errorf("%d connections, %d replies; want %d, %d", st.Accepted, st.Replies, clients, want)
			}
			// A new connection's first request never waits inside the server.
			if tt.close && st.PeakWaiting != 0 {
				t.Errorf("%d requests waited in the server, want 0", st.PeakWaiting)
			}
		})
	}
}

// A connection without a request holds its worker for a while only, and one
// that breaks at once lets it go.
func TestAcceptLateLetsGo(t *testing.T) {
	t.Parallel()
	s := start(t, Options{Service: Constant(time.Millisecond), Workers: 1, Overload: AcceptLate})
	mute := dial(t, s)
	await(t, s, "a connection", func(st Stats) bool { return st.Accepted == 1 })
	for _, in := range []string{"", "BAD\r\n\r\n"} {
		c := dial(t, s)
		c.send(in)
		c.Close()
	}
	last := dial(t, s)
	last.send(get)
	last.wantStatus(200)
	mute.wantEnd(io.EOF)
	if st := s.Stop(); st.Accepted != 4 || st.Replies != 1 {
		t.Errorf("%d connections, %d replies; want 4, 1", st.Accepted, st.Replies)
	}
}

// The kernel's queue holds the backlog and one more; what exceeds it is not
// even connected.
func TestDeaf(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	s := start(t, Options{Listen: "unix:" + path, Deaf: true, Backlog: 2})
	a, err := poll.UnixAddr(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		fd, e := poll.Socket(&a)
		if e != 0 {
			t.Fatal(e)
		}
		defer poll.Close(fd)
		want := poll.Errno(0)
		if i == 3 {
			want = syscall.EAGAIN
		}
		if e := poll.Connect(fd, &a); e != want {
			t.Errorf("connection %d: %v, want %v", i, e, want)
		}
	}
	if st := s.Stop(); st.Accepted != 0 {
		t.Errorf("%d accepted, want 0", st.Accepted)
	}
}

func TestSilent(t *testing.T) {
	t.Parallel()
	s := start(t, Options{Silent: true})
	c, bad := dial(t, s), dial(t, s)
	c.send(get + "PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
	bad.send("BAD\r\n\r\n")
	c.send("abc")
	bad.send("MORE")
	await(t, s, "the requests", func(st Stats) bool { return st.Requests == 2 && st.Bad == 1 })
	for _, c := range []*client{c, bad} {
		if err := c.Conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		c.wantEnd(io.EOF)
	}
	if st := s.Stop(); st.BytesOut != 0 || st.Unanswered() != 2 {
		t.Errorf("%d bytes sent, %d unanswered; want 0, 2", st.BytesOut, st.Unanswered())
	}
}

// During a freeze nothing is accepted, and services under way last longer.
func TestFreeze(t *testing.T) {
	t.Parallel()
	const service, length = 20 * time.Millisecond, 150 * time.Millisecond
	s := start(t, Options{Service: Constant(service), Freeze: []Freeze{{length, 0}, {length, length}}})
	begin := time.Now()
	first := dial(t, s)
	first.send(get)
	await(t, s, "a connection", func(st Stats) bool { return st.Accepted == 1 })
	second := dial(t, s)
	second.send(get)
	first.wantStatus(200)
	second.wantStatus(200)
	// Less than this is impossible, however slow the machine.
	if d := time.Since(begin); d < 2*length+service {
		t.Errorf("both replies after %v, want at least %v", d, 2*length+service)
	}
}

func TestStopDuringFreeze(t *testing.T) {
	t.Parallel()
	s := start(t, Options{Freeze: []Freeze{{time.Hour, 0}}})
	c := dial(t, s)
	await(t, s, "a connection", func(st Stats) bool { return st.Accepted == 1 })
	s.Stop()
	c.wantEnd(io.EOF)
}

func TestSources(t *testing.T) {
	t.Parallel()
	s := start(t, Options{Service: Constant(time.Hour), Workers: 1, Queue: NoQueue})
	c := dialFrom(t, s, "127.0.0.3")
	c.send(get)
	await(t, s, "a request", func(st Stats) bool { return st.Requests == 1 })
	for i, source := range []string{"127.0.0.2", "127.0.0.4", "127.0.0.2"} {
		c := dialFrom(t, s, source)
		for range i + 1 {
			c.send(get)
			c.wantStatus(503)
		}
	}
	st := s.Stop()
	for source, want := range map[string][3]uint64{"127.0.0.2": {2, 4, 4}, "127.0.0.3": {1, 1, 0}, "127.0.0.4": {1, 2, 2}} {
		got := st.Sources[netip.MustParseAddr(source)]
		if [3]uint64{got.Accepted, got.Requests, got.Rejected} != want {
			t.Errorf("%s: accepted %d, requests %d, rejected %d; want %v", source, got.Accepted, got.Requests, got.Rejected, want)
		}
	}
	if len(st.Sources) != 3 || st.Accepted != 4 || st.Rejected != 6 {
		t.Errorf("%d sources, accepted %d, rejected %d; want 3, 4, 6", len(st.Sources), st.Accepted, st.Rejected)
	}
}

// Out of descriptors the server tries again from time to time, not all the time.
func TestOutOfDescriptors(t *testing.T) {
	s := start(t, Options{})
	a, err := poll.TCPAddr(netip.MustParseAddrPort(s.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	fd, e := poll.Socket(&a)
	if e != 0 {
		t.Fatal(e)
	}
	defer poll.Close(fd)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	none := syscall.Rlimit{Cur: 0, Max: old.Max}
	begin := time.Now()
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	restore := sync.OnceValue(func() error { return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old) })
	defer restore()
	if e := poll.Connect(fd, &a); e != 0 && e != syscall.EINPROGRESS {
		t.Fatal(e)
	}
	st := await(t, s, "three failures", func(st Stats) bool { return st.Starved >= 3 })
	if bound := uint64(time.Since(begin)/starvedPause) + 1; st.Starved > bound {
		t.Errorf("%d tries, want at most %d", st.Starved, bound)
	}
	if err := restore(); err != nil {
		t.Fatal(err)
	}
	await(t, s, "a connection", func(st Stats) bool { return st.Accepted == 1 })
}

func descriptors(t *testing.T) int {
	t.Helper()
	d, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(d)
}

func TestStopReleasesAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	start(t, Options{}).Stop() // opens what the runtime keeps
	before := descriptors(t)
	for _, addr := range []string{"127.0.0.1:0", "unix:" + path} {
		s := start(t, Options{Listen: addr})
		c := dial(t, s)
		c.send(get)
		c.wantStatus(200)
		if _, err := Start(Options{Listen: s.Addr()}); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("a second server on %s: %v, want %v", addr, err, syscall.EADDRINUSE)
		}
		first := s.Stop()
		if again := s.Stop(); again.String() != first.String() {
			t.Errorf("the second Stop returned\n%v, want\n%v", again, first)
		}
		c.wantEnd(io.EOF)
		c.Close()
	}
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors, want %d", after, before)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the unix socket is still there: %v", err)
	}
}

func TestStaleUnixSocketIsReplaced(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	a, err := poll.UnixAddr(path)
	if err != nil {
		t.Fatal(err)
	}
	fd, _, err := poll.Listen(&a, 1)
	if err != nil {
		t.Fatal(err)
	}
	poll.Close(fd)
	c := dial(t, start(t, Options{Listen: "unix:" + path}))
	c.send(get)
	c.wantStatus(200)
}

// A file that is no socket is left alone.
func TestOtherFileIsKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	if err := os.WriteFile(path, []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(Options{Listen: "unix:" + path}); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("Start = %v, want %v", err, syscall.EADDRINUSE)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "a" {
		t.Errorf("the file holds %q, %v", b, err)
	}
}

func TestExponentialServices(t *testing.T) {
	t.Parallel()
	draw := func(seed uint64) []time.Duration {
		l := newLoop(Options{Service: Exponential(time.Millisecond), Seed: seed})
		var all []time.Duration
		for range 20000 {
			l.serve(&conn{source: l.source(netip.Addr{})})
			all = append(all, l.timers.pop().at)
		}
		return all
	}
	all := draw(7)
	var sum time.Duration
	more := 0
	for _, d := range all {
		sum += d
		if d > time.Millisecond {
			more++
		}
	}
	if mean := sum / time.Duration(len(all)); mean < 970*time.Microsecond || mean > 1030*time.Microsecond {
		t.Errorf("mean %v, want 1 ms within 3 %%", mean)
	}
	if share := float64(more) / float64(len(all)); share < 0.355 || share > 0.381 {
		t.Errorf("%.3f are longer than the mean, want 1/e = 0.368", share)
	}
	if !slices.Equal(all, draw(7)) || slices.Equal(all, draw(8)) {
		t.Error("the seed does not decide the times")
	}
}

func BenchmarkKeepAlive(b *testing.B) {
	s := start(b, Options{})
	const clients = 16
	var all [clients]net.Conn
	for i := range all {
		all[i] = dial(b, s).Conn
		all[i].SetDeadline(time.Time{})
	}
	request, reply := []byte(get), make([]byte, 4096)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		// All clients have a request under way when the first is answered.
		if i%clients == 0 {
			for _, c := range all {
				if _, err := c.Write(request); err != nil {
					b.Fatal(err)
				}
			}
		}
		if _, err := all[i%clients].Read(reply); err != nil {
			b.Fatal(err)
		}
		i++
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
}

func BenchmarkConnection(b *testing.B) {
	s := start(b, Options{Close: true})
	a, err := poll.TCPAddr(netip.MustParseAddrPort(s.Addr()))
	if err != nil {
		b.Fatal(err)
	}
	request := []byte(get)
	b.ReportAllocs()
	for b.Loop() {
		exchange(b, &a, request)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "conn/s")
}

// exchange opens a connection, makes one call and reads to the end, without an
// allocation.
func exchange(t testing.TB, a *poll.Addr, request []byte) {
	fd, e := poll.Socket(a)
	if e != 0 {
		t.Fatal(e)
	}
	defer poll.Close(fd)
	if e := poll.Connect(fd, a); e != 0 && e != syscall.EINPROGRESS {
		t.Fatal(e)
	}
	for {
		if _, e = poll.Write(fd, request); e != syscall.EAGAIN && e != syscall.ENOTCONN {
			break
		}
		runtime.Gosched()
	}
	var reply [512]byte
	for {
		n, e := poll.Read(fd, reply[:])
		switch {
		case e == syscall.EAGAIN:
			runtime.Gosched()
		case e != 0:
			t.Fatal(e)
		case n == 0:
			return
		}
	}
}
