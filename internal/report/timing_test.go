package report

import (
	"math"
	"slices"
	"testing"
)

func TestReliable(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		q    float64
		need uint64 // smallest number of samples that is enough
	}{
		{0.5, 4}, {0.75, 12}, {0.9, 35}, {0.99, 381}, {0.999, 3837}, {0.9999, 38397}, {0.01, 1},
	} {
		if Reliable(tt.need-1, tt.q) || !Reliable(tt.need, tt.q) {
			t.Errorf("q %g: Reliable(%d) = %t, Reliable(%d) = %t, want false, true",
				tt.q, tt.need-1, Reliable(tt.need-1, tt.q), tt.need, Reliable(tt.need, tt.q))
		}
	}
}

func TestRank(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		n    uint64
		q    float64
		want uint64
	}{
		{1, 0.5, 1}, {2, 0.5, 1}, {3, 0.5, 2}, {100, 0.07, 7}, {100, 0.99, 99}, {101, 0.99, 100}, {1000, 0.999, 999}, {100, 0, 1}, {100, 1, 100},
		{1_000_000_000, 0.9999, 999_900_000},
	} {
		if got := rank(tt.n, tt.q); got != tt.want {
			t.Errorf("rank(%d, %g) = %d, want %d", tt.n, tt.q, got, tt.want)
		}
	}
}

// nearest returns the nearest-rank quantile of sorted values.
func nearest(sorted []float64) func(q float64) float64 {
	return func(q float64) float64 { return sorted[rank(uint64(len(sorted)), q)-1] }
}

func TestMedian(t *testing.T) {
	t.Parallel()
	for _, sorted := range [][]float64{nil, {3}, {1, 5}, {1, 2, 9}, {0.1, 0.1, 0.1}, {1, 2, 3, 10}, {1, 2, 4, 5, 6}} {
		timing := Timing{Count: uint64(len(sorted)), Percentiles: NewPercentiles(uint64(len(sorted)), func(q float64) float64 { return nearest(sorted)(q) })}
		var want float64
		if sorted != nil {
			want, timing.Min, timing.Max = nearest(sorted)(0.5), slices.Min(sorted), slices.Max(sorted)
		}
		for _, v := range sorted {
			timing.Mean += v / float64(len(sorted))
		}
		if got := timing.median(); math.Abs(got-want) > 1e-12 {
			t.Errorf("median of %v = %g, want %g", sorted, got, want)
		}
	}
}

// TestAllArrivals compares with the plain definition: sort all calls, failures
// as infinities, and take the nearest rank.
func TestAllArrivals(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 3, 4, 10, 100, 381, 1000, 40000} {
		for _, failed := range []int{0, 1, n / 100, n / 10, n / 2, n - 1, n} {
			if failed < 0 || failed > n {
				continue
			}
			var sorted []float64
			for i := range n {
				sorted = append(sorted, float64(i+1))
			}
			replies := sorted[:n-failed]
			got := NewAllArrivals(uint64(n), uint64(failed), float64(n), nearest(replies))
			for i, field := range got.fields() {
				q := levels[i].q
				enough := Reliable(uint64(n), q)
				beyond := enough && int(rank(uint64(n), q)) > n-failed
				if got.beyond(q) != beyond {
					t.Errorf("n %d failed %d %s: beyond is %t, want %t", n, failed, levels[i].name, got.beyond(q), beyond)
				}
				switch want := enough && !beyond; {
				case want != (*field != nil):
					t.Errorf("n %d failed %d %s: has a value is %t, want %t", n, failed, levels[i].name, *field != nil, want)
				case want && **field != nearest(sorted)(q):
					t.Errorf("n %d failed %d %s = %g, want %g", n, failed, levels[i].name, **field, nearest(sorted)(q))
				}
			}
		}
	}
	// More failures than calls is the caller's mistake; every percentile is then beyond.
	if a := (AllArrivals{Count: 10, Failed: 11}); !a.beyond(0.5) {
		t.Error("10 calls, 11 failed: the median is not beyond")
	}
}

// TestAllArrivalsRounding holds for a histogram that rounds the rank to the
// nearest instead of up.
func TestAllArrivalsRounding(t *testing.T) {
	t.Parallel()
	const n, failed = 1000, 37
	got := NewAllArrivals(n, failed, 0, func(q float64) float64 { return math.Floor(q*(n-failed) + 0.5) })
	if *got.P50 != 500 || *got.P90 != 900 {
		t.Errorf("p50 %g p90 %g, want 500 900", *got.P50, *got.P90)
	}
}

func TestSummaryPercentiles(t *testing.T) {
	t.Parallel()
	s := Summary{Count: 380}
	s.Percentiles(func(q float64) float64 { return q })
	if s.P50 == nil || *s.P50 != 0.5 || s.P99 != nil {
		t.Errorf("380 samples: p50 %v p99 %v, want 0.5 and null", s.P50, s.P99)
	}
}

func TestNewSamples(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		rates []float64
		want  Samples
	}{
		{"none", nil, Samples{WindowSeconds: 5}},
		{"one", []float64{40}, Samples{Min: 40, Avg: 40, Max: 40, Samples: 1, WindowSeconds: 5}},
		{"n-1", []float64{2, 4, 6}, Samples{Min: 2, Avg: 4, Max: 6, StdDev: 2, Samples: 3, WindowSeconds: 5}},
		{"a dead server", []float64{0, 0}, Samples{Samples: 2, WindowSeconds: 5}},
	} {
		got := NewSamples(tt.rates, 5)
		if math.Abs(got.Avg-tt.want.Avg) < 1e-12 && math.Abs(got.StdDev-tt.want.StdDev) < 1e-12 {
			got.Avg, got.StdDev = tt.want.Avg, tt.want.StdDev
		}
		if got != tt.want {
			t.Errorf("%s: NewSamples(%v) = %+v, want %+v", tt.name, tt.rates, got, tt.want)
		}
	}
}

func TestPer(t *testing.T) {
	t.Parallel()
	if got := Per(10, 4); got != 2.5 {
		t.Errorf("Per(10, 4) = %g, want 2.5", got)
	}
	if got := Per(10, 0); got != 0 {
		t.Errorf("Per(10, 0) = %g, want 0", got)
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	var e Errors
	if !e.Add("reset", 2) || !e.Add("other", 3) || e.Add("total", 1) || e.Add("nonsense", 1) {
		t.Error("Add knows reset and other, and neither total nor nonsense")
	}
	if want := (Errors{Total: 5, Reset: 2, Other: 3}); e != want {
		t.Errorf("errors = %+v, want %+v", e, want)
	}
	var s Shed
	if !s.Add("late", 2) || !s.Add("backlog", 1) || s.Add("nonsense", 1) {
		t.Error("Add knows late and backlog, and not nonsense")
	}
	if s.Total() != 3 || s != (Shed{Backlog: 1, Late: 2}) {
		t.Errorf("shed = %+v of %d, want a backlog of 1 and 2 late", s, s.Total())
	}
	var st Status
	for _, code := range []int{99, 100, 199, 200, 304, 404, 500, 599, 600, -1} {
		st.Add(code, 1)
	}
	if want := (Status{2, 1, 1, 1, 2, 3}); st != want {
		t.Errorf("status = %+v, want %+v", st, want)
	}
}
