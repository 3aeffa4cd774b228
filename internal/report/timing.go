package report

import "math"

// levels are the percentiles of a Percentiles, in its order.
var levels = [...]struct {
	name string
	q    float64
}{
	{"p50", 0.5}, {"p75", 0.75}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"p99.99", 0.9999},
}

// Reliable reports whether n samples are enough for the quantile q in (0, 1).
// They are when n >= 3.84 q/(1-q): 4 for the median, 381 for p99, 38397 for p99.99.
func Reliable(n uint64, q float64) bool {
	return n > 0 && float64(n) >= wanted(q)
}

// wanted returns the number of samples that a quantile needs.
func wanted(q float64) float64 { return 3.84 * q / (1 - q) }

// rank returns the nearest rank of the quantile q among n samples, from 1.
func rank(n uint64, q float64) uint64 {
	// The small step back keeps the error of the product, as in 0.07*100, from reaching the next rank.
	return max(1, uint64(math.Ceil(q*float64(n)-1e-6)))
}

// Percentiles are nearest-rank percentiles in seconds. One without enough
// samples is null.
type Percentiles struct {
	P50   *float64 `json:"p50"`
	P75   *float64 `json:"p75"`
	P90   *float64 `json:"p90"`
	P99   *float64 `json:"p99"`
	P999  *float64 `json:"p999"`  // 99.9 %
	P9999 *float64 `json:"p9999"` // 99.99 %
}

// NewPercentiles asks at, which returns the quantile q of n samples in seconds,
// for those percentiles that n samples are enough for.
func NewPercentiles(n uint64, at func(q float64) float64) Percentiles {
	var p Percentiles
	for i, field := range p.fields() {
		*field = percentile(n, levels[i].q, at)
	}
	return p
}

// fields returns the percentiles in the order of levels.
func (p *Percentiles) fields() [len(levels)]**float64 {
	return [...]**float64{&p.P50, &p.P75, &p.P90, &p.P99, &p.P999, &p.P9999}
}

func percentile(n uint64, q float64, at func(q float64) float64) *float64 {
	if !Reliable(n, q) {
		return nil
	}
	return new(at(q))
}

// Timing is the distribution of one duration, in seconds. All but Count is zero
// or null without samples.
type Timing struct {
	Count  uint64  `json:"count"`  // samples
	Mean   float64 `json:"mean"`   // exact, not from the histogram
	StdDev float64 `json:"stddev"` // with n-1; 0 below two samples
	Min    float64 `json:"min"`    // exact
	Percentiles
	Max float64 `json:"max"` // exact
	HDR string  `json:"hdr"` // histogram, HdrHistogram V2 in base64, so that results can be merged; empty without samples
}

// median returns the nearest-rank median, also where too few samples make P50
// null: httperf's line always has one. Up to three samples it follows from the
// minimum, the mean and the maximum.
func (t *Timing) median() float64 {
	switch {
	case t.P50 != nil:
		return *t.P50
	case t.Count == 3:
		return min(max(3*t.Mean-t.Min-t.Max, t.Min), t.Max)
	default:
		return t.Min
	}
}

// Times are the durations of a run, in the order of the contract.
type Times struct {
	Latency   Timing      `json:"latency"`              // a call from its intended start to the last reply byte: the headline
	Service   Timing      `json:"service"`              // a call from its real start to the last reply byte: what httperf prints
	All       AllArrivals `json:"latency_all_arrivals"` // latency with the calls that got no reply counted as later than all others
	Lag       Timing      `json:"lag"`                  // an arrival from its intended start until a loop took it: the generator's own delay
	Wait      Timing      `json:"wait"`                 // an arrival from there to its start: waiting for a free pooled connection
	Connect   Timing      `json:"connect"`              // connect() to established, without TLS and without refused connections
	TLS       Timing      `json:"tls"`                  // established to the end of the handshake
	FirstByte Timing      `json:"first_byte"`           // last request byte to first reply byte
	Transfer  Timing      `json:"transfer"`             // first to last reply byte
	Lifetime  Timing      `json:"lifetime"`             // connect() to close, of connections with at least one reply
	Failure   Timing      `json:"failure"`              // start to failure, of failed arrivals
}

// AllArrivals is the latency over every call that a started arrival planned,
// with those that got no reply later than all others: replies alone flatter an
// overloaded server.
//
// Among Count calls the percentile q has the rank ceil(q Count). When the rank
// is above Count - Failed it falls among the failures: there is no number for
// it, the field is null and the latency is known only to be beyond
// BeyondSeconds. A percentile with too few samples is null too.
type AllArrivals struct {
	Count         uint64  `json:"count"`          // calls planned by started arrivals; with one call an arrival, the started arrivals
	Failed        uint64  `json:"failed"`         // those of them without a complete reply
	BeyondSeconds float64 `json:"beyond_seconds"` // the longest that any of them was followed from its intended start, to its reply, its failure or the end of the run
	Percentiles
}

// NewAllArrivals makes an AllArrivals of count calls of which failed got no
// reply. At returns the quantile q of the latency of those that did, in seconds.
func NewAllArrivals(count, failed uint64, beyond float64, at func(q float64) float64) AllArrivals {
	a := AllArrivals{Count: count, Failed: failed, BeyondSeconds: beyond}
	for i, field := range a.fields() {
		q := levels[i].q
		if a.beyond(q) {
			continue
		}
		*field = percentile(count, q, func(q float64) float64 {
			// A quarter below the rank, both a ceiling and rounding to the nearest find it again.
			return at((float64(rank(count, q)) - 0.25) / float64(count-failed))
		})
	}
	return a
}

// beyond reports whether the quantile q falls among the failures.
func (a *AllArrivals) beyond(q float64) bool {
	return Reliable(a.Count, q) && rank(a.Count, q) > a.Count-min(a.Failed, a.Count)
}

// Summary is the distribution of one duration in a window, in seconds.
type Summary struct {
	Count  uint64   `json:"count"`  // samples
	Min    float64  `json:"min"`    // exact
	Mean   float64  `json:"mean"`   // exact
	Max    float64  `json:"max"`    // exact
	StdDev float64  `json:"stddev"` // with n-1; 0 below two samples
	P50    *float64 `json:"p50"`    // null with too few samples
	P99    *float64 `json:"p99"`    // null with too few samples
}

// Percentiles sets P50 and P99 where Count is enough for them. At returns the
// quantile q in seconds.
func (s *Summary) Percentiles(at func(q float64) float64) {
	s.P50, s.P99 = percentile(s.Count, 0.5, at), percentile(s.Count, 0.99, at)
}
