package pacer

import (
	"fmt"
	"math"
	"time"
)

// Uniform has independent gaps of whole nanoseconds, equally likely from Min up
// to and without Max; of Min when the two are equal. The first arrival is at
// offset 0, as httperf has it, and the first gap follows it.
type Uniform struct {
	Min, Max time.Duration
}

// Schedule implements Process.
func (u Uniform) Schedule(shard, shards int, seed uint64) Schedule {
	checkShard(shard, shards)
	if err := u.validate(); err != nil {
		return fail(fmt.Errorf("%s: %w", u, err))
	}
	return &uniformSchedule{walk: newWalk(shard, shards, seed), min: u.Min, width: int64(u.Max - u.Min)}
}

// Rate implements Process: one arrival per mean gap.
func (u Uniform) Rate(at time.Duration) float64 {
	if u.validate() != nil {
		return 0
	}
	return u.mean().Rate(at)
}

// String returns u as Parse reads it, such as uniform:5ms,15ms.
func (u Uniform) String() string { return fmt.Sprintf("uniform:%s,%s", u.Min, u.Max) }

// validate refuses gaps that are negative or all zero: the schedule would stay
// at one instant for ever.
func (u Uniform) validate() error {
	switch {
	case u.Min < 0:
		return fmt.Errorf("gap of %s: want 0 or more", u.Min)
	case u.Max < u.Min:
		return fmt.Errorf("gaps from %s to %s: want the smaller one first", u.Min, u.Max)
	case u.Max == 0 || u.Min == 0 && u.Max == 1:
		return fmt.Errorf("gaps from %s to %s: want a mean of 1ns or more", u.Min, u.Max)
	}
	return nil
}

func (u Uniform) mean() Constant {
	if u.Min > math.MaxInt64-u.Max {
		return Constant{1, u.Min/2 + u.Max/2}
	}
	return Constant{2, u.Min + u.Max}
}

type uniformSchedule struct {
	walk
	min   time.Duration
	width int64 // ns
}

func (s *uniformSchedule) Next() (uint64, time.Duration, bool) {
	for !s.done {
		index, at, mine := s.index, s.at, s.mine()
		gap := s.min
		if s.width > 0 {
			gap += time.Duration(s.rng.Int64N(s.width))
		}
		s.advance(gap)
		if mine {
			return index, at, true
		}
	}
	return 0, 0, false
}
