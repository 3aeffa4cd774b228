package experiment

import (
	"fmt"
	"math"
	"strings"
	"time"

	"httpgen/internal/experiment/stat"
)

// A Schedule says what an experiment would run.
type Schedule struct {
	Trials []string      // in order, such as "climb at 100/s for 4s"
	Time   time.Duration // that they take, without waiting for late replies
	If     string        // what has been assumed; empty when nothing was
}

// String lists the trials, one a line, and the total.
func (s Schedule) String() string {
	var b strings.Builder
	for i, t := range s.Trials {
		fmt.Fprintf(&b, "%4d  %s\n", i+1, t)
	}
	trials := "trials"
	if len(s.Trials) == 1 {
		trials = "trial"
	}
	fmt.Fprintf(&b, "%d %s, %s and the time that late replies take\n", len(s.Trials), trials, s.Time.Round(time.Second))
	if s.If != "" {
		fmt.Fprintf(&b, "%s\n", s.If)
	}
	return b.String()
}

func (s *Schedule) add(d time.Duration, format string, args ...any) {
	s.Trials = append(s.Trials, fmt.Sprintf(format, args...))
	s.Time += d
}

// Schedule says what the sweep would run. Which rates a search tries depends on
// what it finds: it is shown for a capacity that is assumed.
func (o SweepOptions) Schedule() (Schedule, error) {
	if err := o.validate(); err != nil {
		return Schedule{}, err
	}
	search, err := stat.NewSearch(o.Search)
	if err != nil {
		return Schedule{}, fmt.Errorf("experiment: %w", err)
	}
	var s Schedule
	// Between the fourth and the fifth rung, or in the middle of what was given.
	capacity := o.Search.From * math.Pow(o.Search.Factor, 3.4)
	if to := o.Search.To; to > 0 && to < capacity {
		capacity = math.Sqrt(o.Search.From * to)
	}
	if len(o.Search.Rates) == 0 || o.Beyond > 0 {
		s.If = fmt.Sprintf("The search follows what it finds: this is how it would go with a capacity of %s.", o.load(capacity))
	}
	for {
		t, more := search.Next()
		if !more {
			break
		}
		s.add(o.Base.Warmup+t.Length, "%s", o.describe(t))
		outcome := stat.Met
		if t.Rate > capacity {
			outcome = stat.Missed
		}
		if err := search.Observe(t, outcome); err != nil {
			return Schedule{}, fmt.Errorf("experiment: %w", err)
		}
	}
	if lower := search.Capacity().Lower; o.Beyond > 0 && lower > 0 {
		_, _, length, err := o.overloadProfile(lower)
		if err != nil {
			return Schedule{}, err
		}
		s.add(length, "overload up to %s/s for %s", figure(o.Beyond*lower), clock(length))
	}
	return s, nil
}
