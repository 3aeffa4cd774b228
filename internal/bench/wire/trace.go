package wire

import (
	"math"
	"slices"
	"time"
)

// Slot is the length of the intervals in which arrivals are counted.
const Slot = 10 * time.Millisecond

// A Trace is the instants at which arrivals were seen, in order, as offsets
// from any fixed instant.
type Trace []time.Duration

// Rate returns the arrivals per second between the first and the last one; 0
// with fewer than two.
func (t Trace) Rate() float64 {
	if len(t) < 2 || t[len(t)-1] == t[0] {
		return 0
	}
	return float64(len(t)-1) / (t[len(t)-1] - t[0]).Seconds()
}

// Deviations returns how far each arrival was from an even schedule of rate
// arrivals per second, in order of size.
//
// The k-th arrival is held against k/rate. Where the schedule began is not
// known from outside: its phase is taken from the arrivals, as the earliest
// 5 % of them show it, because nobody is early by intent.
func (t Trace) Deviations(rate float64) []time.Duration {
	if len(t) == 0 {
		return nil
	}
	period := float64(time.Second) / rate
	d := make([]time.Duration, len(t))
	for k, at := range t {
		d[k] = at - t[0] - time.Duration(math.Round(float64(k)*period))
	}
	slices.Sort(d)
	phase := d[len(d)/20]
	for i := range d {
		d[i] = (d[i] - phase).Abs()
	}
	slices.Sort(d)
	return d
}

// Gaps returns the times between successive arrivals, in order of size.
func (t Trace) Gaps() []time.Duration {
	if len(t) < 2 {
		return nil
	}
	g := make([]time.Duration, len(t)-1)
	for i := range g {
		g[i] = t[i+1] - t[i]
	}
	slices.Sort(g)
	return g
}

// Slots returns the arrivals in each Slot from the first arrival on. The last,
// which may be cut short, is included.
func (t Trace) Slots() []int {
	if len(t) == 0 {
		return nil
	}
	n := make([]int, (t[len(t)-1]-t[0])/Slot+1)
	for _, at := range t {
		n[(at-t[0])/Slot]++
	}
	return n
}

// MaxSlot returns the largest number of arrivals in one Slot.
func (t Trace) MaxSlot() int {
	if len(t) == 0 {
		return 0
	}
	return slices.Max(t.Slots())
}

// Dispersion returns the index of dispersion of the counts in full Slots,
// variance over mean: 0 is a metronome, 1 a Poisson process. It is NaN with
// fewer than three full Slots.
func (t Trace) Dispersion() float64 {
	n := t.Slots()
	if len(n) < 4 {
		return math.NaN()
	}
	n = n[:len(n)-1]
	var mean, variance float64
	for _, c := range n {
		mean += float64(c) / float64(len(n))
	}
	for _, c := range n {
		variance += (float64(c) - mean) * (float64(c) - mean) / float64(len(n))
	}
	return variance / mean
}

// Burst returns the largest number of arrivals in any interval of that length,
// wherever it begins.
func (t Trace) Burst(length time.Duration) int {
	most, first := 0, 0
	for i, at := range t {
		for at-t[first] >= length {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// Groups returns the sizes of the groups of arrivals that gaps of at least that
// length separate.
func (t Trace) Groups(gap time.Duration) []int {
	var sizes []int
	for i, at := range t {
		if i == 0 || at-t[i-1] >= gap {
			sizes = append(sizes, 0)
		}
		sizes[len(sizes)-1]++
	}
	return sizes
}
