package pacer

import (
	"fmt"
	"math"
	"math/big"
	"time"
)

// Ramp is a rate that goes linearly from From to To during Over, and holds To
// for ever after. Arrival k is due when the integral of the rate reaches k:
// during Over there are as many arrivals as the integral says, rounded up.
type Ramp struct {
	From, To Constant
	Over     time.Duration
}

// Schedule implements Process. The seed is not used.
func (r Ramp) Schedule(shard, shards int, _ uint64) Schedule { return scheduleOf(r, shard, shards) }

// Rate implements Process.
func (r Ramp) Rate(at time.Duration) float64 {
	from, to := r.From.Rate(0), r.To.Rate(0)
	switch {
	case at <= 0:
		return from
	case at >= r.Over:
		return to
	}
	return from + (to-from)*(float64(at)/float64(r.Over))
}

// String returns r as Parse reads it, such as 100/s..5000/s@1m0s.
func (r Ramp) String() string { return fmt.Sprintf("%s..%s@%s", r.From, r.To, r.Over) }

func (r Ramp) grid() (grid, error) {
	for _, c := range []Constant{r.From, r.To} {
		if err := c.validate(); err != nil {
			return nil, err
		}
	}
	if r.Over <= 0 {
		return nil, fmt.Errorf("ramp over %s: want a duration above 0", r.Over)
	}
	area := r.area()
	g := &rampGrid{
		n:    ceil(area),
		from: r.From.Rate(0),
		to:   r.To.Rate(0),
		over: r.Over,
	}
	rest := new(big.Rat).SetInt(new(big.Int).SetUint64(g.n))
	g.rest, _ = rest.Sub(rest, area).Float64()
	if r.To.N > 0 {
		g.held = newSegment(r.Over, area, r.To)
	}
	return g, nil
}

// area returns the integral of the rate during Over.
func (r Ramp) area() *big.Rat {
	sum := new(big.Rat).Add(perNano(r.From), perNano(r.To))
	return sum.Mul(sum, big.NewRat(int64(r.Over), 2))
}

// ends is known when the ramp ends at zero.
func (r Ramp) ends() (time.Duration, uint64, bool) {
	if _, err := r.grid(); err != nil || r.To.N > 0 {
		return 0, 0, false
	}
	return r.Over, ceil(r.area()), true
}

type rampGrid struct {
	n        uint64        // arrivals on the ramp
	rest     float64       // by how much n exceeds the integral, 0 <= rest < 1
	from, to float64       // rates, per second
	over     time.Duration // of the ramp
	held     segment       // after it; n == 0 when the last rate is zero
}

// at solves from*t + (to-from)*t*t/(2*over) = k for t, in the form that does
// not cancel: 2k / (from + rate at t). The rate at t is likewise taken from
// the lower end of the ramp.
func (g *rampGrid) at(k uint64) (time.Duration, bool) {
	switch {
	case k >= g.n:
		if g.held.n == 0 {
			return 0, false
		}
		return g.held.at(k)
	case k == 0:
		return 0, true
	}
	var square float64
	if slope := 2 * (g.to - g.from) / g.over.Seconds(); slope >= 0 {
		square = g.from*g.from + slope*float64(k)
	} else {
		square = g.to*g.to - slope*(float64(g.n-k)-g.rest)
	}
	t := 2 * float64(time.Second) * float64(k) / (g.from + math.Sqrt(square))
	// Whether an arrival belongs to the ramp was decided exactly, by n.
	return min(time.Duration(min(t, math.MaxInt64/2)), g.over-1), true
}
