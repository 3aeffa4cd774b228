package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"httpgen/pacer"
	"httpgen/sampler"
)

// closedPort returns an address that refuses connections.
func closedPort(t *testing.T) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// fullBacklog returns the address of a server that never accepts and whose
// backlog is full.
func fullBacklog(t *testing.T) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	f, err := l.(*net.TCPListener).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Control(shrinkBacklog); err != nil {
		t.Fatal(err)
	}
	a := l.Addr().(*net.TCPAddr).AddrPort()
	// Linux takes one connection more than the backlog says.
	for range 2 {
		d := net.Dialer{Timeout: 300 * time.Millisecond}
		if c, err := d.Dial("tcp", a.String()); err == nil {
			t.Cleanup(func() { c.Close() })
		}
	}
	return a
}

func TestConnectFailures(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		to   func(t *testing.T) Target
		want sampler.Class
	}{
		{"refused", func(t *testing.T) Target { return to(closedPort(t)) }, sampler.ConnectRefused},
		{"never accepts", func(t *testing.T) Target { return to(fullBacklog(t)) }, sampler.ConnectTimeout},
		{"no such unix socket", func(t *testing.T) Target { return Target{Unix: filepath.Join(t.TempDir(), "none")} }, sampler.ConnectRefused},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := plan(t, tt.to(t), 3, Calls{Calls: 2})
			o.Streams[0].Timeouts.Connect = 150 * time.Millisecond
			a := do(t, o).All
			if a.Outcomes[tt.want] != 3 || a.Unsent != 6 || a.Replies != 0 {
				t.Errorf("outcomes %s, unsent %d, replies %d: want 3 %v, 6, 0", outcomes(&a), a.Unsent, a.Replies, tt.want)
			}
			if a.Failed != a.Attempted || a.Established != 0 || a.Times.Connect.Count() != 0 {
				t.Errorf("failed %d of %d connections, %d established, %d connect times: want all, none, none", a.Failed, a.Attempted, a.Established, a.Times.Connect.Count())
			}
		})
	}
}

func TestNextAddressWhenOneRefuses(t *testing.T) {
	t.Parallel()
	good := serve(t, each(plainReply))
	o := plan(t, Target{Addrs: []netip.AddrPort{closedPort(t), good}}, 5, Calls{})
	a := do(t, o).All
	// The first arrivals may find the refusing address before one has found the
	// good one; no refusal is an error.
	if a.Completed() != 5 || a.Errors() != 0 {
		t.Errorf("outcomes %s, want 5 ok", outcomes(&a))
	}
	if a.Failed == 0 || a.Failed != a.Retries || a.Attempted != 5+a.Failed {
		t.Errorf("failed %d, retries %d, attempted %d: want as many failures as retries, at least one", a.Failed, a.Retries, a.Attempted)
	}
}

func TestUnfinishedArrivalsWereFollowed(t *testing.T) {
	t.Parallel()
	o := plan(t, to(serve(t, silent)), 3, Calls{})
	o.Streams[0].Timeouts = Timeouts{}
	o.Drain = 150 * time.Millisecond
	a := do(t, o).All
	if a.Unfinished != 3 || a.Followed < 150*time.Millisecond {
		t.Errorf("%d unfinished, followed for %v: want 3, at least 150 ms", a.Unfinished, a.Followed)
	}
}

func TestAllAddressesRefuse(t *testing.T) {
	t.Parallel()
	a := do(t, plan(t, Target{Addrs: []netip.AddrPort{closedPort(t), closedPort(t)}}, 4, Calls{})).All
	if a.Outcomes[sampler.ConnectRefused] != 4 || a.Retries != 4 || a.Failed != 8 {
		t.Errorf("outcomes %s, retries %d, failed %d: want 4 refused, 4, 8", outcomes(&a), a.Retries, a.Failed)
	}
}

func TestUnixSocket(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go answer(l, each(plainReply))
	a := do(t, plan(t, Target{Unix: path}, 20, Calls{Calls: 2})).All
	if a.Completed() != 20 || a.Replies != 40 {
		t.Errorf("outcomes %s, replies %d: want 20 ok, 40", outcomes(&a), a.Replies)
	}
}

