package main

import (
	"syscall"
	"time"

	"httpgen/internal/poll"
)

// inARow is how many arrivals may start before events are looked at again.
const inARow = 16

type state uint8

const (
	connecting state = iota
	waiting          // for the reply
	ended
)

type conn struct {
	intended time.Duration
	state    state
}

// opener is the state of the open loop.
type opener struct {
	*config
	*outcome
	p        *poll.Poller
	conns    []conn // by descriptor
	buf      []byte
	started  int // connections
	inflight int
	next     time.Duration // intended start of the next one
}

// open starts count connections at the rate and waits for the end of all.
func (c *config) open(p *poll.Poller, o *outcome) error {
	l := &opener{config: c, outcome: o, p: p, conns: make([]conn, maxConns), buf: make([]byte, 1<<16)}
	events := make([]poll.Event, 512)
	period := float64(time.Second) / c.rate
	t0 := now() + 10*time.Millisecond
	l.next = t0
	for l.started < c.count || l.inflight > 0 {
		for k := 0; k < inARow && l.started < c.count && l.next <= now(); k++ {
			l.start()
			l.started++
			l.next = t0 + time.Duration(float64(l.started)*period)
		}
		wait := 100 * time.Millisecond
		if l.started < c.count {
			wait = l.next - now() - c.spin
		}
		n, e := p.Wait(events, wait)
		if e != 0 {
			return e
		}
		for i := range events[:n] {
			l.handle(int(poll.Data(&events[i])), events[i].Events)
		}
	}
	o.took = now() - t0
	return nil
}

func (l *opener) start() {
	fd, e := poll.Socket(&l.server)
	if e != 0 {
		l.failed++
		return
	}
	if l.reset {
		poll.SetReset(fd)
	}
	if n := len(l.sources); n > 0 {
		poll.SetBindNoPort(fd)
		poll.Bind(fd, &l.sources[l.started%n])
	}
	l.conns[fd] = conn{intended: l.next}
	l.lag = append(l.lag, now()-l.next)
	e = poll.Connect(fd, &l.server)
	l.inflight++
	if e != 0 && e != syscall.EINPROGRESS {
		l.fail(fd)
		return
	}
	if e := l.p.Add(fd, uint64(fd)); e != 0 {
		l.fail(fd)
	}
}

func (l *opener) handle(fd int, bits uint32) {
	c := &l.conns[fd]
	if c.state == connecting && bits&poll.Out != 0 && bits&poll.Err == 0 {
		poll.Write(fd, l.request)
		c.state = waiting
	}
	switch {
	case c.state == waiting && bits&poll.In != 0:
		n, e := poll.Read(fd, l.buf)
		switch {
		case e == syscall.EAGAIN:
		case e == 0 && n > 0:
			l.latency = append(l.latency, now()-c.intended)
			l.end(fd)
		default:
			l.fail(fd)
		}
	case c.state != ended && bits&(poll.Err|poll.Hup) != 0:
		l.fail(fd)
	}
}

func (l *opener) fail(fd int) {
	l.failed++
	l.end(fd)
}

func (l *opener) end(fd int) {
	poll.Close(fd)
	l.conns[fd].state = ended
	l.inflight--
}
