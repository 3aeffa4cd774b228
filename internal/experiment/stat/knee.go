package stat

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// A Step is one trial of a sweep as the knee detectors see it.
type Step struct {
	Rate      float64 // offered, arrivals per second, above 0
	Good      int     // arrivals with a good reply
	Scheduled int     // arrivals
	P99       float64 // of the latency in seconds; +Inf when failures reach it
}

// A Knee is where one detector sees the curve bend.
type Knee struct {
	Found     bool
	Rate      float64 // arrivals per second; 0 unless found
	Low, High float64 // its interval
	Why       string  // why there is none; empty when found
}

func none(format string, args ...any) Knee { return Knee{Why: fmt.Sprintf(format, args...)} }

// Knees holds what each detector found.
type Knees struct {
	Efficiency, TwoSegment, Kneedle Knee
	Agree                           bool // at least two were found, and the intervals of all found have a rate in common
}

// FindKnees runs all detectors. Steps may be in any order and share a rate.
func FindKnees(steps []Step) (Knees, error) {
	for _, s := range steps {
		if !(s.Rate > 0 && s.Rate <= maxRate) || s.Good < 0 || s.Good > s.Scheduled || s.Scheduled < 1 || !(s.P99 > 0) {
			return Knees{}, fmt.Errorf("stat: step %+v: want a rate above 0 and at most 1e9, a p99 above 0, and good arrivals of at least one scheduled", s)
		}
	}
	steps = slices.SortedFunc(slices.Values(steps), func(a, b Step) int { return cmp.Compare(a.Rate, b.Rate) })
	k := Knees{Efficiency: efficiency(steps), TwoSegment: twoSegment(steps), Kneedle: kneedle(steps)}
	found, low, high := 0, 0.0, math.Inf(1)
	for _, one := range []Knee{k.Efficiency, k.TwoSegment, k.Kneedle} {
		if one.Found {
			found++
			low, high = max(low, one.Low), min(high, one.High)
		}
	}
	k.Agree = found >= 2 && low <= high
	return k, nil
}

// efficient is the share of arrivals that a server below its knee achieves.
const efficient = 0.98

// efficiency finds the first rate of which surely less than 98 % is achieved.
// The interval begins at the highest rate below it that is not surely less.
func efficiency(steps []Step) Knee {
	last := 0.0
	for i := 0; i < len(steps); {
		good, scheduled, rate := 0, 0, steps[i].Rate
		for ; i < len(steps) && steps[i].Rate == rate; i++ {
			good, scheduled = good+steps[i].Good, scheduled+steps[i].Scheduled
		}
		if _, high, err := Proportion(good, scheduled, 0.95); err == nil && high < efficient {
			return Knee{Found: true, Rate: rate, Low: last, High: rate}
		}
		last = rate
	}
	return none("no rate up to %.6g achieved less than %.0f %%", last, 100*efficient)
}

