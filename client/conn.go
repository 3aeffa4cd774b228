package client

import (
	"errors"
	"time"

	"httpgen/internal/http1"
	"httpgen/sampler"
)

// A call is a request on its way, or one that waits for its reply.
type call struct {
	req      *Request
	serial   uint64 // for the tap
	intended time.Duration
	started  time.Duration
	sent     time.Duration // 0 until the last byte went out
	first    time.Duration // first byte of the reply, 0 until it came
}

// A conn is one connection and the arrival that it carries. It takes about
// 450 bytes; there may be tens of thousands.
type conn struct {
	parser  http1.Parser
	session Session
	timers  [2]timer // of the phase, and the deadline
	stream  *stream
	fd      int      // of the epoll engine
	net     *netConn // of the net engine
	gen     uint32   // changes when the socket does: events of an older one are stale
	self    int32
	prev    int32 // idle list
	next    int32 // idle list or free list
	addr    int32 // index of the target address in use
	tries   int32 // addresses tried before this one

	open        bool // has a socket
	established bool
	pooled      bool // belongs to a pool
	inIdle      bool
	busy        bool // carries an arrival
	bound       bool // counts against the bound of arrivals in flight
	warmup      bool // of the arrival; of the opening, while there is none
	slot        bool // holds a slot of a closed model
	asleep      bool // between two calls

	queued  *Request // to be sent when it awakes
	opened  time.Duration
	replies int // on this connection

	index    uint64
	intended time.Duration
	started  time.Duration
	outcome  sampler.Class // first failure so far
	planned  int
	replied  int
	retries  int

	calls  []call // outstanding ones, in order
	head   int    // the one whose reply comes next
	unsent int    // the first one not sent whole
	offset int    // bytes sent of it
	one    [1]call
}

// alloc returns an unused connection.
func (l *loop) alloc(st *stream) *conn {
	if l.free == none {
		base := int32(len(l.chunks)) << chunkBits
		chunk := make([]conn, 1<<chunkBits)
		l.chunks = append(l.chunks, chunk)
		for i := len(chunk) - 1; i >= 0; i-- {
			c := &chunk[i]
			c.self, c.next = base+int32(i), l.free
			l.free = c.self
		}
	}
	c := l.at(l.free)
	l.free = c.next
	*c = conn{self: c.self, gen: c.gen + 1, next: none, prev: none, stream: st, addr: int32(st.addr), calls: c.calls[:0]}
	if cap(c.calls) == 0 {
		c.calls = c.one[:0]
	}
	c.timers[0].queue, c.timers[1].queue = idle, idle
	c.parser.MaxHeaderBytes = int32(min(st.MaxHeader, 1<<30))
	if l.c.o.Tap != nil {
		c.parser.Observer = func(part http1.Part, b []byte) {
			l.c.o.Tap.Reply(c.calls[c.head].serial, Part(part), b, false)
		}
	}
	return c
}

// sourceIndex returns which of n source addresses c uses: arrivals take them in
// turn.
func (c *conn) sourceIndex(n uint64) uint64 {
	if c.pooled {
		return uint64(c.self) % n
	}
	return c.index % n
}

func (l *loop) at(i int32) *conn { return &l.chunks[i>>chunkBits][i&(1<<chunkBits-1)] }

// recycle returns a connection without socket or arrival to the free list.
func (l *loop) recycle(c *conn) {
	c.gen++
	c.next = l.free
	l.free = c.self
}

// begin puts an arrival on c and records its start. A negative wait is none.
func (l *loop) begin(c *conn, a arrival, now, wait time.Duration) {
	st := c.stream
	c.busy = true
	l.progress, l.lastStart = now, now
	c.warmup = l.warm(a.intended)
	c.index, c.intended, c.started = a.index, a.intended, now
	c.outcome, c.replied = sampler.OK, 0
	c.session = Session{Index: a.index}
	st.Workload.Begin(a.index, &c.session)
	c.planned = c.session.Planned
	l.active++
	l.rec.Start(st.id, c.warmup, a.intended, a.taken, now, wait, a.late)
	if d := st.Timeouts.Deadline; d > 0 {
		l.arm(c, deadlineKind, a.intended+d)
	}
}

// dial starts connecting c.
func (l *loop) dial(c *conn, now time.Duration) {
	c.gen++
	c.open, c.established, c.replies = false, false, 0
	if class := l.io.dial(c); class != sampler.OK {
		l.connectFailed(c, class, l.now())
		return
	}
	if t := c.stream.Timeouts.Connect; t > 0 {
		l.arm(c, connectKind, c.opened+t)
	}
}

