package pacer

import (
	"math"
	"testing"
	"time"
)

// Counts in slots of a Poisson process have a variance equal to their mean.
func TestPoissonDispersion(t *testing.T) {
	t.Parallel()
	const slots, slot = 3000, 10 * time.Millisecond
	counts := make([]float64, slots)
	s := For(Poisson{1000, time.Second}, slots*slot).Schedule(0, 1, 1)
	for {
		_, at, ok := s.Next()
		if !ok {
			break
		}
		counts[at/slot]++
	}
	var sum, squares float64
	for _, n := range counts {
		sum += n
		squares += n * n
	}
	mean := sum / slots
	dispersion := (squares - sum*mean) / (slots - 1) / mean
	if mean < 9.8 || mean > 10.2 {
		t.Errorf("mean of a slot %.2f, want 10", mean)
	}
	if dispersion < 0.9 || dispersion > 1.1 {
		t.Errorf("dispersion %.3f, want 1±0.1", dispersion)
	}
}

// The mean holds where a gap is a few nanoseconds: the parts of a nanosecond
// are carried, not dropped. 4 standard errors.
func TestPoissonMean(t *testing.T) {
	t.Parallel()
	for _, n := range []uint64{1, 1000, 300e6} {
		const draws = 100000
		s := Poisson{n, time.Second}.Schedule(0, 1, 9)
		list := take(t, s, draws+1)
		if list[0].at != 0 {
			t.Errorf("first arrival at %s, want 0", list[0].at)
		}
		mean := list[draws].at.Seconds() / draws * float64(n)
		if math.Abs(mean-1) > 4/math.Sqrt(draws) {
			t.Errorf("%d/s: mean gap is %.4f of the asked one", n, mean)
		}
	}
}

func TestPoissonZero(t *testing.T) {
	t.Parallel()
	if got := offsets(t, Poisson{}, 1); len(got) != 0 {
		t.Errorf("offsets of no rate = %d, want none", got)
	}
}
