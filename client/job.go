package client

import (
	"time"

	"httpgen/sampler"
)

// A job is one arrival on its way: its session, and the connections that carry
// it. A plain arrival has one connection; a session may have several and live on
// when one ends.
type job struct {
	session Session
	stream  *stream
	first   *conn // its connections, in the order in which they were opened
	via     *conn // or a connection that it shares with others
	timer   timer // the deadline of the call or burst under way
	self    int32
	gen     uint32
	viaGen  uint32 // of via

	bound  bool // counts against the bound of arrivals in flight
	warmup bool
	slot   bool // holds a slot of a closed model
	asleep bool // between two calls
	busy   bool // under way; else it was given back

	queued   *Request // to be sent when it awakes
	index    uint64
	intended time.Duration
	started  time.Duration
	outcome  sampler.Class // first failure so far
	open     int           // calls asked for and not answered
	replied  int
	retries  int
	failures int    // of connections in a row, since the last reply
	conns    int    // connections it has
	stood    int    // connections that were established for it
	pending  []call // calls that no connection has room for
}

// allocJob returns an unused job.
func (l *loop) allocJob(st *stream) *job {
	i := l.jobs.take()
	j := l.job(i)
	*j = job{self: i, gen: j.gen + 1, stream: st, busy: true, pending: j.pending[:0]}
	j.timer.queue = idle
	return j
}

func (l *loop) job(i int32) *job { return l.jobs.at(i) }

// begin starts an arrival and records it. A negative wait is none.
func (l *loop) begin(st *stream, a arrival, now, wait time.Duration) *job {
	j := l.allocJob(st)
	l.progress, l.lastStart = now, now
	j.warmup = l.warm(a.intended)
	j.index, j.intended, j.started = a.index, a.intended, now
	j.session = Session{Index: a.index}
	st.Workload.Begin(a.index, &j.session)
	l.active++
	l.rec.Start(st.id, j.warmup, a.intended, a.taken, now, wait, a.late)
	if st.pool == 0 && wait > sampler.MaxBehind {
		l.rec.Behind(st.id, j.warmup)
	}
	if d := st.Timeouts.Deadline; d > 0 {
		l.armDeadline(j, a.intended+d)
	}
	return j
}

// attach gives c to j.
func (l *loop) attach(j *job, c *conn) {
	c.job, c.sibling, c.warmup = j, nil, j.warmup
	j.retries += int(c.retries)
	c.retries = 0
	at := &j.first
	for *at != nil {
		at = &(*at).sibling
	}
	*at = c
	j.conns++
	if c.established {
		j.stood++
	}
}

// detach takes c away from its job.
func (l *loop) detach(c *conn) {
	j := c.job
	for at := &j.first; *at != nil; at = &(*at).sibling {
		if *at == c {
			*at = c.sibling
			break
		}
	}
	j.conns--
	c.job, c.sibling = nil, nil
}

// openFor gives j one more connection, which is not dialed yet.
func (l *loop) openFor(j *job) *conn {
	c := l.alloc(j.stream)
	c.server = int32(j.session.Server)
	c.addr = int32(j.stream.addrs[c.server])
	l.attach(j, c)
	return c
}

// next asks the workload what comes after last and sends it, or ends the
// arrival.
func (l *loop) next(j *job, last *Reply, now time.Duration) {
	if l.stopped && last != nil {
		l.quit(j, now)
		return
	}
	req, wait, ok := j.stream.Workload.Next(&j.session, last)
	if !ok {
		l.finish(j, true, now)
		return
	}
	if wait > 0 {
		j.queued, j.asleep = req, true
		l.sleep.push(waiting{now + wait, j.self, j.gen})
		return
	}
	intended := now
	if last == nil {
		intended = j.intended
	}
	l.issue(j, req, intended, now)
}

// awake goes on with an arrival whose time between two calls is over.
func (l *loop) awake(w waiting, now time.Duration) {
	j := l.job(w.job)
	if j.gen != w.gen || !j.asleep {
		return
	}
	j.asleep = false
	if l.stopped {
		l.quit(j, now)
		return
	}
	if c := j.via; c != nil && c.gen != j.viaGen {
		l.finish(j, false, now) // the connection that it shared has ended meanwhile
		return
	}
	l.issue(j, j.queued, w.at, now)
}