// twoSegment fits the logarithm of p99 over the logarithm of the rate by two
// lines that meet. The interval holds the breaks whose fit is not
// significantly worse than the best; one line is preferred when the second
// does not pay for its parameters by the corrected Akaike criterion.
//
// Source: Hinkley, "Inference about the intersection in two-phase regression",
// Biometrika 56, 1969; Hurvich and Tsai, "Regression and time series model
// selection in small samples", Biometrika 76, 1989.
func twoSegment(steps []Step) Knee {
	const need = 7 // the criterion's correction needs more values than parameters plus one
	var x, y []float64
	for _, s := range steps {
		if !math.IsInf(s.P99, 1) {
			x, y = append(x, math.Log(s.Rate)), append(y, math.Log(s.P99))
		}
	}
	distinct := slices.Compact(slices.Clone(x))
	if len(x) < need || len(distinct) < 5 {
		return none("%d trials at %d rates have a finite p99: at least %d at 5 are needed", len(x), len(distinct), need)
	}
	n := float64(len(x))
	fit := func(at float64, hinged bool) ([]float64, float64, bool) {
		rows := make([][]float64, len(x))
		for i, v := range x {
			rows[i] = []float64{1, v - x[0]}
			if hinged {
				rows[i] = append(rows[i], max(0, v-at))
			}
		}
		return leastSquares(rows, y)
	}
	_, one, _ := fit(0, false)
	// At least two rates on either side of the break.
	const grid = 400
	low, high := distinct[1], distinct[len(distinct)-2]
	var breaks, sums []float64
	best, bend := 0, 0.0
	for i := range grid + 1 {
		at := low + (high-low)*float64(i)/grid
		c, rss, ok := fit(at, true)
		if !ok {
			continue
		}
		breaks, sums = append(breaks, at), append(sums, rss)
		if len(sums) == 1 || rss < sums[best] {
			best, bend = len(sums)-1, c[2]
		}
	}
	floor := 1e-12 * n // p99 is not known to a millionth: a perfect fit is no reason for certainty
	criterion := func(rss, k float64) float64 {
		return n*math.Log((rss+floor)/n) + 2*k + 2*k*(k+1)/(n-k-1)
	}
	switch {
	case len(sums) == 0 || criterion(sums[best], 5) >= criterion(one, 3):
		return none("one line fits p99 as well as two")
	case bend <= 0:
		return none("p99 rises more slowly behind the break than before it")
	}
	t := studentQuantile(0.975, n-4)
	limit := (sums[best] + floor) * (1 + t*t/(n-4))
	k := Knee{Found: true, Rate: math.Exp(breaks[best]), Low: math.Inf(1)}
	for i, rss := range sums { // the truth may lie one place beside the grid
		if rss <= limit {
			k.Low = min(k.Low, math.Exp(breaks[max(0, i-1)]))
			k.High = math.Exp(breaks[min(len(breaks)-1, i+1)])
		}
	}
	return k
}

// kneedle finds the rate where p99 lies furthest below the diagonal of the
// unit square that rates and p99 are scaled to. The interval reaches to the
// neighbouring rates.
//
// Source: Satopaa, Albrecht, Irwin and Raghavan, "Finding a 'kneedle' in a
// haystack: detecting knee points in system behavior", ICDCS workshops, 2011,
// for a convex rising curve at a sensitivity of 1: with both ends on the
// diagonal, the largest distance is a knee when it exceeds the mean spacing of
// the scaled rates.
func kneedle(steps []Step) Knee {
	const need = 8
	var x, y, weight []float64 // one value a rate: the median of its trials
	for i := 0; i < len(steps); {
		rate := steps[i].Rate
		var p99 []float64
		for ; i < len(steps) && steps[i].Rate == rate; i++ {
			p99 = append(p99, steps[i].P99)
		}
		if m := median(p99); !math.IsInf(m, 1) {
			x, y, weight = append(x, rate), append(y, m), append(weight, float64(len(p99)))
		}
	}
	if len(x) < need {
		return none("%d rates have a finite p99: at least %d are needed", len(x), need)
	}
	y = monotone(y, weight)
	n := len(x)
	if y[0] == y[n-1] {
		return none("p99 does not rise")
	}
	best, distance := 0, 0.0
	for i := range x {
		if d := (x[i]-x[0])/(x[n-1]-x[0]) - (y[i]-y[0])/(y[n-1]-y[0]); d > distance {
			best, distance = i, d
		}
	}
	if distance <= 1/float64(n-1) {
		return none("p99 stays within %.2g of a straight line", 1/float64(n-1))
	}
	return Knee{Found: true, Rate: x[best], Low: x[best-1], High: x[best+1]}
}

// monotone returns the rising values nearest to y in weighted least squares.
//
// Source: Ayer, Brunk, Ewing, Reid and Silverman, "An empirical distribution
// function for sampling with incomplete information", Annals of Mathematical
// Statistics 26, 1955 (pool adjacent violators).
func monotone(y, weight []float64) []float64 {
	type pool struct {
		value, weight float64
		n             int
	}
	var pools []pool
	for i := range y {
		pools = append(pools, pool{y[i], weight[i], 1})
		for k := len(pools) - 1; k > 0 && pools[k-1].value > pools[k].value; k-- {
			a, b := pools[k-1], pools[k]
			w := a.weight + b.weight
			pools[k-1] = pool{a.value*(a.weight/w) + b.value*(b.weight/w), w, a.n + b.n}
			pools = pools[:k]
		}
	}
	var out []float64
	for _, p := range pools {
		for range p.n {
			out = append(out, p.value)
		}
	}
	return out
}
