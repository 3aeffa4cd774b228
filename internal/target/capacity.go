package target

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	maxCapacity = 1_000_000 // a period of 1 us, rounded to 1 ns, is right within 0.05 %
	minCapacity = 0.001
	minKept     = 0.001
	defaultHold = 5 * time.Second
	maxHold     = 24 * time.Hour
)

// A Collapse says what becomes of a capacity of R requests per second when
// more are offered. The zero value is none: the capacity stays.
//
// Offered is the number of requests that came in the last second, looked at
// every 100 ms. Above R the capacity goes down, linearly to Kept x R where 2R
// or more are offered. It stays at the lowest that it came to until no more
// than R have been offered for Hold; then it is R again.
type Collapse struct {
	Kept float64       // part of the capacity that is left at twice the capacity, 0.001 to less than 1
	Hold time.Duration // 0 to 24 hours
}

// ParseCollapse reads KEPT or KEPT:HOLD, as in "0.5:5s"; 5s is the default.
func ParseCollapse(s string) (Collapse, error) {
	kept, hold, ok := strings.Cut(s, ":")
	c := Collapse{Hold: defaultHold}
	var err, err2 error
	c.Kept, err = strconv.ParseFloat(kept, 64)
	if ok {
		c.Hold, err2 = time.ParseDuration(hold)
	}
	if err != nil || err2 != nil || c.validate() != nil {
		return Collapse{}, fmt.Errorf(`target: collapse %q: want KEPT[:HOLD], %v to less than 1 and up to %v, such as "0.5:5s"`, s, minKept, maxHold)
	}
	return c, nil
}

// String returns c in the form that ParseCollapse reads.
func (c Collapse) String() string {
	return strconv.FormatFloat(c.Kept, 'g', -1, 64) + ":" + c.Hold.String()
}

func (c Collapse) validate() error {
	switch {
	case !(c.Kept >= minKept && c.Kept < 1): // nor NaN
		return fmt.Errorf("target: collapse %v: want %v to less than 1 of the capacity kept", c, minKept)
	case c.Hold < 0 || c.Hold > maxHold:
		return fmt.Errorf("target: collapse %v: want it held for 0 to %v", c, maxHold)
	}
	return nil
}

// Offered is counted in pieces, which together are a second.
const (
	pieces = 10
	piece  = time.Second / pieces
)

// A capacity is how many requests per second can be served, at any time.
type capacity struct {
	full     float64
	collapse Collapse

	rate      float64       // now
	lowest    float64       // that there was
	collapses int           // times that rate left full
	calm      time.Duration // since when no more than full has been offered; never while there is more

	counts [pieces]int // requests by piece, the current one at cur
	cur    int
	sum    int           // of counts
	end    time.Duration // of the current piece
}

func newCapacity(full float64, c Collapse) capacity {
	return capacity{full: full, collapse: c, rate: full, lowest: full, calm: never}
}

// count notes that a request came at now.
func (c *capacity) count(now time.Duration) {
	if c.collapse.Kept == 0 {
		return
	}
	c.advance(now)
	c.counts[c.cur]++
	c.sum++
}

// at returns the requests per second that can be served at now.
func (c *capacity) at(now time.Duration) float64 {
	if c.collapse.Kept > 0 {
		c.advance(now)
	}
	return c.rate
}

// advance ends the pieces that are over.
func (c *capacity) advance(now time.Duration) {
	for now >= c.end {
		if c.sum == 0 && c.rate == c.full {
			c.end = now + piece // nothing to remember
			return
		}
		c.judge(float64(c.sum), c.end)
		c.cur = (c.cur + 1) % pieces
		c.sum -= c.counts[c.cur]
		c.counts[c.cur] = 0
		c.end += piece
	}
}

// judge draws the conclusions from what was offered in the second up to now.
func (c *capacity) judge(offered float64, now time.Duration) {
	if offered > c.full {
		if c.rate == c.full {
			c.collapses++
		}
		excess := min(offered/c.full-1, 1)
		c.rate = min(c.rate, c.full*(1-(1-c.collapse.Kept)*excess))
		c.lowest = min(c.lowest, c.rate)
		c.calm = never
		return
	}
	c.calm = min(c.calm, now)
	if now-c.calm >= c.collapse.Hold {
		c.rate = c.full
	}
}
