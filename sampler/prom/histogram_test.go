package prom

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"httpgen/sampler"
)

// written returns the histogram that a server gets of h.
func written(t *testing.T, h *histogram, first int) *dto.Histogram {
	t.Helper()
	d := prometheus.NewDesc("x_seconds", "A test.", []string{"client"}, nil)
	var out dto.Metric
	if err := h.metric(d, first, time.Unix(1, 0), "a").Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Histogram
}

// spread returns n durations that are spread evenly in the logarithm.
func spread(n int, from, to time.Duration) (v []time.Duration) {
	r := rand.New(rand.NewPCG(1, 2))
	low, high := math.Log(float64(from)), math.Log(float64(to))
	for range n {
		v = append(v, time.Duration(math.Exp(low+r.Float64()*(high-low))))
	}
	return v
}

// nativeBuckets returns the upper bounds and counts of the native buckets, as
// a server decodes them.
func nativeBuckets(t *testing.T, h *dto.Histogram) (tops []float64, counts []uint64) {
	t.Helper()
	tops, counts = append(tops, h.GetZeroThreshold()), append(counts, h.GetZeroCount())
	index, n, k := int32(0), int64(0), 0
	for _, s := range h.PositiveSpan {
		index += s.GetOffset()
		for range s.GetLength() {
			n += h.PositiveDelta[k]
			k++
			if n < 0 {
				t.Fatalf("bucket %d holds %d, want no negative count", index, n)
			}
			tops = append(tops, math.Exp2(float64(index)/math.Exp2(float64(h.GetSchema()))))
			counts = append(counts, uint64(n))
			index++
		}
	}
	if k != len(h.PositiveDelta) {
		t.Fatalf("%d deltas in spans of %d", len(h.PositiveDelta), k)
	}
	return tops, counts
}

// resolved returns the greatest value that a histogram of the sampler with 3
// digits does not tell from v: it has 2048 buckets of 512 ns, which double in
// width with each doubling of the value from there on.
func resolved(v time.Duration) time.Duration {
	width := time.Duration(512) << max(0, bits.Len64(uint64(v))-20)
	return v | (width - 1)
}

func total64(v []uint64) (n uint64) {
	for _, x := range v {
		n += x
	}
	return n
}

func TestClassicBuckets(t *testing.T) {
	t.Parallel()
	values := append(spread(20000, 100, 3000*time.Second), 0, 5*micro, 20*micro, 100*time.Second, 2*time.Hour)
	var d sampler.Dist
	var sum time.Duration
	as := make([]time.Duration, len(values))
	for i, v := range values {
		d.Add(v)
		sum += v
		as[i] = resolved(min(v, time.Hour))
	}
	var h histogram
	h.add(&d)
	for _, tt := range []struct {
		name  string
		first int
		low   float64
		n     int
	}{
		{"from 5 us", from5us, 5e-6, 23},
		{"from 20 us", from20us, 20e-6, 21},
	} {
		got := written(t, &h, tt.first)
		if len(got.Bucket) != tt.n || got.Bucket[0].GetUpperBound() != tt.low || got.Bucket[tt.n-1].GetUpperBound() != 100 {
			t.Fatalf("%s: %d buckets %v, want %d from %v to 100", tt.name, len(got.Bucket), got.Bucket, tt.n, tt.low)
		}
		for _, b := range got.Bucket {
			var want, exact uint64
			for i, v := range values {
				if as[i].Seconds() <= b.GetUpperBound() {
					want++
				}
				if v.Seconds() <= b.GetUpperBound() {
					exact++
				}
			}
			if b.GetCumulativeCount() != want || want > exact {
				t.Errorf("%s: %d values to %v, want %d (of exactly %d)", tt.name, b.GetCumulativeCount(), b.GetUpperBound(), want, exact)
			}
		}
		if got.GetSampleCount() != uint64(len(values)) || got.GetSampleSum() != float64(sum)/1e9 {
			t.Errorf("%s: count %d, sum %v, want %d, %v", tt.name, got.GetSampleCount(), got.GetSampleSum(), len(values), float64(sum)/1e9)
		}
		if !got.GetCreatedTimestamp().AsTime().Equal(time.Unix(1, 0)) {
			t.Errorf("%s: created at %v", tt.name, got.GetCreatedTimestamp())
		}
	}
}

