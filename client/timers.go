package client

import (
	"math"
	"time"
)

// never is later than any instant of a run.
const never = time.Duration(math.MaxInt64)

// A timer belongs to one connection or job and is at most in one queue.
type timer struct {
	at         time.Duration
	prev, next int32 // indices of connections or jobs; none at the ends
	queue      int32 // which queue it is in; idle outside all
}

const (
	none = -1
	idle = -1
)

// A queue holds timers in order of time. With equal timeouts each new one
// belongs at the end, so adding looks backwards from there.
type queue struct {
	first, last int32
}

func newQueue() queue { return queue{none, none} }

// A waiting is one arrival that sleeps between two calls.
type waiting struct {
	at  time.Duration
	job int32
	gen uint32
}

// sleepers is a binary heap of waiting arrivals, the earliest first. One that
// ends while it sleeps stays until its time comes; its generation tells.
type sleepers []waiting

func (h *sleepers) push(w waiting) {
	s := append(*h, w)
	i := len(s) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if s[parent].at <= s[i].at {
			break
		}
		s[parent], s[i] = s[i], s[parent]
		i = parent
	}
	*h = s
}

func (h *sleepers) pop() waiting {
	s := *h
	top := s[0]
	n := len(s) - 1
	s[0] = s[n]
	s = s[:n]
	i := 0
	for {
		c := 2*i + 1
		if c >= n {
			break
		}
		if c+1 < n && s[c+1].at < s[c].at {
			c++
		}
		if s[i].at <= s[c].at {
			break
		}
		s[i], s[c] = s[c], s[i]
		i = c
	}
	*h = s
	return top
}

// A ring is a first-in-first-out queue of arrivals with a bound.
type ring struct {
	items []arrival
	head  int
	n     int
}

// An arrival waits for a pooled connection.
type arrival struct {
	index    uint64
	intended time.Duration
	taken    time.Duration
	late     bool
}

// push adds a and says whether there was room for it within bound.
func (r *ring) push(a arrival, bound int) bool {
	if r.n == bound {
		return false
	}
	if r.n == len(r.items) {
		grown := make([]arrival, max(64, 2*r.n))
		for i := range r.n {
			grown[i] = r.items[(r.head+i)%r.n]
		}
		r.items, r.head = grown, 0
	}
	r.items[(r.head+r.n)%len(r.items)] = a
	r.n++
	return true
}

func (r *ring) pop() (arrival, bool) {
	if r.n == 0 {
		return arrival{}, false
	}
	a := r.items[r.head]
	r.head = (r.head + 1) % len(r.items)
	r.n--
	return a, true
}
