package client

import (
	"time"

	"httpgen/sampler"
)

// The kinds of timers. A connection has at most one of the first three and one
// deadline.
const (
	connectKind = iota
	sendKind
	replyKind
	deadlineKind
	numKinds
)

var timeoutClass = [numKinds]sampler.Class{
	connectKind:  sampler.ConnectTimeout,
	sendKind:     sampler.SendTimeout,
	replyKind:    sampler.ReplyTimeout,
	deadlineKind: sampler.Deadline,
}

// slot returns which of a connection's timers serves a kind.
func slot(kind int) int {
	if kind == deadlineKind {
		return 1
	}
	return 0
}

// arm sets c's timer of that kind, instead of the one that it replaces.
func (l *loop) arm(c *conn, kind int, at time.Duration) {
	s := slot(kind)
	l.drop(c, s)
	id := c.stream.id*numKinds + kind
	q := &l.queues[id]
	t := &c.timers[s]
	t.at, t.queue = at, int32(id)
	after := q.last
	for after != none && l.at(after).timers[s].at > at {
		after = l.at(after).timers[s].prev
	}
	t.prev = after
	if after == none {
		t.next, q.first = q.first, c.self
	} else {
		a := &l.at(after).timers[s]
		t.next, a.next = a.next, c.self
	}
	if t.next == none {
		q.last = c.self
	} else {
		l.at(t.next).timers[s].prev = c.self
	}
	l.nextTimer = min(l.nextTimer, at)
}

// drop takes c's timer out of its queue.
func (l *loop) drop(c *conn, s int) {
	t := &c.timers[s]
	if t.queue == idle {
		return
	}
	q := &l.queues[t.queue]
	if t.prev == none {
		q.first = t.next
	} else {
		l.at(t.prev).timers[s].next = t.next
	}
	if t.next == none {
		q.last = t.prev
	} else {
		l.at(t.next).timers[s].prev = t.prev
	}
	t.queue = idle
}

// expire ends the calls whose time is over at now.
func (l *loop) expire(now time.Duration) {
	for i := range l.queues {
		kind := i % numKinds
		for q := &l.queues[i]; q.first != none; {
			c := l.at(q.first)
			if c.timers[slot(kind)].at > now {
				break
			}
			l.drop(c, slot(kind))
			l.fail(c, timeoutClass[kind], now)
		}
	}
	l.nextTimer = never
	for i := range l.queues {
		if f := l.queues[i].first; f != none {
			l.nextTimer = min(l.nextTimer, l.at(f).timers[slot(i%numKinds)].at)
		}
	}
}
