package stat

import (
	"fmt"
	"math"
)

// Status says what kind of answer a search has.
type Status uint8

// The answers. Only the first is a capacity.
const (
	CapacityFound     Status = iota // between Lower and Upper
	CapacityAtLeast                 // Lower, the highest rate that was to be tried
	CapacityBelowFrom               // every trial missed, down to the first rate
	CapacityUndecided               // trials disagree down to the first rate, or the search was stopped
	CapacityLimited                 // the generator was the limit; at least Lower
)

// String returns the word of the contract.
func (s Status) String() string {
	return [...]string{"found", "at_least", "below_from", "undecided", "generator_limited"}[s]
}

// operating is the recommended share of the lower bound: at 70 % of capacity
// queues are short and a burst has room.
const operating = 0.7

// Capacity is the answer of a search.
type Capacity struct {
	Status      Status
	Lower       float64 // highest rate at which every trial met the objective; 0 when none
	Upper       float64 // lowest rate at which every trial missed it with no higher one met; +Inf when none
	Width       float64 // (Upper-Lower)/Upper, 1 without one of them
	Recommended float64 // operating point, 70 % of Lower
	Reason      string  // why the answer is what it is; empty when found to the width asked for
}

// Capacity returns the answer so far. Before Next says that the search is over
// it is undecided, with the bounds known until then.
func (s *Search) Capacity() Capacity {
	lower, upper := s.bounds()
	c := Capacity{Status: CapacityUndecided, Upper: math.Inf(1), Width: 1}
	if lower >= 0 {
		c.Lower, c.Recommended = s.rungs[lower].Rate, operating*s.rungs[lower].Rate
	}
	if upper >= 0 {
		c.Upper = s.rungs[upper].Rate
		c.Width = (c.Upper - c.Lower) / c.Upper
	}
	limited := -1.0 // lowest rate inside the interval where the generator was the limit
	for i := lower + 1; i < len(s.rungs) && i != upper && limited < 0; i++ {
		if s.rungs[i].Outcome() == GeneratorLimited {
			limited = s.rungs[i].Rate
		}
	}
	_, more := s.Next()
	switch {
	case more:
		c.Reason = fmt.Sprintf("the search was not finished after %d trials", s.trials)
	case limited >= 0 && c.Width > s.o.Width:
		c.Status = CapacityLimited
		c.Reason = fmt.Sprintf("the generator was the limit at %.6g", limited)
	case upper < 0 && lower >= 0:
		c.Status = CapacityAtLeast
		c.Reason = fmt.Sprintf("no rate up to %.6g missed the objective in every trial", s.rungs[len(s.rungs)-1].Rate)
	case upper == 0:
		c.Status = CapacityBelowFrom
		c.Reason = fmt.Sprintf("the objective was missed at the first rate, %.6g", c.Upper)
	case lower < 0:
		c.Reason = fmt.Sprintf("trials disagree at the first rate, %.6g", s.rungs[0].Rate)
	default:
		c.Status = CapacityFound
		switch inside := upper - lower - 1; {
		case c.Width <= s.o.Width:
		case inside > 0:
			c.Reason = fmt.Sprintf("trials disagree at %d rates between the bounds: the width stays %.3g", inside, c.Width)
		default:
			c.Reason = fmt.Sprintf("there is no rate to try between the bounds: the width stays %.3g", c.Width)
		}
	}
	return c
}