// issue sends a request and those that follow at once.
func (l *loop) issue(j *job, req *Request, intended, now time.Duration) {
	for {
		l.ask(j, req, intended)
		if !j.session.More {
			break
		}
		var ok bool
		if req, _, ok = j.stream.Workload.Next(&j.session, nil); !ok {
			break
		}
	}
	if d := j.stream.Timeouts.Deadline; d > 0 {
		l.armDeadline(j, intended+d)
	}
	l.send(j, now)
}

// ask gives j one more call.
func (l *loop) ask(j *job, req *Request, intended time.Duration) {
	k := call{req: req, job: j, bytes: req.bytes, h2: req.h2, intended: intended}
	if req.parts != nil {
		l.fill(&k)
	}
	j.session.Seq++
	j.open++
	if !l.place(j, &k) {
		j.pending = append(j.pending, k)
	}
}

// fill puts numbers in the place of k's placeholders.
func (l *loop) fill(k *call) {
	req := k.req
	k.bytes = l.expand(req, &k.job.session)
	if req.h2 == nil {
		return
	}
	// A number in the place of a placeholder is no reason to refuse it.
	if r, err := h2Form(k.bytes, len(k.bytes)-(len(req.bytes)-req.end), req.scheme); err == nil {
		k.h2 = r
	}
}

// place gives a call to the first connection of j that has room for it, as
// httperf does, and says whether there is one.
func (l *loop) place(j *job, k *call) bool {
	s := j.stream.Sessions
	if c := j.via; c != nil && c.gen == j.viaGen {
		c.add(k)
		return true
	}
	for c := j.first; c != nil; c = c.sibling {
		if c.h2 != nil && c.h2.going {
			continue
		}
		if s == nil || len(c.calls)-c.head < s.MaxPiped {
			c.add(k)
			return true
		}
	}
	if s == nil || j.conns >= s.MaxConns && !j.departing() {
		return false
	}
	l.openFor(j).add(k)
	return true
}

// departing says whether a connection of j takes no further calls.
func (j *job) departing() bool {
	for c := j.first; c != nil; c = c.sibling {
		if c.h2 != nil && c.h2.going {
			return true
		}
	}
	return false
}

// send sends what was placed, and dials the connections that were added.
func (l *loop) send(j *job, now time.Duration) {
	gen := j.gen
	if c := j.via; c != nil && c.gen == j.viaGen {
		l.flush(c, now)
		return
	}
	for c := j.first; c != nil && c.job == j && j.gen == gen; {
		next := c.sibling
		switch {
		case !c.open:
			l.dial(c, now)
		case c.established && c.unsent < len(c.calls):
			l.flush(c, now)
		}
		c = next
	}
}

// refill places calls that wait for room.
func (l *loop) refill(j *job, now time.Duration) {
	n := 0
	for n < len(j.pending) && l.place(j, &j.pending[n]) {
		n++
	}
	if n > 0 {
		j.pending = j.pending[:copy(j.pending, j.pending[n:])]
		l.send(j, now)
	}
}

// goOn continues j after a reply or the loss of a connection.
func (l *loop) goOn(j *job, now time.Duration) {
	switch {
	case len(j.pending) > 0:
		l.refill(j, now)
	case j.open > 0 || j.asleep:
	case j.replied == 0:
		l.next(j, nil, now)
	default:
		l.next(j, &l.last, now)
	}
}

// finish ends an arrival whose session is over, or a plain one whose connection
// the server has closed. keep says that the connection may be used again.
func (l *loop) finish(j *job, keep bool, now time.Duration) {
	st := j.stream
	c := j.first
	l.end(j, j.outcome, false, now)
	switch {
	case j.via != nil:
		slot := j.slot
		l.retire(j)
		if slot {
			l.restartPooled(st, now)
		}
		return
	case keep && c != nil && c.pooled:
		l.detach(c)
		l.retire(j)
		l.release(c, now)
		return
	}
	if !keep || !j.slot || !st.KeepOpen {
		l.leave(j, now)
		return
	}
	a, ok := l.nextClosed(st, now)
	if !ok {
		j.slot = false
		l.leave(j, now)
		return
	}
	l.detach(c)
	l.retire(j)
	l.c.inflight.Add(1)
	j = l.begin(st, a, now, -1)
	j.slot, j.bound = true, true
	l.attach(j, c)
	l.next(j, nil, now)
}

