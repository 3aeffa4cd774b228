package stat

import (
	"fmt"
	"math"
)

// Convergence returns how many windows after window at, when a client joined
// or left, the share errors came inside the margin to stay: the first window
// from which on every span of that many windows before until has them inside.
// What is due is counted anew for each span, so that a client without arrivals
// has nothing due. A single window holds too few replies for shares to a
// percent; about five seconds of them are enough.
func Convergence(weights []float64, windows [][]Tally, at, until, span int, margin float64) (after int, ok bool, err error) {
	if at < 0 || until > len(windows) || at > until || span < 1 || !(margin > 0) {
		return 0, false, fmt.Errorf("stat: convergence from window %d to %d of %d in spans of %d to a margin of %v: want windows that there are, and a span and a margin above 0",
			at, until, len(windows), span, margin)
	}
	if err := checkClients(weights); err != nil {
		return 0, false, err
	}
	settled := until // first window from which on all spans are inside
	for from := until - span; from >= at; from-- {
		total := make([]Tally, len(weights))
		for _, block := range windows[from : from+span] {
			if len(block) != len(weights) {
				return 0, false, fmt.Errorf("stat: window of %d clients: want %d", len(block), len(weights))
			}
			for i, t := range block {
				total[i].Offered += t.Offered
				total[i].Good += t.Good
			}
		}
		offered, good := demands(total)
		due := fill(good, offered, weights)
		inside := good > 0
		for i, t := range total {
			inside = inside && math.Abs(t.Good-due[i]) <= margin*good
		}
		if !inside {
			break
		}
		settled = from
	}
	return settled - at, settled < until, nil
}

// Starved returns the longest run of windows in which a client had arrivals
// and not one good reply; client counts from 0.
func Starved(windows [][]Tally, client int) int {
	longest, run := 0, 0
	for _, block := range windows {
		if run++; client >= len(block) || block[client].Good > 0 || block[client].Offered == 0 {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}
