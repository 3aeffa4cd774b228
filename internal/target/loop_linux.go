package target

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"httpgen/internal/poll"
)

const (
	listenerData  = 0                     // of the listener's events; no connection has index 0
	batch         = 256                   // events a turn
	readSize      = 64 << 10              // bytes a read
	maxBurst      = 64                    // connections accepted in one go
	holdTime      = time.Second           // how long AcceptLate lets a connection hold a worker without a request
	lingerTime    = time.Second           // how long a client may take its last reply while it still sends
	starvedPause  = 10 * time.Millisecond // between two tries to accept for want of descriptors
	longestWait   = time.Hour             // of one Wait, when nothing is due
	dialStaleTime = time.Second           // for finding out whether a unix socket is still served
)

// A loop is the server's one event loop. Its goroutine owns all of it; mu is
// held while it works, so that others may read the counters while it waits.
type loop struct {
	o        Options
	p        *poll.Poller
	doze     *poll.Poller // waits out a freeze: p's events must stay where they are
	listener int
	stopping atomic.Bool
	done     chan struct{}
	epoch    time.Time
	random   *rand.Rand

	ordinary, busy, malformed *reply

	mu     sync.Mutex
	now    time.Duration // the instant that the loop's work is dated to, at most real
	real   time.Duration // the clock's reading of this turn
	conns  []*conn       // by index; the first is none, and closed
	free   []uint32      // indices of closed connections
	in     []byte        // what was read last
	timers timers
	lines  lines
	gate   *gate // nil without a capacity
	again  []ref // connections with more to read than one read took
	spare  []ref // the memory for the next again

	watched  bool          // the listener is in p
	retryAt  time.Duration // when to accept again after a failure; never otherwise
	burst    int           // connections to accept in one go
	newcomer bool          // AcceptLate: the next free worker goes to a new connection first

	freezes  []Freeze // still to come
	freezeAt time.Duration
	firstAt  time.Duration // when the first connection was accepted; never before

	serving int           // workers that serve
	held    int           // workers that wait for the request of a new connection
	fullAt  time.Duration // since when, by the clock, all workers serve
	ends    int64         // services that ended
	late    time.Duration // sum of their lateness

	lastIP  netip.Addr
	last    *source // of lastIP
	sources map[netip.Addr]*source
	common  *line // of all sources, without shares; nil with them
	counts  Stats // what is not counted by source
}

// A source is where connections come from.
type source struct {
	Counters
	line *line // where its requests wait
}

// newLoop returns a loop at its beginning, without any descriptor.
func newLoop(o Options) *loop {
	l := &loop{
		o:         o,
		done:      make(chan struct{}),
		epoch:     time.Now(),
		random:    rand.New(rand.NewPCG(o.Seed, 0)),
		ordinary:  newReply(o.Status, o.Size),
		busy:      newReply(http.StatusServiceUnavailable, 0),
		malformed: newReply(http.StatusBadRequest, 0),
		conns:     []*conn{{}},
		in:        make([]byte, readSize),
		retryAt:   never,
		burst:     1,
		newcomer:  true,
		freezes:   o.Freeze,
		freezeAt:  never,
		firstAt:   never,
		sources:   make(map[netip.Addr]*source),
	}
	if len(o.Shares) == 0 {
		l.common = newLine(defaultWeight)
	}
	for _, s := range o.Shares {
		l.sources[s.Source] = &source{line: newLine(s.Weight)}
	}
	if o.Capacity > 0 {
		l.gate = newGate(newCapacity(o.Capacity, o.Collapse))
	}
	return l
}

// startLoop opens the listening socket and starts the loop's goroutine.
func startLoop(o Options, path string, ap netip.AddrPort) (*loop, int, error) {
	l := newLoop(o)
	fd, port, err := listen(path, ap, o.Backlog)
	if err != nil {
		return nil, 0, fmt.Errorf("target: listen %q: %w", o.Listen, err)
	}
	l.listener = fd
	if err := l.open(); err != nil {
		l.release()
		return nil, 0, fmt.Errorf("target: %w", err)
	}
	return l, port, nil
}