// attempt records that c's engine has a socket and is about to connect it.
func (l *loop) attempt(c *conn) {
	c.open = true
	c.opened = l.now()
	if c.busy && c.tries == 0 {
		c.started = c.opened
	}
	l.started++
	l.rec.Connecting(c.stream.id, c.warmup, c.opened)
}

// connectFailed ends an attempt to connect, and tries the next address of the
// name when this one refused.
func (l *loop) connectFailed(c *conn, class sampler.Class, now time.Duration) {
	if c.open {
		l.closeConn(c, now)
	}
	if n := len(c.stream.Target.Addrs); class == sampler.ConnectRefused && int(c.tries)+1 < n {
		c.tries++
		c.addr = (c.addr + 1) % int32(n)
		c.retries++
		l.dial(c, now)
		return
	}
	l.fail(c, class, now)
}

// connected goes on with a connection that stands.
func (l *loop) connected(c *conn, now time.Duration) { l.established(c, now-c.opened, now) }

// established goes on with a connection that can be used, and took that long
// to connect.
func (l *loop) established(c *conn, took, now time.Duration) {
	st := c.stream
	c.established = true
	st.addr = int(c.addr)
	l.drop(c, 0)
	l.rec.Connected(st.id, c.warmup, took, now)
	if c.busy {
		l.next(c, nil, now)
		return
	}
	st.opening--
	l.release(c, now)
}

// secured goes on with a connection that stands since dialed and whose TLS
// handshake is done.
func (l *loop) secured(c *conn, dialed, now time.Duration) {
	l.rec.Secured(c.stream.id, c.warmup, now-dialed, now)
	l.established(c, dialed-c.opened, now)
}

// release gives an established pooled connection to the arrival that has waited
// longest, or keeps it idle.
func (l *loop) release(c *conn, now time.Duration) {
	st := c.stream
	if a, ok := st.backlog.pop(); ok {
		l.assign(c, a, now)
		return
	}
	c.inIdle = true
	c.prev, c.next = none, st.idle
	if st.idle != none {
		l.at(st.idle).prev = c.self
	}
	st.idle = c.self
}

func (l *loop) takeIdle(st *stream) *conn {
	if st.idle == none {
		return nil
	}
	c := l.at(st.idle)
	l.leaveIdle(c)
	return c
}

func (l *loop) leaveIdle(c *conn) {
	if !c.inIdle {
		return
	}
	c.inIdle = false
	if c.prev != none {
		l.at(c.prev).next = c.next
	} else {
		c.stream.idle = c.next
	}
	if c.next != none {
		l.at(c.next).prev = c.prev
	}
}

// next asks the workload what comes after last and sends it, or ends the
// arrival.
func (l *loop) next(c *conn, last *Reply, now time.Duration) {
	req, wait, ok := c.stream.Workload.Next(&c.session, last)
	if !ok {
		l.finish(c, true, now)
		return
	}
	if wait > 0 {
		c.queued, c.asleep = req, true
		l.sleep.push(waiting{now + wait, c.self, c.gen})
		return
	}
	intended := now
	if last == nil {
		intended = c.intended
	}
	l.issue(c, req, intended, now)
}

// awake goes on with a connection whose time between two calls is over.
func (l *loop) awake(w waiting, now time.Duration) {
	c := l.at(w.conn)
	if c.gen != w.gen || !c.asleep {
		return
	}
	c.asleep = false
	l.issue(c, c.queued, w.at, now)
}

// issue sends a request and those that follow at once.
func (l *loop) issue(c *conn, req *Request, intended, now time.Duration) {
	if len(c.calls) == 0 {
		c.parser.Reset(req.head)
	}
	for {
		c.calls = append(c.calls, call{req: req, intended: intended})
		if !c.session.More {
			break
		}
		var ok bool
		if req, _, ok = c.stream.Workload.Next(&c.session, nil); !ok {
			break
		}
	}
	if d := c.stream.Timeouts.Deadline; d > 0 {
		l.arm(c, deadlineKind, intended+d)
	}
	l.flush(c, now)
}

