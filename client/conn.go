package client

import (
	"errors"
	"time"

	"httpgen/internal/http1"
	"httpgen/internal/http2"
	"httpgen/sampler"
)

// A call is a request on its way, or one that waits for its reply.
type call struct {
	req      *Request
	job      *job           // whose call it is
	bytes    []byte         // what is sent: of req, or expanded for this call
	h2       *http2.Request // the same for HTTP/2
	kept     *kept          // of a reply over HTTP/2 that is looked at
	ref      uint64         // of HTTP/2: what events are told
	end      int64          // of HTTP/2: how far into the connection the request goes
	size     int            // of HTTP/2: bytes of the request
	id       uint32         // of the h2 stream
	serial   uint64         // for the tap
	intended time.Duration
	started  time.Duration
	sent     time.Duration // 0 until the last byte went out
	first    time.Duration // first byte of the reply, 0 until it came
}

// A conn is one connection and the calls on it. With its job it takes less than
// 700 bytes; there may be tens of thousands.
type conn struct {
	parser  http1.Parser
	timer   timer // of the phase
	stream  *stream
	job     *job     // that it carries; nil while it is idle in a pool
	sibling *conn    // next connection of the job
	fd      int      // of the epoll engine
	net     *netConn // of the net engine
	kept    *kept    // what its workload looks at
	h2      *h2conn  // nil with HTTP/1
	gen     uint32   // changes when the socket does: events of an older one are stale
	self    int32
	prev    int32 // idle list
	next    int32 // idle list
	server  int32 // index of the target in use
	addr    int32 // index of its address in use
	tries   int32 // addresses tried before this one
	retries int32 // of an opening that no arrival asked for

	open        bool // has a socket
	established bool
	pooled      bool // belongs to a pool
	inIdle      bool
	warmup      bool // of the arrival; of the opening, while there is none

	opened  time.Duration
	replies int // on this connection

	calls  []call // outstanding ones from head on, in order
	head   int    // the one whose reply comes next
	unsent int    // the first one not sent whole
	offset int    // bytes sent of it
	one    [1]call
}

// alloc returns an unused connection.
func (l *loop) alloc(st *stream) *conn {
	i := l.conns.take()
	c := l.at(i)
	*c = conn{self: i, gen: c.gen + 1, next: none, prev: none, stream: st, addr: int32(st.addrs[0]), calls: c.calls[:0], kept: c.kept}
	if cap(c.calls) == 0 {
		c.calls = c.one[:0]
	}
	c.timer.queue = idle
	c.parser.MaxHeaderBytes = int32(min(st.MaxHeader, 1<<30))
	if l.c.o.Tap != nil || st.observer != nil {
		l.observe(c)
	}
	return c
}

// observe shows what the parser of c finds to those who look at it.
func (l *loop) observe(c *conn) {
	if o := c.stream.observer; o == nil {
		c.kept = nil
	} else {
		if c.kept == nil {
			c.kept = new(kept)
		}
		c.kept.reset()
		c.kept.whole = o.Body()
	}
	c.parser.Observer = func(part http1.Part, b []byte) {
		if l.c.o.Tap != nil {
			l.c.o.Tap.Reply(c.calls[c.head].serial, Part(part), b, false)
		}
		if c.kept != nil {
			c.kept.add(Part(part), b)
		}
	}
}

// add gives c one more call.
func (c *conn) add(k *call) {
	if c.head == len(c.calls) {
		c.calls, c.head, c.unsent = c.calls[:0], 0, 0
		c.parser.Reset(k.req.head)
	} else if c.head > 0 && len(c.calls) == cap(c.calls) {
		// What was answered makes room.
		n := copy(c.calls, c.calls[c.head:])
		c.calls, c.unsent, c.head = c.calls[:n], c.unsent-c.head, 0
	}
	c.calls = append(c.calls, *k)
}

// unfinished says whether c has something to send.
func (c *conn) unfinished() bool {
	return c.unsent < len(c.calls) || c.h2 != nil && c.h2.off < len(c.h2.Out)
}

// forget drops the calls on c.
func (l *loop) forget(c *conn) {
	for i := c.head; i < len(c.calls); i++ {
		l.giveBack(&c.calls[i])
	}
	c.calls, c.head, c.unsent, c.offset = c.calls[:0], 0, 0, 0
}

