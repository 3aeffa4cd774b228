package stat

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// transpose turns blocks of ranks, as papers print them, into arms.
func transpose(blocks [][]float64) [][]float64 {
	arms := make([][]float64, len(blocks[0]))
	for _, b := range blocks {
		for a, v := range b {
			arms[a] = append(arms[a], v)
		}
	}
	return arms
}

// The example of Page's paper: L 168 with 6 blocks of 4, beyond the critical
// value at 1 %, 167; chi-square 6.48, half of whose tail is 0.0055.
func TestPagePublished(t *testing.T) {
	t.Parallel()
	got, err := Page(transpose([][]float64{{2, 1, 3, 4}, {1, 3, 4, 2}, {1, 3, 2, 4}, {1, 4, 2, 3}, {3, 1, 2, 4}, {1, 2, 4, 3}}))
	if err != nil {
		t.Fatal(err)
	}
	if got.L != 168 || got.Expected != 150 || !near(got.P/2, 0.0055, 0.001) {
		t.Errorf("%+v, want L 168, expected 150, p about 2 x 0.0055", got)
	}
}

// Critical values at 5, 1 and 0.1 %, one-sided, of Page's exact table.
func TestPageTable(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		arms, blocks int
		level        float64
		critical     int
	}{
		{3, 3, 0.05, 41}, {3, 3, 0.01, 42}, {3, 6, 0.05, 79}, {3, 6, 0.01, 81}, {3, 6, 0.001, 83}, {3, 10, 0.05, 128},
		{4, 2, 0.05, 58}, {4, 2, 0.01, 60}, {4, 6, 0.01, 167}, {5, 3, 0.05, 150}, {5, 3, 0.01, 155},
	} {
		all, least := []float64{1}, 0
		var ranks []int
		for i := range tt.arms {
			ranks = append(ranks, 2*(i+1))
			least += (tt.arms - i) * 2 * (i + 1)
		}
		for range tt.blocks {
			all = convolve(all, linearRanks(ranks))
		}
		tail := func(l int) (p float64) {
			for _, x := range all[2*l-least*tt.blocks:] {
				p += x
			}
			return p
		}
		if at, before := tail(tt.critical), tail(tt.critical-1); at > tt.level || before <= tt.level {
			t.Errorf("%d arms, %d blocks: tail of %d is %.4f and of one less %.4f, want %v between",
				tt.arms, tt.blocks, tt.critical, at, before, tt.level)
		}
	}
}

// Against all orders of the ranks in each block, ties among them.
func TestPageAgainstEnumeration(t *testing.T) {
	t.Parallel()
	rng := random(6)
	for range 40 {
		blocks := [][]float64{make([]float64, 4), make([]float64, 4)}
		for _, b := range blocks {
			for i := range b {
				b[i] = float64(rng.IntN(4))
			}
		}
		got, err := Page(transpose(blocks))
		if err != nil {
			t.Fatal(err)
		}
		sums := []int{0}
		l := 0
		for _, b := range blocks {
			ranks := doubledRanks(b)
			var next []int
			for _, p := range permutations(len(ranks)) {
				s := 0
				for i, at := range p {
					s += (i + 1) * ranks[at]
				}
				for _, before := range sums {
					next = append(next, before+s)
				}
			}
			sums = next
			for i, r := range ranks {
				l += (i + 1) * r
			}
		}
		below, above := 0, 0
		for _, s := range sums {
			if s <= l {
				below++
			}
			if s >= l {
				above++
			}
		}
		want := min(1, 2*float64(min(below, above))/float64(len(sums)))
		if got.L != float64(l)/2 || !near(got.P, want, 1e-12) {
			t.Errorf("%v: %+v, want L %v, p %v", blocks, got, float64(l)/2, want)
		}
	}
}

func permutations(n int) (all [][]int) {
	if n == 0 {
		return [][]int{nil}
	}
	for _, p := range permutations(n - 1) {
		for i := range n {
			all = append(all, slices.Insert(slices.Clone(p), i, n-1))
		}
	}
	return all
}

func TestPageSimulated(t *testing.T) {
	t.Parallel()
	n := experiments(200)
	flat, rising := 0, 0
	for i := range n {
		v := noisy(uint64(40000+i), 7, 12, 0.05, 0.5, []float64{1, 1, 1, 1, 1, 1, 1})
		if got, err := Page(v); err != nil {
			t.Fatal(err)
		} else if got.P <= 0.05 {
			flat++
		}
		v = noisy(uint64(40000+i), 7, 12, 0.05, 0, []float64{1, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06})
		if got, err := Page(v); err != nil {
			t.Fatal(err)
		} else if got.P <= 0.05 && got.L > got.Expected {
			rising++
		}
	}
	within(t, "a trend where none is", flat, n, 0.045, 0.05)
	within(t, "1 % a step found", rising, n, 0.8, 1)
}

func TestPageRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		values [][]float64
		want   string
	}{
		{make([][]float64, 2), "over 2 arms: want 3 to 10"},
		{make([][]float64, 11), "over 11 arms"},
		{make([][]float64, 3), "over 0 blocks"},
		{[][]float64{{1}, {1}, {1, 2}}, "arm 2 has 2 blocks: want 1"},
		{[][]float64{{1}, {math.NaN()}, {1}}, "arm 1, block 0: value NaN"},
	} {
		if _, err := Page(tt.values); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v, want one with %q", err, tt.want)
		}
	}
}
