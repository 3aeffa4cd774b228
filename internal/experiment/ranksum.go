package experiment

import (
	"math"
	"slices"
)

// A rankSum is the exact Wilcoxon rank-sum test of two samples that are not
// paired, with the Hodges-Lehmann estimate of their distance and its interval.
//
// Source: Wilcoxon, "Individual comparisons by ranking methods", Biometrics
// Bulletin 1, 1945; Mann and Whitney, Annals of Mathematical Statistics 18, 1947;
// Hollander, Wolfe and Chicken, "Nonparametric statistical methods", 3rd edition,
// sections 4.1 to 4.3. Equal values share their mean rank, and the distribution is
// that of the very ranks observed. With ties the interval covers at least as often
// as it says.
type rankSum struct {
	w         float64 // sum of the ranks of b among all
	p         float64 // two-sided
	shift     float64 // typical difference b - a
	low, high float64 // its interval; infinite when there are too few values for one
}

// maxSample bounds the values of a sample: counting the distribution takes time
// that grows with its fourth power.
const maxSample = 50

// newRankSum tests samples of 1 to maxSample finite values.
func newRankSum(a, b []float64, level float64) rankSum {
	all := slices.Concat(a, b)
	slices.Sort(all)
	rank := map[float64]int{} // doubled, so that mean ranks are whole
	for i, j := 0, 0; i < len(all); i = j {
		for j = i; j < len(all) && all[j] == all[i]; j++ {
		}
		rank[all[i]] = i + 1 + j
	}
	ranks, plain := make([]int, len(all)), make([]int, len(all))
	for i, v := range all {
		ranks[i], plain[i] = rank[v], 2*(i+1)
	}
	sum := 0
	for _, v := range b {
		sum += rank[v]
	}
	r := rankSum{w: float64(sum) / 2, low: math.Inf(-1), high: math.Inf(1)}
	below, above := 0.0, 0.0
	for s, p := range sums(ranks, len(b)) {
		if s <= sum {
			below += p
		}
		if s >= sum {
			above += p
		}
	}
	r.p = min(1, 2*min(below, above))

	differences := make([]float64, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			differences = append(differences, y-x)
		}
	}
	slices.Sort(differences)
	r.shift = middle(differences)
	// cut is how many differences may be cut off at each end: that many of the
	// smallest sums have together a probability of at most (1-level)/2.
	distribution := sums(plain, len(b))
	cut, tail := 0, 0.0
	for least := len(b) * (len(b) + 1); cut < len(differences); cut++ {
		if tail += distribution[least+2*cut]; tail > (1-level)/2*(1+1e-12) {
			break
		}
	}
	if cut > 0 {
		r.low, r.high = differences[cut-1], differences[len(differences)-cut]
	}
	return r
}

// sums returns the distribution of the sum of n of the ranks, all choices being
// equally likely.
func sums(ranks []int, n int) []float64 {
	total := 0
	for _, r := range ranks {
		total += r
	}
	// ways[k][s] is how many choices of k ranks have the sum s.
	ways := make([][]float64, n+1)
	for k := range ways {
		ways[k] = make([]float64, total+1)
	}
	ways[0][0] = 1
	top := 0 // of the sums so far
	for i, r := range ranks {
		top += r
		for k := min(i+1, n); k > 0; k-- {
			for s := top; s >= r; s-- {
				ways[k][s] += ways[k-1][s-r]
			}
		}
	}
	all := 0.0
	for _, w := range ways[n] {
		all += w
	}
	for s := range ways[n] {
		ways[n][s] /= all
	}
	return ways[n]
}