// flush sends what has not been sent.
func (l *loop) flush(c *conn, now time.Duration) {
	st := c.stream
	for c.unsent < len(c.calls) {
		k := &c.calls[c.unsent]
		if c.offset == 0 && k.started == 0 {
			k.started = now
			if c.replied == 0 && !c.pooled {
				k.started = c.started
			}
		}
		n, class := l.io.write(c, k.req.bytes[c.offset:])
		switch {
		case class == sampler.OK && n == 0: // the rest when there is room
			if c.timers[0].queue == idle && st.Timeouts.Send > 0 {
				l.arm(c, sendKind, now+st.Timeouts.Send)
			}
			return
		case class != sampler.OK:
			// The peer may have answered before it hung up.
			gen := c.gen
			l.io.drain(c)
			if c.gen == gen && c.busy {
				l.fail(c, class, l.now())
			}
			return
		}
		l.rec.Bytes(st.id, c.warmup, n, 0)
		if c.offset += n; c.offset < len(k.req.bytes) {
			continue
		}
		now = l.now()
		k.sent = now
		c.offset = 0
		c.unsent++
		l.rec.Requested(st.id, c.warmup, len(k.req.bytes), now)
		if l.c.o.Tap != nil {
			k.serial = l.c.calls.Add(1) - 1
			l.c.o.Tap.Request(k.serial, k.req.bytes)
		}
		if c.unsent == c.head+1 && st.Timeouts.Reply > 0 {
			l.arm(c, replyKind, now+st.Timeouts.Reply)
		}
	}
	if c.timers[0].queue == int32(st.id*numKinds+sendKind) {
		l.drop(c, 0)
	}
}

// received takes what the peer sent. ending says that it has hung up.
func (l *loop) received(c *conn, b []byte, ending bool, now time.Duration) {
	l.rec.Bytes(c.stream.id, c.warmup, 0, len(b))
	l.feed(c, b, ending, now)
}

// endOfStream returns what the end of the stream makes of c's arrival: it may
// complete the reply that is being read. OK means that nothing was cut off.
func (l *loop) endOfStream(c *conn, now time.Duration) sampler.Class {
	if len(c.calls) == 0 {
		return sampler.OK
	}
	switch err := c.parser.EOF(); {
	case err == nil:
		l.replied(c, now)
		if len(c.calls) > 0 {
			return sampler.ClosedEarly
		}
		return sampler.OK
	case errors.Is(err, http1.ErrUnexpectedEOF), errors.Is(err, http1.ErrNoReply):
		return sampler.ClosedEarly
	}
	return sampler.Protocol
}

// hungUp ends c after the peer did. Calls that were not made are lost, which is
// no error when nothing was cut off.
func (l *loop) hungUp(c *conn, class sampler.Class, now time.Duration) {
	switch {
	case !c.busy:
		l.lose(c, now)
	case class == sampler.OK:
		l.finish(c, false, now)
	default:
		l.fail(c, class, now)
	}
}

// feed parses what was read. ending says that the peer has hung up, so that no
// further request is worth sending.
func (l *loop) feed(c *conn, b []byte, ending bool, now time.Duration) {
	for len(b) > 0 {
		if len(c.calls) == 0 {
			// Nobody asked for this: the connection is out of step.
			if c.busy {
				l.fail(c, sampler.Protocol, now)
			} else {
				l.lose(c, now)
			}
			return
		}
		k := &c.calls[c.head]
		if k.first == 0 {
			k.first = now
		}
		n, done, err := c.parser.Feed(b)
		if err != nil {
			l.fail(c, sampler.Protocol, now)
			return
		}
		if !done {
			return
		}
		b = b[n:]
		// A reply that came before its request was sent whole ends the connection too.
		closing := c.head == c.unsent || !c.parser.KeepAlive()
		l.replied(c, now)
		switch {
		case closing && len(c.calls) > 0:
			l.fail(c, sampler.ClosedEarly, now)
			return
		case len(c.calls) > 0:
		case closing, ending:
			l.finish(c, false, now)
			return
		case len(b) > 0:
			l.stray(c, now)
			return
		default:
			gen := c.gen
			l.next(c, &l.last, now)
			if c.gen != gen {
				return
			}
		}
	}
}

// stray ends a connection that brought more than was asked for. After the last
// call that is nobody's business; before it the connection is out of step.
func (l *loop) stray(c *conn, now time.Duration) {
	if _, _, more := c.stream.Workload.Next(&c.session, &l.last); more {
		l.fail(c, sampler.Protocol, now)
		return
	}
	l.finish(c, false, now)
}

