package client

import (
	"time"

	"go.uber.org/ratelimit"

	"httpgen/pacer"
	"httpgen/sampler"
)

// A stream is the part of a Stream that belongs to one loop.
type stream struct {
	*Stream
	id         int
	addrs      []int    // per target, index of the address that worked last
	observer   Observer // the workload, where it looks at replies
	noDelay    bool
	plannedEnd time.Duration // never if it is not known

	schedule pacer.Schedule
	release  *pacer.Release
	have     bool // the fields below describe the next arrival
	decided  bool // due is the release's answer
	index    uint64
	at       time.Duration // intended
	due      time.Duration // when it may start

	lastAt    time.Duration // intended start of the arrival taken last
	lastTaken time.Duration // when it was taken

	ledger   pacer.Schedule // a second reading of the schedule, for the counts of the windows
	ledgerAt time.Duration  // next arrival of the ledger, never at its end

	slots     int    // closed model: arrivals to keep open
	restart   int    // closed model: slots that wait for a new connection
	begun     uint64 // closed model: arrivals not yet reported as scheduled
	begunWarm uint64

	pool     int   // connections that may be open; 0 without a pool
	opened   int   // pooled connections that exist
	opening  int   // of them, those not established yet
	idle     int32 // first of the list of idle connections, or over HTTP/2 of those with room
	idleLast int32
	backlog  ring
	// replenish is running
	replenishing bool
}

// newStream makes loop l's part of stream i.
func newStream(l *loop, i int) (*stream, error) {
	o := &l.c.o
	s := &o.Streams[i]
	st := &stream{Stream: s, id: i, idle: none, idleLast: none, plannedEnd: never, ledgerAt: never, lastAt: never}
	st.addrs = make([]int, 1+len(s.Others))
	st.observer, _ = s.Workload.(Observer)
	loops := s.loops(o.Loops)
	if l.id < loops {
		st.pool = share(s.Pool, l.id, loops)
		st.slots = share(s.Closed, l.id, loops)
		st.restart = st.slots
	}
	if s.Process != nil && l.id < loops {
		shard, shards := o.Machine*loops+l.id, o.Machines*loops
		st.schedule = s.Process.Schedule(shard, shards, s.Seed)
		st.ledger = s.Process.Schedule(shard, shards, s.Seed)
		st.ledgerNext()
		st.release = pacer.NewRelease(s.Process, shards, o.CatchUp)
	}
	switch {
	case s.Closed > 0 && s.For > 0:
		st.plannedEnd = s.For
	case s.PlannedEnd > 0:
		st.plannedEnd = s.PlannedEnd
	case s.Process != nil:
		if end, _, known := pacer.PlannedEnd(s.Process, s.Seed); known {
			st.plannedEnd = end
		}
	}
	// A single small request a connection goes out at once anyway.
	calls, plain := s.Workload.(*Calls)
	st.noDelay = s.HTTP2 || !(plain && calls.Calls <= 1 && len(calls.Request.bytes) < 1400)
	return st, nil
}

// target returns the target that a connection uses: 0 is Stream.Target, the
// others follow.
func (s *Stream) target(i int32) *Target {
	if i == 0 {
		return &s.Target
	}
	return &s.Others[i-1]
}

// more says whether the stream has arrivals left to start at now.
func (l *loop) more(st *stream, now time.Duration) bool {
	return st.have || st.slots > 0 && !l.closedOver(st, now)
}

// closedOver says whether a closed model starts no more.
func (l *loop) closedOver(st *stream, now time.Duration) bool {
	return l.stopped || st.For > 0 && now >= st.For || st.Limit > 0 && l.c.counters[st.id].Load() >= st.Limit
}

func (st *stream) ledgerNext() {
	st.ledgerAt = never
	if _, at, ok := st.ledger.Next(); ok {
		st.ledgerAt = at
	}
}

// pull takes the next arrival from the schedule.
func (l *loop) pull(st *stream) {
	st.have = false
	if st.schedule == nil {
		return
	}
	st.index, st.at, st.have = st.schedule.Next()
	st.due, st.decided = st.at, false
}

// earliest returns the stream whose next arrival comes first, nil if there is
// none.
func (l *loop) earliest() *stream {
	var first *stream
	for i := range l.streams {
		if st := &l.streams[i]; st.have && (first == nil || st.due < first.due) {
			first = st
		}
	}
	return first
}

// nextArrival returns when the next arrival may start, never if there is none.
func (l *loop) nextArrival() time.Duration {
	next := never
	for i := range l.streams {
		st := &l.streams[i]
		if st.restart > 0 {
			return 0
		}
		if st.have {
			next = min(next, st.due)
		}
	}
	return next
}

// arrivals starts what is due at now.
func (l *loop) arrivals(now time.Duration) {
	l.behind = false
	for i := range l.streams {
		st := &l.streams[i]
		if st.have {
			st.release.Look(now)
		}
		if st.slots > 0 && now >= 0 {
			l.startClosed(st, now)
		}
	}
	for k := 0; ; {
		st := l.earliest()
		if st == nil || st.due > now {
			return
		}
		if now > st.plannedEnd && now-st.plannedEnd > l.c.o.Owed {
			// Nothing owed starts that long after the planned end.
			l.shed(st, st.at, now, sampler.ShedLate)
			l.pull(st)
			continue
		}
		if !st.decided {
			due, late := st.release.Due(st.at, now)
			if late {
				l.shed(st, st.at, now, sampler.ShedLate)
				l.pull(st)
				continue
			}
			st.due, st.decided = due, true
			continue
		}
		if k == maxStarts {
			l.behind = true
			return
		}
		k++
		if st.at != st.lastAt {
			// What the schedule wants at one instant is taken at one: opening
			// the connections of such a burst takes time that is not lag.
			st.lastTaken = now
		}
		st.lastAt = st.at
		a := arrival{index: st.index, intended: st.at, taken: st.lastTaken}
		if lag := a.taken - st.at; lag > time.Millisecond {
			a.late = lag > time.Millisecond+period(st.Process, st.at)
		}
		l.pull(st)
		if st.pool > 0 {
			l.startPooled(st, a, now)
		} else {
			l.startFresh(st, a, now)
		}
		now = l.now()
	}
}

