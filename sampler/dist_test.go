package sampler

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

func distOf(values ...time.Duration) *Dist {
	d := new(Dist)
	for _, v := range values {
		d.Add(v)
	}
	return d
}

func TestDistExact(t *testing.T) {
	t.Parallel()
	// The half width of n pairs x, x+2w has a standard deviation of
	// w * sqrt(2n/(2n-1)), however large x is.
	pairs := func(x, w time.Duration, n int) (v []time.Duration) {
		for range n {
			v = append(v, x, x+2*w)
		}
		return v
	}
	for _, tt := range []struct {
		name         string
		values       []time.Duration
		sum          time.Duration
		min, max     time.Duration
		mean, stddev float64
		beyond       uint64
	}{
		{name: "empty"},
		{"one", []time.Duration{milli}, milli, milli, milli, .001, 0, 0},
		{"zero", []time.Duration{0, 0}, 0, 0, 0, 0, 0, 0},
		{"negative counts as 0", []time.Duration{-time.Hour, 2}, 2, 0, 2, 1e-9, math.Sqrt(2) * 1e-9, 0},
		{"equal and large", slices.Repeat([]time.Duration{3599999999999}, 1000), 3599999999999000, 3599999999999, 3599999999999, 3599.999999999, 0, 0},
		{"tiny spread, tiny", pairs(0, 1, 500), 1000, 0, 2, 1e-9, 1e-9 * math.Sqrt(1000./999), 0},
		{"tiny spread, large", pairs(time.Hour-2, 1, 500), 1000 * (time.Hour - 1), time.Hour - 2, time.Hour, (time.Hour - 1).Seconds(), 1e-9 * math.Sqrt(1000./999), 0},
		{"tiny spread, beyond the histogram", pairs(10000*time.Hour, 1, 50), 100 * (10000*time.Hour + 1), 10000 * time.Hour, 10000*time.Hour + 2, (10000*time.Hour + 1).Seconds(), 1e-9 * math.Sqrt(100./99), 100},
		{"from nothing to 300 days", []time.Duration{0, 7200 * time.Hour}, 7200 * time.Hour, 0, 7200 * time.Hour, 3600 * 3600, 7200 * 3600 / math.Sqrt2, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := distOf(tt.values...)
			type exact struct {
				n, beyond     uint64
				sum, min, max time.Duration
			}
			got := exact{d.Count(), d.Beyond(), d.Sum(), d.Min(), d.Max()}
			want := exact{uint64(len(tt.values)), tt.beyond, tt.sum, tt.min, tt.max}
			if got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
			if got := d.Mean(); !nearly(got, tt.mean) {
				t.Errorf("Mean() = %v, want %v", got, tt.mean)
			}
			if got := d.Stddev(); !nearly(got, tt.stddev) {
				t.Errorf("Stddev() = %v, want %v", got, tt.stddev)
			}
		})
	}
}

// nearly says whether two results differ by rounding only.
func nearly(a, b float64) bool { return math.Abs(a-b) <= 1e-14*math.Abs(b) }

// random returns n values of several orders of magnitude.
func random(seed uint64, n int) []time.Duration {
	r := rand.New(rand.NewPCG(seed, 7))
	v := make([]time.Duration, n)
	for i := range v {
		v[i] = time.Duration(math.Exp(r.Float64() * math.Log(float64(2*time.Hour))))
	}
	return v
}

// within says whether a quantile is what the histogram makes of an exact one:
// the upper end of its cell.
func within(got, exact time.Duration, digits int) bool {
	cells := time.Duration(1024)
	if digits == 2 {
		cells = 128
	}
	if exact > highest {
		return got >= highest && got <= exact
	}
	return got >= exact && got-exact <= max(511, exact/cells)
}

