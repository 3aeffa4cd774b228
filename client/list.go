package client

import (
	"math"
	"math/bits"
	"time"
)

// List is the workload that asks for requests of a list: the next one with each
// call, over all connections. Call p of arrival i asks for number i*Calls+p, so
// that loops and machines agree.
type List struct {
	Requests []*Request    // required
	Calls    int           // calls a connection; default 1
	Burst    int           // calls sent at once, without waiting; default 1
	Pause    time.Duration // between the end of a burst and the next
	Lead     bool          // as in Calls
	Servers  []int         // one a request: to which target the arrivals go that begin with it; nil means the first
	Once     bool          // end with the list, for which Arrivals must bound the schedule; else begin again

	// Pick returns which request, modulo the length of the list, is number n;
	// nil means n itself.
	Pick func(n uint64) uint64
}

// Arrivals returns with how many arrivals the list is over; 0 means never.
func (w *List) Arrivals() uint64 {
	if !w.Once {
		return 0
	}
	calls := uint64(max(1, w.Calls))
	return (uint64(len(w.Requests)) + calls - 1) / calls
}

// Begin implements Workload.
func (w *List) Begin(index uint64, s *Session) {
	s.Planned = max(1, w.Calls)
	s.Seq = index * uint64(s.Planned)
	if first := index * uint64(s.Planned); w.Once {
		left := uint64(len(w.Requests)) - min(first, uint64(len(w.Requests)))
		s.Planned = int(min(uint64(s.Planned), left))
	}
	if w.Servers != nil {
		s.Server = w.Servers[w.pick(s)]
	}
}

// pick returns which request comes next.
func (w *List) pick(s *Session) uint64 {
	n := s.Index*uint64(max(1, w.Calls)) + uint64(s.Pos)
	if w.Pick != nil {
		n = w.Pick(n)
	}
	return n % uint64(len(w.Requests))
}

// Next implements Workload.
func (w *List) Next(s *Session, last *Reply) (*Request, time.Duration, bool) {
	if s.Pos >= s.Planned {
		return nil, 0, false
	}
	req := w.Requests[w.pick(s)]
	wait, more := step(s, last, s.Planned, w.Burst, w.Lead, w.Pause)
	s.More = more
	return req, wait, true
}

// Walk returns a Pick that goes through a working set as httperf's --wset does:
// each call first moves on by step of a file, so that a step of 0.25 asks for
// each file four times, the first one three times. Client i of n begins with file
// i and takes every n-th. A step is from 0 to 1 and has up to twelve decimals.
//
// httperf adds up floats from a start next to 0 that is the same for all clients:
// up to their rounding, after very many steps, that gives the same files.
func Walk(step float64, client, clients int) func(n uint64) uint64 {
	// In integers, as a sum of floats loses its place.
	const whole = 1e12
	part := uint64(math.Round(min(max(step, 0), 1) * whole))
	return func(n uint64) uint64 {
		high, low := bits.Mul64(n, part)
		low, carry := bits.Add64(low, part, 0)
		moved, _ := bits.Div64(high+carry, low, whole)
		return uint64(client) + uint64(clients)*moved
	}
}
