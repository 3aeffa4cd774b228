package sampler

import (
	"testing"
	"time"
)

const (
	micro = time.Microsecond
	milli = time.Millisecond
	// forever is later than everything that is scheduled in a test.
	forever = 1000 * time.Hour
)

// silent is a Source without schedule that never works.
type silent struct{}

func (silent) Scheduled(int, time.Duration) (main, warmup uint64) { return 0, 0 }
func (silent) Work() time.Duration                                { return 0 }

// plan is a Source with a list of intended starts for each stream, in order.
type plan struct {
	arrivals [][]time.Duration
	warmup   time.Duration
	work     time.Duration
}

func (p *plan) Scheduled(stream int, until time.Duration) (main, warmup uint64) {
	list := &p.arrivals[stream]
	for len(*list) > 0 && (*list)[0] < until {
		if (*list)[0] < p.warmup {
			warmup++
		} else {
			main++
		}
		*list = (*list)[1:]
	}
	return main, warmup
}

func (p *plan) Work() time.Duration { return p.work }

// every returns n intended starts, the first at first.
func every(gap, first time.Duration, n int) (at []time.Duration) {
	for i := range n {
		at = append(at, first+time.Duration(i)*gap)
	}
	return at
}

func newSampler(t testing.TB, o Options) *Sampler {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// mergeAll merges what was handed over so far, in the test's goroutine.
func mergeAll(s *Sampler) {
	for len(s.pages) > 0 {
		s.step(<-s.pages)
	}
}

// start records the start of an arrival, and end its good end with a reply.
func start(r *Recorder, stream int, at time.Duration) {
	r.Start(stream, false, at, at, at, -1, false)
}

func end(r *Recorder, stream int, at time.Duration) {
	r.Reply(&Sample{Stream: stream, Status: 200, Intended: at, Started: at, Sent: at, FirstByte: at, Done: at})
	r.Arrival(&Arrival{Stream: stream, Started: at, Ended: at, Planned: 1, Replied: 1})
}

// oneArrival records a whole arrival with one call that begins at now.
func oneArrival(r *Recorder, now time.Duration) {
	r.Start(0, false, now, now+5*micro, now+6*micro, -1, false)
	r.Connecting(0, false, now+6*micro)
	r.Connected(0, false, 40*micro, now+46*micro)
	r.Requested(0, false, 70, now+50*micro)
	r.Bytes(0, false, 70, 0)
	r.Bytes(0, false, 0, 1000)
	s := Sample{
		Status: 200, Intended: now, Started: now + 6*micro, Sent: now + 50*micro, FirstByte: now + 120*micro, Done: now + 130*micro,
		Header: 240, Body: 760,
	}
	r.Reply(&s)
	c := Conn{Opened: now + 6*micro, Ended: now + 131*micro, Established: true, Replies: 1}
	r.Closed(&c)
	a := Arrival{Intended: now, Started: now + 6*micro, Ended: now + 131*micro, Planned: 1, Replied: 1}
	r.Arrival(&a)
}

// windowsOf returns one field of every window.
func windowsOf[T any](sets []WindowSet, field func(w *Window) T) (out []T) {
	for i := range sets {
		out = append(out, field(&sets[i].All))
	}
	return out
}
