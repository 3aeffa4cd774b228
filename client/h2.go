package client

import (
	"bytes"
	"math"
	"time"

	h2 "golang.org/x/net/http2"

	"httpgen/internal/http2"
	"httpgen/sampler"
)

// h2conn is what a connection has in addition when it speaks HTTP/2. Its calls are
// h2 streams; they may belong to one job, which has the connection, or to many,
// which share one of a pool.
type h2conn struct {
	http2.Conn
	l       *loop
	c       *conn // nil once the connection is over
	off     int   // of Out, sent
	sent    int64 // bytes sent before Out
	serial  uint64
	now     time.Duration
	feeding bool // events are being handled: what is to be sent waits
	waiting int  // requests of which a part waits for windows
	known   bool // the peer's settings are here
	going   bool // the peer takes no further requests
	code    h2.ErrCode
}

// waitsForWindow is the end of a request of which a part waits for windows.
const waitsForWindow = math.MaxInt64

// defaultStreams is how many h2 streams a pooled connection carries at once if
// nothing else is said; h2load and browsers use as many.
const defaultStreams = 100

// h2Form returns the request as HTTP/2 sends it; what it says is taken from the
// bytes that HTTP/1 would send.
func h2Form(b []byte, end int, scheme string) (*http2.Request, error) {
	line, rest, _ := bytes.Cut(b[:end], []byte("\r\n"))
	method, target, _ := bytes.Cut(line, []byte(" "))
	if i := bytes.LastIndexByte(target, ' '); i >= 0 {
		target = target[:i]
	}
	var header []http2.Field
	for line := range bytes.Lines(rest) {
		if name, value, ok := bytes.Cut(line, []byte(":")); ok {
			header = append(header, http2.Field{Name: string(name), Value: string(bytes.TrimSpace(value))})
		}
	}
	return http2.NewRequest(string(method), scheme, "", string(target), header, b[end:])
}

// beginH2 makes c speak HTTP/2.
func (l *loop) beginH2(c *conn) {
	var h *h2conn
	if n := len(l.spareH2); n > 0 {
		h = l.spareH2[n-1]
		l.spareH2 = l.spareH2[:n-1]
		h.Reset(c.stream.MaxHeader)
		*h = h2conn{Conn: h.Conn}
	} else {
		h = new(h2conn)
		h.Reset(c.stream.MaxHeader)
	}
	h.l, h.c = l, c
	h.Observer = nil
	if l.c.o.Tap != nil || c.stream.observer != nil {
		h.Observer = h.look
	}
	c.h2 = h
	h.Open()
}

// endH2 takes HTTP/2 away from a connection that is over.
func (l *loop) endH2(c *conn) {
	h := c.h2
	if h == nil {
		return
	}
	c.h2 = nil
	h.c = nil
	if h.feeding {
		h.End(h) // Feed, which called us, stops
		return
	}
	l.spareH2 = append(l.spareH2, h)
}

// look shows a piece of a reply to those who look at it.
func (h *h2conn) look(ref uint64, part http2.Part, b []byte) {
	k := h.find(ref)
	if k == nil {
		return
	}
	p := HeaderPart
	switch part {
	case http2.Body:
		p = BodyPart
	case http2.Trailer:
		p = TrailerPart
	}
	if h.l.c.o.Tap != nil {
		h.l.c.o.Tap.Reply(k.serial, p, b, false)
	}
	if o := h.c.stream.observer; o != nil {
		if k.kept == nil {
			k.kept = &kept{whole: o.Body()}
		}
		k.kept.add(p, b)
	}
}

// find returns the call that Send was told about as ref, nil if it is no more.
func (h *h2conn) find(ref uint64) *call {
	if i := h.index(ref); i >= 0 {
		return &h.c.calls[i]
	}
	return nil
}

// index returns its place. Replies mostly come in the order of the requests.
func (h *h2conn) index(ref uint64) int {
	if h.c == nil {
		return -1
	}
	for i := h.c.head; i < h.c.unsent; i++ {
		if h.c.calls[i].ref == ref {
			return i
		}
	}
	return -1
}

// room returns how many more calls a pooled connection can take.
func (h *h2conn) room() int {
	switch {
	case h.going:
		return 0
	case !h.known:
		return 1 - (len(h.c.calls) - h.c.head)
	}
	most := min(h.Room()+h.Streams(), h.c.stream.MaxStreams)
	return most - (len(h.c.calls) - h.c.head)
}

