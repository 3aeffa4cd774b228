package sampler

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

// A driver plays a loop with random events and keeps its own books.
type driver struct {
	plan
	o       Options
	random  *rand.Rand
	r       *Recorder
	now     time.Duration
	end     time.Duration // no arrival is scheduled later
	owed    [][]time.Duration
	backlog []flight
	open    []flight
	books   []Tally // two a stream, as in a page
}

// A flight is an arrival that is due or open.
type flight struct {
	stream   int
	warmup   bool
	intended time.Duration
	started  time.Duration
	planned  int
	replied  int
	sent     bool
	conn     bool
	stands   bool
}

func newDriver(s *Sampler, loop int, seed uint64) *driver {
	d := &driver{o: s.o, random: rand.New(rand.NewPCG(seed, uint64(loop))), books: make([]Tally, 2*len(s.o.Streams))}
	d.plan.warmup = s.o.Warmup
	d.end = time.Duration(d.random.Int64N(int64(12 * s.o.Base)))
	for stream := range s.o.Streams {
		var list []time.Duration
		for range d.random.IntN(200) {
			list = append(list, time.Duration(d.random.Int64N(int64(d.end+1))))
		}
		slices.Sort(list)
		for _, at := range list {
			d.book(stream, at < s.o.Warmup).Scheduled++
		}
		d.arrivals = append(d.arrivals, list)
		d.owed = append(d.owed, list)
	}
	d.r = s.Recorder(loop, d)
	return d
}

func (d *driver) Work() time.Duration { return d.now / 2 }

func (d *driver) book(stream int, warmup bool) *Tally {
	if warmup {
		return &d.books[2*stream+1]
	}
	return &d.books[2*stream]
}

// chance is true once in n times.
func (d *driver) chance(n int) bool { return d.random.IntN(n) == 0 }

func (d *driver) run() {
	for {
		left := 0
		for stream := range d.owed {
			left += len(d.owed[stream])
		}
		if left == 0 && d.chance(20) {
			break
		}
		d.now += time.Duration(d.random.ExpFloat64() * float64(d.o.Base/30))
		if d.chance(200) {
			d.now += time.Duration(d.random.Int64N(int64(4 * d.o.Base))) // a stall
		}
		if d.chance(2) && d.now >= d.r.Next() {
			d.r.Roll(d.now)
		}
		d.arrive()
		if len(d.backlog) > 0 && d.chance(8) {
			f := d.backlog[0]
			d.backlog = d.backlog[1:]
			d.shed(f, ShedBacklog)
		}
		for i := 0; i < len(d.open); i++ {
			if d.chance(2) {
				continue
			}
			if d.advance(&d.open[i]) {
				d.open = slices.Delete(d.open, i, i+1)
				i--
			}
		}
	}
	for _, f := range d.backlog {
		d.shed(f, ShedStopped)
	}
	for i := range d.open {
		d.over(&d.open[i], OK, true)
	}
	d.r.Finish(d.now, forever)
}

// arrive takes what is due.
func (d *driver) arrive() {
	for stream := range d.owed {
		for len(d.owed[stream]) > 0 && d.owed[stream][0] <= d.now {
			f := flight{stream: stream, intended: d.owed[stream][0], started: d.now, planned: 1 + d.random.IntN(3)}
			f.warmup = f.intended < d.o.Warmup
			d.owed[stream] = d.owed[stream][1:]
			switch d.random.IntN(10) {
			case 0:
				d.shed(f, Cause(d.random.IntN(NumCauses)))
			case 1:
				d.backlog = append(d.backlog, f)
			default:
				b := d.book(stream, f.warmup)
				late := d.now-f.intended > milli
				b.Started++
				if late {
					b.StartedLate++
				}
				d.r.Start(stream, f.warmup, f.intended, d.now, d.now, time.Duration(d.random.IntN(3)-1), late)
				d.open = append(d.open, f)
			}
		}
	}
}

func (d *driver) shed(f flight, cause Cause) {
	d.book(f.stream, f.warmup).Shed[cause]++
	d.r.Shed(f.stream, f.warmup, f.intended, d.now, cause)
}

