package pacer

import (
	"math"
	"time"
)

// Poisson has independent exponential gaps with a mean of Per/N. The first
// arrival is at offset 0, as httperf has it, and the first gap follows it.
type Poisson struct {
	N   uint64
	Per time.Duration
}

// Schedule implements Process.
func (p Poisson) Schedule(shard, shards int, seed uint64) Schedule {
	checkShard(shard, shards)
	if err := Constant(p).validate(); err != nil {
		return fail(err)
	}
	if p.N == 0 {
		return failed{}
	}
	return &poissonSchedule{walk: newWalk(shard, shards, seed), gap: float64(p.Per) / float64(p.N)}
}

// Rate implements Process.
func (p Poisson) Rate(at time.Duration) float64 { return Constant(p).Rate(at) }

// String returns p as Parse reads it, such as poisson:500/s.
func (p Poisson) String() string { return "poisson:" + Constant(p).String() }

func (p Poisson) mean() Constant { return Constant(p) }

type poissonSchedule struct {
	walk
	gap  float64 // mean, ns
	part float64 // of a nanosecond that the gaps so far left over: dropping it would raise the rate
}

func (s *poissonSchedule) Next() (uint64, time.Duration, bool) {
	for !s.done {
		index, at, mine := s.index, s.at, s.mine()
		gap := s.rng.ExpFloat64()*s.gap + s.part
		if gap < math.MaxInt64 {
			whole := time.Duration(gap)
			s.part = gap - float64(whole)
			s.advance(whole)
		} else {
			s.done = true
		}
		if mine {
			return index, at, true
		}
	}
	return 0, 0, false
}
