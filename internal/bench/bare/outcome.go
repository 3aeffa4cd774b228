package main

import (
	"fmt"
	"slices"
	"time"
)

// outcome is what a loop saw.
type outcome struct {
	failed  int
	lag     []time.Duration // of each arrival, from its intended start until it was taken
	latency []time.Duration // of each completed call, from its intended start
	took    time.Duration   // from the first intended start to the end
}

// line returns o as key=value pairs. User and system are the processor time of
// the whole process.
func (o *outcome) line(user, system time.Duration) string {
	n := float64(max(1, len(o.latency)))
	slices.Sort(o.lag)
	slices.Sort(o.latency)
	return fmt.Sprintf("ok=%d failed=%d rate=%.1f seconds=%.6f user_us=%.3f system_us=%.3f "+
		"lag_p50_us=%.1f lag_p99_us=%.1f lag_max_us=%.1f latency_p50_us=%.1f latency_p99_us=%.1f latency_max_us=%.1f",
		len(o.latency), o.failed, float64(len(o.latency))/max(1e-9, o.took.Seconds()), o.took.Seconds(), us(user)/n, us(system)/n,
		us(at(o.lag, .5)), us(at(o.lag, .99)), us(at(o.lag, 1)), us(at(o.latency, .5)), us(at(o.latency, .99)), us(at(o.latency, 1)))
}

// at returns the quantile q of sorted values; 0 without any.
func at(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(q*float64(len(sorted)-1))]
}

func us(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
