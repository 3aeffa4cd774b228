package sampler

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"time"
)

// The range of the histograms. Values beyond it are recorded at the edge and
// counted (Dist.Beyond).
const (
	lowest  = time.Microsecond
	highest = time.Hour
)

// A Dist is a distribution of durations: exact count, sum, squares, minimum
// and maximum, and a histogram for percentiles. The zero value is empty; its
// histogram has 3 significant digits and appears with the first value. The sum
// of all values has to stay below 292 years.
type Dist struct {
	n        uint64
	sum      uint64 // nanoseconds
	hi, lo   uint64 // sum of squares, 128 bits
	min, max time.Duration
	beyond   uint64
	digits   int
	h        *buckets
}

// newDist returns an empty Dist whose histogram exists, with the given number
// of significant digits.
func newDist(digits int) Dist {
	d := Dist{digits: digits}
	d.grow()
	return d
}

func (d *Dist) grow() {
	if d.digits == 0 {
		d.digits = 3
	}
	d.h = newBuckets(d.digits)
}

// Add records v; a negative one counts as 0.
func (d *Dist) Add(v time.Duration) {
	if v < 0 {
		v = 0
	}
	if v > d.max {
		d.max = v
	}
	if v < d.min || d.n == 0 {
		d.min = v
	}
	d.n++
	d.sum += uint64(v)
	hi, lo := bits.Mul64(uint64(v), uint64(v))
	var carry uint64
	d.lo, carry = bits.Add64(d.lo, lo, 0)
	d.hi, _ = bits.Add64(d.hi, hi, carry)
	if d.h == nil {
		d.grow()
	}
	if v > highest {
		v = highest
		d.beyond++
	}
	d.h.add(uint64(v))
}

// Merge adds all values of from to d.
func (d *Dist) Merge(from *Dist) {
	if from.n == 0 {
		return
	}
	if from.min < d.min || d.n == 0 {
		d.min = from.min
	}
	d.max = max(d.max, from.max)
	d.n += from.n
	d.sum += from.sum
	var carry uint64
	d.lo, carry = bits.Add64(d.lo, from.lo, 0)
	d.hi, _ = bits.Add64(d.hi, from.hi, carry)
	d.beyond += from.beyond
	if d.h == nil {
		d.digits = from.digits
		d.grow()
	}
	d.h.merge(from.h)
}

// reset empties d and keeps its histogram's memory.
func (d *Dist) reset() {
	if d.n == 0 {
		return
	}
	h, digits := d.h, d.digits
	h.reset()
	*d = Dist{h: h, digits: digits}
}

// Clone returns an independent copy.
func (d *Dist) Clone() Dist {
	c := *d
	if d.h != nil {
		c.h = newBuckets(d.digits)
		c.h.merge(d.h)
	}
	return c
}

// Count returns how many values were added.
func (d *Dist) Count() uint64 { return d.n }

// Sum returns the exact sum of the values.
func (d *Dist) Sum() time.Duration { return time.Duration(d.sum) }

// Min returns the smallest value, 0 if there is none.
func (d *Dist) Min() time.Duration { return d.min }

// Max returns the greatest value, 0 if there is none.
func (d *Dist) Max() time.Duration { return d.max }

// Beyond returns how many values exceeded the histogram's hour. They count as
// an hour in percentiles and as they are in everything else.
func (d *Dist) Beyond() uint64 { return d.beyond }

// Mean returns the mean in seconds, 0 if there is no value.
func (d *Dist) Mean() float64 {
	if d.n == 0 {
		return 0
	}
	return float64(d.sum) / float64(d.n) / 1e9
}

// Stddev returns the sample standard deviation (n-1) in seconds, 0 with fewer
// than two values. It is computed from exact integers:
// (n * sum(x^2) - sum(x)^2) / (n * (n-1)).
func (d *Dist) Stddev() float64 {
	if d.n < 2 {
		return 0
	}
	n := new(big.Int).SetUint64(d.n)
	sq := new(big.Int).SetUint64(d.hi)
	sq.Lsh(sq, 64).Add(sq, new(big.Int).SetUint64(d.lo)).Mul(sq, n)
	sum := new(big.Int).SetUint64(d.sum)
	sq.Sub(sq, sum.Mul(sum, sum))
	den := new(big.Int).Mul(n, new(big.Int).SetUint64(d.n-1))
	v, _ := new(big.Rat).SetFrac(sq, den).Float64()
	return math.Sqrt(v) / 1e9
}

// Quantile returns the nearest-rank quantile q in (0,1]: the smallest value
// that at least q of all values do not exceed, to the histogram's resolution.
// It is 0 without values.
func (d *Dist) Quantile(q float64) time.Duration {
	if d.n == 0 {
		return 0
	}
	return d.at(rank(q, d.n))
}

// QuantileOf is Quantile over the values of d together with missing further
// ones that are greater than all of them. It is not ok where the quantile
// falls among those.
func (d *Dist) QuantileOf(q float64, missing uint64) (v time.Duration, ok bool) {
	k := rank(q, d.n+missing)
	if d.n == 0 || k > d.n {
		return 0, false
	}
	return d.at(k), true
}

// rank returns the nearest rank of quantile q among n values, from 1.
func rank(q float64, n uint64) uint64 {
	// The tolerance keeps 0.99*100 from becoming rank 100 by rounding.
	k := uint64(math.Ceil(q*float64(n) - 1e-6))
	return min(max(k, 1), n)
}

// at returns the value of rank k.
func (d *Dist) at(k uint64) time.Duration {
	switch k {
	case 1:
		return d.min
	case d.n:
		return d.max
	}
	return min(max(min(time.Duration(d.h.at(k)), highest), d.min), d.max)
}

// Encode returns the histogram in the HdrHistogram V2 format (compressed,
// base64), empty without values. Its unit is the nanosecond.
func (d *Dist) Encode() (string, error) {
	if d.n == 0 {
		return "", nil
	}
	b, err := d.h.export(d.digits).EncodeV2()
	if err != nil {
		return "", fmt.Errorf("sampler: histogram: %w", err)
	}
	return string(b), nil
}
