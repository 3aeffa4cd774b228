package stat

import (
	"math"
	"testing"
)

// The wanted values are those of printed tables.
func TestQuantiles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		got, want float64
		tolerance float64
	}{
		{"normal 97.5 %", normalQuantile(0.975), 1.959964, 1e-6},
		{"normal 80 %", normalQuantile(0.8), 0.841621, 1e-6},
		{"normal below 1.96", normalCDF(1.959964), 0.975, 1e-7},
		{"Student 97.5 %, 1", studentQuantile(0.975, 1), 12.7062, 1e-4},
		{"Student 97.5 %, 4", studentQuantile(0.975, 4), 2.7764, 1e-4},
		{"Student 95 %, 5", studentQuantile(0.95, 5), 2.0150, 1e-4},
		{"Student 99.5 %, 30", studentQuantile(0.995, 30), 2.7500, 1e-4},
		{"Student 97.5 %, 1e6", studentQuantile(0.975, 1e6), 1.959966, 1e-5},
		{"chi-square 95 %, 1", chiSquareQuantile(0.95, 1), 3.8415, 1e-4},
		{"chi-square 95 %, 2", chiSquareQuantile(0.95, 2), 5.9915, 1e-4},
		{"chi-square 95 %, 5", chiSquareQuantile(0.95, 5), 11.0705, 1e-4},
		{"chi-square 99.9 %, 9", chiSquareQuantile(0.999, 9), 27.8772, 1e-4},
		{"chi-square 95 %, 100", chiSquareQuantile(0.95, 100), 124.3421, 1e-4},
		{"beta, binomial tail", betaCDF(3, 8, 0.2), 1 - 0.6777995, 1e-6}, // 3 or more of 10 at 0.2
		{"beta, symmetric", betaCDF(0.5, 0.5, 0.25), 1.0 / 3, 1e-12},     // the arcsine law
	} {
		t.Run(tt.name, func(t *testing.T) {
			if !near(tt.got, tt.want, tt.tolerance) {
				t.Errorf("got %.7f, want %.7f", tt.got, tt.want)
			}
		})
	}
}

func TestMedian(t *testing.T) {
	t.Parallel()
	v := []float64{3, math.Inf(1), 1, 2}
	if got := median(v); got != 2.5 {
		t.Errorf("median(%v) = %v, want 2.5", v, got)
	}
	if got := median([]float64{math.Inf(1), math.Inf(1)}); !math.IsInf(got, 1) {
		t.Errorf("median of two infinite values = %v, want +Inf", got)
	}
}