func TestSourcesAreTakenInTurn(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := map[string]int{}
	addr := serve(t, func(c net.Conn, r *bufio.Reader) {
		mu.Lock()
		seen[c.RemoteAddr().(*net.TCPAddr).IP.String()]++
		mu.Unlock()
		each(plainReply)(c, r)
	})
	o := plan(t, to(addr), 30, Calls{})
	for i := range 3 {
		o.Streams[0].Sources = append(o.Streams[0].Sources, netip.AddrFrom4([4]byte{127, 0, 3, byte(i + 1)}))
	}
	do(t, o)
	mu.Lock()
	defer mu.Unlock()
	for i := range 3 {
		if ip := fmt.Sprintf("127.0.3.%d", i+1); seen[ip] != 10 {
			t.Errorf("%s opened %d connections, want 10 (%v)", ip, seen[ip], seen)
		}
	}
}

func TestHogChoosesLowPorts(t *testing.T) {
	t.Parallel()
	var lowest atomic.Int64
	lowest.Store(1 << 20)
	addr := serve(t, func(c net.Conn, r *bufio.Reader) {
		p := int64(c.RemoteAddr().(*net.TCPAddr).Port)
		for old := lowest.Load(); p < old && !lowest.CompareAndSwap(old, p); old = lowest.Load() {
		}
		each(plainReply)(c, r)
	})
	o := plan(t, to(addr), 10, Calls{})
	o.Streams[0].Hog = true
	a := do(t, o).All
	if a.Completed() != 10 || lowest.Load() > 10000 {
		t.Errorf("outcomes %s, lowest local port %d: want 10 ok from ports near 1024", outcomes(&a), lowest.Load())
	}
}