func TestDistQuantileIsNearestRank(t *testing.T) {
	t.Parallel()
	for _, digits := range []int{2, 3} {
		for _, n := range []int{1, 2, 3, 4, 5, 10, 99, 100, 101, 1000, 12345, 200000} {
			values := random(uint64(n), n)
			d := newDist(digits)
			for _, v := range values {
				d.Add(v)
			}
			slices.Sort(values)
			// Quantiles as fractions, so that the rank is exact.
			for _, q := range [][2]int{{1, 1000000}, {1, 100}, {1, 4}, {1, 3}, {1, 2}, {3, 4}, {9, 10}, {95, 100}, {99, 100}, {999, 1000}, {9999, 10000}, {1, 1}} {
				rank := max(1, (n*q[0]+q[1]-1)/q[1])
				got, want := d.Quantile(float64(q[0])/float64(q[1])), values[rank-1]
				if !within(got, want, digits) {
					t.Errorf("%d digits, %d values: quantile %d/%d is %d, want %d to the histogram's resolution", digits, n, q[0], q[1], got, want)
				}
				if (rank == 1 || rank == n) && got != want {
					t.Errorf("%d digits, %d values: quantile %d/%d is %d, want exactly %d", digits, n, q[0], q[1], got, want)
				}
			}
		}
	}
}

func TestDistQuantileRoundsOff(t *testing.T) {
	t.Parallel()
	// In floating point .07*100 is a little more than 7, and .29*100 less than 29.
	d := distOf(every(milli, milli, 100)...)
	for i := 1; i <= 100; i++ {
		want := time.Duration(i) * milli
		if got := d.Quantile(float64(i) / 100); !within(got, want, 3) {
			t.Errorf("quantile %d %% of 1 ms to 100 ms is %v, want %v", i, got, want)
		}
	}
	if got := new(Dist).Quantile(.5); got != 0 {
		t.Errorf("the median of nothing is %v, want 0", got)
	}
}

func TestDistQuantileBeyond(t *testing.T) {
	t.Parallel()
	d := distOf(milli, 2*time.Hour, 3*time.Hour, 4*time.Hour)
	for _, tt := range []struct {
		q    float64
		want time.Duration
	}{{.25, milli}, {.5, time.Hour}, {.75, time.Hour}, {1, 4 * time.Hour}} {
		if got := d.Quantile(tt.q); got != tt.want {
			t.Errorf("Quantile(%v) = %v, want %v", tt.q, got, tt.want)
		}
	}
}

func TestDistQuantileOf(t *testing.T) {
	t.Parallel()
	d := distOf(every(milli, milli, 90)...)
	for _, tt := range []struct {
		d       *Dist
		q       float64
		missing uint64
		want    time.Duration
		ok      bool
	}{
		{d, .5, 0, 45 * milli, true},
		{d, .5, 10, 50 * milli, true},
		{d, .9, 10, 90 * milli, true},
		{d, .91, 10, 0, false},
		{d, 1, 10, 0, false},
		{d, 1, 0, 90 * milli, true},
		{d, .01, 90 * 99, 90 * milli, true},
		{d, .01, 90*99 + 1, 0, false},
		{new(Dist), .5, 10, 0, false},
		{new(Dist), .5, 0, 0, false},
	} {
		got, ok := tt.d.QuantileOf(tt.q, tt.missing)
		if ok != tt.ok || !within(got, tt.want, 3) {
			t.Errorf("QuantileOf(%v, %d) of %d values = %v, %v, want %v, %v", tt.q, tt.missing, tt.d.Count(), got, ok, tt.want, tt.ok)
		}
	}
}

func TestDistMerge(t *testing.T) {
	t.Parallel()
	for _, digits := range []int{2, 3} {
		values := random(uint64(digits), 3000)
		whole := newDist(digits)
		parts := []Dist{newDist(digits), newDist(digits), newDist(digits)}
		for i, v := range values {
			whole.Add(v)
			parts[i%2].Add(v) // the last part stays empty
		}
		var got Dist
		for i := range parts {
			got.Merge(&parts[i])
		}
		got.Merge(new(Dist))
		sameDist(t, fmt.Sprintf("%d digits", digits), &got, &whole)
	}
}

