package http2

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// limit ends a test that hangs. It is never reached otherwise.
const limit = 30 * time.Second

// handler answers by path.
func handler(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/echo":
		n, err := io.Copy(io.Discard, r.Body)
		if err != nil || n != r.ContentLength {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		fmt.Fprintf(w, "%d", n)
	case "/size":
		n, _ := strconv.Atoi(r.URL.RawQuery)
		w.Header().Set("X-Long", strings.Repeat("l", 20000)) // needs CONTINUATION
		_, _ = io.CopyN(w, zeros{}, int64(n))
	case "/hints":
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusNoContent)
	case "/trailer":
		w.Header().Set("Trailer", "X-Sum")
		fmt.Fprint(w, "body")
		w.Header().Set("X-Sum", "1")
	case "/refuse": // without reading the body
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	case "/abort":
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	case "/last":
		w.Header().Set("Connection", "close") // makes the server say GOAWAY
		fmt.Fprint(w, "bye")
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// A tester is a connection to a server.
type tester struct {
	recorder
	Conn
	t   *testing.T
	net net.Conn
}

// serve starts a server.
func serve(t *testing.T, config *http.HTTP2Config) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(handler), Protocols: &http.Protocols{}, HTTP2: config}
	s.Protocols.SetUnencryptedHTTP2(true)
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Serve(l) })
	t.Cleanup(func() {
		s.Close()
		wg.Wait()
	})
	return l.Addr().String()
}

func connect(t *testing.T, addr string) *tester {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SetDeadline(time.Now().Add(limit)); err != nil {
		t.Fatal(err)
	}
	x := &tester{t: t, net: c}
	t.Cleanup(func() { c.Close() })
	x.Conn.Reset(0)
	x.Open()
	return x
}

// send sends a request with a body of so many bytes.
func (x *tester) send(ref uint64, method, path string, body int) {
	x.t.Helper()
	r, err := NewRequest(method, "http", "localhost", path, []Field{{"User-Agent", "httpgen"}}, make([]byte, body))
	if err != nil {
		x.t.Fatal(err)
	}
	if id, _ := x.Send(r, ref); id == 0 {
		x.t.Fatalf("no room for request %d", ref)
	}
}

// run goes on until no stream is open, or the peer hangs up.
func (x *tester) run() {
	x.t.Helper()
	b := make([]byte, 1<<16)
	for x.Streams() > 0 {
		if _, err := x.net.Write(x.Out); err != nil {
			x.t.Fatal(err)
		}
		x.Out = x.Out[:0]
		n, err := x.net.Read(b)
		if feedErr := x.Feed(b[:n], &x.recorder); feedErr != nil {
			x.t.Fatal(feedErr)
		}
		if err != nil {
			x.t.Fatalf("%v after %q", err, x.events)
		}
	}
}

// ended returns the events that end requests, in order of their references.
func (x *tester) ended() (list []string) {
	for _, line := range x.events {
		if strings.HasPrefix(line, "reply") || strings.HasPrefix(line, "failed") {
			list = append(list, line)
		}
	}
	slices.Sort(list)
	return list
}

func (x *tester) want(want ...string) {
	x.t.Helper()
	if got := x.ended(); !slices.Equal(got, want) {
		x.t.Errorf("ended\ngot  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

func TestServers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		config *http.HTTP2Config
	}{
		{"defaults", nil},
		{"small", &http.HTTP2Config{MaxReceiveBufferPerConnection: 1 << 16, MaxReceiveBufferPerStream: 1000, MaxDecoderHeaderTableSize: 10}},
		{"large", &http.HTTP2Config{MaxReceiveBufferPerConnection: 1 << 30, MaxReceiveBufferPerStream: 1 << 30, MaxReadFrameSize: 1 << 20}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			x := connect(t, serve(t, tt.config))
			// The server resets a stream whose body overruns windows that it has not
			// told yet, so its settings must come first.
			x.send(1, "GET", "/size?0", 0)
			x.run()
			x.send(2, "HEAD", "/size?50000", 0)
			x.send(3, "POST", "/echo", 300000)
			x.send(4, "PUT", "/echo", 0)
			x.send(5, "GET", "/hints", 0)
			x.send(6, "GET", "/trailer", 0)
			x.send(7, "GET", "/abort", 0)
			x.send(8, "GET", "/size?40000000", 0)
			x.send(9, "POST", "/refuse", 30000000)
			x.run()
			x.want("failed 7: http2: stream reset by the peer (INTERNAL_ERROR)",
				"reply 1: 200, 0 interim, 0 body", "reply 2: 200, 0 interim, 0 body", "reply 3: 200, 0 interim, 6 body",
				"reply 4: 200, 0 interim, 1 body", "reply 5: 204, 2 interim, 0 body", "reply 6: 200, 0 interim, 4 body",
				"reply 8: 200, 0 interim, 40000000 body", "reply 9: 413, 0 interim, 0 body")
			// The connection is in step, whatever became of the requests.
			x.events = nil
			x.send(1, "POST", "/echo", 70000)
			x.run()
			x.want("reply 1: 200, 0 interim, 5 body")
			x.events = nil
			x.send(1, "GET", "/last", 0)
			x.run()
			x.want("reply 1: 200, 0 interim, 3 body")
		})
	}
}

// TestServerGoaway checks that a server which closes the connection gracefully
// is believed. Its GOAWAY comes before the reply or after it.
func TestServerGoaway(t *testing.T) {
	t.Parallel()
	x := connect(t, serve(t, nil))
	x.send(1, "GET", "/last", 0)
	x.run()
	b := make([]byte, 1<<10)
	for x.Room() > 0 {
		n, err := x.net.Read(b)
		if feedErr := x.Feed(b[:n], &x.recorder); feedErr != nil {
			t.Fatal(feedErr)
		}
		if err != nil && x.Room() > 0 {
			t.Fatalf("%v after %q, want goaway", err, x.events)
		}
	}
	x.want("reply 1: 200, 0 interim, 3 body")
	if !slices.ContainsFunc(x.events, func(e string) bool { return strings.HasPrefix(e, "goaway NO_ERROR") }) {
		t.Errorf("events %q, want goaway NO_ERROR", x.events)
	}
}

// TestServerManyStreams keeps the server's limit of streams busy.
func TestServerManyStreams(t *testing.T) {
	t.Parallel()
	const calls, streams = 2000, 37
	x := connect(t, serve(t, &http.HTTP2Config{MaxConcurrentStreams: streams}))
	next, peak := 1, 0
	fill := func() {
		for next <= calls && x.Room() > 0 {
			x.send(uint64(next), "POST", "/echo", next%3*1000)
			next++
		}
		peak = max(peak, x.Streams())
	}
	x.reactions = map[string]func(){}
	for ref := 1; ref <= calls; ref++ {
		x.reactions[fmt.Sprintf("reply %d: 200, 0 interim, %d body", ref, len(fmt.Sprint(ref%3*1000)))] = fill
	}
	x.reactions["settings"] = fill
	// The first one goes out before the settings are known.
	x.send(uint64(next), "POST", "/echo", next%3*1000)
	next++
	x.run()
	if got := len(x.ended()); got != calls || peak != streams {
		t.Errorf("%d calls ended, at most %d at a time, want %d and %d", got, peak, calls, streams)
	}
	for _, line := range x.ended() {
		if !strings.Contains(line, ": 200, ") {
			t.Errorf("%s, want a reply 200", line)
		}
	}
}