// sourceIndex returns which of n source addresses c uses: arrivals take them in
// turn.
func (c *conn) sourceIndex(n uint64) uint64 {
	if c.pooled {
		return uint64(c.self) % n
	}
	return c.job.index % n
}

func (l *loop) at(i int32) *conn { return l.conns.at(i) }

// recycle gives back a connection without socket or arrival.
func (l *loop) recycle(c *conn) {
	c.gen++
	l.conns.give(c.self)
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
	if j := c.job; j != nil && c.tries == 0 && j.stood == 0 && j.failures == 0 {
		j.started = c.opened
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
	if n := len(c.stream.target(c.server).Addrs); class == sampler.ConnectRefused && int(c.tries)+1 < n {
		c.tries++
		c.addr = (c.addr + 1) % int32(n)
		if c.job != nil {
			c.job.retries++
		} else {
			c.retries++
		}
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
	st.addrs[c.server] = int(c.addr)
	l.drop(&c.timer)
	l.rec.Connected(st.id, c.warmup, took, now)
	j := c.job
	if j == nil {
		st.opening--
		if st.HTTP2 {
			l.beginH2(c)
			l.offer(c, now)
			if c.h2 != nil {
				l.flush(c, now)
			}
			return
		}
		l.release(c, now)
		return
	}
	j.stood++
	if st.HTTP2 {
		l.beginH2(c)
	}
	if j.open == 0 {
		l.next(j, nil, now)
	} else {
		l.flush(c, now)
	}
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
	} else {
		st.idleLast = c.self
	}
	st.idle = c.self
}

// joinIdle puts c at the end of the list of idle connections, so that those with
// room take turns.
func (l *loop) joinIdle(c *conn) {
	st := c.stream
	if c.inIdle {
		return
	}
	c.inIdle = true
	c.prev, c.next = st.idleLast, none
	if st.idleLast != none {
		l.at(st.idleLast).next = c.self
	} else {
		st.idle = c.self
	}
	st.idleLast = c.self
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
	} else {
		c.stream.idleLast = c.prev
	}
}

// flush sends what has not been sent.
func (l *loop) flush(c *conn, now time.Duration) {
	if c.h2 != nil {
		l.flushH2(c, now)
		return
	}
	st := c.stream
	for c.unsent < len(c.calls) {
		k := &c.calls[c.unsent]
		if c.offset == 0 && k.started == 0 {
			l.starts(c, k, now)
		}
		n, class := l.io.write(c, k.bytes[c.offset:])
		switch {
		case class == sampler.OK && n == 0: // the rest when there is room
			if c.timer.queue == idle && st.Timeouts.Send > 0 {
				l.arm(c, sendKind, now+st.Timeouts.Send)
			}
			return
		case class != sampler.OK:
			// The peer may have answered before it hung up.
			gen := c.gen
			l.io.drain(c)
			if c.gen == gen && c.job != nil {
				l.hungUp(c, class, l.now())
			}
			return
		}
		l.rec.Bytes(st.id, c.warmup, n, 0)
		if c.offset += n; c.offset < len(k.bytes) {
			continue
		}
		now = l.now()
		k.sent = now
		c.offset = 0
		c.unsent++
		l.rec.Requested(st.id, c.warmup, len(k.bytes), now)
		if l.c.o.Tap != nil {
			k.serial = l.c.calls.Add(1) - 1
			l.c.o.Tap.Request(k.serial, k.bytes)
		}
		if c.unsent == c.head+1 && st.Timeouts.Reply > 0 {
			l.arm(c, replyKind, now+st.Timeouts.Reply)
		}
	}
	if c.timer.queue == int32(st.id*numKinds+sendKind) {
		l.drop(&c.timer)
	}
}

// starts sets when a call started: before connecting where c was opened for it.
func (l *loop) starts(c *conn, k *call, now time.Duration) {
	switch {
	case c.replies > 0 || c.pooled:
		k.started = now
	case k.job.stood == 1 && k.job.failures == 0:
		k.started = k.job.started
	default:
		k.started = c.opened
	}
}

