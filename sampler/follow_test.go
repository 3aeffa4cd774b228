package sampler

import (
	"slices"
	"sync"
	"testing"
	"time"
)

// collect follows until the run has ended.
func collect(s *Sampler) (index []int) {
	for set := range s.Follow() {
		index = append(index, set.All.Index)
	}
	return index
}

func TestFollow(t *testing.T) {
	t.Parallel()
	const before, during = 5, 5
	s := newSampler(t, Options{Loops: 2, Warmup: time.Second})
	a, b := s.Recorder(0, silent{}), s.Recorder(1, silent{})
	got := make([][]int, before+during+1)
	var all sync.WaitGroup
	for i := range before {
		all.Go(func() { got[i] = collect(s) })
	}
	go s.Run()
	a.Roll(10 * time.Second)
	b.Roll(5 * time.Second)
	// Consumers that leave early do not hold up anybody.
	for set := range s.Follow() {
		if set.All.Index != -1 {
			t.Errorf("the first window is %d, want -1", set.All.Index)
		}
		break
	}
	seen := 0
	for set := range s.Follow() {
		if seen++; seen == 5 {
			break
		}
		if set.All.Index != seen-2 {
			t.Errorf("window %d is the number %d", set.All.Index, seen)
		}
	}
	for i := range during {
		all.Go(func() { got[before+i] = collect(s) })
	}
	b.Finish(5500*milli, forever)
	a.Finish(20500*milli, forever)
	s.Wait()
	all.Wait()
	got[before+during] = collect(s)
	var want []int
	for i := -1; i <= 19; i++ {
		want = append(want, i)
	}
	for i := range got {
		if !slices.Equal(got[i], want) {
			t.Errorf("consumer %d saw windows %v, want %v", i, got[i], want)
		}
	}
}
