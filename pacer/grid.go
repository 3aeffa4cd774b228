package pacer

import (
	"math"
	"math/big"
	"math/bits"
	"sort"
	"time"
)

// A grid is a process as a function of the index. It may keep a cursor, so
// every schedule has its own.
type grid interface {
	// at returns the offset of arrival k, which never decreases with k; ok is
	// false once the process is over or beyond the range of a time.Duration.
	at(k uint64) (at time.Duration, ok bool)
}

// arithmetic is a process with a closed form.
type arithmetic interface {
	grid() (grid, error)
	// ends is PlannedEnd.
	ends() (end time.Duration, count uint64, known bool)
}

// gridOf returns the closed form of p, if it has one.
func gridOf(p Process) (g grid, ok bool) {
	switch p := p.(type) {
	case *limit:
		if g, ok = gridOf(p.p); ok {
			g = limitGrid{g, p.until, p.n}
		}
		return g, ok
	case arithmetic:
		g, err := p.grid()
		return g, err == nil
	}
	return nil, false
}

// countBefore returns how many arrivals of g have an offset before d.
func countBefore(g grid, d time.Duration) uint64 {
	lo, hi := uint64(0), uint64(math.MaxUint64)
	for lo < hi {
		mid := lo + (hi-lo)/2
		if at, ok := g.at(mid); ok && at < d {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// gridSchedule reads every step-th arrival of a grid.
type gridSchedule struct {
	g    grid
	next uint64
	step uint64
	done bool
}

// scheduleOf returns the schedule of a process with a closed form.
func scheduleOf(p arithmetic, shard, shards int) Schedule {
	checkShard(shard, shards)
	g, err := p.grid()
	if err != nil {
		return fail(err)
	}
	return &gridSchedule{g: g, next: uint64(shard), step: uint64(shards)}
}

func (s *gridSchedule) Next() (uint64, time.Duration, bool) {
	if s.done {
		return 0, 0, false
	}
	k := s.next
	at, ok := s.g.at(k)
	if !ok {
		s.done = true
		return 0, 0, false
	}
	s.next += s.step
	s.done = s.next < k // the index wrapped
	return k, at, true
}

func (s *gridSchedule) Err() error { return nil }

// A segment is a stretch of constant rate: arrivals first up to and without
// end, n of them every per nanoseconds.
type segment struct {
	first, end uint64
	start      time.Duration // when the rate begins
	lead       uint64        // arrival first is due lead/n ns after start
	n, per     uint64
}

// at returns the offset of arrival k, k >= first.
func (g *segment) at(k uint64) (time.Duration, bool) {
	hi, lo := bits.Mul64(k-g.first, g.per)
	lo, carry := bits.Add64(lo, g.lead, 0)
	hi += carry
	if hi >= g.n {
		return 0, false
	}
	q, _ := bits.Div64(hi, lo, g.n)
	if q > uint64(math.MaxInt64-g.start) {
		return 0, false
	}
	return g.start + time.Duration(q), true
}

// newSegment returns the stretch of rate r that begins at start, when the
// integral of the rate has reached area. Arrival k is due when the integral
// reaches k. The segment is for ever: its end is MaxUint64.
func newSegment(start time.Duration, area *big.Rat, r Constant) segment {
	first := ceil(area)
	lead := new(big.Rat).SetInt(new(big.Int).SetUint64(first))
	lead.Sub(lead, area)
	if lead.Sign() < 0 { // the area is beyond the indices
		return segment{first: math.MaxUint64, end: math.MaxUint64, start: start, n: r.N, per: uint64(r.Per)}
	}
	lead.Mul(lead, new(big.Rat).SetInt64(int64(r.Per)))
	// Rounding down here changes nothing: what follows rounds down as well,
	// and floor((m + x)/n) = floor((m + floor(x))/n) for whole m and n.
	whole := new(big.Int).Quo(lead.Num(), lead.Denom())
	return segment{first: first, end: math.MaxUint64, start: start, lead: whole.Uint64(), n: r.N, per: uint64(r.Per)}
}

// ceil returns the least index that is not below x, which is not negative.
func ceil(x *big.Rat) uint64 {
	q, m := new(big.Int).QuoRem(x.Num(), x.Denom(), new(big.Int))
	if m.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	if !q.IsUint64() {
		return math.MaxUint64
	}
	return q.Uint64()
}

// perNano returns r as arrivals per nanosecond.
func perNano(r Constant) *big.Rat {
	if r.N == 0 {
		return new(big.Rat)
	}
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(r.N), big.NewInt(int64(r.Per)))
}

// segments are stretches in order.
type segments struct {
	list []segment
	cur  int // the one that answered last: schedules ask in order
}

func (g *segments) at(k uint64) (time.Duration, bool) {
	if g.cur == len(g.list) || k < g.list[g.cur].first || k >= g.list[g.cur].end {
		g.cur = sort.Search(len(g.list), func(i int) bool { return k < g.list[i].end })
		if g.cur == len(g.list) {
			return 0, false
		}
	}
	return g.list[g.cur].at(k)
}