// sameDist fails unless two distributions agree in everything.
func sameDist(t *testing.T, what string, got, want *Dist) {
	t.Helper()
	a, b := *got, *want
	a.h, b.h = nil, nil
	if a != b {
		t.Errorf("%s: got %+v, want %+v", what, a, b)
	}
	if want.n > 0 && !slices.Equal(got.h.counts, want.h.counts) {
		t.Errorf("%s: the histograms differ", what)
	}
}

// TestBucketsAreTheLibrarys holds our layout against HdrHistogram's: the same
// values make the same histogram, bucket for bucket, and the same percentiles.
func TestBucketsAreTheLibrarys(t *testing.T) {
	t.Parallel()
	for _, digits := range []int{2, 3} {
		d := newDist(digits)
		lib := hdrhistogram.New(int64(lowest), int64(highest), digits)
		values := append(random(9, 20000), 0, 1, 511, 512, 513, lowest, highest-1, highest)
		for p := uint(0); p < 42; p++ {
			values = append(values, 1<<p-1, 1<<p, 1<<p+1)
		}
		for _, v := range values {
			v = min(v, highest)
			d.Add(v)
			if err := lib.RecordValue(int64(v)); err != nil {
				t.Fatal(err)
			}
			if i := d.h.index(uint64(v)); d.h.top(i) < uint64(v) || i > 0 && d.h.top(i-1) >= uint64(v) {
				t.Fatalf("%d digits: %d is in bucket %d, which ends at %d and begins behind %d", digits, v, i, d.h.top(i), d.h.top(i-1))
			}
		}
		if !d.h.export(digits).Equals(lib) {
			t.Errorf("%d digits: the histograms differ", digits)
		}
		for _, q := range []float64{.001, .1, .5, .9, .99, .9999} {
			if got, want := d.h.at(rank(q, d.n)), uint64(lib.ValueAtPercentile(100*q)); got != want {
				t.Errorf("%d digits: quantile %v is %d, want %d", digits, q, got, want)
			}
		}
	}
}

func TestDistCloneIsIndependent(t *testing.T) {
	t.Parallel()
	d := distOf(random(3, 100)...)
	before := distOf(random(3, 100)...)
	c := d.Clone()
	sameDist(t, "clone", &c, before)
	c.Add(milli)
	sameDist(t, "original after adding to the clone", d, before)
	d.Add(0)
	if c.Min() == 0 || c.Count() != 101 {
		t.Errorf("the clone changed with its original: %+v", c)
	}
	var empty Dist
	c = empty.Clone()
	c.Add(milli)
	if empty.Count() != 0 || c.Count() != 1 {
		t.Errorf("clone of an empty one: %d and %d values, want 0 and 1", empty.Count(), c.Count())
	}
}

func TestDistReset(t *testing.T) {
	t.Parallel()
	d := newDist(2)
	for _, v := range random(4, 1000) {
		d.Add(v)
	}
	h := d.h
	d.reset()
	empty := newDist(2)
	sameDist(t, "after reset", &d, &empty)
	if !slices.Equal(d.h.counts, empty.h.counts) || d.h.end != 0 {
		t.Error("the histogram was not emptied")
	}
	if d.h != h {
		t.Error("the histogram's memory was not kept")
	}
}

func TestDistEncode(t *testing.T) {
	t.Parallel()
	for _, digits := range []int{2, 3} {
		d := newDist(digits)
		for _, v := range random(5, 5000) {
			d.Add(v)
		}
		text, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		h, err := hdrhistogram.Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if h.TotalCount() != 5000 || !h.Equals(d.h.export(digits)) {
			t.Errorf("%d digits: %d values came back and not all in their cells, want 5000", digits, h.TotalCount())
		}
	}
	if text, err := new(Dist).Encode(); text != "" || err != nil {
		t.Errorf("an empty one is encoded as %q, %v, want nothing", text, err)
	}
}