// leave closes the connections of a job that was ended, and gives it back.
func (l *loop) leave(j *job, now time.Duration) {
	st, slot := j.stream, j.slot
	for c := j.first; c != nil; c = j.first {
		l.detach(c)
		l.lose(c, now)
	}
	l.retire(j)
	if slot {
		st.restart++
	}
}

// quit ends an arrival that would go on, in a run that was stopped. What it has
// not done is unfinished, unless it has done all.
func (l *loop) quit(j *job, now time.Duration) {
	if j.replied == j.session.Planned+j.session.Extra {
		l.finish(j, true, now)
		return
	}
	l.end(j, sampler.OK, true, now)
	l.leave(j, now)
}

// retire gives back a job without connections.
func (l *loop) retire(j *job) {
	j.gen++
	j.busy = false
	l.jobs.give(j.self)
}

// fail ends the arrival that c carries with an error, or lets it try again.
func (l *loop) fail(c *conn, class sampler.Class, now time.Duration) {
	st, j := c.stream, c.job
	if j == nil && c.h2 != nil {
		l.dropShared(c, class, now)
		return
	}
	if j == nil {
		// A pooled connection that could not be opened: the arrival that has
		// waited longest bears it.
		a, ok := st.backlog.pop()
		if !ok {
			l.lose(c, now)
			return
		}
		j = l.begin(st, a, now, now-a.taken)
		l.attach(j, c)
	}
	if s := st.Sessions; s != nil && s.Retry && class != sampler.Deadline && j.failures < maxFailures {
		j.failures++
		l.resume(c, now)
		return
	}
	l.abort(j, class, now)
}

// maxFailures is how many connections of a session may fail in a row, where
// calls are repeated: against a server that never answers that must end.
const maxFailures = 10

// abort ends an arrival with an error.
func (l *loop) abort(j *job, class sampler.Class, now time.Duration) {
	if j.outcome != sampler.OK {
		class = j.outcome
	}
	l.end(j, class, false, now)
	l.leave(j, now)
}

// resume goes on with a session without its connection c. The calls that were
// not answered there take another one.
func (l *loop) resume(c *conn, now time.Duration) {
	j := c.job
	left := c.calls[c.head:]
	n := len(j.pending)
	j.pending = append(j.pending, left...)
	copy(j.pending[len(left):], j.pending[:n])
	copy(j.pending, left)
	for i := range left {
		k := &j.pending[i]
		if i < c.unsent-c.head || i == c.unsent-c.head && c.offset > 0 {
			j.retries++
		}
		k.started, k.sent, k.first, k.end = 0, 0, 0, 0
	}
	c.calls, c.head, c.unsent, c.offset = c.calls[:0], 0, 0, 0
	l.detach(c)
	gen := j.gen
	l.lose(c, now)
	if j.gen == gen {
		l.goOn(j, now)
	}
}

// sentCalls returns how many calls on c were sent whole and wait for their reply.
func (c *conn) sentCalls() (n int) {
	if c.h2 == nil {
		return max(0, c.unsent-c.head)
	}
	for i := c.head; i < c.unsent; i++ {
		if c.calls[i].sent > 0 {
			n++
		}
	}
	return n
}

// end records the end of an arrival.
func (l *loop) end(j *job, outcome sampler.Class, unfinished bool, now time.Duration) {
	st := j.stream
	sent := 0
	sent += l.withdraw(j)
	for c := j.first; c != nil; c = c.sibling {
		sent += c.sentCalls()
		l.forget(c)
		l.drop(&c.timer)
	}
	for i := range j.pending {
		l.giveBack(&j.pending[i])
	}
	j.pending = j.pending[:0]
	planned := max(j.session.Planned+j.session.Extra, j.replied+sent)
	a := sampler.Arrival{
		Stream: st.id, Warmup: j.warmup, Index: j.index, Intended: j.intended, Started: j.started, Ended: now,
		Outcome: outcome, Unfinished: unfinished, Planned: planned, Replied: j.replied,
		Unanswered: sent, Unsent: planned - j.replied - sent, Retries: j.retries,
		Session: st.Sessions != nil, Conns: j.stood,
	}
	l.rec.Arrival(&a)
	l.drop(&j.timer)
	if j.bound {
		l.c.leave()
	}
	j.asleep = false
	l.active--
	l.ended = max(l.ended, now)
}