// flushH2 sends what has not been sent, as far as the peer takes more streams: one
// until it has said how many, as those beyond would be refused.
func (l *loop) flushH2(c *conn, now time.Duration) {
	h, st := c.h2, c.stream
	for !h.going && c.unsent < len(c.calls) && (h.known || c.unsent == c.head) {
		k := &c.calls[c.unsent]
		before := len(h.Out)
		h.serial++
		id, whole := h.Send(k.h2, h.serial)
		if id == 0 {
			break
		}
		k.id, k.ref, k.size = id, h.serial, len(h.Out)-before
		if k.started == 0 {
			l.starts(c, k, now)
		}
		if k.end = h.sent + int64(len(h.Out)); !whole {
			k.end = waitsForWindow
			h.waiting++
		}
		c.unsent++
	}
	if h.feeding {
		return
	}
	for h.off < len(h.Out) {
		n, class := l.io.write(c, h.Out[h.off:])
		switch {
		case class == sampler.OK && n == 0:
			if t := st.Timeouts.Send; t > 0 && c.timer.queue != int32(st.id*numKinds+sendKind) {
				l.arm(c, sendKind, now+t)
			}
			l.written(c, l.now())
			return
		case class != sampler.OK:
			gen := c.gen
			l.io.drain(c)
			if c.gen == gen {
				l.hungUp(c, class, l.now())
			}
			return
		}
		l.rec.Bytes(st.id, c.warmup, n, 0)
		h.off += n
	}
	h.sent += int64(len(h.Out))
	h.Out, h.off = h.Out[:0], 0
	sending := c.timer.queue == int32(st.id*numKinds+sendKind)
	switch waits := c.head == c.unsent && c.unsent < len(c.calls); {
	case sending && !waits:
		l.drop(&c.timer)
	case waits && !sending && st.Timeouts.Send > 0:
		// The peer takes no streams at all.
		l.arm(c, sendKind, now+st.Timeouts.Send)
	}
	l.written(c, l.now())
	if h.going && c.head == c.unsent {
		l.gone(c, now)
	}
}

// written notes which requests are sent whole.
func (l *loop) written(c *conn, now time.Duration) {
	h, st := c.h2, c.stream
	end := h.sent + int64(h.off)
	for i := c.unsent - 1; i >= c.head; i-- {
		k := &c.calls[i]
		if k.sent != 0 || k.end > end {
			if k.sent != 0 && h.waiting == 0 {
				break // and so were those before it
			}
			continue
		}
		k.sent = now
		l.rec.Requested(st.id, c.warmup, k.size, now)
		if l.c.o.Tap != nil {
			k.serial = l.c.calls.Add(1) - 1
			l.c.o.Tap.Request(k.serial, k.bytes)
		}
	}
	l.await(c)
}

// await bounds the reply to the oldest request that was sent. The timer is left
// alone when that is answered: late looks what is late.
func (l *loop) await(c *conn) {
	t := c.stream.Timeouts.Reply
	if t <= 0 || c.timer.queue != idle {
		return
	}
	for i := c.head; i < c.unsent; i++ {
		if s := c.calls[i].sent; s > 0 {
			l.arm(c, replyKind, s+t)
			return
		}
	}
}

// late ends the oldest call on c if its reply is late, and goes on waiting for the
// next one.
func (l *loop) late(c *conn, now time.Duration) {
	for i := c.head; i < c.unsent; i++ {
		k := &c.calls[i]
		if k.sent == 0 {
			continue
		}
		if k.sent+c.stream.Timeouts.Reply <= now {
			gen := c.gen
			l.failCall(c, i, sampler.ReplyTimeout, now)
			if c.gen != gen {
				return
			}
			l.flush(c, now)
		}
		break
	}
	if c.h2 != nil {
		l.await(c)
	}
}

// feedH2 takes what was read.
func (l *loop) feedH2(c *conn, b []byte, now time.Duration) {
	h, gen := c.h2, c.gen
	h.now, h.feeding = now, true
	err := h.Feed(b, h)
	h.feeding = false
	if h.c == nil {
		l.spareH2 = append(l.spareH2, h) // it ended meanwhile
		return
	}
	l.flush(c, now)
	if err != nil && c.gen == gen {
		l.hungUp(c, sampler.Protocol, now)
	}
}

// Begun implements http2.Events.
func (h *h2conn) Begun(ref uint64) {
	if k := h.find(ref); k != nil && k.first == 0 {
		k.first = h.now
	}
}

// Sent implements http2.Events.
func (h *h2conn) Sent(ref uint64) {
	if k := h.find(ref); k != nil {
		k.end = h.sent + int64(len(h.Out))
		h.waiting--
	}
}

// Reply implements http2.Events.
func (h *h2conn) Reply(ref uint64, r *http2.Reply) {
	i := h.index(ref)
	if i < 0 {
		return
	}
	l, c, now := h.l, h.c, h.now
	k := c.calls[i]
	if k.first == 0 {
		k.first = now
	}
	s := sampler.Sample{
		Status: r.Status, Interim: r.Informational,
		Header: r.HeaderBytes, Body: r.BodyBytes, Trailer: r.TrailerBytes, Framing: r.FramingBytes,
	}
	l.remove(c, i)
	l.answered(c, &k, &s, now)
	j := k.job
	if l.unwanted(j) {
		l.again(c, false, now)
	} else {
		l.goOn(j, now)
	}
	if h.c == nil {
		return
	}
	if c.job == nil {
		l.offer(c, now)
	} else if h.going && c.head == len(c.calls) {
		l.gone(c, now)
	}
}

