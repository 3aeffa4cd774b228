package pacer

import (
	"fmt"
	"io"
	"math"
	"time"
)

// For returns p without the arrivals at d and later.
func For(p Process, d time.Duration) Process {
	return &limit{p: p, until: d, n: math.MaxUint64, end: d}
}

// First returns the first n arrivals of p: those with an index below n.
func First(p Process, n uint64) Process {
	l := &limit{p: p, until: math.MaxInt64, n: n, end: math.MaxInt64}
	if g, ok := gridOf(p); ok {
		if at, ok := g.at(n); ok {
			l.end = at
		}
	}
	return l
}

// limit is a process that ends.
type limit struct {
	p     Process
	until time.Duration // arrivals before it; MaxInt64 for First
	n     uint64        // indices below it; MaxUint64 for For
	end   time.Duration // from here on the rate is 0; MaxInt64 when that is not known
}

// Schedule implements Process.
func (l *limit) Schedule(shard, shards int, seed uint64) Schedule {
	return &limitSchedule{s: l.p.Schedule(shard, shards, seed), until: l.until, n: l.n}
}

// Rate implements Process: that of the process, and 0 after the end where the
// end is known.
func (l *limit) Rate(at time.Duration) float64 {
	if at >= l.end {
		return 0
	}
	return l.p.Rate(at)
}

// String returns l as Parse reads it, such as 2000/s for 50s.
func (l *limit) String() string {
	if l.n == math.MaxUint64 {
		return fmt.Sprintf("%v for %s", l.p, l.until)
	}
	return fmt.Sprintf("%v first %d", l.p, l.n)
}

func (l *limit) plannedEnd(seed uint64) (end time.Duration, count uint64, known bool) {
	end, count, known = PlannedEnd(l.p, seed)
	if l.n == math.MaxUint64 {
		if !known || end > l.until {
			end = max(l.until, 0)
		}
		count, ok := Count(l, math.MaxInt64, seed)
		if !ok {
			count = l.expected(end)
		}
		return end, count, true
	}
	if known && count <= l.n {
		return end, count, true
	}
	at, ok := l.due(seed)
	switch {
	case !ok:
		return 0, 0, false
	case known:
		at = min(at, end)
	}
	return at, l.n, true
}

// due returns when arrival n of the process under l is due: for a random one
// the mean, for a trace one mean gap after arrival n-1.
func (l *limit) due(seed uint64) (time.Duration, bool) {
	if l.n == 0 {
		return 0, true
	}
	if g, ok := gridOf(l.p); ok {
		return g.at(l.n)
	}
	switch b := base(l.p).(type) {
	case random:
		g, ok := gridOf(b.mean())
		if !ok {
			return 0, false
		}
		return g.at(l.n)
	case *Trace, Recorded:
		var last time.Duration
		s := l.Schedule(0, 1, seed)
		for {
			_, at, ok := s.Next()
			if !ok {
				return after(b, last), s.Err() == nil
			}
			last = at
		}
	default:
		ns := float64(l.n) / b.Rate(0) * float64(time.Second)
		if !(ns < math.MaxInt64) {
			return 0, false
		}
		return time.Duration(ns), true
	}
}

// after returns the instant one mean gap after the last arrival of a part of p.
func after(p Process, last time.Duration) time.Duration {
	if t, ok := p.(*Trace); ok {
		return t.after(last)
	}
	gap := float64(time.Second) / p.Rate(0)
	if !(gap < float64(math.MaxInt64-last)) {
		return math.MaxInt64
	}
	return last + max(1, time.Duration(gap))
}

// expected returns the mean number of arrivals before end.
func (l *limit) expected(end time.Duration) uint64 {
	return uint64(base(l).Rate(0) * end.Seconds())
}

type limitGrid struct {
	grid
	until time.Duration
	n     uint64
}

func (g limitGrid) at(k uint64) (time.Duration, bool) {
	if k >= g.n {
		return 0, false
	}
	at, ok := g.grid.at(k)
	return at, ok && at < g.until
}

type limitSchedule struct {
	s     Schedule
	until time.Duration
	n     uint64
	done  bool
}

func (s *limitSchedule) Next() (uint64, time.Duration, bool) {
	if s.done {
		return 0, 0, false
	}
	index, at, ok := s.s.Next()
	if !ok || index >= s.n || at >= s.until {
		s.Close()
		return 0, 0, false
	}
	return index, at, true
}

func (s *limitSchedule) Err() error { return s.s.Err() }

// Close ends the schedule. One of a trace gives its file back.
func (s *limitSchedule) Close() error {
	s.done = true
	if c, ok := s.s.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
