package pacer

import (
	"fmt"
	"math"
	"time"
)

// Constant is N arrivals every Per, equally spaced: arrival k is due at
// k*Per/N, rounded down to a nanosecond, without drift. Half an arrival per
// second is {1, 2 * time.Second}. N == 0 is no arrivals.
type Constant struct {
	N   uint64
	Per time.Duration
}

// Schedule implements Process. The seed is not used.
func (c Constant) Schedule(shard, shards int, _ uint64) Schedule {
	return scheduleOf(c, shard, shards)
}

// Rate implements Process.
func (c Constant) Rate(time.Duration) float64 {
	if c.N == 0 || c.Per <= 0 {
		return 0
	}
	return float64(c.N) * float64(time.Second) / float64(c.Per)
}

// String returns c as Parse reads it, such as 2000/s or 1/2s.
func (c Constant) String() string {
	if c.Per == time.Second {
		return fmt.Sprintf("%d/s", c.N)
	}
	return fmt.Sprintf("%d/%s", c.N, c.Per)
}

func (c Constant) validate() error {
	if c.N > 0 && c.Per <= 0 {
		return fmt.Errorf("rate of %d arrivals in %s: want a period above 0", c.N, c.Per)
	}
	return nil
}

func (c Constant) grid() (grid, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	if c.N == 0 {
		return &segments{}, nil
	}
	return &segment{end: math.MaxUint64, n: c.N, per: uint64(c.Per)}, nil
}

func (c Constant) ends() (time.Duration, uint64, bool) { return 0, 0, c.N == 0 }
