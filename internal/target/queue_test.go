package target

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestTimersComeInOrder(t *testing.T) {
	t.Parallel()
	var h timers
	random := rand.New(rand.NewPCG(1, 2))
	var want, got []time.Duration
	for range 300 {
		at := time.Duration(random.IntN(100))
		h.push(timer{at: at})
		want = append(want, at+7)
	}
	h.shift(7)
	slices.Sort(want)
	for len(h) > 0 {
		got = append(got, h.pop().at)
	}
	if !slices.Equal(got, want) {
		t.Errorf("popped %v, want %v", got, want)
	}
}

func TestFifoKeepsOrder(t *testing.T) {
	t.Parallel()
	var f fifo
	if _, ok := f.pop(); ok {
		t.Error("pop of an empty fifo: ok")
	}
	var in, out uint32
	// The queue grows while it is wrapped around the end of its memory.
	for _, step := range []struct{ push, pop uint32 }{{10, 7}, {20, 3}, {100, 90}, {1, 31}} {
		for range step.push {
			f.push(ref{index: in})
			in++
		}
		for range step.pop {
			if r, ok := f.pop(); !ok || r.index != out {
				t.Fatalf("pop = %d, %v, want %d", r.index, ok, out)
			}
			out++
		}
	}
	if f.n != 0 {
		t.Errorf("%d left, want 0", f.n)
	}
}
