package client

import (
	"time"

	"httpgen/sampler"
)

// The kinds of timers. A connection has at most one of the first three, an arrival
// one deadline.
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

// timer returns the timer of that kind: deadlines belong to jobs, the others to
// connections.
func (l *loop) timer(kind int, id int32) *timer {
	if kind == deadlineKind {
		return &l.job(id).timer
	}
	return &l.at(id).timer
}

// arm sets c's timer to that kind, instead of the one that it replaces.
func (l *loop) arm(c *conn, kind int, at time.Duration) {
	l.set(&c.timer, c.self, c.stream.id, kind, at)
}

// armDeadline sets j's deadline.
func (l *loop) armDeadline(j *job, at time.Duration) {
	l.set(&j.timer, j.self, j.stream.id, deadlineKind, at)
}

// set puts t, the timer of id, into the queue of a stream's kind.
func (l *loop) set(t *timer, id int32, stream, kind int, at time.Duration) {
	l.drop(t)
	t.at, t.queue = at, int32(stream*numKinds+kind)
	q := &l.queues[t.queue]
	after := q.last
	for after != none && l.timer(kind, after).at > at {
		after = l.timer(kind, after).prev
	}
	t.prev = after
	if after == none {
		t.next, q.first = q.first, id
	} else {
		a := l.timer(kind, after)
		t.next, a.next = a.next, id
	}
	if t.next == none {
		q.last = id
	} else {
		l.timer(kind, t.next).prev = id
	}
	l.nextTimer = min(l.nextTimer, at)
}

// drop takes t out of its queue.
func (l *loop) drop(t *timer) {
	if t.queue == idle {
		return
	}
	q := &l.queues[t.queue]
	kind := int(t.queue) % numKinds
	if t.prev == none {
		q.first = t.next
	} else {
		l.timer(kind, t.prev).next = t.next
	}
	if t.next == none {
		q.last = t.prev
	} else {
		l.timer(kind, t.next).prev = t.prev
	}
	t.queue = idle
}

// expire ends the calls whose time is over at now.
func (l *loop) expire(now time.Duration) {
	for i := range l.queues {
		kind := i % numKinds
		for q := &l.queues[i]; q.first != none; {
			id := q.first
			t := l.timer(kind, id)
			if t.at > now {
				break
			}
			l.drop(t)
			switch {
			case kind == deadlineKind:
				l.abort(l.job(id), sampler.Deadline, now)
			case kind == replyKind && l.at(id).h2 != nil:
				l.late(l.at(id), now)
			default:
				l.fail(l.at(id), timeoutClass[kind], now)
			}
		}
	}
	l.nextTimer = never
	for i := range l.queues {
		if f := l.queues[i].first; f != none {
			l.nextTimer = min(l.nextTimer, l.timer(i%numKinds, f).at)
		}
	}
}
