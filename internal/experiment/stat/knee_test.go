package stat

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// steps returns those of a server that serves up to a capacity and whose p99
// follows a curve.
func steps(rates []float64, p99 func(rate float64) float64, capacity float64) (s []Step) {
	for _, r := range rates {
		good := int(math.Round(10000 * min(1, capacity/r)))
		s = append(s, Step{Rate: r, Good: good, Scheduled: 10000, P99: p99(r)})
	}
	return s
}

func geometric(from, factor float64, n int) (r []float64) {
	for range n {
		r = append(r, from)
		from *= factor
	}
	return r
}

func TestEfficiency(t *testing.T) {
	t.Parallel()
	flat := func(float64) float64 { return 0.001 }
	k, err := FindKnees(steps(geometric(100, 2, 6), flat, 1000))
	if err != nil || !k.Efficiency.Found || k.Efficiency.Rate != 1600 || k.Efficiency.Low != 800 || k.Efficiency.High != 1600 {
		t.Errorf("capacity 1000: %+v, %v, want a knee at 1600 between 800 and 1600", k.Efficiency, err)
	}
	k, _ = FindKnees(steps(geometric(100, 2, 3), flat, 1000))
	if k.Efficiency.Found || !strings.Contains(k.Efficiency.Why, "up to 400") {
		t.Errorf("never overloaded: %+v, want none up to 400", k.Efficiency)
	}
	// 97 of 100 is not surely below 98 %; three such trials neither, thirty are.
	few := Step{Rate: 10, Good: 97, Scheduled: 100, P99: 1}
	k, _ = FindKnees(slices.Repeat([]Step{few}, 3))
	if k.Efficiency.Found {
		t.Errorf("97 %% of 300: %+v, want none", k.Efficiency)
	}
	k, _ = FindKnees(slices.Repeat([]Step{few}, 30))
	if !k.Efficiency.Found || k.Efficiency.Low != 0 {
		t.Errorf("97 %% of 3000: %+v, want one, between 0 and 10", k.Efficiency)
	}
}

func TestTwoSegment(t *testing.T) {
	t.Parallel()
	hinge := func(r float64) float64 { return 0.001 * math.Pow(r/100, 0.1) * math.Pow(max(1, r/800), 3) }
	k, err := FindKnees(steps(geometric(100, 1.4, 12), hinge, 1e9))
	if s := k.TwoSegment; err != nil || !s.Found || !near(s.Rate, 800, 8) || s.Low > 800 || s.High < 800 {
		t.Errorf("a hinge at 800: %+v, %v", s, err)
	}
	for _, tt := range []struct {
		name string
		p99  func(float64) float64
		n    int
		why  string
	}{
		{"a line", func(r float64) float64 { return 0.001 * r }, 12, "one line"},
		{"flat", func(float64) float64 { return 0.001 }, 12, "one line"},
		{"levels off", func(r float64) float64 { return 0.001 * min(r, 800) }, 12, "more slowly"},
		{"few", hinge, 6, "at least 7"},
		{"failures", func(float64) float64 { return math.Inf(1) }, 12, "0 trials at 0 rates"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k, err := FindKnees(steps(geometric(100, 1.4, tt.n), tt.p99, 1e9))
			if err != nil || k.TwoSegment.Found || !strings.Contains(k.TwoSegment.Why, tt.why) {
				t.Errorf("%+v, %v, want none because %q", k.TwoSegment, err, tt.why)
			}
		})
	}
}

func TestTwoSegmentCoverage(t *testing.T) {
	t.Parallel()
	n := experiments(200)
	rng := random(10)
	found, covered, invented := 0, 0, 0
	for range n {
		noisy := func(bend float64) Knee {
			k, err := FindKnees(steps(geometric(100, 1.3, 16), func(r float64) float64 {
				return 0.001 * math.Pow(max(1, r/800), bend) * math.Exp(0.1*rng.NormFloat64())
			}, 1e9))
			if err != nil {
				t.Fatal(err)
			}
			return k.TwoSegment
		}
		if k := noisy(2); k.Found {
			found++
			if k.Low <= 800 && 800 <= k.High {
				covered++
			}
		}
		if noisy(0).Found {
			invented++
		}
	}
	within(t, "break found", found, n, 0.99, 1)
	within(t, "interval covers the break", covered, found, 0.90, 0.99)
	within(t, "break found in a flat curve", invented, n, 0, 0.10)
}