// advance takes an open arrival one step further and says whether it has
// ended.
func (d *driver) advance(f *flight) bool {
	b := d.book(f.stream, f.warmup)
	switch {
	case d.chance(15):
		d.over(f, Class(1+d.random.IntN(NumClasses-1)), false)
		return true
	case !f.conn:
		f.conn = true
		b.Attempted++
		d.r.Connecting(f.stream, f.warmup, d.now)
	case !f.stands:
		f.stands = true
		b.Established++
		d.r.Connected(f.stream, f.warmup, milli, d.now)
	case !f.sent:
		f.sent = true
		b.Requests++
		b.RequestBytes += 70
		b.SentBytes += 70
		b.ReceivedBytes += 300
		d.r.Requested(f.stream, f.warmup, 70, d.now)
		d.r.Bytes(f.stream, f.warmup, 70, 300)
	default:
		f.sent = false
		f.replied++
		s := Sample{
			Stream: f.stream, Warmup: f.warmup, Status: []int{101, 200, 204, 302, 404, 503, 700}[d.random.IntN(7)],
			Intended: f.intended, Started: f.started, Sent: f.started, FirstByte: d.now, Done: d.now, Header: 100, Body: 200,
		}
		b.Replies++
		b.Codes[s.Status]++
		b.HeaderBytes += 100
		b.BodyBytes += 200
		d.r.Reply(&s)
		if f.replied == f.planned {
			d.over(f, OK, false)
			return true
		}
	}
	return false
}

// over ends an arrival and its connection.
func (d *driver) over(f *flight, outcome Class, unfinished bool) {
	b := d.book(f.stream, f.warmup)
	if f.conn {
		if !f.stands && !unfinished {
			b.Failed++
		}
		d.r.Closed(&Conn{Stream: f.stream, Warmup: f.warmup, Opened: f.started, Ended: d.now, Established: f.stands, Replies: f.replied, Unfinished: unfinished})
	}
	a := Arrival{
		Stream: f.stream, Warmup: f.warmup, Intended: f.intended, Started: f.started, Ended: d.now,
		Outcome: outcome, Unfinished: unfinished, Planned: f.planned, Replied: f.replied,
	}
	if f.sent {
		a.Unanswered = 1
	}
	a.Unsent = f.planned - f.replied - a.Unanswered
	b.Planned += uint64(a.Planned)
	b.Replied += uint64(a.Replied)
	if unfinished {
		b.Unfinished++
		b.UnfinishedCalls += uint64(a.Unanswered + a.Unsent)
	} else {
		b.Outcomes[outcome]++
		b.Unanswered += uint64(a.Unanswered)
		b.Unsent += uint64(a.Unsent)
		b.LostCalls += uint64(a.Unanswered + a.Unsent)
	}
	d.r.Arrival(&a)
}

// counts is what windows and totals have in common.
type counts struct {
	scheduled, started, replies, good, unfinished, latencies, services, lags uint64
	shed                                                                     [NumCauses]uint64
	errors                                                                   [NumClasses]uint64
	status                                                                   [6]uint64
}

func countsOf(t *Totals) counts {
	c := counts{
		t.Scheduled, t.Started, t.Replies, t.Completed(), t.Unfinished,
		t.Times.Latency.Count(), t.Times.Service.Count(), t.Times.Lag.Count(), t.Shed, t.Outcomes, [6]uint64{},
	}
	c.errors[OK] = 0
	for d := range c.status {
		c.status[d] = t.Status(d)
	}
	return c
}

func (c *counts) add(w *Window) {
	c.scheduled += w.Scheduled
	c.started += w.Started
	c.replies += w.Replies
	c.good += w.Good
	c.unfinished += w.Unfinished
	c.latencies += w.Latency.Count
	c.services += w.Service.Count
	c.lags += w.Lag.Count
	for i, n := range w.Shed {
		c.shed[i] += n
	}
	for i, n := range w.Errors {
		c.errors[i] += n
	}
	for i, n := range w.Status {
		c.status[i] += n
	}
}

// Whatever the loops do, windows and samples add up to the totals, and the
// totals are what the loops have done.
func TestWindowsAddUpToTotals(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q"}
	for seed := range uint64(12) {
		random := rand.New(rand.NewPCG(seed, 99))
		o := Options{Loops: 1 + random.IntN(3), Base: 100 * milli, Merge: random.IntN(5), Streams: names[:1+random.IntN(3)]}
		if seed%6 == 5 {
			o.Streams = names
		}
		if random.IntN(3) > 0 {
			o.Warmup = time.Duration(random.Int64N(int64(500 * milli)))
		}
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			play(t, o, seed)
		})
	}
}

