// Package pacer says when the arrivals of an open-loop load test are due, and
// lets those go that a stalled generator still owes.
//
// A [Process] describes how arrivals are spread over time. Its [Schedule] is
// the list of intended starts: exact offsets from the start of the run, in
// order, each with its global index. [Parse] and [ParsePeriod] read a process
// from text; [For] and [First] bound it; [PlannedEnd] and [Count] say what it
// will do. A schedule can be drawn in parts: part i of n holds the arrivals
// whose index is congruent to i modulo n, so that n workers share a run
// without talking to each other.
//
//	p, err := pacer.Parse("2000/s")
//	if err != nil {
//		return err
//	}
//	s := pacer.For(p, time.Minute).Schedule(0, 1, seed)
//	for {
//		index, at, ok := s.Next()
//		if !ok {
//			return s.Err()
//		}
//		// Wait until at, then start arrival index.
//	}
//
// # Processes
//
//	2000, 0.5, 1.5k/s, 6000/1m    Constant: equal gaps
//	poisson:500, poisson:6000/1m  Poisson: exponential gaps
//	uniform:5ms,15ms              Uniform: gaps between two bounds
//	variable:0.1,2,0.05,2         Variable: pairs of gap and duration, in a cycle
//	100:10s,200:10s               Steps: pairs of rate and duration, the last rate is held
//	100..5000@60s                 Ramp: linear, the last rate is held
//	trace:FILE, trace:FILE@2x     Trace: offsets from a file
//
// The first arrival is due at once, at offset 0, but for a trace and for steps
// that begin with a pause. Random processes are drawn from PCG: the same seed gives the same arrivals,
// however many parts they are drawn in; distinct seeds are independent.
//
// # Design
//
// The schedule is arithmetic, not a sleeper. Arrival k of a constant rate is
// k*Per/N, computed in 128-bit integers, so nothing accumulates: neither the
// rounding of a period to whole nanoseconds (333/s) nor the lateness of
// whoever waits for it. Waiting is left to the caller, who owns the clock, the
// timers and the sockets to poll meanwhile.
//
// A rate limiter cannot be the schedule. Its Take sleeps, and a sleep on Linux
// returns up to a millisecond late, so it delivers a fraction of a high rate
// (BenchmarkLimiterAsSchedule beside BenchmarkSchedule: 11,000 of 70,000
// arrivals per second). Worse, it counts from the last permission that it
// gave: an arrival that came late moves all later ones, the lateness is
// forgotten, and latency is measured from the wrong instant, which is the
// coordinated-omission error.
//
// What a limiter does well is the second half of pacing. After a stall of the
// generator (a collection, a stolen CPU) arrivals are owed, and to let them go
// in one burst hits the server with a spike that the schedule never held.
// [Release] spaces them, and only them, with go.uber.org/ratelimit on a clock
// that never blocks, so that its Take becomes a reservation. Intended times are
// kept in every case: latency stays honest.
package pacer
