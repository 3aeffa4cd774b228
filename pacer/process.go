package pacer

import (
	"fmt"
	"io"
	"time"
)

// A Process describes how arrivals are spread over time; it holds no run state
// and may be shared.
//
// A process that makes no sense (a negative duration, a rate without a period)
// has no arrivals, and its schedule's Err says why.
type Process interface {
	// Schedule returns part shard of shards: the arrivals whose index is
	// congruent to shard modulo shards. The parts together are the process.
	// It panics unless 0 <= shard < shards.
	Schedule(shard, shards int, seed uint64) Schedule
	// Rate returns the target rate at offset at, in arrivals per second.
	Rate(at time.Duration) float64
}

// A Schedule yields the intended starts of successive arrivals, in order, as
// offsets from the start of the run. It belongs to one goroutine.
type Schedule interface {
	// Next returns the next arrival, or ok == false once there is none left:
	// the process ended, or its next offset is beyond the range of a
	// time.Duration.
	Next() (index uint64, at time.Duration, ok bool)
	// Err returns why the schedule ended early (a broken trace), or nil.
	Err() error
}

// maxDraws bounds how many arrivals of a process without a closed form Count
// draws: about half a second's work.
const maxDraws = 50_000_000

// Count returns how many arrivals p has with an offset before d, exactly. It
// is immediate for Constant, Variable, Steps and Ramp; other processes are
// drawn with seed, and ok is false for more than 50 million arrivals or a
// broken trace.
func Count(p Process, d time.Duration, seed uint64) (n uint64, ok bool) {
	if g, ok := gridOf(p); ok {
		return countBefore(g, d), true
	}
	s := For(p, d).Schedule(0, 1, seed)
	defer s.(io.Closer).Close()
	for range maxDraws {
		if _, _, more := s.Next(); !more {
			return n, s.Err() == nil
		}
		n++
	}
	_, _, more := s.Next()
	return n, !more && s.Err() == nil
}

// Recorded is implemented by a process of another package that replays what was
// recorded, as Trace does: its end is known, and it is drawn to say where a part of
// it ends.
type Recorded interface {
	Process
	// Ends is what PlannedEnd returns.
	Ends() (end time.Duration, count uint64, known bool)
}

// PlannedEnd returns when p is over and how many arrivals it has until then.
// known is false for a process that never ends (or only by being broken).
//
// The end is d for For, unless p ended before. First ends when arrival n would
// be due: 100,000 arrivals at 2000/s end at 50 s. Of a random process it is the
// mean of that instant. A trace ends one mean gap after its last arrival; a
// rate that falls to zero for ever, when it does.
//
// The count is exact, except that of a process which Count cannot count: then
// it is the expected one.
func PlannedEnd(p Process, seed uint64) (end time.Duration, count uint64, known bool) {
	switch p := p.(type) {
	case *limit:
		return p.plannedEnd(seed)
	case *Trace:
		return p.after(p.last), p.n, true
	case arithmetic:
		return p.ends()
	case Recorded:
		return p.Ends()
	}
	return 0, 0, false
}

// Kind names the kind of p as reports do: "constant", "poisson", "uniform",
// "variable", "steps", "ramp" or "trace", which a [Recorded] is too; "custom" for
// any other process of another package. It looks through For and First.
func Kind(p Process) string {
	switch base(p).(type) {
	case Constant:
		return "constant"
	case Poisson:
		return "poisson"
	case Uniform:
		return "uniform"
	case Variable:
		return "variable"
	case Steps:
		return "steps"
	case Ramp:
		return "ramp"
	case *Trace, Recorded:
		return "trace"
	}
	return "custom"
}

// base returns the process that For and First were put around.
func base(p Process) Process {
	for {
		l, ok := p.(*limit)
		if !ok {
			return p
		}
		p = l.p
	}
}

// random is a process whose gaps are independent draws.
type random interface {
	// mean returns the constant rate with the same mean gap.
	mean() Constant
}

// checkShard panics unless shard is one of shards.
func checkShard(shard, shards int) {
	if shard < 0 || shard >= shards {
		panic(fmt.Sprintf("pacer: shard %d of %d: want 0 <= shard < shards", shard, shards))
	}
}

// failed is a schedule without arrivals, for a reason or none.
type failed struct{ err error }

// fail returns the schedule of a process that makes no sense.
func fail(err error) Schedule { return failed{fmt.Errorf("pacer: %w", err)} }

func (f failed) Next() (uint64, time.Duration, bool) { return 0, 0, false }
func (f failed) Err() error                          { return f.err }
