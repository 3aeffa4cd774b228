package prom

import (
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"httpgen/sampler"
)

const (
	// schema divides each doubling into 8 native buckets, a factor of 1.0905.
	schema = 3
	// lowExp and highExp bound the native buckets as powers of two of a second:
	// from about 1 us, below which the sampler's own histograms see little, to
	// beyond the hour at which they end.
	lowExp  = -20
	highExp = 12
	// maxNative is how many native buckets a histogram may fill before its
	// resolution is halved.
	maxNative = 200
)

// fineTops are the greatest values of the zero bucket and of the native ones.
var fineTops = func() (tops [1 + (highExp-lowExp)<<schema]time.Duration) {
	for i := range tops {
		exp, part := lowExp+i>>schema, i&(1<<schema-1)
		tops[i] = time.Duration(math.Ldexp(math.Exp2(float64(part)/(1<<schema))*1e9, exp))
	}
	return tops
}()

// roughTops are the bounds of the classic buckets: 1-2-5 from 5 us to 100 s.
var roughTops = [...]time.Duration{
	5e3, 10e3, 20e3, 50e3, 100e3, 200e3, 500e3, // from 5 us
	1e6, 2e6, 5e6, 10e6, 20e6, 50e6, 100e6, 200e6, 500e6, // from 1 ms
	1e9, 2e9, 5e9, 10e9, 20e9, 50e9, 100e9,
}

// The first classic bucket of times that are a system call long or nothing at
// all, and of those that hold a round trip.
const (
	from5us  = 0
	from20us = 2
)

// A histogram holds durations in the buckets that are shown.
type histogram struct {
	count uint64
	sum   uint64                     // nanoseconds
	fine  [len(fineTops)]uint64      // the zero bucket, then the native ones
	rough [len(roughTops) + 1]uint64 // not cumulative; the last has no bound
}

// add adds all values of d. Each bucket of d goes by its greatest value, which
// does not depend on other values: no bucket of h can ever decrease.
func (h *histogram) add(d *sampler.Dist) {
	h.count += d.Count()
	h.sum += uint64(d.Sum())
	f, r := 0, 0
	for v, n := range d.Buckets() {
		for f < len(fineTops)-1 && v > fineTops[f] {
			f++
		}
		for r < len(roughTops) && v > roughTops[r] {
			r++
		}
		h.fine[f] += n
		h.rough[r] += n
	}
}

// native returns the filled native buckets by index, at the finest schema that
// keeps their number within bounds. The number only grows with time, so a
// resolution that was given up stays so.
func (h *histogram) native() (at int32, buckets map[int]int64) {
	for at = schema; ; at-- {
		buckets = map[int]int64{}
		for i, n := range h.fine[1:] {
			if n > 0 {
				// Bucket k of a schema ends at 2^(k/2^schema) seconds, so that k and the
				// odd one before it are one bucket of the next coarser schema.
				k := lowExp<<schema + i + 1
				half := 1<<(schema-at) - 1
				buckets[(k+half)>>(schema-at)] += int64(n)
			}
		}
		if len(buckets) <= maxNative {
			return at, buckets
		}
	}
}

// metric returns h with both kinds of buckets, the classic ones from bound
// first on.
func (h *histogram) metric(d *prometheus.Desc, first int, created time.Time, labels ...string) prometheus.Metric {
	at, buckets := h.native()
	m, err := prometheus.NewConstNativeHistogram(d, h.count, float64(h.sum)/1e9, buckets, nil, h.fine[0],
		at, math.Ldexp(1, lowExp), created, labels...)
	if err != nil {
		return prometheus.NewInvalidMetric(d, err)
	}
	var out dto.Metric
	if err := m.Write(&out); err != nil {
		return prometheus.NewInvalidMetric(d, err)
	}
	var n uint64
	for i, top := range roughTops {
		n += h.rough[i]
		if i >= first {
			out.Histogram.Bucket = append(out.Histogram.Bucket, &dto.Bucket{UpperBound: new(top.Seconds()), CumulativeCount: new(n)})
		}
	}
	return &constHistogram{d, out.Label, out.Histogram}
}

// A constHistogram is a metric with classic and native buckets. The library has
// constant metrics with either.
type constHistogram struct {
	desc      *prometheus.Desc
	labels    []*dto.LabelPair
	histogram *dto.Histogram
}

func (m *constHistogram) Desc() *prometheus.Desc { return m.desc }

func (m *constHistogram) Write(out *dto.Metric) error {
	out.Label, out.Histogram = m.labels, m.histogram
	return nil
}
