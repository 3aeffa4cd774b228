package pacer

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"
)

// A Step is one rate of Steps.
type Step struct {
	Rate Constant
	For  time.Duration // how long the rate holds; of the last step it is not used
}

// Steps is a list of constant rates, one after the other; the last one holds
// for ever. Arrival k is due when the integral of the rate reaches k, so that
// no arrival is lost or gained where the rate changes. A rate of zero is a
// pause.
type Steps []Step

// Schedule implements Process. The seed is not used.
func (s Steps) Schedule(shard, shards int, _ uint64) Schedule { return scheduleOf(s, shard, shards) }

// Rate implements Process.
func (s Steps) Rate(at time.Duration) float64 {
	for i, p := range s {
		if at < p.For || i == len(s)-1 {
			return p.Rate.Rate(at)
		}
		at -= p.For
	}
	return 0
}

// String returns s as Parse reads it, such as 100/s:10s,200/s:10s.
func (s Steps) String() string {
	parts := make([]string, len(s))
	for i, p := range s {
		parts[i] = p.Rate.String() + ":" + p.For.String()
	}
	return strings.Join(parts, ",")
}

func (s Steps) grid() (grid, error) {
	if len(s) == 0 {
		return nil, errors.New("steps: want at least one")
	}
	g := &segments{list: make([]segment, 0, len(s))}
	start, area := time.Duration(0), new(big.Rat)
	for i, p := range s {
		if err := p.Rate.validate(); err != nil {
			return nil, err
		}
		if p.For < 0 {
			return nil, fmt.Errorf("step of %s: want a duration of 0 or more", p.For)
		}
		if p.Rate.N > 0 {
			g.list = append(g.list, newSegment(start, area, p.Rate))
		}
		if i == len(s)-1 || p.For > math.MaxInt64-start {
			break
		}
		start += p.For
		area.Add(area, new(big.Rat).Mul(perNano(p.Rate), new(big.Rat).SetInt64(int64(p.For))))
		if p.Rate.N > 0 {
			g.list[len(g.list)-1].end = ceil(area)
		}
	}
	return g, nil
}

// ends is known when the last rate is zero.
func (s Steps) ends() (end time.Duration, count uint64, known bool) {
	g, err := s.grid()
	if err != nil || s[len(s)-1].Rate.N > 0 {
		return 0, 0, false
	}
	var at time.Duration
	for _, p := range s {
		at += p.For
		if p.Rate.N > 0 {
			end = at
		}
	}
	return end, countBefore(g, math.MaxInt64), true
}
