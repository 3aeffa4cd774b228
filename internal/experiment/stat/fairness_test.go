package stat

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// windows draws what clients got, each reply going to one of them with the
// probability that its share is, moved back and forth by drift from window to
// window.
func windows(rng *rand.Rand, n, replies int, offered, shares []float64, drift, correlation float64) [][]Tally {
	blocks := make([][]Tally, n)
	moved := 0.0
	for b := range blocks {
		moved = correlation*moved + math.Sqrt(1-correlation*correlation)*rng.NormFloat64()
		block := make([]Tally, len(shares))
		for i := range block {
			block[i].Offered = offered[i]
		}
		for range replies {
			u := rng.Float64() - drift*moved // shifts replies from the first to the last
			i := 0
			for i < len(shares)-1 && u >= shares[i] {
				u -= shares[i]
				i++
			}
			block[i].Good++
		}
		blocks[b] = block
	}
	return blocks
}

// constant is the same block over and over.
func constant(n int, block ...Tally) (blocks [][]Tally) {
	for range n {
		blocks = append(blocks, block)
	}
	return blocks
}

// Servers of which the answer is known.
func TestFairnessKnown(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name        string
		weights     []float64
		blocks      [][]Tally
		o           FairOptions
		want        Sharing
		jain, worst float64
		maxError    float64
		ratios      []float64
		reason      string
	}{
		{"first come first served", filled(3, 1), constant(60, Tally{500, 500.0 / 3}, Tally{500, 500.0 / 3}, Tally{2000, 2000.0 / 3}), FairOptions{},
			SharesUnfair, 0.6666667, 0.6666667, 1.0 / 3, []float64{0.5, 0.5, 2}, "client 0"},
		{"equal shares", filled(3, 1), constant(60, Tally{500, 333}, Tally{500, 333}, Tally{2000, 333}), FairOptions{},
			SharesFair, 1, 1, 0, []float64{1, 1, 1}, "within 0.02"},
		{"1:3:6", []float64{1, 3, 6}, constant(6, Tally{500, 41}, Tally{500, 119}, Tally{500, 240}), FairOptions{Repeats: true},
			SharesFair, 0.99992, 0.99992, 0.0025, []float64{1.025, 0.9917, 1}, ""},
		{"an even server, weights 1:3:6", []float64{1, 3, 6}, constant(6, Tally{500, 100}, Tally{500, 100}, Tally{500, 100}), FairOptions{Repeats: true},
			SharesUnfair, 0.6, 0.6, 0.2667, []float64{3.333, 1.111, 0.5556}, ""},
		{"all served", []float64{1, 3, 6}, constant(60, Tally{2000, 2000}, Tally{2000, 2000}, Tally{2000, 2000}), FairOptions{},
			SharesNotSaturated, 1, 1, 0, []float64{1, 1, 1}, "100.0 % of what was offered"},
		{"one greedy client", filled(2, 1), constant(60, Tally{100, 100}, Tally{1000, 400}), FairOptions{},
			SharesNotSaturated, 1, 1, 0, []float64{1, 1}, "1 of 2 clients wanted more"},
		{"a greedy client and a starved one", filled(2, 1), constant(60, Tally{100, 10}, Tally{1000, 400}), FairOptions{},
			SharesUnfair, 0.577037, 0.577037, 0.2195, []float64{0.1, 1.290}, "client 0 got a share of 0.0244"},
		{"generator limited", filled(2, 1), constant(60, Tally{500, 100}, Tally{500, 100}), FairOptions{Limited: true},
			SharesNotSaturated, 1, 1, 0, []float64{1, 1}, "generator"},
		{"no goodput", filled(2, 1), constant(60, Tally{500, 0}, Tally{500, 0}), FairOptions{},
			SharesNotSaturated, 1, 1, 0, []float64{0, 0}, "no good reply"},
		{"few windows", filled(2, 1), constant(49, Tally{500, 100}, Tally{500, 100}), FairOptions{},
			SharesUndecided, 1, 1, 0, []float64{1, 1}, "no interval"},
		{"few repeats", filled(2, 1), constant(5, Tally{500, 100}, Tally{500, 100}), FairOptions{Repeats: true},
			SharesUndecided, 1, 1, 0, []float64{1, 1}, "no interval"},
		{"alternating", filled(2, 1), append(constant(30, Tally{500, 200}, Tally{500, 0}), constant(30, Tally{500, 0}, Tally{500, 200})...), FairOptions{},
			SharesUndecided, 1, 0.5, 0, []float64{1, 1}, "no interval"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := NewFairness(tt.weights, tt.blocks, tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if f.Decision != tt.want || f.Saturated == (tt.want == SharesNotSaturated) || !strings.Contains(f.Reason, tt.reason) {
				t.Errorf("%v, saturated %v, because %q, want %v because %q", f.Decision, f.Saturated, f.Reason, tt.want, tt.reason)
			}
			if !near(f.Jain, tt.jain, 1e-5) || !near(f.WorstBlock, tt.worst, 1e-5) || !near(f.MaxShareError, tt.maxError, 1e-4) {
				t.Errorf("index %.4f, worst %.4f, error %.4f, want %.4f, %.4f, %.4f", f.Jain, f.WorstBlock, f.MaxShareError, tt.jain, tt.worst, tt.maxError)
			}
			for i, c := range f.Clients {
				if !near(c.Ratio, tt.ratios[i], 1e-3) {
					t.Errorf("client %d has ratio %v, want %v", i, c.Ratio, tt.ratios[i])
				}
			}
			if f.JainLow > f.Jain || f.JainHigh < f.Jain {
				t.Errorf("index %v outside its interval [%v, %v]", f.Jain, f.JainLow, f.JainHigh)
			}
		})
	}
}

