package stat

import (
	"math"
	"strings"
	"testing"
)

func TestMaxMin(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name                   string
		total                  float64
		demands, weights, want []float64
	}{
		// The example of Keshav, "An engineering approach to computer
		// networking", 1997, section 9.2: capacity 10 over 2, 2.6, 4 and 5.
		{"Keshav", 10, []float64{2, 2.6, 4, 5}, []float64{1, 1, 1, 1}, []float64{2, 2.6, 2.7, 2.7}},
		// And his weighted one: capacity 16, weights 2.5, 4, 0.5 and 1.
		{"Keshav, weighted", 16, []float64{4, 2, 10, 4}, []float64{2.5, 4, 0.5, 1}, []float64{4, 2, 6, 4}},
		{"enough for all", 6000, []float64{2000, 2000, 2000}, []float64{1, 3, 6}, []float64{2000, 2000, 2000}},
		{"weights alone", 1000, []float64{2000, 2000, 2000}, []float64{1, 3, 6}, []float64{100, 300, 600}},
		{"500, 500, 2000 of 1000", 1000, []float64{500, 500, 2000}, []float64{1, 1, 1}, []float64{1000.0 / 3, 1000.0 / 3, 1000.0 / 3}},
		{"500, 500, 2000 of 2200", 2200, []float64{500, 500, 2000}, []float64{1, 1, 1}, []float64{500, 500, 1200}},
		{"one wants nothing", 10, []float64{0, 20, 20}, []float64{8, 1, 1}, []float64{0, 5, 5}},
		{"nothing to share", 0, []float64{1, 2}, []float64{1, 1}, []float64{0, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := MaxMin(tt.total, tt.demands, tt.weights)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				if !near(got[i], tt.want[i], 1e-9) {
					t.Errorf("got %v, want %v", got, tt.want)
					break
				}
			}
		})
	}
	one := []float64{1}
	for _, tt := range []struct {
		total            float64
		demands, weights []float64
		want             string
	}{
		{1, nil, nil, "no clients"},
		{1, one, []float64{1, 1}, "1 demands"},
		{math.Inf(1), one, one, "total +Inf"},
		{-1, one, one, "total -1"},
		{1, []float64{math.NaN()}, one, "demand NaN of client 0"},
		{1, one, []float64{0}, "weight 0 of client 0"},
	} {
		if _, err := MaxMin(tt.total, tt.demands, tt.weights); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v, want one with %q", err, tt.want)
		}
	}
}

func FuzzMaxMin(f *testing.F) {
	f.Add(10.0, 2.0, 2.6, 4.0, 1.0, 1.0, 1.0)
	f.Add(1e300, 1e-300, 1e300, 1e308, 1e-9, 1e9, 1.0)
	f.Fuzz(func(t *testing.T, total, a, b, c, u, v, w float64) {
		demands, weights := []float64{a, b, c}, []float64{u, v, w}
		due, err := MaxMin(total, demands, weights)
		if err != nil {
			t.Skip()
		}
		given := 0.0
		for i, d := range due {
			if !(d >= 0 && d <= demands[i]*(1+1e-9)) {
				t.Fatalf("client %d gets %v of %v", i, d, demands[i])
			}
			given += d
		}
		if most := min(total, a+b+c); !(math.Abs(given-most) <= 1e-6*most) {
			t.Fatalf("%v given, want %v", given, most)
		}
	})
}

// Values from Jain, Chiu and Hawe: equal shares give 1, k of n clients k/n.
func TestJain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name       string
		x, weights []float64
		want       float64
	}{
		{"equal", []float64{5, 5, 5}, []float64{1, 1, 1}, 1},
		{"20 of 100", append(make([]float64, 80), filled(20, 1)...), filled(100, 1), 0.2},
		{"half for one of three", []float64{0.5, 1, 1}, []float64{1, 1, 1}, 0.9259259},
		{"first come first served", []float64{0.5, 0.5, 2}, []float64{1, 1, 1}, 0.6666667},
		{"by weight alone, all served", []float64{1, 1.0 / 3, 1.0 / 6}, []float64{1, 1, 1}, 0.6585366},
		{"nothing for anybody", []float64{0, 0}, []float64{1, 1}, 1},
		{"one tenth of the weight served", []float64{1, 0}, []float64{1, 9}, 0.1},
		{"equal to unequal weights", []float64{2, 2, 2}, []float64{1, 3, 6}, 1},
		// Three equal thirds where 1:3:6 was due.
		{"thirds", []float64{10.0 / 3, 10.0 / 9, 10.0 / 18}, []float64{1, 3, 6}, 0.6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Jain(tt.x, tt.weights); !near(got, tt.want, 1e-6) {
				t.Errorf("got %.7f, want %.7f", got, tt.want)
			}
		})
	}
}

func filled(n int, v float64) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = v
	}
	return s
}