func TestSourceMustBeLocal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, source, want string }{
		{"other family", "::1", "one address family"},
		{"not ours", "192.0.2.1", "192.0.2.1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := plan(t, to(closedPort(t)), 1, Calls{})
			o.Streams[0].Sources = []netip.Addr{netip.MustParseAddr(tt.source)}
			if _, err := New(o); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New = %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestDeadlineCountsFromIntended(t *testing.T) {
	t.Parallel()
	o := plan(t, to(serve(t, silent)), 2, Calls{Calls: 2})
	o.Streams[0].Timeouts = Timeouts{Deadline: 100 * time.Millisecond}
	a := do(t, o).All
	if a.Outcomes[sampler.Deadline] != 2 || a.Unanswered != 2 || a.Unsent != 2 {
		t.Errorf("outcomes %s, unanswered %d, unsent %d: want 2 deadline, 2, 2", outcomes(&a), a.Unanswered, a.Unsent)
	}
	if min := a.Times.Failure.Min(); min > time.Second {
		t.Errorf("first failure after %v, want about 100 ms", min)
	}
}

func TestSendTimeout(t *testing.T) {
	t.Parallel()
	// The server never reads: a large body fills both buffers.
	addr := serve(t, func(c net.Conn, r *bufio.Reader) { pause(2 * time.Second) })
	o := plan(t, to(addr), 1, Calls{Request: request(t, RequestOptions{Method: "POST", Host: "test", Body: make([]byte, 32<<20)})})
	o.Streams[0].Timeouts = Timeouts{Send: 100 * time.Millisecond}
	a := do(t, o).All
	if a.Outcomes[sampler.SendTimeout] != 1 || a.Requests != 0 || a.Unsent != 1 {
		t.Errorf("outcomes %s, requests %d, unsent %d: want 1 send_timeout, 0, 1", outcomes(&a), a.Requests, a.Unsent)
	}
	if a.SentBytes == 0 || a.RequestBytes != 0 {
		t.Errorf("sent %d bytes, of whole requests %d: want some, none", a.SentBytes, a.RequestBytes)
	}
}

func TestLargeRequestArrivesWhole(t *testing.T) {
	t.Parallel()
	body := make([]byte, 3<<20)
	addr := serve(t, func(c net.Conn, r *bufio.Reader) {
		readRequest(r)
		for n := 0; n < len(body); {
			k, err := r.Discard(min(64<<10, len(body)-n))
			if n += k; err != nil {
				return
			}
		}
		c.Write([]byte(plainReply))
	})
	a := do(t, plan(t, to(addr), 2, Calls{Request: request(t, RequestOptions{Method: "POST", Host: "test", Body: body})})).All
	if a.Completed() != 2 || a.RequestBytes < 2*uint64(len(body)) {
		t.Errorf("outcomes %s, request bytes %d: want 2 ok with the bodies", outcomes(&a), a.RequestBytes)
	}
}

func TestReplyBeforeTheRequestIsSent(t *testing.T) {
	t.Parallel()
	// 413 at once; the rest of the body is never read.
	addr := serve(t, func(c net.Conn, r *bufio.Reader) {
		readRequest(r)
		c.Write([]byte("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n"))
		pause(300 * time.Millisecond)
	})
	o := plan(t, to(addr), 1, Calls{Calls: 2, Request: request(t, RequestOptions{Method: "POST", Host: "test", Body: make([]byte, 32<<20)})})
	a := do(t, o).All
	if a.Completed() != 1 || a.Status(4) != 1 || a.Requests != 0 || a.Unsent != 1 {
		t.Errorf("outcomes %s, 4xx %d, requests %d, unsent %d: want 1 ok, 1, 0, 1", outcomes(&a), a.Status(4), a.Requests, a.Unsent)
	}
}

func TestUnexpectedStatus(t *testing.T) {
	t.Parallel()
	o := plan(t, to(serve(t, each("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"))), 2, Calls{Calls: 3})
	o.Streams[0].Expect = func(status int) bool { return status == 200 }
	a := do(t, o).All
	if a.Outcomes[sampler.UnexpectedStatus] != 2 || a.Replies != 6 || a.LostCalls != 0 {
		t.Errorf("outcomes %s, replies %d, lost %d: want 2 unexpected_status, 6, 0", outcomes(&a), a.Replies, a.LostCalls)
	}
}

func TestPauseBetweenBursts(t *testing.T) {
	t.Parallel()
	a := do(t, plan(t, to(serve(t, each(plainReply))), 2, Calls{Calls: 5, Burst: 2, Pause: 30 * time.Millisecond})).All
	if a.Completed() != 2 || a.Replies != 10 {
		t.Errorf("outcomes %s, replies %d: want 2 ok, 10 (a burst need not divide the calls)", outcomes(&a), a.Replies)
	}
	// Two pauses a connection; latency counts from the end of the pause.
	if min := a.Times.Lifetime.Min(); min < 60*time.Millisecond {
		t.Errorf("shortest connection lived %v, want at least two pauses of 30 ms", min)
	}
	if a.Times.Latency.Quantile(.5) > 25*time.Millisecond {
		t.Errorf("latency p50 %v contains the pause", a.Times.Latency.Quantile(.5))
	}
}

func TestServerClosesDuringPause(t *testing.T) {
	t.Parallel()
	a := do(t, plan(t, to(serve(t, once(plainReply))), 1, Calls{Calls: 3, Pause: 100 * time.Millisecond})).All
	if a.Completed() != 1 || a.LostCalls != 2 || a.Unsent != 2 {
		t.Errorf("outcomes %s, lost %d, unsent %d: want 1 ok with 2 calls lost", outcomes(&a), a.LostCalls, a.Unsent)
	}
}

func TestInflightBoundSheds(t *testing.T) {
	t.Parallel()
	o := plan(t, to(serve(t, silent)), 20, Calls{})
	o.MaxInflight = 5
	o.Streams[0].Timeouts.Reply = 300 * time.Millisecond
	r := do(t, o)
	a := &r.All
	if a.Started != 5 || a.Shed[sampler.ShedInflight] != 15 || a.Outcomes[sampler.ReplyTimeout] != 5 {
		t.Errorf("started %d, shed %v, outcomes %s: want 5, 15 inflight, 5 reply_timeout", a.Started, a.Shed, outcomes(a))
	}
	if v, _ := r.Judge(false); v.Status != sampler.Invalid || !has(v, "inflight") {
		t.Errorf("verdict %v, want invalid because of inflight", v)
	}
}

func has(v sampler.Verdict, code string) bool {
	for _, r := range v.Reasons {
		if r.Code == code {
			return true
		}
	}
	return false
}

func TestDrainLeavesUnfinished(t *testing.T) {
	t.Parallel()
	o := plan(t, to(serve(t, silent)), 4, Calls{Calls: 3})
	o.Streams[0].Timeouts = Timeouts{}
	o.Drain = 100 * time.Millisecond
	a := do(t, o).All
	if a.Unfinished != 4 || a.UnfinishedCalls != 12 || a.LostCalls != 0 || a.Errors() != 0 {
		t.Errorf("unfinished %d with %d calls, lost %d, errors %d: want 4 with 12, 0, 0", a.Unfinished, a.UnfinishedCalls, a.LostCalls, a.Errors())
	}
}

func TestConnectingIsUnfinishedNotFailed(t *testing.T) {
	t.Parallel()
	o := plan(t, to(fullBacklog(t)), 2, Calls{})
	o.Streams[0].Timeouts = Timeouts{}
	o.Drain = 100 * time.Millisecond
	a := do(t, o).All
	if a.Unfinished != 2 || a.Attempted != 2 || a.Failed != 0 || a.Established != 0 {
		t.Errorf("unfinished %d, attempted %d, failed %d, established %d: want 2, 2, 0, 0", a.Unfinished, a.Attempted, a.Failed, a.Established)
	}
}

func TestStopDrainsAndAccounts(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	var n atomic.Int64
	addr := serve(t, func(c net.Conn, r *bufio.Reader) {
		if n.Add(1) == 20 {
			cancel()
		}
		each(plainReply)(c, r)
	})
	o := plan(t, to(addr), 1<<40, Calls{})
	// Far more than can start: many are owed when the stop comes.
	o.Streams[0].Process = pacer.Constant{N: 2_000_000, Per: time.Second}
	c, err := New(o)
	if err != nil {
		t.Skip(err)
	}
	r, err := c.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	a := &r.All
	if !r.Stopped || a.Completed() < 19 || a.Unfinished != 0 {
		t.Errorf("stopped %v, outcomes %s, unfinished %d: want true, at least 19 ok, 0", r.Stopped, outcomes(a), a.Unfinished)
	}
	for _, m := range a.Check() {
		t.Error(m)
	}
	if r.Sending > r.Total+time.Second {
		t.Errorf("sending %v of %v: want the time until the stop", r.Sending, r.Total)
	}
}

func TestPool(t *testing.T) {
	t.Parallel()
	var conns atomic.Int64
	addr := serve(t, func(c net.Conn, r *bufio.Reader) {
		conns.Add(1)
		each(plainReply)(c, r)
	})
	o := plan(t, to(addr), 200, Calls{})
	o.Streams[0].Pool = 4
	r := do(t, o)
	a := &r.All
	if a.Completed() != 200 || conns.Load() != 4 || a.Attempted != 4 || a.Times.Wait.Count() != 200 {
		t.Errorf("outcomes %s, connections %d (attempted %d), waits %d: want 200 ok on 4, 200", outcomes(a), conns.Load(), a.Attempted, a.Times.Wait.Count())
	}
	if r.PeakOpen != 4 {
		t.Errorf("peak %d, want 4", r.PeakOpen)
	}
}

func TestPoolWaitsInBacklog(t *testing.T) {
	t.Parallel()
	addr := serve(t, func(c net.Conn, r *bufio.Reader) {
		for readRequest(r) {
			pause(20 * time.Millisecond)
			c.Write([]byte(plainReply))
		}
	})
	o := plan(t, to(addr), 20, Calls{})
	o.Streams[0].Pool = 1
	a := do(t, o).All
	// 20 arrivals in 20 ms on one connection of 20 ms a call: the last waits
	// about 380 ms, which belongs to wait and latency, not to lag or service.
	if a.Completed() != 20 || a.Times.Wait.Max() < 300*time.Millisecond || a.Times.Latency.Max() < 300*time.Millisecond {
		t.Errorf("outcomes %s, wait max %v, latency max %v: want 20 ok, at least 300 ms", outcomes(&a), a.Times.Wait.Max(), a.Times.Latency.Max())
	}
	if m := a.Times.Service.Quantile(.5); m > 100*time.Millisecond {
		t.Errorf("service p50 %v contains the wait", m)
	}
}

func TestPoolBacklogSheds(t *testing.T) {
	t.Parallel()
	o := plan(t, to(serve(t, silent)), 10, Calls{})
	o.Streams[0].Pool, o.Streams[0].Backlog = 1, 3
	o.Streams[0].Timeouts = Timeouts{}
	o.Drain = 100 * time.Millisecond
	a := do(t, o).All
	if a.Started != 1 || a.Unfinished != 1 || a.Shed[sampler.ShedBacklog] != 6 || a.Shed[sampler.ShedLate] != 3 {
		t.Errorf("started %d, unfinished %d, shed %v: want 1, 1, 6 backlog and 3 late", a.Started, a.Unfinished, a.Shed)
	}
}

func TestPoolConnectFailureIsTheOldestWaiters(t *testing.T) {
	t.Parallel()
	o := plan(t, to(closedPort(t)), 10, Calls{})
	o.Streams[0].Pool = 2
	a := do(t, o).All
	if a.Outcomes[sampler.ConnectRefused] != 10 || a.Failed != a.Attempted || a.Failed != 12 {
		t.Errorf("outcomes %s, failed %d of %d: want 10 connect_refused, 12 of 12 (2 at the opening)", outcomes(&a), a.Failed, a.Attempted)
	}
}

func TestPoolSurvivesIdleClose(t *testing.T) {
	t.Parallel()
	// The server closes each connection after one reply: between two calls that
	// is no error, and the pool opens another connection.
	o := plan(t, to(serve(t, once("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello"))), 30, Calls{})
	o.Streams[0].Pool = 2
	a := do(t, o).All
	if a.Completed() != 30 || a.Attempted < 30 {
		t.Errorf("outcomes %s on %d connections: want 30 ok on at least 30", outcomes(&a), a.Attempted)
	}
}

func TestPoolSurvivesCloseWhileIdle(t *testing.T) {
	t.Parallel()
	// Each connection is closed a moment after its first reply, without a word:
	// sometimes while it is idle, which is no error, sometimes under a request.
	addr := serve(t, func(c net.Conn, r *bufio.Reader) {
		if readRequest(r) {
			c.Write([]byte(plainReply))
			pause(3 * time.Millisecond)
		}
	})
	o := plan(t, to(addr), 300, Calls{})
	o.Streams[0].Pool = 5
	r := do(t, o)
	a := &r.All
	if a.Completed()+a.Outcomes[sampler.ClosedEarly]+a.Outcomes[sampler.Reset] != 300 || a.Completed() < 100 || r.PeakOpen > 5 {
		t.Errorf("outcomes %s, peak %d: want 300, most ok and none but closed_early or reset, at most 5", outcomes(a), r.PeakOpen)
	}
}

func TestClosedModel(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		keep     bool
		attempts uint64
	}{{"kept open", true, 4}, {"new connections", false, 100}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := plan(t, to(serve(t, each(plainReply))), 1, Calls{})
			s := &o.Streams[0]
			s.Process, s.Closed, s.KeepOpen, s.Limit = nil, 4, tt.keep, 100
			r := do(t, o)
			if a := &r.All; a.Completed() != 100 || a.Scheduled != 100 || a.Attempted != tt.attempts || r.PeakOpen > 4 {
				t.Errorf("outcomes %s of %d, connections %d, peak %d: want 100 ok of 100, %d, at most 4", outcomes(a), a.Scheduled, a.Attempted, r.PeakOpen, tt.attempts)
			}
		})
	}
}

