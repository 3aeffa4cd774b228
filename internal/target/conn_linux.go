package target

import (
	"syscall"

	"httpgen/internal/poll"
)

// keptBuffer bounds the memory in bytes that a connection keeps for its next
// incomplete request.
const keptBuffer = 4 << 10

// A conn is one connection. The zero value but for ref is a closed one.
type conn struct {
	ref      ref
	fd       int
	source   *source
	state    connState
	readable bool    // there may be something to read
	ended    bool    // the client sends no more: after what there is comes the end
	holds    bool    // AcceptLate: it has a worker, but sent no request yet
	owed     bool    // a request has been read and is not answered
	inBody   bool    // the request's head has been read, its body has not
	rest     int     // bytes that were read behind the request
	req      request // the one being read or answered
	body     body
	buf      []byte // read, not yet understood; nothing while there is nothing
	out      []byte // the part of a reply that the kernel did not take yet
}

type connState uint8

const (
	closed    connState = iota
	reading             // waits for a request
	waiting             // its request waits for its service
	serving             // its request is served
	writing             // the kernel's buffer is full of its reply
	lingering           // the last reply is written, what still comes is thrown away
)

// event handles what epoll said of c:
//   - an error or a hang-up: nobody is left to answer;
//   - output: the rest of a reply, before anything new is read;
//   - input or the client's end: read, unless a request is being answered.
//     Then it stays noted until the reply has been written.
func (l *loop) event(c *conn, bits uint32) {
	if bits&(poll.Err|poll.Hup) != 0 {
		l.drop(c)
		return
	}
	if bits&(poll.In|poll.RdHup) != 0 {
		c.readable = true
		c.ended = c.ended || bits&poll.RdHup != 0
	}
	if bits&poll.Out != 0 && c.state == writing {
		l.flush(c)
		l.resume(c)
		return
	}
	l.input(c)
}

// resume goes on with c after a reply that did not follow its request at once.
func (l *loop) resume(c *conn) {
	if c.state == reading && len(c.buf) > 0 {
		l.consume(c, c.buf)
	}
	l.input(c)
}

// input reads from c while it wants a request, at most one buffer full.
func (l *loop) input(c *conn) {
	for c.readable && (c.state == reading || c.state == lingering) {
		n, e := poll.Read(c.fd, l.in)
		if e == syscall.EAGAIN {
			c.readable = false
			return
		}
		if e != 0 || n == 0 {
			l.drop(c)
			return
		}
		c.source.BytesIn += uint64(n)
		// A short read has emptied the socket: the next byte is a new event,
		// but an end that was announced is not.
		full := n == len(l.in)
		c.readable = full || c.ended
		data := l.in[:n]
		if len(c.buf) > 0 {
			c.buf = append(c.buf, data...)
			data = c.buf
		}
		l.consume(c, data)
		if full && c.state != closed {
			l.again = append(l.again, c.ref)
			return
		}
	}
}

// consume takes requests from data until one has to wait or data holds no
// whole one. It keeps the rest.
func (l *loop) consume(c *conn, data []byte) {
	for c.state == reading && len(data) > 0 {
		if !c.inBody {
			r, n := parseHead(data)
			if n == 0 && len(data) < maxHead {
				break
			}
			if n <= 0 {
				l.refuse(c)
				break
			}
			data = data[n:]
			c.req, c.body = r, r.body()
			c.inBody = true
			if r.expects && len(data) == 0 && c.body.state != noBody && !l.askForBody(c) {
				break
			}
		}
		n, ok := c.body.skip(data)
		data = data[n:]
		if !ok {
			l.refuse(c)
			break
		}
		if c.body.state == noBody {
			c.inBody = false
			c.rest = len(data)
			l.arrived(c)
		}
	}
	if c.state == closed {
		return
	}
	if c.state == lingering {
		data = nil
	}
	c.keep(data)
}

// keep stores data, which may be a part of c.buf, for later.
func (c *conn) keep(data []byte) {
	if len(data) == 0 && cap(c.buf) > keptBuffer {
		c.buf = nil
		return
	}
	c.buf = append(c.buf[:0], data...)
}

// askForBody tells a client that waits for it to send its body.
func (l *loop) askForBody(c *conn) bool {
	if l.o.Silent {
		return true
	}
	n, e := poll.Write(c.fd, continueLine)
	c.source.BytesOut += uint64(max(n, 0))
	if e != 0 || n < len(continueLine) {
		l.drop(c)
		return false
	}
	return true
}

// arrived decides what becomes of a complete request.
func (l *loop) arrived(c *conn) {
	c.source.Requests++
	l.letGo(c)
	if l.o.Silent {
		return
	}
	c.owed = true
	if l.gate != nil {
		l.gate.capacity.count(l.now)
	}
	switch {
	case l.gate == nil && l.o.Service.mean == 0:
		l.reply(c, l.ordinary)
	case l.idle():
		l.serve(c)
	case l.o.Queue == 0 || c.source.line.n < l.o.Queue:
		c.state = waiting
		l.lines.push(c.source.line, c.ref)
		l.counts.Waiting++
		l.counts.PeakWaiting = max(l.counts.PeakWaiting, l.counts.Waiting)
	default:
		c.owed = false
		c.source.Rejected++
		if l.o.Overload == Reject {
			l.reply(c, l.busy)
			return
		}
		c.source.Resets++
		poll.SetReset(c.fd)
		l.drop(c)
	}
}

// refuse ends a connection that does not speak HTTP/1.
func (l *loop) refuse(c *conn) {
	c.source.Bad++
	l.letGo(c)
	if l.o.Silent {
		c.state = lingering
		return
	}
	c.req = request{close: true}
	c.rest = 1 // what else it sent cannot be told
	l.reply(c, l.malformed)
}

// reply writes one reply to c.
func (l *loop) reply(c *conn, r *reply) {
	c.req.close = c.req.close || l.o.Close
	c.out = r.to(&c.req)
	l.flush(c)
}

// flush writes what is left of a reply. When that is all, the connection waits
// for the next request or ends.
func (l *loop) flush(c *conn) {
	n, e := poll.Write(c.fd, c.out)
	switch {
	case e == syscall.EAGAIN:
		c.state = writing
		return
	case e != 0:
		l.drop(c)
		return
	}
	c.source.BytesOut += uint64(n)
	if n < len(c.out) {
		c.out = c.out[n:]
		c.state = writing
		return
	}
	c.out = nil
	if c.owed {
		c.owed = false
		c.source.Replies++
	}
	switch {
	case !c.req.close:
		c.state = reading
	case c.rest > 0 || c.readable:
		l.linger(c)
	default:
		l.drop(c)
	}
}

// linger ends our side of a connection whose client may still send. Closing it
// at once would answer that with a reset, which can destroy a reply that the
// client has not read yet.
func (l *loop) linger(c *conn) {
	c.state = lingering
	if poll.ShutdownWrite(c.fd) != 0 {
		l.drop(c)
		return
	}
	l.timers.push(timer{at: l.now + lingerTime, conn: c.ref, kind: lingerEnd})
}