// received takes what the peer sent. ending says that it has hung up.
func (l *loop) received(c *conn, b []byte, ending bool, now time.Duration) {
	l.rec.Bytes(c.stream.id, c.warmup, 0, len(b))
	l.feed(c, b, ending, now)
}

// endOfStream goes on after the peer has ended the stream, which may complete the
// reply that is being read.
func (l *loop) endOfStream(c *conn, now time.Duration) {
	class := sampler.OK
	switch {
	case c.head == len(c.calls):
	case c.h2 != nil:
		class = sampler.ClosedEarly
	default:
		switch err := c.parser.EOF(); {
		case err == nil:
			l.replied(c, now)
			if l.unwanted(c.job) {
				l.again(c, true, now)
				return
			}
			if c.head < len(c.calls) {
				class = sampler.ClosedEarly
			}
		case errors.Is(err, http1.ErrUnexpectedEOF), errors.Is(err, http1.ErrNoReply):
			class = sampler.ClosedEarly
		default:
			class = sampler.Protocol
		}
	}
	l.hungUp(c, class, now)
}

// hungUp ends c after the peer did. Calls that were not made are lost, which is
// no error when nothing was cut off; a session makes them on another connection.
func (l *loop) hungUp(c *conn, class sampler.Class, now time.Duration) {
	switch {
	case c.job == nil && c.h2 != nil:
		l.dropShared(c, class, now)
	case c.job == nil:
		l.lose(c, now)
	case l.resumable(c, class):
		l.resume(c, now)
	case class != sampler.OK:
		l.fail(c, class, now)
	case c.stream.Sessions == nil:
		l.finish(c.job, false, now)
	case c.h2 == nil || !c.h2.going:
		l.fail(c, sampler.ClosedEarly, now)
	case c.job.failures < maxFailures:
		// The peer took nothing from this connection, and may from the next.
		c.job.failures++
		l.resume(c, now)
	default:
		l.fail(c, sampler.H2Goaway, now)
	}
}

// resumable says whether a session goes on although the peer has ended c: it
// had answered there before and has not begun the next answer, and what it may
// have done for the calls it left unanswered can be done twice (RFC 9112, 9.3.1).
func (l *loop) resumable(c *conn, class sampler.Class) bool {
	switch {
	case c.stream.Sessions == nil || c.replies == 0:
		return false
	case class == sampler.OK:
		return true
	case class != sampler.ClosedEarly && class != sampler.Reset:
		return false
	}
	for i := c.head; i < len(c.calls); i++ {
		k := &c.calls[i]
		if k.first != 0 || (i < c.unsent || i == c.unsent && c.offset > 0) && !k.req.idempotent {
			return false
		}
	}
	return true
}

