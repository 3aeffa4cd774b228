package stat

import (
	"math"
	"strings"
	"testing"
)

// At the margin itself equivalence is shown in at most 5 % of the
// experiments; without a difference nearly always; with the blocks that were
// said to be needed in about 80 %.
func TestEquivalenceSize(t *testing.T) {
	t.Parallel()
	n := experiments(400)
	for _, tt := range []struct {
		name      string
		blocks    int
		ratio     float64
		low, high float64
	}{
		{"at the margin", 40, 1.05, 0.03, 0.05},
		{"at the other margin", 40, 1 / 1.05, 0.03, 0.05},
		{"no difference", 40, 1, 0.97, 1},
		{"blocks needed", 18, 1, 0.72, 0.88},
	} {
		t.Run(tt.name, func(t *testing.T) {
			shown := 0
			for i := range n {
				e, err := Effects(noisy(uint64(20000+i), 2, tt.blocks, 0.05, 0, []float64{1, tt.ratio}), CompareOptions{Margin: 0.05})
				if err != nil {
					t.Fatal(err)
				}
				if e[0].Equivalence.Shown {
					shown++
				}
			}
			within(t, "equivalence shown", shown, n, tt.low, tt.high)
		})
	}
}

func TestEquivalenceKnown(t *testing.T) {
	t.Parallel()
	// Differences of ±1 % symmetric about 0: the interval at 90 % of ten
	// blocks is known from its pairwise means.
	d := []float64{-0.010, -0.008, -0.006, -0.004, -0.002, 0.002, 0.004, 0.006, 0.008, 0.010}
	s := NewShifter(d)
	if q := equivalence(s, len(d), 0.02, 0.95); !q.Shown || q.BlocksNeeded != 0 || !near(q.Low*q.High, 1, 1e-12) {
		t.Errorf("margin 2 %%: %+v, want shown", q)
	}
	q := equivalence(s, len(d), 0.002, 0.95)
	if q.Shown || !near(q.Resolution, q.High-1, 1e-12) || q.BlocksNeeded < 50 || q.BlocksNeeded > 500 {
		t.Errorf("margin 0.2 %%: %+v, want not shown, its resolution and more blocks", q)
	}
	if q := equivalence(s, len(d), q.Resolution*1.0001, 0.95); !q.Shown {
		t.Errorf("just above the resolution: %+v, want shown", q)
	}
	far := []float64{0.1, 0.11, 0.12, 0.13, 0.14, 0.15}
	if q := equivalence(NewShifter(far), len(far), 0.02, 0.95); q.Shown || q.BlocksNeeded != 0 {
		t.Errorf("a large difference: %+v, want neither shown nor a number of blocks", q)
	}
	if q := equivalence(NewShifter(far[:3]), 3, 0.2, 0.95); q.Shown || !math.IsInf(q.Resolution, 1) {
		t.Errorf("three blocks: %+v, want no resolution", q)
	}
}

func TestAllSame(t *testing.T) {
	t.Parallel()
	v := noisy(4, 3, 40, 0.01, 0, []float64{1, 1, 1})
	same, err := AllSame(v, 0.02, 0)
	if err != nil || !same.Shown {
		t.Errorf("three equal arms: %+v, %v, want the same", same, err)
	}
	v = noisy(4, 3, 40, 0.01, 0, []float64{1, 0.985, 1.015})
	same, err = AllSame(v, 0.02, 0)
	if err != nil || same.Shown || same.A != 1 || same.B != 2 {
		t.Errorf("arms ±1.5 %% from the first: %+v, %v, want arms 1 and 2 too far apart", same, err)
	}
	for _, tt := range []struct {
		values [][]float64
		margin float64
		want   string
	}{
		{v[:1], 0.02, "1 arms"},
		{v, 0, "margin above 0"},
		{[][]float64{{1}, {1, 2}}, 0.02, "arm 1 against arm 0"},
	} {
		if _, err := AllSame(tt.values, tt.margin, 0); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v, want one with %q", err, tt.want)
		}
	}
}
