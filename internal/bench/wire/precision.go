package wire

import (
	"fmt"
	"strings"
	"time"
)

// A Precision sums up how a Trace kept an even schedule.
type Precision struct {
	Count      int                                  // arrivals
	Rate       float64                              // reached, in arrivals per second
	P50, P90   time.Duration                        // of the deviations from the schedule
	P99, P999  time.Duration                        // of the same
	Max        time.Duration                        // of the same
	Gap        struct{ P1, P50, P99 time.Duration } // between successive arrivals
	Dispersion float64                              // as Trace.Dispersion
	MaxSlot    int                                  // as Trace.MaxSlot
}

// Against sums up how t kept a schedule of rate arrivals per second.
func (t Trace) Against(rate float64) Precision {
	d, g := t.Deviations(rate), t.Gaps()
	p := Precision{
		Count: len(t), Rate: t.Rate(), Dispersion: t.Dispersion(), MaxSlot: t.MaxSlot(),
		P50: quantile(d, .5), P90: quantile(d, .9), P99: quantile(d, .99), P999: quantile(d, .999), Max: quantile(d, 1),
	}
	p.Gap.P1, p.Gap.P50, p.Gap.P99 = quantile(g, .01), quantile(g, .5), quantile(g, .99)
	return p
}

// quantile returns the quantile q of sorted values; 0 without any.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// String returns p on one line. Times are in microseconds.
func (p Precision) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d arrivals, rate %.1f/s, deviation us p50 %.0f p90 %.0f p99 %.0f p99.9 %.0f max %.0f, ",
		p.Count, p.Rate, us(p.P50), us(p.P90), us(p.P99), us(p.P999), us(p.Max))
	fmt.Fprintf(&b, "gap us p1 %.0f p50 %.0f p99 %.0f, dispersion %.3f, at most %d in %v",
		us(p.Gap.P1), us(p.Gap.P50), us(p.Gap.P99), p.Dispersion, p.MaxSlot, Slot)
	return b.String()
}

func us(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
