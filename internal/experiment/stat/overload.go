package stat

import (
	"fmt"
	"math"
	"slices"
)

// Multiples returns the loads of an overload profile as multiples of the
// sweep's lower bound: up to beyond, down again, and below the bound, where a
// healthy server recovers. For 3 they are 1, 1.5, 2, 3, 2, 1.5, 1, 0.5.
func Multiples(beyond float64) ([]float64, error) {
	if !(beyond >= 2 && beyond <= 100) {
		return nil, fmt.Errorf("stat: overload of %v: want 2 to 100 times the capacity", beyond)
	}
	up := []float64{1, 1.5}
	for m := 2.0; m < beyond; m++ {
		up = append(up, m)
	}
	down := slices.Clone(up)
	slices.Reverse(down)
	return slices.Concat(up, []float64{beyond}, down, []float64{0.5}), nil
}

// A LoadStep is one step of an overload profile.
type LoadStep struct {
	Multiple   float64 // of the sweep's lower bound
	Start, End float64 // seconds from the start of the run
}

// A LoadWindow is one window of the run, about a second long: in much shorter
// ones single arrivals look like overload.
type LoadWindow struct {
	Start, Length    float64 // seconds
	Offered, Goodput float64 // per second
}

// A Hysteresis compares the way up with the way down at one multiple.
type Hysteresis struct {
	Multiple   float64
	Up, Down   float64 // goodput per second
	Difference float64 // (Up-Down)/peak: above 0 the way there can be seen in the way back
}

// Overload is what became of a server during an overload profile. All
// goodputs of steps are means over the last half of the step, when the server
// has got used to the load.
//
// Source: what is kept beyond saturation is the question of Mogul and
// Ramakrishnan, "Eliminating receive livelock in an interrupt-driven kernel",
// ACM Transactions on Computer Systems 15, 1997; the way back that of Bronson,
// Aghayev, Charapko and Zhu, "Metastable failures in distributed systems",
// HotOS 2021.
type Overload struct {
	Peak       float64      // highest goodput of a step, per second
	KeptAt2x   float64      // mean goodput of the steps at twice the bound over Peak: 1 is a server that does not mind
	Hysteresis []Hysteresis // by multiple, rising
	Recovery   float64      // seconds from the start of the step below the bound, as Recovery counts them
	Recovered  bool         // false when goodput did not come back before the end
}

// NewOverload evaluates a profile: steps rise, fall and end below the bound,
// windows are in order.
func NewOverload(steps []LoadStep, windows []LoadWindow) (Overload, error) {
	var o Overload
	goodput := make([]float64, len(steps))
	for i, s := range steps {
		middle := s.Start + (s.End-s.Start)/2
		var sum, length float64
		for _, w := range windows {
			// Windows and steps are sums of the same lengths in another
			// order, so their ends may differ by rounding.
			if w.Length > 0 && w.Start >= middle-1e-6 && w.Start+w.Length <= s.End+1e-6 {
				sum, length = sum+w.Goodput*w.Length, length+w.Length
			}
		}
		if length == 0 {
			return Overload{}, fmt.Errorf("stat: overload step %d, %v to %v s: no window in its last half", i, s.Start, s.End)
		}
		goodput[i] = sum / length
		o.Peak = max(o.Peak, goodput[i])
	}
	if !(o.Peak > 0) || math.IsInf(o.Peak, 1) {
		return Overload{}, fmt.Errorf("stat: overload: peak goodput %v, want one above 0", o.Peak)
	}
	twice := 0
	below := -1
	for i, s := range steps {
		if s.Multiple == 2 {
			o.KeptAt2x += goodput[i] / o.Peak
			twice++
		}
		if s.Multiple < 1 && below < 0 {
			below = i
		}
		for j := range i {
			if steps[j].Multiple == s.Multiple {
				o.Hysteresis = append(o.Hysteresis, Hysteresis{s.Multiple, goodput[j], goodput[i], (goodput[j] - goodput[i]) / o.Peak})
			}
		}
	}
	if twice == 0 || below < 0 {
		return Overload{}, fmt.Errorf("stat: overload: want a step at 2 and one below 1 times the bound")
	}
	o.KeptAt2x /= float64(twice)
	slices.Reverse(o.Hysteresis) // found on the way down
	o.Recovery, o.Recovered = Recovery(windows, steps[below].Start)
	return o, nil
}

// Recovery returns the seconds from an instant until goodput falls short of
// what is offered by at most 5 %, and goes on so for 3 s.
func Recovery(windows []LoadWindow, from float64) (seconds float64, ok bool) {
	const hold, short = 3, 0.05
	since := math.Inf(1) // start of the good windows without a bad one after
	for _, w := range windows {
		switch {
		case w.Start < from-1e-6:
		case w.Goodput < (1-short)*w.Offered:
			since = math.Inf(1)
		default:
			since = min(since, w.Start)
			if w.Start+w.Length-since >= hold-1e-6 {
				return max(0, since-from), true
			}
		}
	}
	return 0, false
}
