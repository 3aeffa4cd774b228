package stat

import (
	"fmt"
	"math"
)

// power80 is the power that the numbers of blocks and the detectable effects
// are given for.
const power80 = 0.8

// Equivalence says whether two arms differ by no more than a margin.
//
// Source: Schuirmann, "A comparison of the two one-sided tests procedure and
// the power approach for assessing the equivalence of average
// bioavailability", Journal of Pharmacokinetics and Biopharmaceutics 15, 1987.
// Two one-sided tests at alpha are the interval at 1-2 alpha inside the margin.
type Equivalence struct {
	Margin       float64 // 0.02 allows ratios from 1/1.02 to 1.02: the same with the arms exchanged
	Low, High    float64 // interval of the ratio at 1-2 alpha, 90 % by default
	Shown        bool
	Resolution   float64 // the smallest margin that these blocks would show
	BlocksNeeded int     // blocks that show Margin with a power of 80 % if the difference is as estimated; 0 when shown or when none would
}

func equivalence(s Shifter, blocks int, margin, level float64) Equivalence {
	v := s.Shift(2*level - 1)
	limit := math.Log1p(margin)
	q := Equivalence{
		Margin: margin, Low: math.Exp(v.Low), High: math.Exp(v.High),
		Shown:      -limit < v.Low && v.High < limit,
		Resolution: math.Expm1(max(-v.Low, v.High)),
	}
	if q.Shown || math.IsInf(v.Low, 0) || math.Abs(v.Value) >= limit {
		return q
	}
	// The interval's half width shrinks with the root of the blocks.
	z := normalQuantile(level)
	one := (v.High - v.Low) / 2 / z * math.Sqrt(float64(blocks)) // standard error with one block
	enough := func(n float64) bool {
		se := one / math.Sqrt(n)
		return normalCDF((limit-v.Value)/se-z)+normalCDF((limit+v.Value)/se-z)-1 >= power80
	}
	if n := math.Ceil(root(1, 1e9, enough)); n < 1e9 {
		q.BlocksNeeded = int(n)
	}
	return q
}

// Same says whether several arms are all the same within a margin.
type Same struct {
	Shown       bool
	A, B        int // the pair furthest from it
	Equivalence     // of that pair, B over A
}

// AllSame tests the equivalence of every pair of arms. values are as for
// Effects, level is the confidence, 0 for 0.95.
//
// Each pair is tested at the full level, since all of them have to pass:
// Berger, "Multiparameter hypothesis testing and acceptance sampling",
// Technometrics 24, 1982 (intersection-union test).
func AllSame(values [][]float64, margin, confidence float64) (Same, error) {
	o := CompareOptions{Level: confidence, Margin: margin}
	if err := o.validate(len(values)); err != nil {
		return Same{}, err
	}
	if len(values) < 2 || margin == 0 {
		return Same{}, fmt.Errorf("stat: equivalence of %d arms within %v: want at least 2 arms and a margin above 0", len(values), margin)
	}
	var worst Same
	for b := range values {
		for a := range b {
			d, err := logRatios(values[a], values[b])
			if err != nil {
				return Same{}, fmt.Errorf("stat: arm %d against arm %d: %w", b, a, err)
			}
			q := equivalence(NewShifter(d), len(d), margin, o.Level)
			if b == 1 || q.Resolution > worst.Resolution {
				worst = Same{A: a, B: b, Equivalence: q}
			}
		}
	}
	worst.Shown = worst.Equivalence.Shown
	return worst, nil
}
