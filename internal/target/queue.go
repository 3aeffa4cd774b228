package target

import "time"

// never is later than any instant.
const never = time.Duration(1) << 62

// A ref names a connection. It is stale when the connection's slot has been
// given to another one since.
type ref struct{ index, gen uint32 }

func (r ref) data() uint64 { return uint64(r.gen)<<32 | uint64(r.index) }

func refOf(data uint64) ref { return ref{index: uint32(data), gen: uint32(data >> 32)} }

// A fifo holds connections in the order in which they came. Its memory is
// reused.
type fifo struct {
	ring  []ref // its length is a power of two
	first int
	n     int
}

func (f *fifo) push(r ref) {
	if f.n == len(f.ring) {
		ring := make([]ref, max(16, 2*f.n))
		k := copy(ring, f.ring[f.first:])
		copy(ring[k:], f.ring[:f.first])
		f.ring, f.first = ring, 0
	}
	f.ring[(f.first+f.n)&(len(f.ring)-1)] = r
	f.n++
}

func (f *fifo) pop() (ref, bool) {
	if f.n == 0 {
		return ref{}, false
	}
	r := f.ring[f.first]
	f.first = (f.first + 1) & (len(f.ring) - 1)
	f.n--
	return r, true
}

// A timer is an instant at which something is to be done.
type timer struct {
	at   time.Duration // from the loop's epoch
	conn ref
	kind timerKind
}

type timerKind uint8

const (
	serviceEnd timerKind = iota // a worker is free again, its reply is due
	holdEnd                     // a connection has held a worker without a request for long enough
	lingerEnd                   // a client had long enough to take its last reply
	gateOpens                   // those who wait may go on
)

// timers is a binary heap, the earliest first. A timer that is no longer
// wanted stays until its time comes and is ignored then.
type timers []timer

func (h *timers) push(t timer) {
	s := append(*h, t)
	i := len(s) - 1
	for i > 0 {
		up := (i - 1) / 2
		if s[up].at <= t.at {
			break
		}
		s[i] = s[up]
		i = up
	}
	s[i] = t
	*h = s
}

// pop removes and returns the earliest timer of a heap that is not empty.
func (h *timers) pop() timer {
	s := *h
	first, last := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	if len(s) == 0 {
		return first
	}
	i := 0
	for {
		down := 2*i + 1
		if down >= len(s) {
			break
		}
		if down+1 < len(s) && s[down+1].at < s[down].at {
			down++
		}
		if last.at <= s[down].at {
			break
		}
		s[i] = s[down]
		i = down
	}
	s[i] = last
	return first
}

// shift delays every timer by d.
func (h timers) shift(d time.Duration) {
	for i := range h {
		h[i].at += d
	}
}