func play(t *testing.T, o Options, seed uint64) {
	s := newSampler(t, o)
	var drivers []*driver
	for i := range o.Loops {
		drivers = append(drivers, newDriver(s, i, seed))
	}
	var all sync.WaitGroup
	all.Go(s.Run)
	followed := make([][]int, 2)
	for i := range followed {
		all.Go(func() {
			defer s.Live()()
			followed[i] = collect(s)
		})
	}
	for _, d := range drivers {
		all.Go(d.run)
	}
	all.Go(func() {
		for set := range s.Follow() {
			// What is held while the run goes on may be read at any time.
			if set.All.Index%8 == 0 {
				read(s.Snapshot())
			}
		}
	})
	all.Wait()
	r := s.Snapshot()

	var want Result
	want.Streams = make([]Totals, len(o.Streams))
	end := time.Duration(0)
	for _, d := range drivers {
		for i := range want.Streams {
			want.Streams[i].Tally.Merge(&d.books[2*i])
			want.Streams[i].Warmup.Merge(&d.books[2*i+1])
			want.All.Tally.Merge(&d.books[2*i])
			want.All.Warmup.Merge(&d.books[2*i+1])
		}
		end = max(end, d.now)
	}
	check := func(what string, got, want *Totals, sets func(i int) *Window) {
		t.Helper()
		if got.Tally != want.Tally {
			t.Errorf("%s: got %+v, want %+v", what, got.Tally, want.Tally)
		}
		if got.Warmup != want.Warmup {
			t.Errorf("%s, warm-up: got %+v, want %+v", what, got.Warmup, want.Warmup)
		}
		if bad := append(got.Check(), got.Warmup.Check()...); len(bad) > 0 {
			t.Errorf("%s: %q", what, bad)
		}
		var main, warm counts
		for i := range r.Windows {
			w := sets(i)
			if w.Warmup() {
				warm.add(w)
			} else {
				main.add(w)
			}
		}
		if want := countsOf(got); main != want {
			t.Errorf("%s: windows add up to %+v, want %+v", what, main, want)
		}
		// Arrivals of the warm-up may end after it, outside of all windows.
		if warm.scheduled != got.Warmup.Scheduled || warm.shed != got.Warmup.Shed {
			t.Errorf("%s: windows of the warm-up have %d scheduled and %d shed, want %d and %d", what, warm.scheduled, warm.shed, got.Warmup.Scheduled, got.Warmup.Shed)
		}
	}
	check("all", &r.All, &want.All, func(i int) *Window { return &r.Windows[i].All })
	for i := range want.Streams {
		check("stream "+r.Streams[i].Name, &r.Streams[i], &want.Streams[i], func(k int) *Window {
			if len(r.Windows[k].Streams) == 0 {
				return &r.Windows[k].All
			}
			return &r.Windows[k].Streams[i]
		})
	}

	// The grid has no gaps and ends with the run.
	var samples, main counts
	at, sampled := time.Duration(0), time.Duration(0)
	var index []int
	for i := range r.Windows {
		w := &r.Windows[i].All
		if w.Start != at || w.Index != s.first+i {
			t.Errorf("window %d begins at %v as number %d, want %v and %d", i, w.Start, w.Index, at, s.first+i)
		}
		at += w.Length
		index = append(index, w.Index)
		main.add(w)
		if p := r.Windows[i].Sample; p != nil {
			if p.Start != sampled {
				t.Errorf("a sample begins at %v, want %v", p.Start, sampled)
			}
			sampled += p.Length
			samples.add(p)
		}
	}
	if at != end || sampled != end {
		t.Errorf("the windows end at %v, the samples at %v, want %v", at, sampled, end)
	}
	if samples != main {
		t.Errorf("samples add up to %+v, want %+v", samples, main)
	}
	if n := len(r.Windows); n > 0 && (r.Windows[n-1].All.Inflight != 0 || r.Windows[n-1].All.Connections != 0) || r.Inflight != 0 || r.Connections != 0 {
		t.Errorf("%d arrivals and %d connections are open at the end, want none", r.Inflight, r.Connections)
	}
	for i := range followed {
		if !slices.Equal(followed[i], index) {
			t.Errorf("follower %d saw windows %v, want %v", i, followed[i], index)
		}
	}
}

// read touches everything of a result that a run could still change.
func read(r *Result) (n uint64) {
	for _, set := range r.Windows {
		n += set.All.Shed[0]
		for i := range set.Streams {
			n += set.Streams[i].Shed[0]
		}
		if set.Sample != nil {
			n += set.Sample.Shed[0]
		}
	}
	for i := range r.Streams {
		n += r.Streams[i].Times.Lag.Count() + uint64(r.Streams[i].Times.Lag.Quantile(.99))
	}
	return n
}
