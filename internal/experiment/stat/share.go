package stat

import (
	"fmt"
	"math"
)

// MaxMin returns what is due to each client of a total: nobody gets more than
// he demands, and what is left is shared in proportion to the weights.
//
// Source: Bertsekas and Gallager, "Data networks", 2nd edition, section 6.5.2
// (max-min fairness by filling all at the same level); weights as in Parekh
// and Gallager, "A generalized processor sharing approach to flow control in
// integrated services networks", IEEE/ACM Transactions on Networking 1, 1993.
func MaxMin(total float64, demands, weights []float64) ([]float64, error) {
	if err := checkClients(weights); err != nil {
		return nil, err
	}
	if len(demands) != len(weights) {
		return nil, fmt.Errorf("stat: %d demands: want one for each of %d clients", len(demands), len(weights))
	}
	if !(total >= 0 && total <= math.MaxFloat64) {
		return nil, fmt.Errorf("stat: total %v: want 0 or more", total)
	}
	for i, d := range demands {
		if !(d >= 0 && d <= math.MaxFloat64) {
			return nil, fmt.Errorf("stat: demand %v of client %d: want 0 or more", d, i)
		}
	}
	return fill(total, demands, weights), nil
}

func fill(total float64, demands, weights []float64) []float64 {
	due := make([]float64, len(demands))
	done := make([]bool, len(demands))
	left := total
	for {
		var weight float64
		for i, w := range weights {
			if !done[i] {
				weight += w
			}
		}
		// Whoever demands less than the level gives him is served first: that
		// raises the level for the others, so the test need not be repeated
		// for them.
		level, satisfied := left/weight, false
		for i, w := range weights {
			if !done[i] && demands[i] <= level*w {
				due[i], done[i], satisfied = demands[i], true, true
				left = max(0, left-demands[i])
			}
		}
		if satisfied {
			continue
		}
		for i, w := range weights {
			if !done[i] {
				due[i] = level * w
			}
		}
		return due
	}
}

func checkClients(weights []float64) error {
	if len(weights) < 1 {
		return fmt.Errorf("stat: no clients")
	}
	for i, w := range weights {
		if !(w >= 1e-9 && w <= 1e9) {
			return fmt.Errorf("stat: weight %v of client %d: want 1e-9 to 1e9", w, i)
		}
	}
	return nil
}

// Jain returns the index of fairness of x, in which each client counts by its
// weight: 1 when all are equal, and k/n when k of n clients of equal weight
// get everything. Where everybody gets nothing it is 1.
//
// Source: Jain, Chiu and Hawe, "A quantitative measure of fairness and
// discrimination for resource allocation in shared computer systems", DEC
// TR-301, 1984. With weights w the index is (sum wx)^2 / (sum w * sum wx^2),
// theirs when the weights are equal.
func Jain(x, weights []float64) float64 { return 1 / (1 + variation(x, weights)) }

// variation returns the square of the weighted coefficient of variation, 0
// where all are 0.
func variation(x, weights []float64) float64 {
	var sum, all float64
	for i, w := range weights {
		sum, all = sum+w*x[i], all+w
	}
	m := sum / all
	if m == 0 {
		return 0
	}
	var q float64
	for i, w := range weights {
		q += w / all * (x[i]/m - 1) * (x[i]/m - 1)
	}
	return q
}
