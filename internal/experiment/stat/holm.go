package stat

import (
	"cmp"
	"slices"
)

// Holm returns p-values adjusted for each other: rejecting those that are at
// most alpha makes even one false claim with a probability of at most alpha,
// however the tests depend on each other.
//
// Source: Holm, "A simple sequentially rejective multiple test procedure",
// Scandinavian Journal of Statistics 6, 1979.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	adjusted := make([]float64, len(p))
	worst := 0.0
	for k, i := range order {
		worst = max(worst, min(1, p[i]*float64(len(p)-k)))
		adjusted[i] = worst
	}
	return adjusted
}
