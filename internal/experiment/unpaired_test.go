package experiment

import (
	"math"
	"strings"
	"testing"

	"httpgen/internal/report"
)

// Permeability of the amnion at term and at 12 to 26 weeks: Hollander, Wolfe and
// Chicken, example 4.1, where the sum of the ranks of the second is 30, the upper
// tail of the first 0.1272 and the estimate of their distance 0.305, and example
// 4.4, where the interval at 96 % is -0.15 to 0.76.
func TestRankSumPublished(t *testing.T) {
	t.Parallel()
	a := []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	b := []float64{1.15, 0.88, 0.90, 0.74, 1.21}
	r := newRankSum(a, b, 0.95)
	if r.w != 30 || math.Abs(r.p/2-0.1272) > 5e-5 {
		t.Errorf("sum %v, p %v, want 30 and twice 0.1272", r.w, r.p)
	}
	if math.Abs(r.shift+0.305) > 1e-9 || math.Abs(r.low+0.76) > 1e-9 || math.Abs(r.high-0.15) > 1e-9 {
		t.Errorf("shift %v [%v, %v], want -0.305 [-0.76, 0.15]", r.shift, r.low, r.high)
	}
}

// The test by its definition: all choices of the second sample out of both.
func TestRankSumWithTies(t *testing.T) {
	t.Parallel()
	for _, tt := range [][2][]float64{
		{{1, 2, 2, 3}, {2, 3, 3, 4, 4}}, {{1, 1, 1}, {1, 1}}, {{5}, {7}}, {{1, 2, 3}, {4, 5, 6}}, {{3, 1, 2, 2}, {1, 1, 2}},
	} {
		a, b := tt[0], tt[1]
		all := append(append([]float64{}, a...), b...)
		ranks := make([]float64, len(all))
		for i, x := range all {
			for _, y := range all {
				if y < x {
					ranks[i]++
				} else if y == x {
					ranks[i] += 0.5
				}
			}
			ranks[i] += 0.5
		}
		var want float64
		for i := range b {
			want += ranks[len(a)+i]
		}
		below, above, n := 0.0, 0.0, 0.0
		for choice := range 1 << len(all) {
			var sum float64
			k := 0
			for i := range all {
				if choice>>i&1 == 1 {
					sum += ranks[i]
					k++
				}
			}
			if k != len(b) {
				continue
			}
			n++
			if sum <= want {
				below++
			}
			if sum >= want {
				above++
			}
		}
		r := newRankSum(a, b, 0.95)
		if p := min(1, 2*min(below, above)/n); r.w != want || math.Abs(r.p-p) > 1e-12 {
			t.Errorf("%v: sum %v, p %v, want %v, %v", tt, r.w, r.p, want, p)
		}
	}
}

// saved returns results of runs of those latencies.
func saved(t *testing.T, latencies ...float64) (all []*report.Result) {
	for _, v := range latencies {
		all = append(all, steady(t, 200, 0, "", v))
	}
	return all
}

func sampleUnpaired(t *testing.T) *CompareResult {
	t.Helper()
	r, err := CompareSaved([]Saved{
		{"base", saved(t, 0.0100, 0.0101, 0.0099, 0.0102, 0.0098, 0.0103)},
		{"slow", saved(t, 0.0130, 0.0131, 0.0129, 0.0132, 0.0128, 0.0133)},
		{"once", saved(t, 0.0130)},
	}, CompareOptions{Allow: 0.1, Gate: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCompareSaved(t *testing.T) {
	t.Parallel()
	r := sampleUnpaired(t)
	slow, once := effect(t, r, "slow", "p50"), effect(t, r, "once", "p50")
	if slow.Decision != "worse" || math.Abs(*slow.Ratio-1.3) > 0.01 || slow.Low == nil || *slow.Low < 1.2 || slow.Gate != "broken" || !slow.Primary {
		t.Errorf("slow: %+v, want worse by 30 %%", slow)
	}
	if once.Decision != "none" || once.Low != nil || once.Gate != "undecided" {
		t.Errorf("once: %+v, want no decision of one run", once)
	}
	if !r.Plan.Unpaired || r.Verdict.Reasons[0].Code != "unpaired" || len(r.Trials) != 13 || r.Gate() != "broken" || *r.Arms[0].Errors.Median != 0 {
		t.Errorf("plan %+v, verdict %+v, %d trials", r.Plan, r.Verdict, len(r.Trials))
	}
	if e := effect(t, r, "slow", "errors"); e.Decision != "none" || *e.Ratio != 1 {
		t.Errorf("errors: %+v, want no difference", e)
	}
	// A run whose generator was the limit does not count.
	bad := saved(t, 0.01, 0.01)
	invalid(bad[1], "cpu")
	r, err := CompareSaved([]Saved{{"a", bad}, {"b", saved(t, 0.01)}}, CompareOptions{Metric: "p90"})
	if err != nil || r.Trials[1].Outcome != "invalid" || r.Effects[0].Metric != "p90" {
		t.Errorf("%+v, error %v", r, err)
	}
	for _, tt := range []struct {
		name string
		arms []Saved
		o    CompareOptions
		want string
	}{
		{"one arm", []Saved{{"a", bad}}, CompareOptions{}, "1 arms: want at least 2"},
		{"no results", []Saved{{"a", bad}, {"b", nil}}, CompareOptions{}, "arm b with 0 results: want 1 to 50"},
		{"no result", []Saved{{"a", bad}, {"b", []*report.Result{{}}}}, CompareOptions{}, "arm b: want results of the schema httpgen.result/1"},
		{"same name", []Saved{{"a", bad}, {"a", bad}}, CompareOptions{}, `arm 2 with the name "a"`},
		{"metric", []Saved{{"a", bad}, {"b", bad}}, CompareOptions{Metric: "mean"}, `metric "mean": want one of`},
	} {
		if r, err := CompareSaved(tt.arms, tt.o); err == nil || r != nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: result %v, error %v, want one with %q", tt.name, r, err, tt.want)
		}
	}
}

// The largest samples are counted in a moment, and their distribution adds up.
func TestRankSumOfLargeSamples(t *testing.T) {
	t.Parallel()
	a, b := make([]float64, maxSample), make([]float64, maxSample)
	for i := range a {
		a[i], b[i] = float64(i), float64(i)+0.5
	}
	if r := newRankSum(a, b, 0.95); r.p < 0.5 || r.low > 0.5 || r.high < 0.5 || math.Abs(r.shift-0.5) > 1e-9 {
		t.Errorf("%+v, want no difference but for a half", r)
	}
}