// The example curve of Satopaa et al., -1/(x+0.1)+5 at ten places from 0 to 1,
// has its knee at 0.22; turned by half a turn it is convex, with the knee at
// 0.78.
func TestKneedlePublished(t *testing.T) {
	t.Parallel()
	var s []Step
	for i := range 10 {
		x := float64(i) / 9
		s = append(s, Step{Rate: 2 - x, Good: 1, Scheduled: 1, P99: 10 - (5 - 1/(x+0.1))})
	}
	k, err := FindKnees(s)
	if got := k.Kneedle; err != nil || !got.Found || !near(got.Rate, 2-2.0/9, 1e-9) || !near(got.Low, 2-3.0/9, 1e-9) || !near(got.High, 2-1.0/9, 1e-9) {
		t.Errorf("%+v, %v, want 1.778 between its neighbours", got, err)
	}
}

func TestKneedleNone(t *testing.T) {
	t.Parallel()
	linear := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for _, tt := range []struct {
		name  string
		rates []float64
		p99   func(float64) float64
		why   string
	}{
		{"few", linear[:7], func(r float64) float64 { return r * r * r }, "at least 8"},
		{"flat", linear, func(float64) float64 { return 1 }, "does not rise"},
		{"falling", linear, func(r float64) float64 { return 1 / r }, "does not rise"},
		{"straight", linear, func(r float64) float64 { return r }, "straight line"},
		{"concave", linear, math.Sqrt, "straight line"},
		{"late beyond 7", linear, func(r float64) float64 {
			if r > 7 {
				return math.Inf(1)
			}
			return 1
		}, "at least 8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k, err := FindKnees(steps(tt.rates, tt.p99, 1e9))
			if err != nil || k.Kneedle.Found || !strings.Contains(k.Kneedle.Why, tt.why) {
				t.Errorf("%+v, %v, want none because %q", k.Kneedle, err, tt.why)
			}
		})
	}
}

func TestKneesAgree(t *testing.T) {
	t.Parallel()
	rates := []float64{100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200}
	p99 := func(r float64) float64 { return 0.001 * math.Pow(max(1, r/850), 12) }
	k, err := FindKnees(steps(rates, p99, 900))
	if err != nil || !k.Efficiency.Found || !k.TwoSegment.Found || !k.Kneedle.Found {
		t.Fatalf("%+v, %v, want three knees", k, err)
	}
	if want := max(k.Efficiency.Low, k.TwoSegment.Low, k.Kneedle.Low) <= min(k.Efficiency.High, k.TwoSegment.High, k.Kneedle.High); k.Agree != want {
		t.Errorf("%+v: agree %v, want %v", k, k.Agree, want)
	}
	k, _ = FindKnees(steps(rates, p99, 250))
	if k.Agree {
		t.Errorf("%+v: a goodput knee at 300 agrees with a latency knee at 850", k)
	}
	k, _ = FindKnees(nil)
	if k.Agree || k.Efficiency.Found || k.TwoSegment.Found || k.Kneedle.Found {
		t.Errorf("no steps: %+v, want nothing", k)
	}
	for _, s := range []Step{{0, 1, 1, 1}, {1, 2, 1, 1}, {1, 0, 0, 1}, {1, 1, 1, 0}, {1, 1, 1, math.NaN()}, {math.Inf(1), 1, 1, 1}} {
		if _, err := FindKnees([]Step{s}); err == nil {
			t.Errorf("%+v gave no error", s)
		}
	}
}

func TestMonotone(t *testing.T) {
	t.Parallel()
	got := monotone([]float64{1, 3, 2, 4, 3, 3}, []float64{1, 1, 1, 1, 1, 2})
	if want := []float64{1, 2.5, 2.5, 3.25, 3.25, 3.25}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
