package client

import (
	"fmt"
	"runtime"
	"time"

	"httpgen/internal/poll"
	"httpgen/sampler"
)

const (
	maxStarts = 16   // arrivals started in a row before sockets are looked at
	poolRate  = 5000 // connections a second at which a loop opens its pools
)

// A loop is the engine for plain HTTP/1: one goroutine on one thread that owns
// everything below.
type loop struct {
	c       *Client
	id      int
	io      engine
	rec     *sampler.Recorder
	streams []stream
	conns   slab[conn]
	jobs    slab[job]
	buffers [][]byte // for requests that are expanded
	spareH2 []*h2conn
	queues  []queue
	sleep   sleepers
	last    Reply // what a workload is shown; here, so that it does not escape

	lastCall call // that last answers, where there are sessions

	epoch     time.Time
	clock     time.Duration // last reading
	nextTimer time.Duration // no queue has a timer before it
	active    int           // arrivals in flight on this loop
	behind    bool          // the last look left arrivals that are due
	started   int           // connections opened in this pass
	stopped   bool
	stopAt    time.Duration
	progress  time.Duration // when a call was started or answered last
	lastStart time.Duration // when an arrival was started last
	stalled   bool          // a closed model was given up
	sentAll   bool          // nothing is left to start
	drainEnd  time.Duration // when waiting ends
	sending   time.Duration // when sending ended
	ended     time.Duration // when the last connection or arrival ended
	over      bool          // the drain is over: what ends now is unfinished
	spun      time.Duration
	err       error
}

// newLoop returns loop id of a client.
func newLoop(c *Client, id int) (*loop, error) {
	l := &loop{
		c: c, id: id, nextTimer: never, drainEnd: never,
	}
	for i := range c.o.Streams {
		st, err := newStream(l, i)
		if err != nil {
			return nil, fmt.Errorf("stream %s: %w", c.o.Streams[i].Name, err)
		}
		l.streams = append(l.streams, *st)
	}
	l.queues = make([]queue, numKinds*len(l.streams))
	for i := range l.queues {
		l.queues[i] = newQueue()
	}
	l.rec = c.s.Recorder(id, l)
	var err error
	l.io, err = newEngine(l)
	return l, err
}

// prepare takes what the system has to give before anything starts.
func (l *loop) prepare() error { return l.io.prepare() }

// wake makes run look at the client's cancel flag.
func (l *loop) wake() { l.io.wake() }

// warm says whether an instant lies in the warm-up. What precedes the schedule
// does only where there is one.
func (l *loop) warm(at time.Duration) bool { return at < l.c.o.Warmup && l.c.o.Warmup > 0 }

// now reads the clock, and keeps what it read.
func (l *loop) now() time.Duration {
	l.clock = time.Since(l.epoch)
	return l.clock
}

// run carries out the schedule that began at epoch and returns when the sending
// and everything else ended, as offsets from it.
func (l *loop) run(epoch time.Time) (sending, end time.Duration, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer l.io.close()
	sharpen()
	l.rebase(epoch)
	for i := range l.streams {
		l.pull(&l.streams[i])
	}
	now := l.now()
	for {
		began := now
		if l.c.cancel.Load() && !l.stopped {
			l.stop(now)
		}
		if now >= l.rec.Next() {
			l.rec.Roll(now)
		}
		l.started = 0
		l.arrivals(now)
		if l.finished(now) {
			break
		}
		wait := l.wait(l.now())
		n, more, err := l.io.poll(wait)
		if err != nil {
			l.err = err
			break
		}
		now = l.now()
		if n == 0 && wait <= 0 && l.started == 0 {
			l.spun += now - began
		}
		for i := range n {
			l.io.handle(i)
			// What handling the event read from the clock is recent enough to
			// see that an arrival is due, not to say when it was taken.
			if !l.behind && l.clock >= l.nextArrival() {
				l.arrivals(l.now())
			}
		}
		now = l.clock
		if !more && now >= l.nextTimer {
			l.expire(now)
		}
		for len(l.sleep) > 0 && l.sleep[0].at <= now {
			l.awake(l.sleep.pop(), now)
		}
		l.rec.Burst(l.started)
	}
	l.rec.Burst(l.started)
	now = l.now()
	if l.err != nil && !l.stopped {
		l.stop(now) // a schedule without end would be counted for ever
		l.endSending(now)
	}
	l.abandon(now)
	for i := range l.streams {
		if st := &l.streams[i]; st.schedule == nil && st.plannedEnd == never && !l.stopped {
			// A closed model that only a count ends sends to the last.
			l.sending = max(l.sending, l.ended)
		}
	}
	if l.stopped {
		l.ended = max(l.ended, l.stopAt)
	}
	l.rec.Finish(max(l.ended, l.sending), never)
	for i := range l.streams {
		st := &l.streams[i]
		if st.schedule != nil && st.schedule.Err() != nil {
			l.err = st.schedule.Err()
		}
	}
	return l.sending, max(l.ended, 0), l.err
}

