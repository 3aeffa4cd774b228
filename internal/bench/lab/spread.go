package lab

import (
	"fmt"
	"math"
	"slices"
)

// A Spread is the median of one figure over the rounds, and how far it went.
type Spread struct{ Median, Min, Max float64 }

// NewSpread sums up values; it is zero without any. NaN marks a round without
// a value.
func NewSpread(values []float64) Spread {
	s := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	n := len(s)
	if n == 0 {
		return Spread{}
	}
	slices.Sort(s)
	return Spread{(s[(n-1)/2] + s[n/2]) / 2, s[0], s[n-1]}
}

// Ratios divides a by b round by round and sums up the quotients: what slows a
// whole round down cancels out. Rounds that lack one of them are left out.
func Ratios(a, b []float64) Spread {
	var q []float64
	for i := range min(len(a), len(b)) {
		if b[i] > 0 {
			q = append(q, a[i]/b[i])
		}
	}
	return NewSpread(q)
}

// Format prints s with that many decimals, and a dash when there were no values.
func (s Spread) Format(decimals int) string {
	if s == (Spread{}) {
		return "-"
	}
	return fmt.Sprintf("%.*f (%.*f..%.*f)", decimals, s.Median, decimals, s.Min, decimals, s.Max)
}
