package stat

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

// noisy draws trials of arms in blocks: a block's own level, drift from trial
// to trial in the order in which they ran, and each arm's factor.
func noisy(seed uint64, arms, blocks int, noise, correlation float64, factor []float64) [][]float64 {
	rng := random(seed)
	order, err := Order(arms, blocks, seed)
	if err != nil {
		panic(err)
	}
	values := make([][]float64, arms)
	for a := range values {
		values[a] = make([]float64, blocks)
	}
	drift := 0.0
	for b := range blocks {
		for _, a := range order[b] {
			drift = correlation*drift + math.Sqrt(1-correlation*correlation)*rng.NormFloat64()
			values[a][b] = factor[a] * math.Exp(noise*drift)
		}
	}
	return values
}

func TestEffectsKnown(t *testing.T) {
	t.Parallel()
	base := []float64{100, 101, 102, 103, 104, 105, 106, 107}
	times := func(f ...float64) []float64 {
		v := make([]float64, len(base))
		for i := range v {
			v[i] = base[i] * f[i%len(f)]
		}
		return v
	}
	inf := math.Inf(1)
	for _, tt := range []struct {
		name             string
		arm              []float64
		higher           bool
		want             Decision
		ratio, low, high float64
		reason           string
	}{
		{"same", base, false, Identical, 1, 1, 1, "all 8 blocks"},
		{"slower", times(1.1, 1.2), false, Worse, math.Sqrt(1.1 * 1.2), 1.1, 1.2, "at most 0.05"},
		{"faster", times(0.9, 0.8), false, Better, math.Sqrt(0.9 * 0.8), 0.8, 0.9, "at most 0.05"},
		{"more goodput", times(1.1, 1.2), true, Better, math.Sqrt(1.1 * 1.2), 1.1, 1.2, "at most 0.05"},
		{"less goodput", times(0.9), true, Worse, 0.9, 0.9, 0.9, "at most 0.05"},
		{"both ways", times(1.1, 1/1.1), false, None, 1, 1 / 1.1, 1.1, "above 0.05"},
		{"infinitely late", []float64{inf, inf, inf, inf, inf, inf, inf, inf}, false, Worse, inf, inf, inf, "at most 0.05"},
		{"late at times", []float64{inf, 101, 102, 103, 104, 105, 106, 107}, false, None, 1, 1, inf, "above 0.05"},
		{"nothing", make([]float64, 8), false, Better, 0, 0, 0, "at most 0.05"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Effects([][]float64{base, tt.arm}, CompareOptions{HigherBetter: tt.higher})
			if err != nil {
				t.Fatal(err)
			}
			e := got[0]
			if len(got) != 1 || e.Decision != tt.want || !strings.Contains(e.Reason, tt.reason) ||
				!near(e.Ratio, tt.ratio, 1e-9) || !near(e.Low, tt.low, 1e-9) || !near(e.High, tt.high, 1e-9) {
				t.Errorf("got %v %v [%v, %v] because %s, want %v %v [%v, %v] because %s",
					e.Decision, e.Ratio, e.Low, e.High, e.Reason, tt.want, tt.ratio, tt.low, tt.high, tt.reason)
			}
		})
	}
}