func TestClosedModelEndsWithTime(t *testing.T) {
	t.Parallel()
	o := plan(t, to(serve(t, each(plainReply))), 1, Calls{})
	s := &o.Streams[0]
	s.Process, s.Closed, s.KeepOpen, s.For = nil, 3, true, 200*time.Millisecond
	r := do(t, o)
	if r.All.Completed() == 0 || r.Sending != 200*time.Millisecond {
		t.Errorf("outcomes %s, sending %v: want some ok, 200ms", outcomes(&r.All), r.Sending)
	}
}

func TestOneCallTakesNoLongerThanTheRun(t *testing.T) {
	t.Parallel()
	o := plan(t, to(serve(t, each(plainReply))), 1, Calls{})
	s := &o.Streams[0]
	s.Process, s.Closed, s.Limit = nil, 1, 1
	r := do(t, o)
	if l := r.All.Times.Latency.Max(); l <= 0 || l > r.Total || r.Sending != r.Total {
		t.Errorf("latency %v in a run of %v, sending %v: want no more than the run, all of it sending", l, r.Total, r.Sending)
	}
	if w := r.Windows[0].All; w.Start != 0 || w.Length < r.All.Times.Latency.Max() {
		t.Errorf("window of %v from %v: want it to hold the call", w.Length, w.Start)
	}
}