// period returns the mean gap between arrivals at an offset.
func period(p pacer.Process, at time.Duration) time.Duration {
	r := p.Rate(at)
	if r <= 0 {
		return never - time.Hour
	}
	return time.Duration(min(float64(time.Second)/r, float64(never-time.Hour)))
}

// startFresh starts an arrival on a connection of its own.
func (l *loop) startFresh(st *stream, a arrival, now time.Duration) {
	if !l.c.enter() {
		l.shed(st, a.intended, now, sampler.ShedInflight)
		return
	}
	wait := time.Duration(-1)
	if now > a.taken {
		wait = now - a.taken // behind others of the same instant
	}
	j := l.begin(st, a, now, wait)
	j.bound = true
	l.dial(l.openFor(j), now)
}

// startPooled starts an arrival on an idle connection, or lets it wait for one.
func (l *loop) startPooled(st *stream, a arrival, now time.Duration) {
	if c := l.takeIdle(st); c != nil {
		if c.h2 != nil {
			l.share(c, a, now)
			if c.h2 != nil {
				l.offer(c, now)
			}
			return
		}
		l.assign(c, a, now)
		return
	}
	if !st.backlog.push(a, max(1, share(st.Backlog, l.id, st.loops(l.c.o.Loops)))) {
		l.shed(st, a.intended, now, sampler.ShedBacklog)
		return
	}
	l.replenish(st, now)
}

// assign gives an established, idle pooled connection to an arrival.
func (l *loop) assign(c *conn, a arrival, now time.Duration) {
	j := l.begin(c.stream, a, now, now-a.taken)
	l.attach(j, c)
	if d := c.stream.Timeouts.Deadline; d > 0 && now-a.intended >= d {
		l.fail(c, sampler.Deadline, now)
		return
	}
	l.next(j, nil, now)
}

// replenish opens pooled connections for the arrivals that wait, as far as the
// pool allows.
func (l *loop) replenish(st *stream, now time.Duration) {
	if st.replenishing {
		return // called from within: the call further up goes on
	}
	st.replenishing = true
	for st.backlog.n > st.opening && st.opened < st.pool {
		l.dialPooled(st, now)
	}
	st.replenishing = false
}

func (l *loop) dialPooled(st *stream, now time.Duration) {
	c := l.alloc(st)
	c.pooled = true
	c.warmup = l.warm(now)
	st.opened++
	st.opening++
	l.dial(c, now)
}

// restartPooled starts the next arrival of a closed model over a pool.
func (l *loop) restartPooled(st *stream, now time.Duration) {
	if a, ok := l.nextClosed(st, now); ok {
		l.startPooled(st, a, now)
	}
}

// startClosed opens connections for slots of a closed model that have none.
func (l *loop) startClosed(st *stream, now time.Duration) {
	for k := 0; st.restart > 0 && k < maxStarts; k++ {
		st.restart--
		if st.pool > 0 {
			l.restartPooled(st, now)
			continue
		}
		a, ok := l.nextClosed(st, now)
		if !ok {
			continue
		}
		if !l.c.enter() {
			l.shed(st, a.intended, now, sampler.ShedInflight)
			st.slots--
			continue
		}
		j := l.begin(st, a, now, -1)
		j.slot, j.bound = true, true
		l.dial(l.openFor(j), now)
		now = l.now()
	}
}

// nextClosed returns the next arrival of a closed model, or takes the slot
// away when there are no more.
func (l *loop) nextClosed(st *stream, now time.Duration) (arrival, bool) {
	if now >= l.rec.Next() {
		l.rec.Roll(now) // begun belongs to the window of now
	}
	over := l.closedOver(st, now)
	var n uint64
	if !over {
		n = l.c.counters[st.id].Add(1) - 1
		over = st.Limit > 0 && n >= st.Limit
	}
	if over {
		st.slots--
		return arrival{}, false
	}
	if l.warm(now) {
		st.begunWarm++
	} else {
		st.begun++
	}
	return arrival{index: n, intended: now, taken: now}, true
}

// open opens the pools at a moderate pace and waits until
// each connection stands or has failed.
func (l *loop) open() error {
	limiter := ratelimit.New(poolRate)
	// The schedule begins later: until then all instants are negative.
	l.epoch = time.Now().Add(time.Hour)
	for i := range l.streams {
		st := &l.streams[i]
		if st.pool == 0 {
			continue
		}
		for range st.pool {
			limiter.Take()
			l.dialPooled(st, l.now())
			if err := l.turn(0); err != nil {
				return err
			}
		}
	}
	limit := openLimit
	for i := range l.streams {
		if t := l.streams[i].Timeouts.Connect; t > 0 {
			limit = min(limit, t)
		}
	}
	for until := l.now() + limit; l.now() < until; {
		left := 0
		for i := range l.streams {
			left += l.streams[i].opening
		}
		if left == 0 {
			break
		}
		if err := l.turn(10 * time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// openLimit is how long the start waits for the pools.
const openLimit = 5 * time.Second

// turn handles what became ready while the pools are opened.
func (l *loop) turn(wait time.Duration) error {
	n, _, err := l.io.poll(wait)
	if err != nil {
		return err
	}
	for i := range n {
		l.io.handle(i)
	}
	return nil
}
