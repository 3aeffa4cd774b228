package pacer

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"
	"time"
)

func TestRampCount(t *testing.T) {
	t.Parallel()
	k := func(n uint64) Constant { return Constant{n, time.Second} }
	for _, tt := range []struct {
		r    Ramp
		want uint64 // the integral, rounded up
	}{
		{Ramp{k(100), k(5000), time.Minute}, 153000},
		{Ramp{k(5000), k(100), time.Minute}, 153000},
		{Ramp{k(0), k(5000), time.Minute}, 150000},
		{Ramp{k(5000), k(0), time.Minute}, 150000},
		{Ramp{k(7), k(7), time.Minute}, 420},
		{Ramp{k(1), k(2), time.Second}, 2}, // 1.5
		{Ramp{Constant{1, 2 * time.Second}, Constant{1, 3 * time.Second}, time.Second}, 1},
		{Ramp{k(30011), k(700000), time.Hour}, (30011 + 700000) * 1800},
		{Ramp{k(1e9), k(0), 24 * time.Hour}, 43200e9},
		{Ramp{k(0), k(1e9), 24 * time.Hour}, 43200e9},
		{Ramp{k(1e9), k(1e9), 1e8 * time.Second}, 1e17}, // beyond a float64's whole numbers
	} {
		t.Run(fmt.Sprint(tt.r), func(t *testing.T) {
			if n, ok := Count(tt.r, tt.r.Over, 0); n != tt.want || !ok {
				t.Errorf("%d arrivals during the ramp, want %d", n, tt.want)
			}
		})
	}
}

// Arrival k is where the integral reaches k, to the nanosecond, checked with
// 300 bits. The rates are such that no gap is below 1 us.
func TestRampOffsets(t *testing.T) {
	t.Parallel()
	num := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
	for _, tt := range []struct{ from, to, over float64 }{
		{100, 5000, 60}, {5000, 100, 60}, {0, 5000, 60}, {5000, 0, 60}, {10, 1e6, 3600}, {1e6, 10, 3600}, {999, 1000, 86400}, {1000, 999, 86400},
	} {
		r := Ramp{Constant{uint64(tt.from), time.Second}, Constant{uint64(tt.to), time.Second}, time.Duration(tt.over) * time.Second}
		g := mustGrid(t, r)
		n, _ := Count(r, r.Over, 0)
		for i := range uint64(1000) {
			k := n / 1000 * i
			if i > 900 {
				k = n - 1000 + i
			}
			// t = 2k / (from + sqrt(from² + 2k(to-from)/over))
			root := num(tt.to - tt.from)
			root.Mul(root, num(2*float64(k)))
			root.Quo(root, num(tt.over))
			root.Add(root, num(tt.from*tt.from))
			root.Sqrt(root)
			root.Add(root, num(tt.from))
			want := 0.0
			if k > 0 {
				want, _ = root.Quo(num(2e9*float64(k)), root).Float64()
			}
			at, ok := g.at(k)
			if !ok || math.Abs(float64(at)-math.Floor(want)) > 1 {
				t.Fatalf("%v: arrival %d of %d at %d, want %.2f", r, k, n, at, want)
			}
		}
	}
}

// After the ramp its last rate holds, in phase with the integral.
func TestRampHolds(t *testing.T) {
	t.Parallel()
	// The integral is 1.5 at 1 s: arrival 2 is half an arrival, a quarter of a
	// second, later.
	r := Ramp{Constant{1, time.Second}, Constant{2, time.Second}, time.Second}
	want := []time.Duration{0, 732050807, 1250 * time.Millisecond, 1750 * time.Millisecond, 2250 * time.Millisecond}
	if got := offsets(t, r, 5); !slices.Equal(got, want) {
		t.Errorf("offsets = %d, want %d", got, want)
	}
	down := Ramp{Constant{2, time.Second}, Constant{1, time.Second}, time.Second} // 1.5 again
	want = []time.Duration{0, 585786437, 1500 * time.Millisecond, 2500 * time.Millisecond}
	if got := offsets(t, down, 4); !slices.Equal(got, want) {
		t.Errorf("offsets down = %d, want %d", got, want)
	}
	long := Ramp{Constant{100, time.Second}, Constant{5000, time.Second}, time.Minute}
	if n, _ := Count(long, time.Hour, 0); n != 153000+5000*3540 {
		t.Errorf("%d arrivals in an hour, want %d", n, 153000+5000*3540)
	}
	if got := len(offsets(t, Ramp{Constant{10, time.Second}, Constant{}, time.Second}, 100)); got != 5 {
		t.Errorf("a ramp from 10/s to nothing has %d arrivals, want 5", got)
	}
}
