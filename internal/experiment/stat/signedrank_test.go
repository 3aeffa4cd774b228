package stat

import (
	"math"
	"slices"
	"testing"
)

// Hamilton depression scale before and after a tranquilizer: Hollander, Wolfe
// and Chicken, example 3.1, where the upper tail of 40 is 0.0195, the estimate
// 0.46 and the interval at 96.1 % 0.010 to 0.786.
var depression = [2][]float64{
	{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30},
	{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29},
}

func minus(a, b []float64) []float64 {
	d := make([]float64, len(a))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	return d
}

func TestSignedRankPublished(t *testing.T) {
	t.Parallel()
	d := minus(depression[0], depression[1])
	r := NewSignedRank(d)
	if r.W != 40 || r.N != 9 || !near(r.P, 2*0.01953125, 1e-12) {
		t.Errorf("W %v, n %d, p %v, want 40, 9, 0.0390625", r.W, r.N, r.P)
	}
	s := NewShifter(d).Shift(0.95)
	if !near(s.Value, 0.46, 1e-9) || !near(s.Low, 0.010, 1e-9) || !near(s.High, 0.786, 1e-9) {
		t.Errorf("shift %+v, want 0.46 [0.010, 0.786]", s)
	}
}

// The largest rank sums that are significant at 5 %, two-sided, by Wilcoxon's
// table (McCornack, "Extended tables of the Wilcoxon matched pair signed rank
// statistic", 1965).
func TestSignedRankTable(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{6: 0, 7: 2, 8: 3, 9: 5, 10: 8, 15: 25, 20: 52, 25: 89, 30: 137, 40: 264, 50: 434} {
		d := make([]float64, n)
		for i := range d {
			d[i] = float64(i + 1)
		}
		r := NewSignedRank(d)
		if at, past := r.twoSided(2*want), r.twoSided(2*want+2); at > 0.05 || past <= 0.05 {
			t.Errorf("n %d: p %.4f at %d and %.4f one above, want 0.05 between", n, at, want, past)
		}
	}
}

// enumerate is the test by its definition: all patterns of signs.
func enumerate(d []float64) float64 {
	var abs []float64
	for _, x := range d {
		if x != 0 {
			abs = append(abs, math.Abs(x))
		}
	}
	ranks := doubledRanks(abs)
	sum, total, k := 0, 0, 0
	for _, x := range d {
		if x == 0 {
			continue
		}
		if x > 0 {
			sum += ranks[k]
		}
		total += ranks[k]
		k++
	}
	far := 0
	for signs := range 1 << k {
		w := 0
		for i, r := range ranks {
			if signs>>i&1 == 1 {
				w += r
			}
		}
		if math.Abs(float64(2*w-total)) >= math.Abs(float64(2*sum-total)) {
			far++
		}
	}
	return float64(far) / float64(int(1)<<k)
}

func TestSignedRankAgainstEnumeration(t *testing.T) {
	t.Parallel()
	rng := random(1)
	for range 300 {
		d := make([]float64, 1+rng.IntN(10))
		for i := range d {
			d[i] = float64(rng.IntN(7) - 3) // many ties and zeros
		}
		if got, want := NewSignedRank(d).P, enumerate(d); !near(got, want, 1e-12) {
			t.Errorf("p of %v = %v, want %v", d, got, want)
		}
	}
}

// The interval is the set of shifts that the test does not reject.
func TestShiftInvertsTest(t *testing.T) {
	t.Parallel()
	rng := random(2)
	for _, n := range []int{6, 9, 25, 40} {
		d := make([]float64, n)
		for i := range d {
			d[i] = rng.NormFloat64()
		}
		s := NewShifter(d).Shift(0.95)
		p := func(at float64) float64 {
			moved := slices.Clone(d)
			for i := range moved {
				moved[i] -= at
			}
			return NewSignedRank(moved).P
		}
		const eps = 1e-9
		for _, tt := range []struct {
			at       float64
			rejected bool
		}{{s.Low - eps, true}, {s.Low + eps, false}, {s.Value, false}, {s.High - eps, false}, {s.High + eps, true}} {
			if got := p(tt.at); got <= 0.05 != tt.rejected {
				t.Errorf("n %d, %+v: p at %v = %v, want rejected %v", n, s, tt.at, got, tt.rejected)
			}
		}
	}
}

func TestSignedRankEdges(t *testing.T) {
	t.Parallel()
	if r := NewSignedRank([]float64{0, 0, 0}); r.P != 1 || r.N != 0 || r.Size(0.05) != 0 {
		t.Errorf("zeros only: p %v, n %d, size %v, want 1, 0, 0", r.P, r.N, r.Size(0.05))
	}
	if s := NewShifter([]float64{1, 2, 3, 4, 5}).Shift(0.95); s.Value != 3 || !math.IsInf(s.Low, -1) || !math.IsInf(s.High, 1) {
		t.Errorf("five differences: %+v, want 3 and no interval", s)
	}
	if s := NewShifter([]float64{1, 2, 3, 4, 5, 6}).Shift(0.95); s.Low != 1 || s.High != 6 {
		t.Errorf("six differences: %+v, want the range, 1 to 6", s)
	}
	big := make([]float64, MaxBlocks)
	for i := range big {
		big[i] = float64(i + 1)
	}
	if r := NewSignedRank(big); !(r.P >= 0 && r.P < 1e-100) || !near(r.Size(0.05), 0.05, 1e-4) {
		t.Errorf("%d blocks: p %v, size %v, want almost 0 and 0.05", MaxBlocks, r.P, r.Size(0.05))
	}
	// Without ties: rank sum 0 of 6 at either end, rank sums 0 to 3 of 8.
	for n, want := range map[int]float64{5: 0, 6: 2.0 / 64, 8: 10.0 / 256} {
		if got := NewSignedRank(big[:n]).Size(0.05); got != want {
			t.Errorf("attainable size of %d = %v, want %v", n, got, want)
		}
	}
}

func TestMinBlocks(t *testing.T) {
	t.Parallel()
	for m, want := range map[int]int{1: 6, 2: 7, 3: 7, 4: 8, 6: 8, 7: 9} {
		if got := MinBlocks(m, 0.05); got != want {
			t.Errorf("MinBlocks(%d) = %d, want %d", m, got, want)
		}
		if p := float64(m) * math.Pow(2, float64(1-want)); p > 0.05 || 2*p <= 0.05 {
			t.Errorf("%d blocks give %d comparisons p %v, want just below 0.05", want, m, p)
		}
	}
}

// R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm"), and the example of Holm's
// procedure with equal values.
func TestHolm(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ p, want []float64 }{
		{nil, nil},
		{[]float64{0.04}, []float64{0.04}},
		{[]float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		{[]float64{0.02, 0.02}, []float64{0.04, 0.04}},
		{[]float64{0.9, 0.8}, []float64{1, 1}},
	} {
		got := Holm(tt.p)
		if !slices.EqualFunc(got, tt.want, func(a, b float64) bool { return near(a, b, 1e-12) }) {
			t.Errorf("Holm(%v) = %v, want %v", tt.p, got, tt.want)
		}
	}
}
