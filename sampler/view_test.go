package sampler

import (
	"math/bits"
	"slices"
	"testing"
	"time"
)

// counts of a View that outlive it.
type seen struct {
	inflight, connections int
	started, warmup       uint64
	lag, warmupLag        uint64
	latency               time.Duration
	ended                 bool
	verdict               Status
	each                  Status
}

// view returns what a View says of one stream.
func view(s *Sampler, stream int) (got seen) {
	s.View(func(v *View) {
		t := &v.Streams[stream]
		all, each := v.Judge(false)
		got = seen{
			t.Inflight, t.Connections, t.Started, t.Warmup.Started, t.Times.Lag.Count(), t.WarmupTimes.Lag.Count(),
			t.Times.Latency.Max(), v.Ended, all.Status, each[stream].Status,
		}
	})
	return got
}

func TestView(t *testing.T) {
	t.Parallel()
	s := newSampler(t, Options{Loops: 2, Streams: []string{"a", "b"}, Warmup: time.Second})
	a := s.Recorder(0, &plan{arrivals: [][]time.Duration{{0, 1, 1500 * milli}, nil}, warmup: time.Second})
	b := s.Recorder(1, &plan{arrivals: [][]time.Duration{nil, {1500 * milli}}, warmup: time.Second})
	want := func(stream int, want seen) {
		t.Helper()
		mergeAll(s)
		if got := view(s, stream); got != want {
			t.Errorf("stream %d: %+v, want %+v", stream, got, want)
		}
	}
	defer s.Live()()
	want(0, seen{})
	a.Start(0, true, 0, 0, 0, -1, false)
	a.Connecting(0, true, 0)
	a.Start(0, true, 1, 1, 1, -1, false)
	a.Roll(1200 * milli)
	b.Roll(1200 * milli)
	want(0, seen{inflight: 2, connections: 1, warmup: 2, warmupLag: 2})
	want(1, seen{})
	a.Start(0, false, 1500*milli, 1500*milli, 1500*milli, -1, false)
	b.Start(1, false, 1500*milli, 1500*milli, 1500*milli, -1, false)
	b.Connecting(1, false, 1500*milli)
	b.Reply(&Sample{Stream: 1, Status: 200, Intended: 1500 * milli, Done: 1510 * milli})
	a.Roll(1700 * milli)
	b.Roll(1700 * milli)
	// What is open is missing in the accounts, which is nothing to complain of.
	want(0, seen{inflight: 3, connections: 1, started: 1, warmup: 2, lag: 1, warmupLag: 2})
	want(1, seen{inflight: 1, connections: 1, started: 1, lag: 1, latency: 10 * milli})
	a.Finish(2*time.Second, forever)
	b.Finish(2*time.Second, forever)
	mergeAll(s)
	s.finish()
	// These loops never said what became of their arrivals.
	got, res := view(s, 1), s.Snapshot()
	all, each := res.Judge(false)
	if !got.ended || got.verdict != all.Status || got.each != each[1].Status || got.verdict != Invalid {
		t.Errorf("at the end: %+v, want the verdict of the result, %v and %v", got, all, each[1])
	}
	s.View(func(v *View) {
		if v.Loops != 2 || v.PeakOpen != res.PeakOpen || v.Busy != res.Busy || v.MaxBurst != res.MaxBurst {
			t.Errorf("the run is %+v, want that of the result", v)
		}
		for i := range v.Streams {
			if have, want := &v.Streams[i], &res.Streams[i]; have.Name != want.Name || have.Tally != want.Tally || have.Warmup != want.Warmup {
				t.Errorf("stream %d is not that of the result", i)
			}
		}
	})
}

// An arrival that is due and not yet taken is not lost.
func TestViewJudgesWhatIsSettled(t *testing.T) {
	t.Parallel()
	s := newSampler(t, Options{Loops: 1})
	r := s.Recorder(0, &plan{arrivals: [][]time.Duration{{0, 1, 2}}})
	defer s.Live()()
	start(r, 0, 0)
	r.Roll(200 * milli)
	mergeAll(s)
	if got := view(s, 0); got.verdict != Valid || got.each != Valid {
		t.Errorf("with two arrivals due: %+v, want valid", got)
	}
	r.Shed(0, false, 1, 210*milli, ShedInflight)
	r.Roll(400 * milli)
	mergeAll(s)
	if got := view(s, 0); got.verdict != Invalid || got.each != Invalid {
		t.Errorf("with one of two arrivals shed: %+v, want invalid", got)
	}
}

// Whoever looks must not hold up the loops.
func TestRecordDuringView(t *testing.T) {
	t.Parallel()
	s := newSampler(t, Options{Loops: 1})
	r := s.Recorder(0, silent{})
	go s.Run()
	s.View(func(v *View) {
		for i := range 10000 {
			oneArrival(r, time.Duration(i)*milli)
		}
	})
	r.Finish(10*time.Second, forever)
	s.Wait()
	if got := view(s, 0).started; got != 10000 {
		t.Errorf("%d arrivals, want 10000", got)
	}
}

func TestBuckets(t *testing.T) {
	t.Parallel()
	var d Dist
	for range d.Buckets() {
		t.Error("an empty distribution has a bucket")
	}
	values := []time.Duration{0, 511, 512, 5 * micro, milli, milli, 1048576, 1048575, time.Second, time.Hour, 2 * time.Hour}
	for _, tt := range []struct{ digits, exact int }{{3, 20}, {2, 17}} {
		d := newDist(tt.digits)
		want := map[time.Duration]uint64{}
		for _, v := range values {
			d.Add(v)
			v = min(v, time.Hour)
			// Buckets are 512 ns wide up to 2^exact ns, and double with the value.
			width := time.Duration(512) << max(0, bits.Len64(uint64(v))-tt.exact)
			want[v|(width-1)]++
		}
		var tops []time.Duration
		for top, n := range d.Buckets() {
			tops = append(tops, top)
			if want[top] != n {
				t.Errorf("%d digits: %d values to %v, want %d", tt.digits, n, top, want[top])
			}
		}
		if !slices.IsSorted(tops) || len(tops) != len(want) {
			t.Errorf("%d digits: buckets %v, want %d in order", tt.digits, tops, len(want))
		}
		for top := range d.Buckets() {
			if top != tops[0] {
				t.Error("the first bucket is another one")
			}
			break
		}
	}
}