func TestClosedModelIsGivenUpWhenAllCallersWait(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	addr := serve(t, func(c net.Conn, r *bufio.Reader) {
		if n.Add(1) <= 3 {
			each(plainReply)(c, r)
		}
		silent(c, r)
	})
	o := plan(t, to(addr), 1, Calls{})
	o.Drain = 200 * time.Millisecond
	s := &o.Streams[0]
	s.Process, s.Closed, s.Limit, s.Timeouts = nil, 2, 100, Timeouts{}
	r := do(t, o)
	if a := &r.All; !r.Stalled || a.Completed() != 3 || a.Unfinished != 2 || a.Scheduled != 5 {
		t.Errorf("stalled %v, outcomes %s, unfinished %d of %d: want true, 3 ok, 2 of 5", r.Stalled, outcomes(a), a.Unfinished, a.Scheduled)
	}
}

func TestClosedModelGoesOnAfterFailures(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{true, false} {
		o := plan(t, to(closedPort(t)), 1, Calls{})
		s := &o.Streams[0]
		s.Process, s.Closed, s.KeepOpen, s.Limit = nil, 3, keep, 50
		if a := do(t, o).All; a.Outcomes[sampler.ConnectRefused] != 50 {
			t.Errorf("keep %v: outcomes %s, want 50 connect_refused", keep, outcomes(&a))
		}
	}
}