// remove takes call i off c.
func (l *loop) remove(c *conn, i int) {
	if c.calls[i].end == waitsForWindow {
		c.h2.waiting--
	}
	if i < c.unsent {
		c.unsent--
	}
	if i == c.head {
		c.head++
		c.unsent++
	} else {
		c.calls = append(c.calls[:i], c.calls[i+1:]...)
	}
	if c.head == len(c.calls) {
		c.calls, c.head, c.unsent = c.calls[:0], 0, 0
	}
}

// Failed implements http2.Events.
func (h *h2conn) Failed(ref uint64, f http2.Failure) {
	i := h.index(ref)
	if i < 0 {
		return
	}
	class := sampler.ClosedEarly
	switch {
	case f.Kind == http2.Refused && f.Code == h2.ErrCodeRefusedStream:
		class = sampler.H2Refused
	case f.Kind == http2.Refused:
		class = sampler.H2Goaway
	case f.Kind == http2.Reset:
		class = sampler.H2Reset
	case f.Kind == http2.Malformed:
		class = sampler.Protocol
	}
	c := h.c
	h.l.failCall(c, i, class, h.now)
	if h.c != nil && c.job == nil {
		h.l.offer(c, h.now)
	}
}

// failCall ends the arrival of a call on c, and c with it unless others share it.
// A session makes a call that the peer has not touched again.
func (l *loop) failCall(c *conn, i int, class sampler.Class, now time.Duration) {
	j := c.calls[i].job
	if c.job == nil {
		l.abort(j, class, now)
		return
	}
	if untouched := class == sampler.H2Refused || class == sampler.H2Goaway; !untouched || c.stream.Sessions == nil || j.failures >= maxFailures {
		l.fail(c, class, now)
		return
	}
	j.failures++
	j.retries++
	k := c.calls[i]
	l.remove(c, i)
	k.started, k.sent, k.first, k.end = 0, 0, 0, 0
	j.pending = append(j.pending, k)
	if class == sampler.H2Goaway {
		c.h2.going = true // which the peer is about to say
	}
	l.refill(j, now)
}

// Goaway implements http2.Events.
func (h *h2conn) Goaway(code h2.ErrCode, last uint32) {
	h.going, h.code = true, code
	c := h.c
	if c == nil {
		return
	}
	if c.job == nil {
		h.l.leaveIdle(c)
	}
	if c.head == c.unsent {
		h.l.gone(c, h.now)
	}
}

// gone ends a connection on which the peer takes nothing more and nothing is open.
func (l *loop) gone(c *conn, now time.Duration) {
	class := sampler.OK
	if c.h2.code != h2.ErrCodeNo {
		class = sampler.H2Goaway
	}
	l.hungUp(c, class, now)
}

// Settings implements http2.Events.
func (h *h2conn) Settings() {
	h.known = true
	if h.c != nil && h.c.job == nil {
		h.l.offer(h.c, h.now)
	}
}

// offer lets a pooled connection take arrivals that wait, and others later while it
// has room.
func (l *loop) offer(c *conn, now time.Duration) {
	st, h := c.stream, c.h2
	for h.c != nil && h.room() > 0 {
		a, ok := st.backlog.pop()
		if !ok {
			break
		}
		l.share(c, a, now)
	}
	if h.c == nil {
		return
	}
	if h.room() > 0 {
		l.joinIdle(c)
		return
	}
	l.leaveIdle(c)
	if h.going && c.head == len(c.calls) {
		l.gone(c, now)
	}
}

// share starts an arrival on a connection that others share.
func (l *loop) share(c *conn, a arrival, now time.Duration) {
	j := l.begin(c.stream, a, now, now-a.taken)
	j.slot = c.stream.slots > 0
	j.via, j.viaGen = c, c.gen
	if d := c.stream.Timeouts.Deadline; d > 0 && now-a.intended >= d {
		l.abort(j, sampler.Deadline, now)
		return
	}
	l.next(j, nil, now)
}

// withdraw takes the calls of j off the connection that it shares, and returns how
// many of them were sent.
func (l *loop) withdraw(j *job) (sent int) {
	c := j.via
	if c == nil || c.gen != j.viaGen {
		return 0
	}
	for i := c.head; i < len(c.calls); {
		k := &c.calls[i]
		if k.job != j {
			i++
			continue
		}
		if k.sent > 0 {
			sent++
		}
		if i < c.unsent {
			c.h2.Cancel(k.id)
		}
		l.giveBack(k)
		head := c.head
		l.remove(c, i)
		i += c.head - head
		if len(c.calls) == 0 {
			break
		}
	}
	return sent
}

// dropShared ends a connection that arrivals share, and them with it.
func (l *loop) dropShared(c *conn, class sampler.Class, now time.Duration) {
	l.leaveIdle(c)
	gen := c.gen
	for c.gen == gen && c.head < len(c.calls) {
		k := &c.calls[c.head]
		why := class
		if why == sampler.OK {
			why = sampler.ClosedEarly
			if c.head >= c.unsent {
				why = sampler.H2Goaway // of a peer that says so in good time
			}
		}
		l.abort(k.job, why, now)
	}
	if c.gen == gen {
		l.lose(c, now)
	}
}
