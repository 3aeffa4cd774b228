package main

import (
	"bytes"
	"fmt"
	"syscall"
	"time"

	"httpgen/internal/poll"
)

// call is the call under way on a kept-open connection.
type call struct {
	sent time.Duration
	need int // bytes of the reply still to come; unread before its header is complete
}

const unread = -1

// caller is the state of the closed loop.
type caller struct {
	*config
	*outcome
	calls []call // by descriptor
	buf   []byte
}

// keepAlive makes calls, one after another on each of the connections.
func (c *config) keepAlive(p *poll.Poller, o *outcome) error {
	l := &caller{config: c, outcome: o, calls: make([]call, maxConns), buf: make([]byte, 1<<16)}
	events := make([]poll.Event, 128)
	for range c.closed {
		fd, e := poll.Socket(&c.server)
		if e == 0 {
			e = poll.Connect(fd, &c.server)
		}
		if e == syscall.EINPROGRESS {
			e = 0
		}
		if e == 0 {
			e = p.Add(fd, uint64(fd))
		}
		if e != 0 {
			return fmt.Errorf("connection: %w", e)
		}
	}
	start := now()
	for now() < start+c.length {
		n, e := p.Wait(events, 100*time.Millisecond)
		if e != 0 {
			return e
		}
		for i := range events[:n] {
			if err := l.handle(int(poll.Data(&events[i])), events[i].Events); err != nil {
				return err
			}
		}
	}
	o.took = now() - start
	return nil
}

func (l *caller) handle(fd int, bits uint32) error {
	c := &l.calls[fd]
	if c.sent == 0 {
		if e := poll.SocketError(fd); e != 0 {
			return fmt.Errorf("connect: %w", e)
		}
		l.send(fd)
		return nil
	}
	if bits&poll.In == 0 {
		return nil
	}
	n, e := poll.Read(fd, l.buf)
	if e == syscall.EAGAIN {
		return nil
	}
	if e != 0 || n == 0 {
		return fmt.Errorf("the server ended a kept-open connection (%d bytes, error %d)", n, e)
	}
	if c.need == unread {
		need, err := length(l.buf[:n])
		if err != nil {
			return err
		}
		c.need = need
	}
	if c.need -= n; c.need <= 0 {
		l.latency = append(l.latency, now()-c.sent)
		l.send(fd)
	}
	return nil
}

func (l *caller) send(fd int) {
	l.calls[fd] = call{now(), unread}
	poll.Write(fd, l.request)
}

var (
	headerEnd  = []byte("\r\n\r\n")
	bodyLength = []byte("Content-Length: ")
)

// length returns how long the reply is that begins with b, the header included.
// It is no parser: the header must be whole and spelt as nginx does.
func length(b []byte) (int, error) {
	h := bytes.Index(b, headerEnd)
	if h < 0 {
		return 0, fmt.Errorf("the first %d bytes of a reply have no whole header", len(b))
	}
	l := bytes.Index(b[:h], bodyLength)
	if l < 0 {
		return 0, fmt.Errorf("the reply %q has no Content-Length", b[:h])
	}
	n := 0
	for _, d := range b[l+len(bodyLength) : h+1] {
		if d < '0' || d > '9' {
			break
		}
		n = n*10 + int(d-'0')
	}
	return h + len(headerEnd) + n, nil
}
