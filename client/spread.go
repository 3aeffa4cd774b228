package client

import (
	"fmt"
	"time"
)

// Spread sends arrivals to several targets, each by its weight, and lets a
// workload of its own say what an arrival does there. Make one with NewSpread.
type Spread struct {
	workloads []Workload
	turn      []int32 // which target has which arrival, over and over
}

// maxTurn bounds the sum of the weights.
const maxTurn = 1 << 20

// NewSpread returns a workload for as many targets as there are workloads: of any
// run of arrivals as long as the sum of the weights each target gets as many as
// its weight, spread evenly.
func NewSpread(workloads []Workload, weights []int) (*Spread, error) {
	if len(workloads) == 0 || len(workloads) != len(weights) {
		return nil, fmt.Errorf("client: %d workloads and %d weights: want as many, and one at least", len(workloads), len(weights))
	}
	all := 0
	for _, w := range weights {
		if w < 1 || w > maxTurn || all+w > maxTurn {
			return nil, fmt.Errorf("client: weights %v: want 1 or more each, and no more than %d together", weights, maxTurn)
		}
		all += w
	}
	s := &Spread{workloads: workloads, turn: make([]int32, all)}
	// The target that is owed most comes next (smooth weighted round robin).
	owed := make([]int, len(weights))
	for i := range s.turn {
		best := 0
		for k, w := range weights {
			if owed[k] += w; owed[k] > owed[best] {
				best = k
			}
		}
		owed[best] -= all
		s.turn[i] = int32(best)
	}
	return s, nil
}

// Begin implements Workload.
func (w *Spread) Begin(index uint64, s *Session) {
	k := int(w.turn[index%uint64(len(w.turn))])
	w.workloads[k].Begin(index, s)
	s.Server = k
}

// Next implements Workload.
func (w *Spread) Next(s *Session, last *Reply) (*Request, time.Duration, bool) {
	return w.workloads[s.Server].Next(s, last)
}