func TestNativeBuckets(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		values   []time.Duration
		schema   int32
		factor   float64
		relative bool // to the values themselves, not to what the sampler tells of them
	}{
		{"one value", []time.Duration{milli}, 3, 1.1, true},
		{"a usual run", spread(50000, 100*micro, 60*time.Second), 3, 1.1, true},
		{"fast replies", spread(50000, 5*micro, 10*milli), 3, 1.1, false},
		{"everything", spread(50000, micro, time.Hour), 2, 1.2, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var d sampler.Dist
			for _, v := range tt.values {
				d.Add(v)
			}
			var h histogram
			h.add(&d)
			got := written(t, &h, from20us)
			tops, counts := nativeBuckets(t, got)
			if got.GetSchema() != tt.schema {
				t.Errorf("schema %d, want %d", got.GetSchema(), tt.schema)
			}
			if n := total64(counts); n != d.Count() {
				t.Fatalf("%d values in the buckets, want %d", n, d.Count())
			}
			exact := slices.Sorted(slices.Values(tt.values))
			for _, q := range []float64{.001, .01, .1, .5, .75, .9, .99, .999, 1} {
				rank := max(1, uint64(math.Ceil(q*float64(d.Count())-1e-6)))
				want := d.Quantile(q).Seconds()
				if tt.relative {
					want = exact[rank-1].Seconds()
				}
				have := 0.
				for i, n := uint64(0), uint64(0); ; i++ {
					if n += counts[i]; n >= rank {
						have = tops[i]
						break
					}
				}
				if have < want*.9999 || have > want*tt.factor {
					t.Errorf("quantile %v ends at %v, want %v to %v", q, have, want, want*tt.factor)
				}
			}
		})
	}
}

func TestNativeBound(t *testing.T) {
	t.Parallel()
	var h histogram
	for i := range h.fine {
		h.fine[i] = uint64(i + 1)
		h.count += uint64(i + 1)
		_, buckets := h.native()
		if len(buckets) > maxNative {
			t.Fatalf("%d buckets with %d filled, want at most %d", len(buckets), i, maxNative)
		}
		at, _ := h.native()
		want := int32(schema)
		if i > maxNative {
			want--
		}
		if at != want {
			t.Fatalf("schema %d with %d buckets filled, want %d", at, i, want)
		}
	}
	// Each bucket of the coarser schema holds the two that make it up.
	_, buckets := h.native()
	for k := lowExp<<schema + 1; k <= highExp<<schema; k += 2 {
		i := k - lowExp<<schema
		if want := int64(h.fine[i] + h.fine[i+1]); buckets[(k+1)/2] != want {
			t.Errorf("bucket %d holds %d, want %d", (k+1)/2, buckets[(k+1)/2], want)
		}
	}
	if n := total64(h.fine[:]); n != h.count {
		t.Errorf("%d values, want %d", n, h.count)
	}
}

func TestZero(t *testing.T) {
	t.Parallel()
	var h histogram
	got := written(t, &h, from5us)
	if got.GetZeroThreshold() <= 0 || got.GetZeroThreshold() > 1e-6 || got.GetSampleCount() != 0 || got.GetSchema() != 3 {
		t.Errorf("empty: %v, want a native histogram without values", got)
	}
	var d sampler.Dist
	d.Add(0)
	d.Add(-time.Second)
	d.Add(300)
	h.add(&d)
	got = written(t, &h, from5us)
	if got.GetZeroCount() != 3 || len(got.PositiveDelta) != 0 || got.Bucket[0].GetCumulativeCount() != 3 {
		t.Errorf("three values of nothing: %v", got)
	}
}

// Values that come later must not move those that are counted.
func TestBucketsNeverDecrease(t *testing.T) {
	t.Parallel()
	var d sampler.Dist
	var last histogram
	for i, v := range append(spread(300, 100, 2*time.Hour), 4700, 4650, 5100) {
		d.Add(v)
		var h histogram
		h.add(&d)
		for k := range h.fine {
			if h.fine[k] < last.fine[k] {
				t.Fatalf("value %d, %v: native bucket %d went from %d to %d", i, v, k, last.fine[k], h.fine[k])
			}
		}
		for k := range h.rough {
			if h.rough[k] < last.rough[k] {
				t.Fatalf("value %d, %v: classic bucket %d went from %d to %d", i, v, k, last.rough[k], h.rough[k])
			}
		}
		last = h
	}
}
