package pacer

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const (
	defaultFactor = 2
	defaultBound  = 10 * time.Millisecond
)

// CatchUp says how the arrivals go that are owed after a stall. The zero value
// spaces them at twice the scheduled rate.
type CatchUp struct {
	Factor float64       // times the scheduled rate, above 1; 0 means 2. Not used with Burst or Drop
	Burst  bool          // all at once, as httperf does
	Drop   bool          // those later than Bound are not started at all, the others go at once
	Bound  time.Duration // of Drop; 0 means 10 ms
}

// ParseCatchUp reads 2x, 1.5x, burst, drop or drop=10ms.
func ParseCatchUp(s string) (CatchUp, error) {
	c, err := parseCatchUp(s)
	if err == nil {
		checked := c // the defaults stay out of c, so that String gives s back
		err = checked.validate()
	}
	if err != nil {
		return CatchUp{}, fmt.Errorf("pacer: catch-up %q: %w: want a factor above 1 such as 2x, burst, drop or drop=10ms", s, err)
	}
	return c, nil
}

func parseCatchUp(s string) (CatchUp, error) {
	switch s {
	case "burst":
		return CatchUp{Burst: true}, nil
	case "drop":
		return CatchUp{Drop: true}, nil
	}
	if bound, ok := strings.CutPrefix(s, "drop="); ok {
		d, err := parseSeconds(bound)
		if err == nil && d == 0 {
			err = errors.New("bound of 0")
		}
		return CatchUp{Drop: true, Bound: d}, err
	}
	f, err := parseFactor(s)
	if err == nil && f == 0 {
		err = errors.New("factor of 0")
	}
	return CatchUp{Factor: f}, err
}

// String returns c as ParseCatchUp reads it.
func (c CatchUp) String() string {
	switch {
	case c.Burst:
		return "burst"
	case c.Drop && c.Bound == 0:
		return "drop"
	case c.Drop:
		return "drop=" + c.Bound.String()
	case c.Factor == 0:
		return strconv.Itoa(defaultFactor) + "x"
	}
	return strconv.FormatFloat(c.Factor, 'f', -1, 64) + "x"
}

// validate fills in the defaults.
func (c *CatchUp) validate() error {
	if c.Burst && c.Drop {
		return errors.New("burst and drop exclude each other")
	}
	if c.Factor == 0 {
		c.Factor = defaultFactor
	}
	if c.Bound == 0 {
		c.Bound = defaultBound
	}
	switch {
	case !(c.Factor > 1) || math.IsInf(c.Factor, 1):
		return fmt.Errorf("factor %v: want one above 1", c.Factor)
	case c.Bound < 0:
		return fmt.Errorf("bound %s: want one above 0", c.Bound)
	}
	return nil
}