// replied records the complete reply to the call at the head.
func (l *loop) replied(c *conn, now time.Duration) {
	st, p := c.stream, &c.parser
	k := &c.calls[c.head]
	if k.sent == 0 || k.sent > k.first {
		k.sent = k.first // which may be read before the clock is after sending
	}
	s := sampler.Sample{
		Stream: st.id, Warmup: c.warmup, Status: p.Status(), Interim: p.Informational(),
		Judged: st.Expect != nil, Intended: k.intended, Started: k.started, Sent: k.sent, FirstByte: k.first, Done: now,
		Header: p.HeaderBytes() + p.InterimBytes(), Body: p.BodyBytes(), Trailer: p.TrailerBytes(), Framing: p.FramingBytes(),
	}
	s.Good = s.Judged && st.Expect(s.Status)
	l.rec.Reply(&s)
	if l.c.o.Tap != nil {
		l.c.o.Tap.Reply(k.serial, HeaderPart, nil, true)
	}
	l.last.Status = s.Status
	if s.Judged && !s.Good && c.outcome == sampler.OK {
		c.outcome = sampler.UnexpectedStatus
	}
	c.replies++
	c.replied++
	l.progress = now
	l.drop(c, 0)
	c.head++
	if c.head < len(c.calls) {
		n := &c.calls[c.head]
		c.parser.Reset(n.req.head)
		if n.sent > 0 && st.Timeouts.Reply > 0 {
			l.arm(c, replyKind, n.sent+st.Timeouts.Reply)
		}
		return
	}
	c.calls = c.calls[:0]
	c.head, c.unsent, c.offset = 0, 0, 0
	l.drop(c, 1)
}

// finish ends an arrival whose session is over. keep says that its connection
// may be used again.
func (l *loop) finish(c *conn, keep bool, now time.Duration) {
	st := c.stream
	l.endArrival(c, c.outcome, false, now)
	switch {
	case c.pooled && keep:
		l.release(c, now)
	case c.pooled:
		l.lose(c, now)
	case c.slot && st.KeepOpen && keep:
		a, ok := l.nextClosed(st, now)
		if !ok {
			c.slot = false
			l.lose(c, now)
			return
		}
		l.c.inflight.Add(1)
		l.begin(c, a, now, -1)
		l.next(c, nil, now)
	default:
		l.lose(c, now)
	}
}

// fail ends an arrival with an error, and its connection.
func (l *loop) fail(c *conn, class sampler.Class, now time.Duration) {
	st := c.stream
	if !c.busy {
		// A pooled connection that could not be opened: the arrival that has
		// waited longest bears it.
		if a, ok := st.backlog.pop(); ok {
			l.begin(c, a, now, now-a.taken)
		}
	}
	if c.busy {
		if c.outcome != sampler.OK {
			class = c.outcome
		}
		l.endArrival(c, class, false, now)
	}
	l.lose(c, now)
}

// endArrival records the end of the arrival on c.
func (l *loop) endArrival(c *conn, outcome sampler.Class, unfinished bool, now time.Duration) {
	st := c.stream
	sent := c.unsent - c.head
	if len(c.calls) == 0 {
		sent = 0
	}
	sent = max(0, sent)
	planned := max(c.planned, c.replied+sent)
	a := sampler.Arrival{
		Stream: st.id, Warmup: c.warmup, Index: c.index, Intended: c.intended, Started: c.started, Ended: now,
		Outcome: outcome, Unfinished: unfinished, Planned: planned, Replied: c.replied,
		Unanswered: sent, Unsent: planned - c.replied - sent, Retries: c.retries,
	}
	l.rec.Arrival(&a)
	l.drop(c, 0)
	l.drop(c, 1)
	if c.bound {
		l.c.leave()
	}
	c.busy, c.asleep, c.retries = false, false, 0
	c.calls = c.calls[:0]
	c.head, c.unsent, c.offset = 0, 0, 0
	l.active--
	l.ended = max(l.ended, now)
}

// lose closes c, which carries no arrival, and lets others take its place.
func (l *loop) lose(c *conn, now time.Duration) {
	st := c.stream
	opening := !c.established
	if c.open {
		l.closeConn(c, now)
	}
	l.leaveIdle(c)
	l.recycle(c)
	switch {
	case c.pooled:
		st.opened--
		if opening {
			st.opening--
		}
		l.replenish(st, now)
	case c.slot:
		st.restart++
	}
}

// closeConn closes c's socket and records it.
func (l *loop) closeConn(c *conn, now time.Duration) {
	l.io.hang(c)
	l.drop(c, 0)
	c.open = false
	c.gen++
	r := sampler.Conn{
		Stream: c.stream.id, Warmup: c.warmup, Opened: c.opened, Ended: now, Established: c.established,
		Replies: c.replies, Unfinished: !c.established && l.over,
	}
	l.rec.Closed(&r)
	l.ended = max(l.ended, now)
}
