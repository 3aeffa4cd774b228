package stat

import (
	"math"
	"testing"
)

func TestStable(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		quarter, end, arrivals int
		want                   bool
	}{
		{0, 5, 0, true}, {0, 6, 0, false}, {10, 25, 1000, true}, {10, 26, 1000, false}, {50, 0, 100, true},
		// 425/s against a server of 400/s: 25 more are open every second.
		{25, 100, 1700, false},
	} {
		if got := Stable(tt.quarter, tt.end, tt.arrivals); got != tt.want {
			t.Errorf("Stable(%d, %d, %d) = %v, want %v", tt.quarter, tt.end, tt.arrivals, got, tt.want)
		}
	}
}

// Clopper-Pearson intervals as binom.test of R prints them.
func TestProportion(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		k, n      int
		level     float64
		low, high float64
	}{
		{0, 10, 0.95, 0, 0.3084971},
		{10, 10, 0.95, 0.6915029, 1},
		{682, 925, 0.95, 0.7076683, 0.7654066}, // Mendel's peas, the example of R's manual
		{0, 2995, 0.90, 0, 0.001},
		{5, 10, 0.95, 0.1870860, 0.8129140},
	} {
		low, high, err := Proportion(tt.k, tt.n, tt.level)
		if err != nil || !near(low, tt.low, 2e-6) || !near(high, tt.high, 2e-6) {
			t.Errorf("%d of %d: [%.7f, %.7f], %v, want [%.7f, %.7f]", tt.k, tt.n, low, high, err, tt.low, tt.high)
		}
	}
	if _, high, _ := Proportion(1, 1e9, 0.95); !(high > 0 && high < 1e-8) {
		t.Errorf("1 of 1e9: upper end %v, want below 1e-8", high)
	}
	for _, kn := range [][2]int{{1, 0}, {-1, 5}, {6, 5}} {
		if _, _, err := Proportion(kn[0], kn[1], 0); err == nil {
			t.Errorf("%d of %d gave no error", kn[0], kn[1])
		}
	}
	if _, _, err := Proportion(1, 2, 7); err == nil {
		t.Error("level 7 gave no error")
	}
}

func TestQuantileRanks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		n         int
		q         float64
		low, high int
		ok        bool
	}{
		{10000, 0.99, 9880, 9921, true},
		{380, 0.99, 0, 0, false},
		{381, 0.99, 373, 381, true},
		{3842, 0.999, 3834, 3842, true},
		{100, 0.5, 40, 61, true}, // Le Boudec's table for the median of 100
		{0, 0.5, 0, 0, false},
	} {
		low, high, ok, err := QuantileRanks(tt.n, tt.q, 0.95)
		if err != nil || low != tt.low || high != tt.high || ok != tt.ok {
			t.Errorf("q %v of %d: %d, %d, %v, %v, want %d, %d, %v", tt.q, tt.n, low, high, ok, err, tt.low, tt.high, tt.ok)
		}
	}
	for _, q := range []float64{0, 1, math.NaN()} {
		if _, _, _, err := QuantileRanks(10, q, 0); err == nil {
			t.Errorf("quantile %v gave no error", q)
		}
	}
}