// On servers with known shares: the intervals hold the truth, a fair one is
// hardly ever called unfair, one at the margin hardly ever fair, and one well
// outside is found.
func TestFairnessSimulated(t *testing.T) {
	t.Parallel()
	n := experiments(150)
	weights, offered := []float64{1, 3, 6}, filled(3, 500)
	for _, tt := range []struct {
		name               string
		blocks             int
		repeats            bool
		shares             []float64
		drift, correlation float64
		fair, unfair       [2]float64 // bounds of the share of each decision
	}{
		{"fair", 60, false, []float64{0.1, 0.3, 0.6}, 0, 0, [2]float64{0.99, 1}, [2]float64{0, 0}},
		{"fair, correlated", 60, false, []float64{0.1, 0.3, 0.6}, 0.03, 0.5, [2]float64{0.3, 1}, [2]float64{0, 0.01}},
		{"at the margin", 60, false, []float64{0.12, 0.3, 0.58}, 0, 0, [2]float64{0, 0.05}, [2]float64{0, 0.05}},
		{"at the margin, correlated", 60, false, []float64{0.12, 0.3, 0.58}, 0.03, 0.5, [2]float64{0, 0.06}, [2]float64{0, 0.06}},
		{"at the margin, repeats", 6, true, []float64{0.12, 0.3, 0.58}, 0.01, 0, [2]float64{0, 0.05}, [2]float64{0, 0.05}},
		{"unfair", 60, false, []float64{0.14, 0.3, 0.56}, 0, 0, [2]float64{0, 0}, [2]float64{0.99, 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rng := random(uint64(tt.blocks) + uint64(1000*tt.shares[0]) + uint64(100*tt.correlation))
			jain := Jain([]float64{tt.shares[0] / 0.1, tt.shares[1] / 0.3, tt.shares[2] / 0.6}, weights)
			fair, unfair, errors, index, worse := 0, 0, 0, 0, 0
			for range n {
				f, err := NewFairness(weights, windows(rng, tt.blocks, 400, offered, tt.shares, tt.drift, tt.correlation), FairOptions{Repeats: tt.repeats})
				if err != nil {
					t.Fatal(err)
				}
				switch f.Decision {
				case SharesFair:
					fair++
				case SharesUnfair:
					unfair++
				}
				held := true
				for i, c := range f.Clients {
					truth := tt.shares[i] - weights[i]/10
					held = held && c.Low <= truth && truth <= c.High
				}
				if held {
					errors++
				}
				if f.JainLow <= jain && jain <= f.JainHigh {
					index++
				}
				if f.WorstBlock < f.WorstExpected {
					worse++
				}
			}
			within(t, "fair", fair, n, tt.fair[0], tt.fair[1])
			within(t, "unfair", unfair, n, tt.unfair[0], tt.unfair[1])
			within(t, "all share errors inside", errors, n, 0.93, 1)
			within(t, "index inside", index, n, 0.95, 1)
			if tt.name == "fair" {
				within(t, "worst window below expectation", worse, n, 0.03, 0.07)
			}
		})
	}
}