func TestLoopsShareOneSchedule(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		shape func(s *Stream)
	}{
		{"fresh", func(*Stream) {}},
		{"pool of fewer", func(s *Stream) { s.Pool = 2 }},
		{"closed", func(s *Stream) { s.Process, s.Closed, s.Limit = nil, 2, 301 }},
		{"poisson", func(s *Stream) { s.Process = pacer.First(pacer.Poisson{N: 1000, Per: time.Second}, 301) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := plan(t, to(serve(t, each(plainReply))), 301, Calls{})
			o.Loops = 3
			tt.shape(&o.Streams[0])
			if a := do(t, o).All; a.Scheduled != 301 || a.Completed() != 301 {
				t.Errorf("scheduled %d, outcomes %s: want 301, all ok", a.Scheduled, outcomes(&a))
			}
		})
	}
}

func TestStreamsAreCountedApart(t *testing.T) {
	t.Parallel()
	o := plan(t, to(serve(t, each(plainReply))), 50, Calls{})
	second := plan(t, to(closedPort(t)), 30, Calls{}).Streams[0]
	second.Name = "refused"
	o.Streams = append(o.Streams, second)
	o.Window = 10 * time.Millisecond
	r := do(t, o)
	if r.Streams[0].Completed() != 50 || r.Streams[1].Outcomes[sampler.ConnectRefused] != 30 || r.All.Scheduled != 80 {
		t.Errorf("streams %s and %s of %d: want 50 ok, 30 connect_refused, 80", outcomes(&r.Streams[0]), outcomes(&r.Streams[1]), r.All.Scheduled)
	}
	var replies, refused uint64
	for _, w := range r.Windows {
		replies += w.Streams[0].Replies
		refused += w.Streams[1].Errors[sampler.ConnectRefused]
	}
	if replies != 50 || refused != 30 {
		t.Errorf("windows hold %d replies and %d refusals, want 50 and 30", replies, refused)
	}
}

func TestWarmupIsCountedApart(t *testing.T) {
	t.Parallel()
	o := plan(t, to(serve(t, each(plainReply))), 100, Calls{})
	o.Warmup = 40 * time.Millisecond
	o.Window = 10 * time.Millisecond
	r := do(t, o)
	if r.All.Scheduled != 60 || r.All.Warmup.Scheduled != 40 || r.All.Completed() != 60 || r.All.Warmup.Completed() != 40 {
		t.Errorf("scheduled %d and %d in the warm-up, completed %d and %d: want 60 and 40 both times", r.All.Scheduled, r.All.Warmup.Scheduled, r.All.Completed(), r.All.Warmup.Completed())
	}
	if n := r.All.Times.Latency.Count(); n != 60 {
		t.Errorf("latencies of %d calls, want 60", n)
	}
	var scheduled uint64
	for _, w := range r.Windows {
		if !w.All.Warmup() {
			scheduled += w.All.Scheduled
		}
	}
	if scheduled != 60 {
		t.Errorf("windows after the warm-up hold %d arrivals, want 60", scheduled)
	}
}