// listen opens the listening socket. A unix socket that nobody serves any more
// is replaced.
func listen(path string, ap netip.AddrPort, backlog int) (fd, port int, err error) {
	if path == "" {
		a, err := poll.TCPAddr(ap)
		if err != nil {
			return -1, 0, err
		}
		fd, port, err = poll.Listen(&a, backlog)
		if err == nil {
			poll.SetNoDelay(fd) // accepted sockets inherit it
		}
		return fd, port, err
	}
	a, err := poll.UnixAddr(path)
	if err != nil {
		return -1, 0, err
	}
	fd, port, err = poll.Listen(&a, backlog)
	if errors.Is(err, syscall.EADDRINUSE) && stale(path) && os.Remove(path) == nil {
		return poll.Listen(&a, backlog)
	}
	return fd, port, err
}

// stale says whether path is a socket that nobody listens on.
func stale(path string) bool {
	// Connecting to any other file is refused as well.
	if f, err := os.Lstat(path); err != nil || f.Mode().Type() != os.ModeSocket {
		return false
	}
	c, err := net.DialTimeout("unix", path, dialStaleTime)
	if err == nil {
		c.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// open makes the pollers and starts the loop.
func (l *loop) open() error {
	var err error
	if l.p, err = poll.New(); err != nil {
		return err
	}
	if l.doze, err = poll.New(); err != nil {
		return err
	}
	if !l.o.Deaf {
		if err := l.watch(); err != nil {
			return err
		}
	}
	ready := make(chan error)
	go l.run(ready)
	return <-ready
}

// release closes what open and listen opened.
func (l *loop) release() {
	if l.p != nil {
		l.p.Close()
	}
	if l.doze != nil {
		l.doze.Close()
	}
	poll.Close(l.listener)
	if path, ok := strings.CutPrefix(l.o.Listen, "unix:"); ok && !strings.HasPrefix(path, "@") {
		os.Remove(path)
	}
}

// stop ends the loop and waits until it has. It is called once.
func (l *loop) stop() {
	l.stopping.Store(true)
	l.p.Wake()
	l.doze.Wake()
	<-l.done
	l.release()
}

// run is the loop's goroutine. It keeps its thread, whose timer slack it
// changes, to the end, so that the thread ends with it.
func (l *loop) run(ready chan<- error) {
	runtime.LockOSThread()
	if err := poll.SetTimerSlack(1); err != nil {
		ready <- err
		return
	}
	events := make([]poll.Event, batch)
	// Fails at once on a kernel without epoll_pwait2.
	if _, e := l.p.Wait(events[:1], 1); e != 0 {
		ready <- fmt.Errorf("wait: %w", e)
		return
	}
	close(ready)
	defer close(l.done)
	timeout := longestWait
	for !l.stopping.Load() {
		n, e := l.p.Wait(events, timeout)
		l.mu.Lock()
		if e != 0 {
			l.counts.Err = fmt.Errorf("target: wait: %w", e)
			l.mu.Unlock()
			break
		}
		l.turn(events[:n])
		timeout = l.timeout()
		l.mu.Unlock()
	}
	l.closeAll()
}

func (l *loop) clock() time.Duration { return time.Since(l.epoch) }

// turn does what is due and then what became ready. The order matters: a
// service that ended before a request was read frees its worker for it.
func (l *loop) turn(events []poll.Event) {
	l.real = l.clock()
	l.expire(min(l.real, l.freezeAt))
	if l.real >= l.freezeAt {
		l.freeze()
		l.real = l.clock()
	}
	l.expire(l.real)
	l.now = l.real
	if l.now >= l.retryAt {
		l.retryAt = never
		l.watch()
	}
	for i := range events {
		ev := &events[i]
		data := poll.Data(ev)
		if data == listenerData {
			l.listenerReady()
		} else if c := l.find(refOf(data)); c != nil {
			l.event(c, ev.Events)
		}
		l.employ()
	}
	again := l.again
	l.again = l.spare[:0]
	for _, r := range again {
		if c := l.find(r); c != nil {
			l.input(c)
			l.employ()
		}
	}
	l.spare = again
}

// timeout returns how long the loop may wait.
func (l *loop) timeout() time.Duration {
	if len(l.again) > 0 {
		return 0
	}
	next := min(l.freezeAt, l.retryAt)
	if len(l.timers) > 0 {
		next = min(next, l.timers[0].at)
	}
	if next == never {
		return longestWait
	}
	return next - l.clock()
}

// expire does what is due until the instant to, each thing dated to its own
// instant.
func (l *loop) expire(to time.Duration) {
	for len(l.timers) > 0 && l.timers[0].at <= to {
		t := l.timers.pop()
		l.now = t.at
		c := l.find(t.conn)
		switch t.kind {
		case serviceEnd:
			l.serviceEnded(c)
		case holdEnd:
			if c != nil && c.holds {
				l.drop(c)
			}
		case lingerEnd:
			if c != nil {
				l.drop(c)
			}
		case gateOpens:
			l.gate.timed = false
		}
		l.employ()
	}
}

// serviceEnded frees a worker and sends the reply of c, which is nil when its
// client has gone.
func (l *loop) serviceEnded(c *conn) {
	late := l.real - l.now
	l.ends++
	l.late += late
	l.counts.LateMax = max(l.counts.LateMax, late)
	if l.full() {
		l.counts.Served++
		l.counts.Saturated += l.real - l.fullAt
		l.fullAt = l.real
	}
	l.serving--
	if c == nil {
		return
	}
	l.reply(c, l.ordinary)
	l.employ() // those who wait come before the connection's next request
	l.resume(c)
}

func (l *loop) full() bool { return l.o.Workers > 0 && l.serving == l.o.Workers }

// idle reports whether a request that someone has can be served now.
func (l *loop) idle() bool {
	if l.gate != nil {
		return l.gate.open(l.now, l.real)
	}
	return l.o.Workers == 0 || l.serving+l.held < l.o.Workers
}

// employ serves those who wait, as long as it can.
func (l *loop) employ() {
	for (l.counts.Waiting > 0 || l.acceptsLate()) && l.idle() {
		if l.acceptsLate() && !l.watched && l.retryAt == never && (l.newcomer || l.counts.Waiting == 0) {
			l.newcomer = false
			l.accept()
			continue
		}
		r, ok := l.lines.pop()
		if !ok {
			return
		}
		if c := l.find(r); c != nil {
			l.counts.Waiting--
			c.source.line.n--
			l.newcomer = true
			l.serve(c)
		}
	}
	if l.gate != nil && l.counts.Waiting > 0 && !l.gate.timed {
		l.gate.timed = true
		l.timers.push(timer{at: l.gate.at, kind: gateOpens})
	}
}

// serve starts a service, which idle has allowed.
func (l *loop) serve(c *conn) {
	c.state = serving
	l.lines.serve(c.source.line)
	if l.gate != nil {
		l.gate.pass()
	}
	d := l.o.Service.mean
	if l.o.Service.exponential {
		d = time.Duration(float64(d) * l.random.ExpFloat64())
	}
	l.timers.push(timer{at: l.now + d, conn: c.ref, kind: serviceEnd})
	l.serving++
	if l.full() {
		l.fullAt = l.real
	}
}

// freeze does nothing until the freeze is over, and delays what was due.
func (l *loop) freeze() {
	f := l.freezes[0]
	end := l.freezeAt + f.Length
	events := make([]poll.Event, 1)
	l.mu.Unlock()
	for left := end - l.clock(); left > 0 && !l.stopping.Load(); left = end - l.clock() {
		l.doze.Wait(events, left)
	}
	l.mu.Lock()
	l.shift(f.Length)
	l.freezes = l.freezes[1:]
	l.nextFreeze()
}

// shift delays what is to come by d.
func (l *loop) shift(d time.Duration) {
	l.timers.shift(d)
	l.fullAt += d
	if l.gate != nil {
		l.gate.shift(d)
	}
}

func (l *loop) nextFreeze() {
	l.freezeAt = never
	if len(l.freezes) > 0 {
		l.freezeAt = l.firstAt + l.freezes[0].At
	}
}

func (l *loop) acceptsLate() bool { return l.o.Overload == AcceptLate && l.o.Service.mean > 0 }

// watch lets the listener's events come.
func (l *loop) watch() error {
	if e := l.p.AddListener(l.listener, listenerData); e != 0 {
		return fmt.Errorf("watch the listener: %w", e)
	}
	l.watched = true
	return nil
}

func (l *loop) unwatch() {
	l.p.Remove(l.listener)
	l.watched = false
}

// listenerReady accepts what waits. How many connections it tries for follows
// from how many there were: an accept that finds nothing costs as much as one
// that does.
func (l *loop) listenerReady() {
	if l.acceptsLate() {
		if l.idle() {
			l.accept()
		} else if l.watched {
			l.unwatch()
		}
		return
	}
	for range l.burst {
		if !l.accept() {
			l.burst = 1
			return
		}
	}
	l.burst = min(2*l.burst, maxBurst)
}

// accept takes one connection from the kernel and reads what it has sent. It
// reports whether there may be more.
func (l *loop) accept() bool {
	fd, ip, e := poll.Accept(l.listener)
	switch e {
	case 0:
	case syscall.EAGAIN:
		if !l.watched {
			l.watch()
		}
		return false
	case syscall.ECONNABORTED, syscall.EPROTO, syscall.EINTR:
		return true
	default: // EMFILE, ENFILE, ENOBUFS, ENOMEM
		// The listener stays ready: watching it would keep the loop spinning.
		l.counts.Starved++
		if l.watched {
			l.unwatch()
		}
		l.retryAt = l.now + starvedPause
		return false
	}
	if l.firstAt == never {
		l.firstAt = l.now
		l.nextFreeze()
	}
	c := l.take(fd, l.source(ip))
	if l.acceptsLate() {
		c.holds = true
		l.held++
	}
	l.input(c)
	if c.state == closed {
		return true
	}
	if c.holds {
		l.timers.push(timer{at: l.now + holdTime, conn: c.ref, kind: holdEnd})
	}
	if e := l.p.Add(fd, c.ref.data()); e != 0 {
		l.drop(c)
	}
	return true
}

// source returns the source of the connections from ip.
func (l *loop) source(ip netip.Addr) *source {
	if l.last != nil && ip == l.lastIP {
		return l.last
	}
	s := l.sources[ip]
	if s == nil {
		s = &source{line: l.common}
		if s.line == nil {
			s.line = newLine(defaultWeight)
		}
		l.sources[ip] = s
	}
	l.lastIP, l.last = ip, s
	return s
}

// take returns a connection of the slab for fd.
func (l *loop) take(fd int, from *source) *conn {
	from.Accepted++
	l.counts.Open++
	var c *conn
	if n := len(l.free); n > 0 {
		c = l.conns[l.free[n-1]]
		l.free = l.free[:n-1]
	} else {
		c = &conn{ref: ref{index: uint32(len(l.conns))}}
		l.conns = append(l.conns, c)
	}
	c.fd, c.source, c.state, c.readable = fd, from, reading, true
	return c
}

// find returns the open connection that r names, or nil.
func (l *loop) find(r ref) *conn {
	if c := l.conns[r.index]; c.ref == r && c.state != closed {
		return c
	}
	return nil
}

// drop closes a connection.
func (l *loop) drop(c *conn) {
	if c.owed {
		c.source.Abandoned++
	}
	if c.state == waiting {
		l.counts.Waiting--
		c.source.line.n--
	}
	l.letGo(c)
	poll.Close(c.fd)
	next := ref{index: c.ref.index, gen: c.ref.gen + 1}
	*c = conn{ref: next, buf: c.buf[:0]}
	c.keep(nil)
	l.free = append(l.free, next.index)
	l.counts.Open--
	if l.retryAt != never {
		l.retryAt = l.now // there is a descriptor now
	}
}

// letGo frees the worker that a new connection holds.
func (l *loop) letGo(c *conn) {
	if c.holds {
		c.holds = false
		l.held--
	}
}

// closeAll closes every connection. What is not answered by now is
// unanswered, not abandoned.
func (l *loop) closeAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns[1:] {
		if c.state != closed {
			c.owed = false
			l.drop(c)
		}
	}
}

func (l *loop) stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.counts
	s.Sources = make(map[netip.Addr]Counters, len(l.sources))
	for ip, from := range l.sources {
		s.Sources[ip] = from.Counters
		s.add(&from.Counters)
	}
	if g := l.gate; g != nil {
		s.Served, s.Saturated = g.served, g.saturate
		s.Capacity, s.Lowest, s.Collapses = g.capacity.full, g.capacity.lowest, g.capacity.collapses
	}
	if l.ends > 0 {
		s.LateMean = l.late / time.Duration(l.ends)
	}
	return s
}