// Blocks that follow each other too closely for an interval still tell of a
// target that is plainly unfair, and of hardly any that is not.
func TestFairnessWithoutInterval(t *testing.T) {
	t.Parallel()
	n := experiments(150)
	weights, offered := []float64{1, 3, 6}, filled(3, 2500)
	for _, tt := range []struct {
		name        string
		shares      []float64
		drift       float64
		correlation float64
		unfair      [2]float64
	}{
		{"fair", []float64{0.1, 0.3, 0.6}, 0.05, 0.9, [2]float64{0, 0.01}},
		{"at the margin", []float64{0.12, 0.3, 0.58}, 0.05, 0.9, [2]float64{0, 0.05}},
		{"equal shares", []float64{0.33, 0.33, 0.34}, 0.04, 0.97, [2]float64{0.95, 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rng := random(uint64(1000 * (tt.shares[0] + tt.correlation)))
			unfair, without := 0, 0
			for range n {
				f, err := NewFairness(weights, windows(rng, 100, 2000, offered, tt.shares, tt.drift, tt.correlation), FairOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if f.Effective < minEffective {
					without++
				}
				if f.Decision == SharesUnfair {
					unfair++
				}
			}
			within(t, "unfair", unfair, n, tt.unfair[0], tt.unfair[1])
			within(t, "without an interval", without, n, 0.1, 1)
		})
	}
}

func TestEffectiveSize(t *testing.T) {
	t.Parallel()
	rng := random(12)
	for _, rho := range []float64{0, 0.5, 0.8, -0.5} {
		v := make([]float64, 20000)
		x := 0.0
		for i := range v {
			x = rho*x + math.Sqrt(1-rho*rho)*rng.NormFloat64()
			v[i] = x
		}
		want := min(1, (1-rho)/(1+rho))
		if got := effectiveSize(v) / float64(len(v)); !near(got, want, 0.03) {
			t.Errorf("correlation %v: %.3f of the values count, want %.3f", rho, got, want)
		}
	}
	if got := effectiveSize([]float64{3, 3, 3}); got != 3 {
		t.Errorf("equal values: %v, want 3", got)
	}
	if got := effectiveSize(nil); got != 0 {
		t.Errorf("no values: %v, want 0", got)
	}
}

func TestFairnessRefused(t *testing.T) {
	t.Parallel()
	two := filled(2, 1)
	for _, tt := range []struct {
		name    string
		weights []float64
		blocks  [][]Tally
		o       FairOptions
		want    string
	}{
		{"one client", filled(1, 1), constant(6, Tally{1, 1}), FairOptions{}, "want at least 2"},
		{"weight", []float64{1, -1}, constant(6, Tally{1, 1}, Tally{1, 1}), FairOptions{}, "weight -1 of client 1"},
		{"ragged", two, constant(6, Tally{1, 1}), FairOptions{}, "block 0 has 1 clients"},
		{"negative", two, constant(6, Tally{1, 1}, Tally{1, -1}), FairOptions{}, "client 1: {Offered:1 Good:-1}"},
		{"NaN", two, constant(6, Tally{math.NaN(), 1}, Tally{1, 1}), FairOptions{}, "client 0"},
		{"nothing offered", two, constant(6, Tally{1, 1}, Tally{0, 0}), FairOptions{}, "client 1 offered nothing"},
		{"no blocks", two, nil, FairOptions{}, "client 0 offered nothing"},
		{"margin", two, nil, FairOptions{Margin: 2}, "margin 2"},
		{"level", two, nil, FairOptions{Level: 95}, "level 95"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := NewFairness(tt.weights, tt.blocks, tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestConvergence(t *testing.T) {
	t.Parallel()
	join := func(settle int) (w [][]Tally) { // a second client joins at 10 and has its half settle windows later
		for i := range 40 {
			switch {
			case i < 10:
				w = append(w, []Tally{{500, 200}, {0, 0}})
			case i < 10+settle:
				w = append(w, []Tally{{500, 150}, {500, 50}})
			default:
				w = append(w, []Tally{{500, 100}, {500, 100}})
			}
		}
		return w
	}
	two := filled(2, 1)
	for _, tt := range []struct {
		name            string
		w               [][]Tally
		at, until, span int
		want            int
		ok              bool
	}{
		{"at once", join(0), 10, 40, 5, 0, true},
		{"after 8", join(8), 10, 40, 1, 8, true},
		{"after 8, in spans", join(8), 10, 40, 5, 8, true},
		{"never", join(30), 10, 40, 5, 30, false},
		{"alone before", join(8), 0, 10, 5, 0, true},
		{"too short for a span", join(0), 10, 14, 5, 4, false},
		{"no goodput", constant(10, Tally{5, 0}, Tally{5, 0}), 0, 10, 5, 10, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok, err := Convergence(two, tt.w, tt.at, tt.until, tt.span, 0.02)
			if err != nil || ok != tt.ok || got != tt.want {
				t.Errorf("got %d, %v, %v, want %d, %v", got, ok, err, tt.want, tt.ok)
			}
		})
	}
	for _, tt := range [][3]int{{-1, 10, 5}, {0, 41, 5}, {11, 10, 5}, {0, 10, 0}} {
		if _, _, err := Convergence(two, join(0), tt[0], tt[1], tt[2], 0.02); err == nil {
			t.Errorf("%v gave no error", tt)
		}
	}
	if _, _, err := Convergence(filled(3, 1), join(0), 0, 10, 5, 0.02); err == nil {
		t.Error("three weights for two clients gave no error")
	}
}

func TestStarved(t *testing.T) {
	t.Parallel()
	w := [][]Tally{{{5, 1}}, {{5, 0}}, {{5, 0}}, {{5, 1}}, {{0, 0}}, {{5, 0}}, {{5, 0}}, {{5, 0}}}
	if got := Starved(w, 0); got != 3 {
		t.Errorf("got %d windows, want 3", got)
	}
	if got := Starved(w[:1], 0); got != 0 {
		t.Errorf("never starved: %d windows, want 0", got)
	}
	if got := Starved(w, 1); got != 0 {
		t.Errorf("no such client: %d windows, want 0", got)
	}
}