// feed parses what was read. ending says that the peer has hung up, so that no
// further request is worth sending.
func (l *loop) feed(c *conn, b []byte, ending bool, now time.Duration) {
	if c.h2 != nil {
		l.feedH2(c, b, now)
		return
	}
	for len(b) > 0 {
		if c.head == len(c.calls) {
			// Nobody asked for this: the connection is out of step.
			if c.job != nil {
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
		gen := c.gen
		l.replied(c, now)
		left := c.head < len(c.calls)
		switch {
		case l.unwanted(c.job):
			l.again(c, closing || ending && !left, now)
		case closing && left && !l.resumable(c, sampler.ClosedEarly):
			l.fail(c, sampler.ClosedEarly, now)
		case closing, ending && !left:
			l.hungUp(c, sampler.OK, now)
		case len(b) > 0 && !left:
			l.stray(c, now)
		default:
			l.goOn(c.job, now)
		}
		if c.gen != gen {
			return
		}
	}
}

// unwanted says whether the last reply makes j's session fail.
func (l *loop) unwanted(j *job) bool {
	s := j.stream.Sessions
	return s != nil && s.Fail != nil && s.Fail(l.last.Status)
}

// again repeats the call that was answered on c in a way that makes the session
// fail, or ends the session.
func (l *loop) again(c *conn, closing bool, now time.Duration) {
	j := c.job
	if !j.stream.Sessions.Retry || j.failures == maxFailures {
		l.abort(j, sampler.UnexpectedStatus, now)
		return
	}
	j.failures++
	j.retries++
	j.open++
	j.session.Extra++
	j.pending = append(j.pending, call{req: l.lastCall.req, job: j, bytes: l.lastCall.bytes, h2: l.lastCall.h2, intended: l.lastCall.intended})
	l.lastCall = call{}
	if closing {
		l.resume(c, now)
	} else {
		l.goOn(j, now)
	}
}

// stray ends a connection that brought more than was asked for. After the last
// call that is nobody's business; before it the connection is out of step.
func (l *loop) stray(c *conn, now time.Duration) {
	j := c.job
	if j.open == 0 {
		req, _, more := j.stream.Workload.Next(&j.session, &l.last)
		if !more {
			l.finish(j, false, now)
			return
		}
		// A session that tries again goes on with this one.
		l.ask(j, req, now)
	}
	l.fail(c, sampler.Protocol, now)
}

// replied records the complete reply to the call at the head.
func (l *loop) replied(c *conn, now time.Duration) {
	p := &c.parser
	k := &c.calls[c.head]
	s := sampler.Sample{
		Status: p.Status(), Interim: p.Informational(),
		Header: p.HeaderBytes() + p.InterimBytes(), Body: p.BodyBytes(), Trailer: p.TrailerBytes(), Framing: p.FramingBytes(),
	}
	l.drop(&c.timer)
	c.head++
	l.answered(c, k, &s, now)
	if c.head == len(c.calls) {
		c.calls, c.head, c.unsent, c.offset = c.calls[:0], 0, 0, 0
		return
	}
	n := &c.calls[c.head]
	c.parser.Reset(n.req.head)
	if t := c.stream.Timeouts.Reply; n.sent > 0 && t > 0 {
		l.arm(c, replyKind, n.sent+t)
	}
}

// answered records that k was answered on c by what s holds of the reply.
func (l *loop) answered(c *conn, k *call, s *sampler.Sample, now time.Duration) {
	st, j := c.stream, k.job
	if k.sent == 0 || k.sent > k.first {
		k.sent = k.first // which may be read before the clock is after sending
	}
	s.Stream, s.Warmup, s.Judged = st.id, j.warmup, st.Expect != nil
	s.Intended, s.Started, s.Sent, s.FirstByte, s.Done = k.intended, k.started, k.sent, k.first, now
	s.Good = s.Judged && st.Expect(s.Status)
	l.rec.Reply(s)
	if l.c.o.Tap != nil {
		l.c.o.Tap.Reply(k.serial, HeaderPart, nil, true)
	}
	l.last.Status = s.Status
	if s.Judged && !s.Good && j.outcome == sampler.OK {
		j.outcome = sampler.UnexpectedStatus
	}
	c.replies++
	j.replied++
	j.open--
	l.progress = now
	if st.observer != nil {
		seen := c.kept
		if c.h2 != nil {
			seen = k.kept
		}
		if seen != nil {
			l.last.Header, l.last.Body = seen.header, seen.body
		}
		st.observer.Replied(&j.session, k.req.sent(k.bytes), &l.last)
		if seen != nil {
			seen.reset()
		}
		if j.session.Fail && j.outcome == sampler.OK {
			j.outcome = sampler.UnexpectedStatus
		}
	}
	if st.Sessions != nil {
		if f := st.Sessions.Fail; f == nil || !f(s.Status) {
			j.failures = 0
		}
		l.giveBack(&l.lastCall)
		l.lastCall = *k
	} else {
		l.giveBack(k)
	}
	if j.open == 0 {
		l.drop(&j.timer)
	}
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
	if c.pooled {
		st.opened--
		if opening {
			st.opening--
		}
		l.replenish(st, now)
	}
}

// closeConn closes c's socket and records it.
func (l *loop) closeConn(c *conn, now time.Duration) {
	l.io.hang(c)
	l.endH2(c)
	l.drop(&c.timer)
	c.open = false
	c.gen++
	r := sampler.Conn{
		Stream: c.stream.id, Warmup: c.warmup, Opened: c.opened, Ended: now, Established: c.established,
		Replies: c.replies, Unfinished: !c.established && l.over,
	}
	l.rec.Closed(&r)
	l.ended = max(l.ended, now)
}
