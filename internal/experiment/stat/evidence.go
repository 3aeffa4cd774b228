package stat

import (
	"fmt"
	"math"
)

// Stable says whether a trial's backlog stayed where it was: calls open at the
// end of the trial minus those open after its first quarter are at most 1 % of
// its arrivals plus 5. A server slightly above its capacity answers the first
// seconds in time, and only the growing number of open calls betrays it.
func Stable(openQuarter, openEnd, arrivals int) bool {
	return float64(openEnd-openQuarter) <= float64(arrivals)/100+5
}

// Proportion returns the exact interval of a probability of which k of n cases
// were hits; the upper end alone is a bound at (1+level)/2.
//
// Source: Clopper and Pearson, "The use of confidence or fiducial limits
// illustrated in the case of the binomial", Biometrika 26, 1934. Without hits
// the upper end at a level of 90 % is about 3/n, the rule of three: fewer than
// 3000 arrivals cannot prove an error ratio below 0.1 %.
func Proportion(k, n int, confidence float64) (low, high float64, err error) {
	confidence, err = level(confidence)
	if err != nil {
		return 0, 0, err
	}
	if n < 1 || k < 0 || k > n {
		return 0, 0, fmt.Errorf("stat: %d of %d cases: want 0 or more of at least 1", k, n)
	}
	tail := (1 - confidence) / 2
	hits, rest := float64(k), float64(n-k)
	high = 1
	if k > 0 {
		low = betaQuantile(hits, rest+1, tail)
	}
	if k < n {
		high = betaQuantile(hits+1, rest, 1-tail)
	}
	return low, high, nil
}

// QuantileRanks returns the ranks, from 1, of the sorted values between which
// the quantile q of their distribution lies with a probability of about level.
// ok is false when n is too small for that: below n = z^2 q/(1-q), or its
// mirror image, with z of the level (381 values for p99 at 95 %).
//
// Source: the normal approximation of order statistics, as in Le Boudec,
// "Performance evaluation of computer and communication systems", 2010,
// theorem 2.1. The values must be independent; near saturation they are not,
// and the interval is too narrow.
func QuantileRanks(n int, q, confidence float64) (low, high int, ok bool, err error) {
	confidence, err = level(confidence)
	if err != nil {
		return 0, 0, false, err
	}
	if n < 0 || !(q > 0 && q < 1) {
		return 0, 0, false, fmt.Errorf("stat: quantile %v of %d values: want a quantile between 0 and 1", q, n)
	}
	z := normalQuantile((1 + confidence) / 2)
	if tail := max(q/(1-q), (1-q)/q); float64(n) < z*z*tail {
		return 0, 0, false, nil
	}
	middle, half := float64(n)*q, z*math.Sqrt(float64(n)*q*(1-q))
	return max(1, int(math.Floor(middle-half))), min(n, int(math.Ceil(middle+half))+1), true, nil
}
