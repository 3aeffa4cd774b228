package pacer

import (
	"math"
	"testing"
	"time"
)

func TestUniformGaps(t *testing.T) {
	t.Parallel()
	const draws = 100000
	u := Uniform{5 * time.Millisecond, 15 * time.Millisecond}
	list := take(t, u.Schedule(0, 1, 3), draws+1)
	if list[0].at != 0 {
		t.Errorf("first arrival at %s, want 0", list[0].at)
	}
	var tenths [10]int
	for i := 1; i <= draws; i++ {
		gap := list[i].at - list[i-1].at
		if gap < u.Min || gap >= u.Max {
			t.Fatalf("gap of %s", gap)
		}
		tenths[(gap-u.Min)/time.Millisecond]++
	}
	for i, n := range tenths { // 5 standard errors
		if math.Abs(float64(n)-draws/10) > 5*math.Sqrt(draws*0.09) {
			t.Errorf("tenth %d has %d of %d gaps", i, n, draws)
		}
	}
}

func TestUniformEqualBounds(t *testing.T) {
	t.Parallel()
	for i, at := range offsets(t, Uniform{3, 3}, 5) {
		if at != time.Duration(3*i) {
			t.Errorf("arrival %d at %d, want %d", i, at, 3*i)
		}
	}
}
