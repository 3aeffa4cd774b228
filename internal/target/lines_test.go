package target

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Lines that always have someone waiting get, round by round, exactly what
// their weights say.
func TestLinesShareExactly(t *testing.T) {
	t.Parallel()
	for _, weights := range [][]int{{1}, {1, 1, 1}, {1, 3, 6}, {6, 3, 1}, {7, 11, 13, 2}, {1, 1000}} {
		var l lines
		round := 0
		all := make([]*line, len(weights))
		for i, w := range weights {
			all[i] = newLine(w)
			round += w
			for range 3 {
				l.push(all[i], ref{index: uint32(i)})
			}
		}
		for r := range 1000 {
			counts := make([]int, len(weights))
			for range round {
				ref, ok := l.pop()
				if !ok {
					t.Fatal("nobody waits")
				}
				q := all[ref.index]
				q.n--
				l.serve(q)
				counts[ref.index]++
				l.push(q, ref)
			}
			if !slices.Equal(counts, weights) {
				t.Fatalf("round %d of %v: %v", r, weights, counts)
			}
		}
	}
}

// A line that asked for nothing for a while has saved nothing, and owes nothing.
func TestLinesSaveNothing(t *testing.T) {
	t.Parallel()
	var l lines
	busy, idle := newLine(1), newLine(1)
	queues := []*line{busy, idle}
	next := func() uint32 {
		r, ok := l.pop()
		if !ok {
			t.Fatal("nobody waits")
		}
		queues[r.index].n--
		l.serve(queues[r.index])
		return r.index
	}
	for range 100 {
		l.push(busy, ref{index: 0})
	}
	for range 50 {
		next()
	}
	for range 100 {
		l.push(idle, ref{index: 1})
	}
	var counts [2]int
	for range 20 {
		counts[next()]++
	}
	if counts != [2]int{10, 10} {
		t.Errorf("turns %v, want 10 each", counts)
	}
}

// One line is served in order.
func TestLinesKeepOrder(t *testing.T) {
	t.Parallel()
	var l lines
	q := newLine(defaultWeight)
	random := rand.New(rand.NewPCG(1, 2))
	var in, out uint32
	for range 1000 {
		for range random.IntN(4) {
			l.push(q, ref{index: in})
			in++
		}
		for range random.IntN(4) {
			r, ok := l.pop()
			if !ok {
				break
			}
			if r.index != out {
				t.Fatalf("request %d, want %d", r.index, out)
			}
			q.n--
			out++
			l.serve(q)
		}
	}
	if got := int(in - out); q.n != got || q.waiting.n != got {
		t.Errorf("%d wait, in memory %d; want %d", q.n, q.waiting.n, got)
	}
}
