package stat

import (
	"cmp"
	"math"
	"slices"
)

// MaxBlocks is the largest number of blocks of one comparison. Counting the
// exact distribution takes time that grows with its cube.
const MaxBlocks = 500

// SignedRank is the exact Wilcoxon signed-rank test of paired differences
// against a distribution symmetric about zero.
//
// Source: Wilcoxon, "Individual comparisons by ranking methods", Biometrics
// Bulletin 1, 1945; Hollander, Wolfe and Chicken, "Nonparametric statistical
// methods", 3rd edition, section 3.1. Zero differences are left out, equal
// ones share their mean rank, and the distribution is that of the very ranks
// observed, so that ties do not disturb the size of the test.
type SignedRank struct {
	N int     // differences that are not zero
	W float64 // sum of the ranks of the positive ones
	P float64 // two-sided: probability of W or of anything as far out; 1 without differences

	below []float64 // probability that twice the rank sum is at most the index
}

// NewSignedRank tests differences, at most MaxBlocks and none of them NaN.
func NewSignedRank(differences []float64) SignedRank {
	d := slices.DeleteFunc(slices.Clone(differences), func(x float64) bool { return x == 0 })
	slices.SortFunc(d, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	ranks := make([]int, len(d)) // doubled, so that mean ranks are whole
	positive := 0
	for i, j := 0, 0; i < len(d); i = j {
		for j = i; j < len(d) && math.Abs(d[j]) == math.Abs(d[i]); j++ {
		}
		for k := i; k < j; k++ {
			ranks[k] = i + 1 + j
			if d[k] > 0 {
				positive += ranks[k]
			}
		}
	}
	r := SignedRank{N: len(d), W: float64(positive) / 2, below: rankSums(ranks)}
	r.P = r.twoSided(positive)
	return r
}

// rankSums returns the distribution of the sum of those ranks that a fair coin
// picks.
func rankSums(ranks []int) []float64 {
	total := 0
	for _, r := range ranks {
		total += r
	}
	p := make([]float64, total+1)
	p[0] = 1
	top := 0
	for _, r := range ranks {
		top += r
		for w := top; w >= r; w-- {
			p[w] = (p[w] + p[w-r]) / 2
		}
		for w := range r {
			p[w] /= 2
		}
	}
	for w := 1; w < len(p); w++ {
		p[w] += p[w-1]
	}
	return p
}

// twoSided returns the p-value of a doubled rank sum.
func (r SignedRank) twoSided(w int) float64 {
	// The distribution is symmetric: the upper tail of w is the lower one of
	// its mirror image.
	return min(1, 2*r.below[min(w, len(r.below)-1-w)])
}

// Size returns the attainable size: the largest p-value that these ranks can
// give and that is at most alpha, 0 when there is none. Sums come in steps, so
// a test at 5 % rejects a little less often than in 5 % of the cases.
func (r SignedRank) Size(alpha float64) float64 {
	size := 0.0
	for w := range (len(r.below) + 1) / 2 {
		p := r.twoSided(w)
		if p > alpha {
			break
		}
		size = p
	}
	return size
}

// MinBlocks returns the fewest blocks with which any of several comparisons
// can come out at the error level alpha after Holm's correction:
// 1 + log2(comparisons/alpha), since n blocks give no p-value below 2^(1-n).
func MinBlocks(comparisons int, alpha float64) int {
	n := 1
	for p := float64(comparisons); p > alpha && n < MaxBlocks; n++ {
		p /= 2
	}
	return n
}

// A Shift is an estimate of the middle of paired differences.
type Shift struct {
	Value     float64 // the Hodges-Lehmann estimate: the median of the pairwise means
	Low, High float64 // its interval; infinite when there are too few differences for one
}

// A Shifter holds the pairwise means of differences, from which intervals of
// any level come.
//
// Source: Hodges and Lehmann, "Estimates of location based on rank tests",
// Annals of Mathematical Statistics 34, 1963; Tukey's interval as in
// Hollander, Wolfe and Chicken, sections 3.2 and 3.3. The interval is the
// inversion of the signed-rank test without ties; with ties it covers at least
// as often as it says.
type Shifter struct {
	means []float64 // sorted Walsh averages
	below []float64 // distribution of the doubled rank sum without ties
}

// NewShifter prepares 1 to MaxBlocks finite differences.
func NewShifter(differences []float64) Shifter {
	n := len(differences)
	means := make([]float64, 0, n*(n+1)/2)
	ranks := make([]int, n)
	for i, a := range differences {
		ranks[i] = 2 * (i + 1)
		for _, b := range differences[i:] {
			means = append(means, a/2+b/2)
		}
	}
	slices.Sort(means)
	return Shifter{means, rankSums(ranks)}
}

// Shift returns the estimate with an interval that covers with a probability
// of at least level.
func (s Shifter) Shift(level float64) Shift {
	v := Shift{median(s.means), math.Inf(-1), math.Inf(1)}
	// cut is how many means may be cut off at each end: rank sums 0 to cut-1
	// have together a probability of at most (1-level)/2.
	cut := 0
	for 2*cut < len(s.below) && s.below[2*cut] <= (1-level)/2*(1+1e-12) {
		cut++
	}
	if cut > 0 {
		v.Low, v.High = s.means[cut-1], s.means[len(s.means)-cut]
	}
	return v
}
