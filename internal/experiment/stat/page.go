package stat

import (
	"fmt"
	"math"
	"slices"
)

// MaxOrdered is the largest number of arms of a trend: the exact distribution
// looks at every subset of them.
const MaxOrdered = 10

// Trend is Page's test for a metric that rises or falls along ordered arms.
//
// Source: Page, "Ordered hypotheses for multiple treatments: a significance
// test for linear ranks", Journal of the American Statistical Association 58,
// 1963. The distribution is exact, given the ties within blocks.
type Trend struct {
	L        float64 // sum over arms of position (from 1) times rank sum
	Expected float64 // of L without a trend; above it the metric rises
	P        float64 // two-sided
}

// Page tests values[arm][block] for a trend in the order of the arms.
func Page(values [][]float64) (Trend, error) {
	k := len(values)
	if k < 3 || k > MaxOrdered {
		return Trend{}, fmt.Errorf("stat: trend over %d arms: want 3 to %d", k, MaxOrdered)
	}
	blocks := len(values[0])
	if blocks < 1 || blocks > MaxBlocks {
		return Trend{}, fmt.Errorf("stat: trend over %d blocks: want 1 to %d", blocks, MaxBlocks)
	}
	for arm, v := range values {
		if len(v) != blocks {
			return Trend{}, fmt.Errorf("stat: arm %d has %d blocks: want %d, as arm 0 has", arm, len(v), blocks)
		}
		if i := slices.IndexFunc(v, math.IsNaN); i >= 0 {
			return Trend{}, fmt.Errorf("stat: arm %d, block %d: value NaN, want a number", arm, i)
		}
	}
	l, least, all := 0, 0, []float64{1} // in doubled ranks; all begins at least
	known := map[string][]float64{}
	block := make([]float64, k)
	for b := range blocks {
		for arm := range values {
			block[arm] = values[arm][b]
		}
		ranks := doubledRanks(block)
		for arm, r := range ranks {
			l += (arm + 1) * r
		}
		slices.Sort(ranks)
		one, ok := known[fmt.Sprint(ranks)] // blocks with the same ties share it
		if !ok {
			one = linearRanks(ranks)
			known[fmt.Sprint(ranks)] = one
		}
		for i, r := range ranks {
			least += (k - i) * r
		}
		all = convolve(all, one)
	}
	below, above := 0.0, 0.0
	for i, p := range all {
		if i <= l-least {
			below += p
		}
		if i >= l-least {
			above += p
		}
	}
	return Trend{
		L:        float64(l) / 2,
		Expected: float64(blocks*k*(k+1)*(k+1)) / 4,
		P:        min(1, 2*min(below, above)),
	}, nil
}

// doubledRanks returns twice the mean ranks of v.
func doubledRanks(v []float64) []int {
	ranks := make([]int, len(v))
	for i, a := range v {
		for _, b := range v {
			if b < a {
				ranks[i] += 2
			} else if b == a {
				ranks[i]++
			}
		}
		ranks[i]++ // its own comparison counted half a place
	}
	return ranks
}

// linearRanks returns the distribution of the sum of position times rank when
// all orders of the sorted ranks are equally likely. It begins at the least sum
// that is possible.
func linearRanks(ranks []int) []float64 {
	k := len(ranks)
	least, most := 0, 0 // against the order and along it
	for i, r := range ranks {
		least += (k - i) * r
		most += (i + 1) * r
	}
	// sums[used] counts the sums of the orders of the ranks in used, which
	// take the first positions.
	sums := make([][]float64, 1<<k)
	sums[0] = make([]float64, most+1)
	sums[0][0] = 1
	for used := 1; used < len(sums); used++ {
		sums[used] = make([]float64, most+1)
		position := 0
		for i := range k {
			position += used >> i & 1
		}
		for i, r := range ranks {
			if used>>i&1 == 0 {
				continue
			}
			step := position * r
			for s, c := range sums[used&^(1<<i)][:most+1-step] {
				sums[used][s+step] += c / float64(position)
			}
		}
	}
	return sums[len(sums)-1][least:]
}

func convolve(a, b []float64) []float64 {
	c := make([]float64, len(a)+len(b)-1)
	for j, y := range b {
		if y == 0 {
			continue
		}
		for i, x := range a {
			c[i+j] += x * y
		}
	}
	return c
}
