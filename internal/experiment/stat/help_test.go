package stat

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

// random returns a source that gives the same numbers in every run.
func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// experiments returns how often a simulation repeats its experiment: small
// unless STAT_SIMULATIONS asks for the figures that the documentation quotes.
func experiments(few int) int {
	if os.Getenv("STAT_SIMULATIONS") != "" {
		return 2000
	}
	return few
}

// near reports whether two numbers agree to within a tolerance. Infinities of
// one sign agree.
func near(a, b, tolerance float64) bool { return a == b || math.Abs(a-b) <= tolerance }

// within fails unless the share of hits is at most three standard errors
// outside low and high, and logs it.
func within(t *testing.T, name string, hits, of int, low, high float64) {
	t.Helper()
	share := float64(hits) / float64(of)
	slack := func(p float64) float64 { return 3 * math.Sqrt(p*(1-p)/float64(of)) }
	t.Logf("%s: %d of %d, %.2f %%, want %.2f to %.2f %%", name, hits, of, 100*share, 100*low, 100*high)
	if share < low-slack(low) || share > high+slack(high) {
		t.Errorf("%s: share %.4f, want %.4f to %.4f", name, share, low, high)
	}
}