// rebase makes epoch the origin of all instants.
func (l *loop) rebase(epoch time.Time) {
	shift := l.epoch.Sub(epoch)
	l.epoch = epoch
	for c := range l.conns.all {
		c.opened += shift
		c.timer.at += shift
	}
	if l.nextTimer != never {
		l.nextTimer += shift
	}
}

// wait returns how long the loop may sleep; 0 or less means that it polls.
func (l *loop) wait(now time.Duration) time.Duration {
	until := min(l.rec.Next(), l.nextTimer, l.drainEnd)
	if len(l.sleep) > 0 {
		until = min(until, l.sleep[0].at)
	}
	if next := l.nextArrival(); next != never {
		until = min(until, next-l.c.o.Spin)
	}
	for i := range l.streams {
		if st := &l.streams[i]; st.slots > 0 && !l.sentAll {
			until = min(until, st.plannedEnd, l.stuckAt())
		}
	}
	if l.sentAll && l.sending > now {
		until = min(until, l.sending)
	}
	// A loop that waits for nothing still looks up now and then.
	return min(until-now, time.Second)
}

// finished says whether the run is over for this loop.
func (l *loop) finished(now time.Duration) bool {
	if !l.sentAll {
		for i := range l.streams {
			if l.more(&l.streams[i], now) && now < l.stuckAt() {
				return false
			}
		}
		l.sentAll = true
		if l.stalled = now >= l.stuckAt(); l.stalled {
			l.stop(now)
		}
		l.endSending(now)
		switch {
		case l.stalled:
			l.drainEnd = now
		case !l.stopped:
			l.drainEnd = now + l.c.o.Drain
		}
	}
	if l.active > 0 || l.waiting() > 0 {
		return now >= l.drainEnd
	}
	if left := l.sending - now; left > l.c.o.Window {
		// The plan ends long after its last arrival, which nobody waits for.
		l.sending = now
	} else if left > 0 {
		return false
	}
	return true
}

// stuckAt returns when a closed model that only a count ends is given up: its
// callers all wait, nothing bounds their calls, and nothing has started or been
// answered for the length of the drain.
func (l *loop) stuckAt() time.Duration {
	for i := range l.streams {
		if st := &l.streams[i]; st.slots == 0 || st.restart > 0 || st.plannedEnd != never {
			return never
		}
	}
	return l.progress + l.c.o.Drain
}

// endSending notes when sending ended: with the plan where there is one, else
// now. In a closed model without a plan it is not over before the end.
func (l *loop) endSending(now time.Duration) {
	if l.stopped {
		l.sending = l.stopAt
		return
	}
	for i := range l.streams {
		st := &l.streams[i]
		switch {
		case st.plannedEnd != never:
			l.sending = max(l.sending, st.plannedEnd)
		case st.schedule != nil:
			l.sending = max(l.sending, now)
		}
	}
}

// waiting returns the arrivals that wait for a pooled connection.
func (l *loop) waiting() (n int) {
	for i := range l.streams {
		n += l.streams[i].backlog.n
	}
	return n
}

// stop ends the schedule at now.
func (l *loop) stop(now time.Duration) {
	l.stopAt = now
	l.drainEnd = now + l.c.o.StopDrain
	for i := range l.streams {
		st := &l.streams[i]
		for st.have && st.at <= now {
			l.shed(st, st.at, now, sampler.ShedStopped)
			l.pull(st)
		}
		st.have = false
		l.dropBacklog(st, now, sampler.ShedStopped)
	}
	l.stopped = true
}

// abandon ends what is still open when the drain is over.
func (l *loop) abandon(now time.Duration) {
	l.over = true
	for i := range l.streams {
		l.dropBacklog(&l.streams[i], now, sampler.ShedLate)
	}
	for j := range l.jobs.all {
		if j.busy {
			l.end(j, sampler.OK, true, now)
		}
	}
	for c := range l.conns.all {
		if c.open {
			l.closeConn(c, now)
		}
	}
}

func (l *loop) dropBacklog(st *stream, now time.Duration, cause sampler.Cause) {
	for {
		a, ok := st.backlog.pop()
		if !ok {
			return
		}
		l.shed(st, a.intended, now, cause)
	}
}

func (l *loop) shed(st *stream, intended, now time.Duration, cause sampler.Cause) {
	l.rec.Shed(st.id, l.warm(intended), intended, now, cause)
}

// Scheduled implements sampler.Source.
func (l *loop) Scheduled(i int, until time.Duration) (main, warmup uint64) {
	st := &l.streams[i]
	if st.ledger == nil {
		main, warmup = st.begun, st.begunWarm
		st.begun, st.begunWarm = 0, 0
		return main, warmup
	}
	for st.ledgerAt < until && (!l.stopped || st.ledgerAt <= l.stopAt) {
		if l.warm(st.ledgerAt) {
			warmup++
		} else {
			main++
		}
		st.ledgerNext()
	}
	return main, warmup
}

// Work implements sampler.Source.
func (l *loop) Work() time.Duration { return max(0, poll.ThreadCPU()-l.spun) }