func TestTraceGoesOutAsBursts(t *testing.T) {
	t.Parallel()
	var at []time.Duration
	for i := range 3 {
		for range 40 {
			at = append(at, time.Duration(i)*30*time.Millisecond)
		}
	}
	o := plan(t, to(serve(t, each(plainReply))), 1, Calls{})
	p, err := pacer.NewTrace(at, 1)
	if err != nil {
		t.Fatal(err)
	}
	o.Streams[0].Process = p
	if a := do(t, o).All; a.Completed() != 120 || a.ShedTotal() != 0 {
		t.Errorf("outcomes %s, shed %v: want 120 ok, none", outcomes(&a), a.Shed)
	}
}

func TestBrokenTraceEndsWithItsError(t *testing.T) {
	t.Parallel()
	o := plan(t, to(serve(t, each(plainReply))), 1, Calls{})
	o.Streams[0].Process = breaks{pacer.Constant{N: 1000, Per: time.Second}}
	c, err := New(o)
	if err != nil {
		t.Skip(err)
	}
	r, err := c.Run(context.Background())
	if !errors.Is(err, errBroken) {
		t.Errorf("Run = %v, want %v", err, errBroken)
	}
	if r == nil || r.All.Completed() != 3 {
		t.Error("the result is lost, want its 3 arrivals")
	}
}

var errBroken = errors.New("broken")

// breaks is a process whose schedule breaks after three arrivals.
type breaks struct{ pacer.Process }

func (b breaks) Schedule(i, n int, seed uint64) pacer.Schedule {
	return &breaking{Schedule: b.Process.Schedule(i, n, seed)}
}

type breaking struct {
	pacer.Schedule
	n int
}

func (b *breaking) Next() (uint64, time.Duration, bool) {
	if b.n++; b.n > 3 {
		return 0, 0, false
	}
	return b.Schedule.Next()
}

func (b *breaking) Err() error {
	if b.n > 3 {
		return errBroken
	}
	return nil
}

func TestDropShedsWhatIsLate(t *testing.T) {
	t.Parallel()
	// A start in the past: everything due before now is owed.
	o := plan(t, to(serve(t, each(plainReply))), 50, Calls{})
	o.CatchUp = pacer.CatchUp{Drop: true, Bound: 10 * time.Millisecond}
	o.Streams[0].Process = shifted{o.Streams[0].Process, -time.Second}
	if a := do(t, o).All; a.Scheduled != 50 || a.Shed[sampler.ShedLate] != 50 || a.Started != 0 {
		t.Errorf("scheduled %d, shed %v, started %d: want 50, 50 late, none", a.Scheduled, a.Shed, a.Started)
	}
}

// shifted moves all arrivals of a process.
type shifted struct {
	pacer.Process
	by time.Duration
}

func (s shifted) Schedule(i, n int, seed uint64) pacer.Schedule {
	return &shiftedSchedule{s.Process.Schedule(i, n, seed), s.by}
}

type shiftedSchedule struct {
	pacer.Schedule
	by time.Duration
}

func (s *shiftedSchedule) Next() (uint64, time.Duration, bool) {
	i, at, ok := s.Schedule.Next()
	return i, at + s.by, ok
}

func TestManyWaitAndTimeOut(t *testing.T) {
	t.Parallel()
	o := plan(t, to(serve(t, silent)), 300, Calls{})
	o.Streams[0].Process = pacer.First(pacer.Constant{N: 10000, Per: time.Second}, 300)
	o.Streams[0].Timeouts.Reply = 100 * time.Millisecond
	r := do(t, o)
	if r.All.Outcomes[sampler.ReplyTimeout] != 300 {
		t.Errorf("outcomes %s, want 300 reply_timeout", outcomes(&r.All))
	}
	if min := r.All.Times.Failure.Min(); min < 100*time.Millisecond {
		t.Errorf("first timeout after %v, before its time", min)
	}
}

