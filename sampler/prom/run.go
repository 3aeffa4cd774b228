package prom

import (
	"time"

	"httpgen/internal/poll"
	"httpgen/sampler"
)

// A Run is a run attached to a Collector. Its methods may be called by any
// goroutine.
type Run struct {
	c       *Collector
	info    Info
	series  []*series        // one a stream
	sampler *sampler.Sampler // nil once the run has ended
	stop    func()           // following live
	begin   time.Time
	end     time.Time
	drained bool
	ended   bool
}

// Begin says when the run's schedule starts, which may lie ahead. Offsets of
// phases and of the target rate count from there.
func (r *Run) Begin(at time.Time) {
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	if !r.ended {
		r.begin = at
	}
}

// Drain says that no more arrivals start. It is needed where that cannot be
// known from Info.Planned.
func (r *Run) Drain() {
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	r.drained = true
}

// End says when the run ended, and lets its sampler go. It is to be called once
// the sampler's Wait has returned; what the sampler merges later is not shown.
// Further calls change nothing.
func (r *Run) End(at time.Time) {
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	if r.ended {
		return
	}
	r.c.look(new(poll.Turn))
	for _, s := range r.series {
		s.past = s.now
	}
	r.stop()
	r.sampler, r.end, r.ended = nil, at, true
}