func TestEffectsTooFewBlocks(t *testing.T) {
	t.Parallel()
	got, err := Effects([][]float64{{1, 1, 1, 1, 1}, {2, 2.1, 2.2, 2.3, 2.4}}, CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if e := got[0]; e.Decision != None || e.Low != 0 || !math.IsInf(e.High, 1) || !strings.Contains(e.Reason, "at least 6") {
		t.Errorf("five blocks: %v [%v, %v] because %s, want none [0, +Inf] because 6 are needed", e.Decision, e.Low, e.High, e.Reason)
	}
}

// Arms in another order, or the baseline exchanged, give the same numbers.
func TestEffectsPermuted(t *testing.T) {
	t.Parallel()
	v := noisy(3, 4, 12, 0.05, 0.5, []float64{1, 1.02, 1.1, 0.9})
	a, err := Effects(v, CompareOptions{Margin: 0.02})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Effects([][]float64{v[3], v[2], v[1], v[0]}, CompareOptions{Baseline: 3, Margin: 0.02})
	if err != nil {
		t.Fatal(err)
	}
	for i := range a {
		other := b[len(b)-1-i]
		other.Arm = a[i].Arm
		if !reflect.DeepEqual(a[i], other) {
			t.Errorf("arm %d: %+v, with the arms permuted %+v", a[i].Arm, a[i], other)
		}
	}
	there, _ := Effects(v[:2], CompareOptions{})
	back, _ := Effects(v[:2], CompareOptions{Baseline: 1})
	if there[0].P != back[0].P || !near(there[0].Ratio*back[0].Ratio, 1, 1e-12) || !near(there[0].Low*back[0].High, 1, 1e-12) {
		t.Errorf("exchanged: %+v and %+v, want the same p and inverse ratios", there[0], back[0])
	}
}

func TestEffectsRefused(t *testing.T) {
	t.Parallel()
	two := [][]float64{{1, 2}, {1, 2}}
	for _, tt := range []struct {
		name   string
		values [][]float64
		o      CompareOptions
		want   string
	}{
		{"no arms", nil, CompareOptions{}, "baseline 0"},
		{"baseline", two, CompareOptions{Baseline: 2}, "baseline 2: want an arm, 0 to 1"},
		{"level", two, CompareOptions{Level: 1}, "level 1"},
		{"level NaN", two, CompareOptions{Level: math.NaN()}, "level NaN"},
		{"margin", two, CompareOptions{Margin: -1}, "margin -1"},
		{"ragged", [][]float64{{1, 2}, {1}}, CompareOptions{}, "1 and 2 blocks"},
		{"empty", [][]float64{{}, {}}, CompareOptions{}, "want the same number, 1 to 500"},
		{"too many", [][]float64{make([]float64, 501), make([]float64, 501)}, CompareOptions{}, "501 and 501 blocks"},
		{"negative", [][]float64{{1, 2}, {1, -2}}, CompareOptions{}, "value -2 in block 1"},
		{"NaN", [][]float64{{1, math.NaN()}, {1, 2}}, CompareOptions{}, "value NaN in block 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Effects(tt.values, tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestGate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		low, high float64
		higher    bool
		want      Gate
	}{
		{1.06, 1.2, false, GateBroken},
		{1.04, 1.2, false, GateUndecided},
		{0.5, 1.05, false, GateKept},
		{0.8, 0.94, true, GateBroken},
		{0.8, 0.96, true, GateUndecided},
		{0.95, 1.3, true, GateKept},
	} {
		if got := (Effect{Low: tt.low, High: tt.high}).Gate(0.05, tt.higher); got != tt.want {
			t.Errorf("[%v, %v], higher better %v: %v, want %v", tt.low, tt.high, tt.higher, got, tt.want)
		}
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	a, err := Order(3, 200, 7)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := Order(3, 100, 7)
	c, _ := Order(3, 100, 8)
	if !reflect.DeepEqual(a[:100], b) {
		t.Error("the same seed gave another order")
	}
	if reflect.DeepEqual(b, c) {
		t.Error("another seed gave the same order")
	}
	first := [3]int{}
	for _, block := range a {
		seen := [3]bool{}
		for _, arm := range block {
			seen[arm] = true
		}
		if seen != [3]bool{true, true, true} || len(block) != 3 {
			t.Fatalf("block %v, want every arm once", block)
		}
		first[block[0]]++
	}
	for arm, n := range first { // binomial(200, 1/3): mean 67, deviation 7
		if n < 40 || n > 94 {
			t.Errorf("arm %d came first in %d of 200 blocks, want about 67", arm, n)
		}
	}
	for _, tt := range [][2]int{{0, 1}, {2, 0}, {2, MaxBlocks + 1}} {
		if _, err := Order(tt[0], tt[1], 0); err == nil {
			t.Errorf("Order(%d, %d) gave no error", tt[0], tt[1])
		}
	}
}

// Equal arms are called different as often as the exact distribution says,
// with independent, correlated and tied trials.
func TestFalsePositives(t *testing.T) {
	t.Parallel()
	n := experiments(400)
	for _, tt := range []struct {
		name                 string
		blocks               int
		correlation, lattice float64
	}{
		{"8 blocks", 8, 0, 0},
		{"40 blocks", 40, 0, 0},
		{"40 blocks, correlated", 40, 0.9, 0},
		{"40 blocks, tied", 40, 0, 0.05},
		{"12 blocks, tied and correlated", 12, 0.7, 0.05},
	} {
		t.Run(tt.name, func(t *testing.T) {
			hits, size := 0, 0.0
			for i := range n {
				v := noisy(uint64(1000+i), 2, tt.blocks, 0.05, tt.correlation, []float64{1, 1})
				if tt.lattice > 0 {
					for _, arm := range v {
						for b := range arm {
							arm[b] = math.Round(arm[b]/tt.lattice) * tt.lattice
						}
					}
				}
				e, err := Effects(v, CompareOptions{})
				if err != nil {
					t.Fatal(err)
				}
				size += e[0].Size
				if d := e[0].Decision; d == Worse || d == Better {
					hits++
				}
			}
			size /= float64(n)
			within(t, "false positives", hits, n, size, size)
		})
	}
}

// A change of 10 % at 5 % noise, and the detectable effect at its own power.
func TestPower(t *testing.T) {
	t.Parallel()
	n := experiments(400)
	for _, tt := range []struct {
		name      string
		blocks    int
		change    float64
		low, high float64
	}{
		{"10 % in 40 blocks", 40, 1.1, 0.99, 1},
		{"10 % in 10 blocks", 10, 1.1, 0.8, 1},
		// sd of the log-ratio 0.0707: se of the estimate 0.01144 with 40 blocks.
		{"detectable in 40 blocks", 40, math.Exp(2.8016 * 0.01144), 0.75, 0.85},
	} {
		t.Run(tt.name, func(t *testing.T) {
			hits, covered := 0, 0
			var power, detectable float64
			for i := range n {
				e, err := Effects(noisy(uint64(5000+i), 2, tt.blocks, 0.05, 0, []float64{1, tt.change}), CompareOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if e[0].Decision == Worse {
					hits++
				}
				if e[0].Low <= tt.change && tt.change <= e[0].High {
					covered++
				}
				power += e[0].Resolution.Power(tt.change-1) / float64(n)
				detectable += e[0].Resolution.Detectable / float64(n)
			}
			within(t, "power", hits, n, tt.low, tt.high)
			within(t, "coverage", covered, n, 0.95, 0.97)
			t.Logf("mean of the printed power %.3f, detectable %.4f", power, detectable)
			if tt.blocks == 40 && !near(power, float64(hits)/float64(n), 0.06) {
				t.Errorf("printed power %.3f, found in %.3f", power, float64(hits)/float64(n))
			}
		})
	}
}

// However many arms are equal to the baseline, at most 5 % of the experiments
// make a false claim; a slow arm among them is found.
func TestHolmSize(t *testing.T) {
	t.Parallel()
	n := experiments(300)
	for _, tt := range []struct {
		name   string
		factor []float64
		low    float64 // least share of experiments with a false claim
		slow   int     // arms that differ
	}{
		{"four equal arms", []float64{1, 1, 1, 1, 1}, 0.03, 0},
		{"three and a slow one", []float64{1, 1, 1, 1, 1.1}, 0.03, 1},
		{"one and three slow ones", []float64{1, 1, 1.1, 1.1, 1.1}, 0.03, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wrong, found := 0, 0
			for i := range n {
				e, err := Effects(noisy(uint64(9000+i), 5, 40, 0.05, 0.5, tt.factor), CompareOptions{})
				if err != nil {
					t.Fatal(err)
				}
				claims := 0
				for _, x := range e[:4-tt.slow] {
					if x.Decision != None {
						claims++
					}
				}
				if claims > 0 {
					wrong++
				}
				if e[3].Decision == Worse {
					found++
				}
			}
			within(t, "a false claim", wrong, n, tt.low, 0.05)
			if tt.slow > 0 {
				within(t, "the slow arm found", found, n, 0.99, 1)
			}
		})
	}
}