func TestDescriptorsComeBack(t *testing.T) {
	// Not parallel: others open descriptors too.
	before := descriptors(t)
	for _, o := range []Options{
		plan(t, to(serve(t, each(plainReply))), 50, Calls{Calls: 2}),
		plan(t, to(closedPort(t)), 50, Calls{}),
	} {
		do(t, o)
		o.Streams[0].Pool = 3
		do(t, o)
	}
	// The listener and a server's side of a connection may still be open.
	for i := 0; descriptors(t) > before+3; i++ {
		if i == 1000 {
			t.Fatalf("%d descriptors open, %d before", descriptors(t), before)
		}
		runtime.Gosched()
		pause(time.Millisecond)
	}
}

func TestOptionErrors(t *testing.T) {
	t.Parallel()
	good := plan(t, to(netip.MustParseAddrPort("127.0.0.1:1")), 1, Calls{})
	for _, tt := range []struct {
		name, want string
		change     func(o *Options)
	}{
		{"no stream", "no streams", func(o *Options) { o.Streams = nil }},
		{"loops", "Loops -1", func(o *Options) { o.Loops = -1 }},
		{"machine", "machine 2 of 2", func(o *Options) { o.Machine, o.Machines = 2, 2 }},
		{"warm-up", "warm-up -1s", func(o *Options) { o.Warmup = -time.Second }},
		{"no process", "neither process nor closed", func(o *Options) { o.Streams[0].Process = nil }},
		{"two models", "want one of them", func(o *Options) { o.Streams[0].Closed = 1 }},
		{"no workload", "no Workload", func(o *Options) { o.Streams[0].Workload = nil }},
		{"no target", "no target", func(o *Options) { o.Streams[0].Target = Target{} }},
		{"two targets", "unix socket", func(o *Options) { o.Streams[0].Target.Unix = "/x" }},
		{"timeout", "timeout -1s", func(o *Options) { o.Streams[0].Timeouts.Send = -time.Second }},
		{"pool", "pool -1", func(o *Options) { o.Streams[0].Pool = -1 }},
		{"address", "want an IPv4 or IPv6 address", func(o *Options) { o.Streams[0].Target.Addrs = []netip.AddrPort{{}} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := good
			o.Streams = append([]Stream(nil), good.Streams...)
			tt.change(&o)
			if _, err := New(o); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New = %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		o    RequestOptions
		want string
	}{
		{"default", RequestOptions{Host: "h:81"}, "GET / HTTP/1.1\r\nUser-Agent: httpgen\r\nHost: h:81\r\n\r\n"},
		{"http/1.0", RequestOptions{Host: "h", HTTP10: true, URI: "/x"}, "GET /x HTTP/1.0\r\nUser-Agent: httpgen\r\nHost: h\r\nConnection: keep-alive\r\n\r\n"},
		{"body", RequestOptions{Method: "POST", NoHost: true, Body: []byte("ab"), Header: []Header{{"X", "y"}}}, "POST / HTTP/1.1\r\nUser-Agent: httpgen\r\nContent-Length: 2\r\nX: y\r\n\r\nab"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(request(t, tt.o).Bytes()); got != tt.want {
				t.Errorf("request = %q, want %q", got, tt.want)
			}
		})
	}
	if _, err := Get("https://example.test/"); err == nil {
		t.Error("Get of an https URL: no error")
	}
	r, err := Get("http://example.test:80/a?b")
	if err != nil || !strings.HasPrefix(string(r.Bytes()), "GET /a?b HTTP/1.1\r\nUser-Agent: httpgen\r\nHost: example.test\r\n") {
		t.Errorf("Get = %q, %v", r.Bytes(), err)
	}
}

func TestBurstOfOneInstantHasNoLag(t *testing.T) {
	t.Parallel()
	o := plan(t, to(serve(t, each(plainReply))), 1, Calls{})
	p, err := pacer.NewTrace(make([]time.Duration, 200), 1)
	if err != nil {
		t.Fatal(err)
	}
	o.Streams[0].Process = p
	a := do(t, o).All
	// All of them are taken together; opening 200 connections takes longer than
	// any of them can be late, which the wait shows.
	if a.Completed() != 200 || a.Times.Lag.Min() != a.Times.Lag.Max() {
		t.Errorf("outcomes %s, lag %v to %v: want 200 ok, all with the same lag", outcomes(&a), a.Times.Lag.Min(), a.Times.Lag.Max())
	}
	if n := a.Times.Wait.Count(); n < 150 || a.Times.Wait.Max() < a.Times.Wait.Min() {
		t.Errorf("%d of 200 arrivals waited behind others, want most", n)
	}
}
