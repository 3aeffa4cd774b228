package pacer

import (
	"math"
	"slices"
	"testing"
	"time"
)

func TestVariableOffsets(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		v    Variable
		want []time.Duration
	}{
		{"one gap", Variable{{3, 7}}, []time.Duration{0, 3, 6, 9, 12}},
		{"cycle", Variable{{10, 20}, {1, 2}}, []time.Duration{0, 10, 20, 21, 22, 32, 42, 43, 44, 54}},
		{"no multiple: the last gap goes beyond", Variable{{3, 7}, {10, 5}}, []time.Duration{0, 3, 6, 9, 19, 22, 25, 28, 38}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := offsets(t, tt.v, len(tt.want)); !slices.Equal(got, tt.want) {
				t.Errorf("offsets = %d, want %d", got, tt.want)
			}
		})
	}
}

// httperf's master takes 16 pairs; here there is no bound.
func TestVariableManyPairs(t *testing.T) {
	t.Parallel()
	var v Variable
	var want []time.Duration
	at := time.Duration(0)
	for i := range time.Duration(1000) {
		v = append(v, Gap{i + 1, 2 * (i + 1)})
		want = append(want, at, at+i+1)
		at += 2 * (i + 1)
	}
	want = append(want, at, at+1, at+2)
	if got := offsets(t, v, len(want)); !slices.Equal(got, want) {
		t.Errorf("1000 pairs: wrong offsets, the last %d, want %d", got[len(got)-3:], want[len(want)-3:])
	}
	if n, _ := Count(v, at, 0); n != 2000 {
		t.Errorf("%d arrivals in a round, want 2000", n)
	}
	if at, ok := mustGrid(t, v).at(math.MaxUint64); ok {
		t.Errorf("the last index is due at %d, want beyond int64", at)
	}
}

// mustGrid returns the closed form of p.
func mustGrid(t testing.TB, p Process) grid {
	t.Helper()
	g, ok := gridOf(p)
	if !ok {
		t.Fatalf("%v has no closed form", p)
	}
	return g
}
