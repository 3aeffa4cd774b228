package sampler

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		o    Options
		want string
	}{
		{"no loops", Options{}, "sampler: 0 loops"},
		{"fewer than no loops", Options{Loops: -1}, "sampler: -1 loops"},
		{"negative base interval", Options{Loops: 1, Base: -1}, "sampler: base interval -1ns"},
		{"negative warm-up", Options{Loops: 1, Warmup: -time.Second}, "warm-up -1s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := New(tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New(%+v): error %v, want one with %q", tt.o, err, tt.want)
			}
		})
	}
}

func TestNewDefaults(t *testing.T) {
	t.Parallel()
	s := newSampler(t, Options{Loops: 1})
	r := s.Snapshot()
	if r.Base != time.Second || len(r.Streams) != 1 || r.Streams[0].Name != "1" {
		t.Errorf("base interval %v, streams %v, want 1s and one stream called 1", r.Base, r.Streams)
	}
}

func TestWindowGrid(t *testing.T) {
	t.Parallel()
	s := newSampler(t, Options{Loops: 1, Base: 100 * milli, Warmup: 250 * milli})
	for _, tt := range []struct {
		at         time.Duration
		window     int
		start, end time.Duration
	}{
		{0, -3, 0, 50 * milli},
		{50*milli - 1, -3, 0, 50 * milli},
		{50 * milli, -2, 50 * milli, 150 * milli},
		{250*milli - 1, -1, 150 * milli, 250 * milli},
		{250 * milli, 0, 250 * milli, 350 * milli},
		{350*milli - 1, 0, 250 * milli, 350 * milli},
		{350 * milli, 1, 350 * milli, 450 * milli},
	} {
		i := s.windowOf(tt.at)
		if i != tt.window || s.windowStart(i) != tt.start || s.windowEnd(i) != tt.end {
			t.Errorf("%v is in window %d (%v to %v), want %d (%v to %v)", tt.at, i, s.windowStart(i), s.windowEnd(i), tt.window, tt.start, tt.end)
		}
	}
}

func TestEventsBelongToTheirWindow(t *testing.T) {
	t.Parallel()
	s := newSampler(t, Options{Loops: 1})
	// The third arrival is intended in window 1 and started in window 2.
	r := s.Recorder(0, &plan{arrivals: [][]time.Duration{{0, 999 * milli, 1999 * milli}}})
	start(r, 0, 0)
	r.Connecting(0, false, milli)
	end(r, 0, 999*milli)
	start(r, 0, time.Second) // just when window 1 begins
	r.Arrival(&Arrival{Started: time.Second, Ended: 2*time.Second - 1, Outcome: Reset, Planned: 1, Unanswered: 1})
	r.Start(0, false, 1999*milli, 2001*milli, 2001*milli, -1, true)
	r.Closed(&Conn{Opened: milli, Ended: 2500 * milli, Established: true, Replies: 1})
	r.Arrival(&Arrival{Started: 2001 * milli, Ended: 2600 * milli, Unfinished: true, Planned: 1, Unanswered: 1})
	r.Finish(2600*milli, forever)
	s.Run()
	res := s.Snapshot()
	for _, c := range []struct {
		what      string
		got, want any
	}{
		{"scheduled", windowsOf(res.Windows, func(w *Window) uint64 { return w.Scheduled }), []uint64{2, 1, 0}},
		{"started", windowsOf(res.Windows, func(w *Window) uint64 { return w.Started }), []uint64{1, 1, 1}},
		{"replies", windowsOf(res.Windows, func(w *Window) uint64 { return w.Replies }), []uint64{1, 0, 0}},
		{"status 2xx", windowsOf(res.Windows, func(w *Window) uint64 { return w.Status[2] }), []uint64{1, 0, 0}},
		{"good", windowsOf(res.Windows, func(w *Window) uint64 { return w.Good }), []uint64{1, 0, 0}},
		{"resets", windowsOf(res.Windows, func(w *Window) uint64 { return w.Errors[Reset] }), []uint64{0, 1, 0}},
		{"no errors", windowsOf(res.Windows, func(w *Window) uint64 { return w.Errors[OK] }), []uint64{0, 0, 0}},
		{"unfinished", windowsOf(res.Windows, func(w *Window) uint64 { return w.Unfinished }), []uint64{0, 0, 1}},
		{"connections", windowsOf(res.Windows, func(w *Window) int { return w.Connections }), []int{1, 1, 0}},
		{"lag", windowsOf(res.Windows, func(w *Window) time.Duration { return w.Lag.Max }), []time.Duration{0, 0, 2 * milli}},
		{"start", windowsOf(res.Windows, func(w *Window) time.Duration { return w.Start }), []time.Duration{0, time.Second, 2 * time.Second}},
		{"length", windowsOf(res.Windows, func(w *Window) time.Duration { return w.Length }), []time.Duration{time.Second, time.Second, 600 * milli}},
		{"identities", res.All.Check(), []string(nil)},
		{"taken late", res.All.StartedLate, uint64(1)},
		{"failed after", res.All.Times.Failure.Max(), time.Second - 1},
		{"lifetime", res.All.Times.Lifetime.Max(), 2499 * milli},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: got %v, want %v", c.what, c.got, c.want)
		}
	}
}

func TestRecorderTimes(t *testing.T) {
	t.Parallel()
	s := newSampler(t, Options{Loops: 1})
	r := s.Recorder(0, &plan{arrivals: [][]time.Duration{{1}}})
	r.Start(0, false, 10, 13, 20, 7, false)
	r.Connecting(0, false, 20)
	r.Burst(3)
	r.Burst(2)
	r.Connected(0, false, 100, 120)
	r.Secured(0, false, 1000, 1120)
	r.Requested(0, false, 70, 1130)
	r.Bytes(0, false, 70, 999)
	r.Reply(&Sample{
		Status: 404, Interim: 2, Intended: 10, Started: 20, Sent: 1130, FirstByte: 1330, Done: 1830,
		Header: 1, Body: 2, Trailer: 3, Framing: 4,
	})
	r.Closed(&Conn{Opened: 20, Ended: 2020, Established: true, Replies: 1})
	r.Arrival(&Arrival{Intended: 10, Started: 20, Ended: 2020, Outcome: UnexpectedStatus, Planned: 4, Replied: 1, Unanswered: 1, Unsent: 2, Retries: 5})
	// A connection that never stood, and one that did not yet.
	r.Connecting(0, false, 2030)
	r.Connecting(0, false, 2030)
	r.Closed(&Conn{Ended: 2040})
	r.Closed(&Conn{Ended: 2040, Unfinished: true})
	r.Connecting(0, false, 2050)
	r.Closed(&Conn{Ended: 2060, Established: true})
	r.Finish(3000, forever)
	s.Run()
	res := s.Snapshot()
	times := reflect.ValueOf(res.All.Times)
	for name, want := range map[string]time.Duration{
		"Latency": 1820, "Service": 1810, "Lag": 3, "Wait": 7, "Connect": 100, "TLS": 1000, "FirstByte": 200,
		"Transfer": 500, "Lifetime": 2000, "Failure": 2000,
	} {
		d := times.FieldByName(name).Interface().(Dist)
		if d.Count() != 1 || d.Max() != want {
			t.Errorf("%s: %d values up to %d ns, want one of %d ns", name, d.Count(), d.Max(), want)
		}
	}
	want := Tally{
		Scheduled: 1, Started: 1, LostCalls: 3, Retries: 5, Planned: 4, Replied: 1, Unanswered: 1, Unsent: 2,
		Attempted: 4, Established: 1, Failed: 1, Requests: 1, Replies: 1, Interim: 2,
		SentBytes: 70, ReceivedBytes: 999, RequestBytes: 70, HeaderBytes: 1, BodyBytes: 2, TrailerBytes: 3, FramingBytes: 4,
	}
	want.Outcomes[UnexpectedStatus] = 1
	want.Codes[404] = 1
	if res.All.Tally != want {
		t.Errorf("got %+v, want %+v", res.All.Tally, want)
	}
	if res.MaxBurst != 3 || res.PeakOpen != 2 {
		t.Errorf("burst %d, peak %d, want 3 and 2", res.MaxBurst, res.PeakOpen)
	}
}

// After a stall the loop closes all windows that went by: they show as zeros,
// with what was scheduled in them.
func TestRollOverManyWindows(t *testing.T) {
	t.Parallel()
	const n = 2000
	s := newSampler(t, Options{Loops: 1, Base: milli})
	r := s.Recorder(0, &plan{arrivals: [][]time.Duration{every(milli/2, 0, 2*n)}})
	go s.Run()
	start(r, 0, 0)
	end(r, 0, n*milli)
	r.Finish(n*milli+1, forever)
	s.Wait()
	res := s.Snapshot()
	if len(res.Windows) != n+1 {
		t.Fatalf("%d windows, want %d", len(res.Windows), n+1)
	}
	for i := range res.Windows {
		w := res.Windows[i].All
		want := Window{Index: i, Start: time.Duration(i) * milli, Length: milli, Scheduled: 2, Inflight: 1}
		switch i {
		case 0:
			want.Started, want.Lag = 1, Summary{Count: 1}
		case n:
			want.Length, want.Scheduled, want.Inflight = 1, 0, 0
			want.Replies, want.Good, want.Status[2] = 1, 1, 1
			want.Latency, want.Service = Summary{Count: 1}, Summary{Count: 1}
		}
		if w != want {
			t.Fatalf("window %d: got %+v, want %+v", i, w, want)
		}
	}
}

// A loop that gets no pages back makes its own, and nothing is lost.
func TestPagesRunOut(t *testing.T) {
	t.Parallel()
	const n = 12 // more than there are pages, fewer than the sampler's queue holds
	s := newSampler(t, Options{Loops: 1})
	r := s.Recorder(0, &plan{arrivals: [][]time.Duration{every(time.Second, 0, n)}})
	for i := range n {
		start(r, 0, time.Duration(i)*time.Second)
		end(r, 0, time.Duration(i)*time.Second+milli)
	}
	r.Finish(n*time.Second, forever)
	if got := len(s.pages); got != n+1 {
		t.Fatalf("%d pages wait, want %d", got, n+1)
	}
	s.Run()
	res := s.Snapshot()
	if res.All.Completed() != n || res.All.Times.Latency.Count() != n {
		t.Errorf("%d completed, %d latencies, want %d", res.All.Completed(), res.All.Times.Latency.Count(), n)
	}
	for i := range res.Windows {
		if w := &res.Windows[i].All; w.Replies != 1 || w.Latency.Count != 1 {
			t.Errorf("window %d has %d replies, want 1", i, w.Replies)
		}
	}
	if len(s.free) != cap(s.free) {
		t.Errorf("%d pages are kept, want %d", len(s.free), cap(s.free))
	}
}

func TestGridEndsWithTheRun(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		ends    []time.Duration // of the loops
		lengths []time.Duration
	}{
		{"on the grid", []time.Duration{3 * time.Second}, []time.Duration{time.Second, time.Second, time.Second}},
		{"just after", []time.Duration{3*time.Second + 1}, []time.Duration{time.Second, time.Second, time.Second, 1}},
		{"just before", []time.Duration{3*time.Second - 1}, []time.Duration{time.Second, time.Second, time.Second - 1}},
		{"at once", []time.Duration{0}, nil},
		{"within a window", []time.Duration{milli, 2 * milli}, []time.Duration{2 * milli}},
		{"one loop earlier", []time.Duration{500 * milli, 2500 * milli}, []time.Duration{time.Second, time.Second, 500 * milli}},
		{"one loop later", []time.Duration{2500 * milli, 500 * milli}, []time.Duration{time.Second, time.Second, 500 * milli}},
		{"one much earlier, on the grid", []time.Duration{time.Second, 3 * time.Second}, []time.Duration{time.Second, time.Second, time.Second}},
		{"three", []time.Duration{0, 1500 * milli, 1200 * milli}, []time.Duration{time.Second, 500 * milli}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			// The loops run one after the other, so that later ones are far behind.
			s := newSampler(t, Options{Loops: len(tt.ends)})
			for i, end := range tt.ends {
				s.Recorder(i, silent{}).Finish(end, forever)
				mergeAll(s)
			}
			s.finish()
			got := windowsOf(s.Snapshot().Windows, func(w *Window) time.Duration { return w.Length })
			if !slices.Equal(got, tt.lengths) {
				t.Errorf("got windows of %v, want %v", got, tt.lengths)
			}
		})
	}
}

// What lies in the last window keeps it, even where the run ends with its
// beginning.
func TestLastWindowWithContentStays(t *testing.T) {
	t.Parallel()
	for name, event := range map[string]func(r *Recorder){
		"reply": func(r *Recorder) { end(r, 0, time.Second) },
		"shed":  func(r *Recorder) { r.Shed(0, false, time.Second, time.Second, ShedStopped) },
		"error": func(r *Recorder) { r.Arrival(&Arrival{Ended: time.Second, Outcome: Reset}) },
		"unfinished": func(r *Recorder) {
			r.Arrival(&Arrival{Ended: time.Second, Unfinished: true})
		},
	} {
		s := newSampler(t, Options{Loops: 1})
		r := s.Recorder(0, silent{})
		event(r)
		r.Finish(time.Second, forever)
		s.Run()
		got := windowsOf(s.Snapshot().Windows, func(w *Window) time.Duration { return w.Length })
		if want := []time.Duration{time.Second, 0}; !slices.Equal(got, want) {
			t.Errorf("%s: got windows of %v, want %v", name, got, want)
		}
	}
	s := newSampler(t, Options{Loops: 1})
	s.Recorder(0, &plan{arrivals: [][]time.Duration{{time.Second}}}).Finish(time.Second, forever)
	s.Run()
	if got := len(s.Snapshot().Windows); got != 2 {
		t.Errorf("scheduled: got %d windows, want 2", got)
	}
}

// A window is over when the slowest loop has closed it; what the others do
// meanwhile does not show in it.
func TestWindowOfLoopsOutOfStep(t *testing.T) {
	t.Parallel()
	s := newSampler(t, Options{Loops: 2})
	fast, slow := s.Recorder(0, silent{}), s.Recorder(1, silent{})
	start(fast, 0, milli)
	fast.Connecting(0, false, milli)
	start(slow, 0, milli)
	fast.Roll(time.Second)
	for i := range 5 {
		start(fast, 0, 1100*milli+time.Duration(i))
		fast.Connecting(0, false, 1200*milli)
	}
	fast.Roll(3 * time.Second)
	mergeAll(s)
	if got := len(s.Snapshot().Windows); got != 0 {
		t.Fatalf("%d windows are over before the slow loop has closed one", got)
	}
	slow.Roll(time.Second)
	mergeAll(s)
	res := s.Snapshot()
	if len(res.Windows) != 1 {
		t.Fatalf("%d windows are over, want 1", len(res.Windows))
	}
	w := &res.Windows[0].All
	if w.Started != 2 || w.Inflight != 2 || w.Connections != 1 {
		t.Errorf("window 0: %d started, %d in flight, %d connections, want 2, 2, 1", w.Started, w.Inflight, w.Connections)
	}
	if res.Inflight != 7 || res.Connections != 6 {
		t.Errorf("now %d in flight, %d connections, want 7 and 6", res.Inflight, res.Connections)
	}
}

// A loop that has ended does not hold up the windows of the others.
func TestWindowsGoOnWithoutEndedLoop(t *testing.T) {
	t.Parallel()
	s := newSampler(t, Options{Loops: 3})
	early, ahead, last := s.Recorder(0, silent{}), s.Recorder(1, silent{}), s.Recorder(2, silent{})
	ahead.Roll(3 * time.Second) // opens windows 0 to 2 while all loops run
	last.Roll(time.Second)
	early.Finish(1500*milli, forever)
	for _, tt := range []struct {
		act  func()
		want int
	}{
		{func() {}, 1},
		{func() { last.Roll(3 * time.Second) }, 3},
		{func() { ahead.Finish(3500*milli, forever) }, 3},
		{func() { last.Roll(6 * time.Second) }, 6},
		{func() { last.Finish(6500*milli, forever) }, 6}, // the last window waits for its length
		{s.finish, 7},
	} {
		tt.act()
		mergeAll(s)
		if got := len(s.Snapshot().Windows); got != tt.want {
			t.Errorf("%d windows are over, want %d", got, tt.want)
		}
	}
}

func TestShedIsBookedWhereIntended(t *testing.T) {
	t.Parallel()
	s := newSampler(t, Options{Loops: 1, Streams: []string{"a", "b"}, Merge: 2, Warmup: 500 * milli})
	r := s.Recorder(0, &plan{warmup: 500 * milli, arrivals: [][]time.Duration{{100 * milli, 600 * milli, 1600 * milli, 2600 * milli, 3600 * milli}, {100 * milli, 600 * milli}}})
	r.Roll(3500 * milli) // windows -1 to 2 are over, the first sample too
	mergeAll(s)
	before := s.Snapshot()
	frozen := fmt.Sprintf("%+v %+v", before.Windows, *before.Windows[2].Sample)
	r.Shed(0, true, 100*milli, 3500*milli, ShedBacklog)
	r.Shed(0, false, 600*milli, 3500*milli, ShedBacklog)
	r.Shed(0, false, 1600*milli, 3500*milli, ShedBacklog)
	r.Shed(0, false, 2600*milli, 3500*milli, ShedBacklog)
	r.Shed(0, false, 3600*milli, 3600*milli, ShedLate)
	r.Shed(1, true, 100*milli, 3700*milli, ShedStopped)
	r.Shed(1, false, 600*milli, 3700*milli, ShedStopped)
	r.Shed(1, true, -time.Second, 3700*milli, ShedStopped) // as of a schedule that begins too early
	r.Finish(3700*milli, forever)
	mergeAll(s)
	s.finish()
	if got := fmt.Sprintf("%+v %+v", before.Windows, *before.Windows[2].Sample); got != frozen {
		t.Errorf("a snapshot changed:\n%s\n%s", got, frozen)
	}
	res := s.Snapshot()
	var got []string
	for _, set := range res.Windows {
		line := fmt.Sprint(set.All.Index, set.All.Shed, set.Streams[0].Shed, set.Streams[1].Shed)
		if set.Sample != nil {
			line += fmt.Sprint(set.Sample.Index, set.Sample.Shed)
		}
		got = append(got, line)
	}
	want := []string{
		"-1 [0 1 0 2] [0 1 0 0] [0 0 0 2]-1 [0 1 0 2]",
		"0 [0 1 0 1] [0 1 0 0] [0 0 0 1]",
		"1 [0 1 0 0] [0 1 0 0] [0 0 0 0]0 [0 2 0 1]",
		"2 [0 1 0 0] [0 1 0 0] [0 0 0 0]",
		"3 [0 0 1 0] [0 0 1 0] [0 0 0 0]2 [0 1 1 0]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got, want := res.All.Shed, [NumCauses]uint64{0, 3, 1, 1}; got != want {
		t.Errorf("in all %v shed, want %v", got, want)
	}
}

func TestSamples(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		warmup time.Duration
		end    time.Duration
		want   []string // index start length replies, by window
	}{
		{"whole", 0, 6 * time.Second, []string{"", "", "0 0s 3s 3", "", "", "3 3s 3s 3"}},
		{"cut short within an interval", 0, 4500 * milli, []string{"", "", "0 0s 3s 3", "", "3 3s 1.5s 2"}},
		{"cut short on the grid", 0, 4 * time.Second, []string{"", "", "0 0s 3s 3", "3 3s 1s 1"}},
		{"shorter than a sample", 0, 1500 * milli, []string{"", "0 0s 1.5s 2"}},
		{"warm-up", 1500 * milli, 5500 * milli, []string{"", "-2 0s 1.5s 0", "", "", "0 1.5s 3s 3", "3 4.5s 1s 1"}},
		{"warm-up of more than a sample", 4 * time.Second, 7 * time.Second, []string{"-4 0s 1s 0", "", "", "-3 1s 3s 0", "", "", "0 4s 3s 3"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSampler(t, Options{Loops: 1, Merge: 3, Warmup: tt.warmup})
			r := s.Recorder(0, silent{})
			for at := tt.warmup; at < tt.end; at += time.Second {
				end(r, 0, at)
			}
			r.Finish(tt.end, forever)
			s.Run()
			var got []string
			for _, set := range s.Snapshot().Windows {
				line := ""
				if w := set.Sample; w != nil {
					line = fmt.Sprint(w.Index, " ", w.Start, " ", w.Length, " ", w.Replies)
					if w.Latency.Count != w.Replies {
						t.Errorf("sample %d has %d latencies and %d replies", w.Index, w.Latency.Count, w.Replies)
					}
				}
				got = append(got, line)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got samples %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSampleOfOneInterval(t *testing.T) {
	t.Parallel()
	s := newSampler(t, Options{Loops: 1, Streams: []string{"a", "b"}})
	r := s.Recorder(0, silent{})
	end(r, 1, 1500*milli)
	r.Finish(2500*milli, forever)
	s.Run()
	for i, set := range s.Snapshot().Windows {
		if set.Sample == nil || *set.Sample != set.All {
			t.Errorf("window %d: sample %+v, want the window itself", i, set.Sample)
		}
	}
}

func TestSampleGauges(t *testing.T) {
	t.Parallel()
	s := newSampler(t, Options{Loops: 1, Merge: 2})
	src := &plan{arrivals: [][]time.Duration{nil}}
	r := s.Recorder(0, src)
	r.Roll(0)
	start(r, 0, 0)
	start(r, 0, 0)
	src.work = 200 * milli
	r.Roll(time.Second)
	end(r, 0, 1500*milli)
	src.work = 800 * milli
	r.Roll(2 * time.Second)
	mergeAll(s)
	w := s.Snapshot().Windows[1].Sample
	if w.Inflight != 1 || !nearly(w.Busy, .4) {
		t.Errorf("%d in flight at the end, %v busy, want 1 and 0.4", w.Inflight, w.Busy)
	}
}

func TestStreamsJoin(t *testing.T) {
	t.Parallel()
	s := newSampler(t, Options{Loops: 1, Streams: []string{"a", "b", "c"}})
	r := s.Recorder(0, &plan{arrivals: [][]time.Duration{{0}, {0, 0}, nil}})
	for stream, took := range []time.Duration{milli, 3 * milli, 5 * milli} {
		r.Start(stream, false, 0, took, took, -1, false)
		r.Connecting(stream, false, took)
		r.Reply(&Sample{Stream: stream, Status: 200 + 100*stream, Done: took})
	}
	r.Roll(time.Second)
	r.Finish(time.Second, forever)
	s.Run()
	set := s.Snapshot().Windows[0]
	if len(set.Streams) != 3 {
		t.Fatalf("%d streams, want 3", len(set.Streams))
	}
	all := set.All
	want := Window{
		Length: time.Second, Scheduled: 3, Started: 3, Replies: 3, Status: [6]uint64{0, 0, 1, 1, 1}, Inflight: 3, Connections: 3,
		Latency: summarize(distOf(milli, 3*milli, 5*milli)), Service: summarize(distOf(milli, 3*milli, 5*milli)), Lag: summarize(distOf(milli, 3*milli, 5*milli)),
	}
	if all != want {
		t.Errorf("got %+v, want %+v", all, want)
	}
	if w := &set.Streams[1]; w.Scheduled != 2 || w.Replies != 1 || w.Status[3] != 1 || w.Latency.Max != 3*milli || w.Latency.Count != 1 {
		t.Errorf("stream b: %+v", w)
	}
	res := s.Snapshot()
	if res.Inflight != 3 || res.All.Times.Latency.Count() != 3 || res.Streams[2].Name != "c" {
		t.Errorf("%d in flight, %d latencies, last stream %q, want 3, 3, c", res.Inflight, res.All.Times.Latency.Count(), res.Streams[2].Name)
	}
}

// Windows use the memory of earlier ones; nothing of them may be left.
func TestWindowsAreCleanedForReuse(t *testing.T) {
	t.Parallel()
	for _, streams := range [][]string{{"a"}, {"a", "b"}} {
		s := newSampler(t, Options{Loops: 2, Streams: streams})
		src := &plan{arrivals: make([][]time.Duration, len(streams))}
		r, other := s.Recorder(0, src), s.Recorder(1, silent{})
		r.Roll(0)
		const windows = 4 * maxSpare
		for i := range windows {
			at := time.Duration(i) * time.Second
			if i%2 == 0 {
				src.work += time.Second
				start(r, 0, at)
				end(r, 0, at+time.Duration(i+1)*milli)
			}
			r.Roll(at + time.Second)
			if i%8 == 7 { // the other loop lags behind now and then
				other.Roll(at + time.Second)
			}
			mergeAll(s)
		}
		if len(s.spare) > maxSpare {
			t.Errorf("%d windows are kept for reuse, want at most %d", len(s.spare), maxSpare)
		}
		for i, set := range s.Snapshot().Windows {
			want := Window{Index: i, Start: time.Duration(i) * time.Second, Length: time.Second}
			if i%2 == 0 {
				want.Started, want.Replies, want.Good, want.Status[2], want.Busy = 1, 1, 1, 1, 1
				want.Lag, want.Latency, want.Service = Summary{Count: 1}, Summary{Count: 1}, Summary{Count: 1}
			}
			if set.All != want {
				t.Errorf("%d streams, window %d: got %+v, want %+v", len(streams), i, set.All, want)
			}
		}
	}
}

func TestBusy(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		live   bool
		warmup time.Duration
		work   []time.Duration // of each loop, a second
		until  time.Duration   // arrivals are scheduled before
		end    time.Duration
		want   float64
	}{
		{"even", false, 0, []time.Duration{300 * milli}, 4 * time.Second, 4 * time.Second, .3},
		{"the busiest loop", false, 0, []time.Duration{300 * milli, 700 * milli, 100 * milli}, 4 * time.Second, 4 * time.Second, .7},
		{"followed live", true, 0, []time.Duration{300 * milli}, 4 * time.Second, 4 * time.Second, .3},
		{"long drain", false, 0, []time.Duration{900 * milli}, 2 * time.Second, 60 * time.Second, .9},
		{"long drain, followed live", true, 0, []time.Duration{900 * milli}, 2 * time.Second, 60 * time.Second, .9},
		{"warm-up", false, 2 * time.Second, []time.Duration{400 * milli}, 4 * time.Second, 4 * time.Second, .4},
		{"100 ms", false, 0, []time.Duration{900 * milli}, 100 * milli, 100 * milli, .9},
		{"too short", false, 0, []time.Duration{900 * milli}, 99 * milli, 99 * milli, 0},
		{"nothing scheduled", false, 0, []time.Duration{900 * milli}, 0, 10 * time.Second, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSampler(t, Options{Loops: len(tt.work), Warmup: tt.warmup})
			if tt.live {
				defer s.Live()()
			}
			for i, work := range tt.work {
				// What the thread worked before the run does not count.
				src := &plan{work: time.Hour, warmup: tt.warmup, arrivals: [][]time.Duration{every(33*milli, 0, int(tt.until/(33*milli)))}}
				r := s.Recorder(i, src)
				for now := time.Duration(0); now < tt.end; now += 50 * milli {
					r.Roll(now)
					switch {
					case now < tt.warmup: // the warm-up keeps the loop busy
						src.work += 50 * milli
					case now < tt.until:
						src.work += work / 20
					}
					mergeAll(s)
				}
				r.Finish(tt.end, forever)
				mergeAll(s)
			}
			s.finish()
			if got := s.Snapshot().Busy; math.Abs(got-tt.want) > .001 {
				t.Errorf("Busy = %v, want %v", got, tt.want)
			}
		})
	}
}

// A page that is handed over within a window does not change what the window
// says.
func TestWindowBusyIsTheWindows(t *testing.T) {
	t.Parallel()
	s := newSampler(t, Options{Loops: 1})
	defer s.Live()()
	src := &plan{arrivals: [][]time.Duration{nil}}
	r := s.Recorder(0, src)
	for now := time.Duration(0); now <= time.Second; now += 100 * milli {
		if now == 500*milli {
			src.work += 100 * milli // all of one piece
		}
		r.Roll(now)
		mergeAll(s)
	}
	if got := s.Snapshot().Windows[0].All.Busy; !nearly(got, .1) {
		t.Errorf("Busy = %v, want 0.1", got)
	}
}

func TestLive(t *testing.T) {
	t.Parallel()
	s := newSampler(t, Options{Loops: 1, Base: 10 * time.Second})
	r := s.Recorder(0, &plan{arrivals: [][]time.Duration{every(100*milli, 0, 1000)}})
	step := func(now time.Duration) (scheduled, started uint64) {
		t.Helper()
		if now >= r.Next() {
			r.Roll(now)
		}
		if now >= r.Next() {
			t.Fatalf("after Roll(%v) the next one is due at %v", now, r.Next())
		}
		mergeAll(s)
		res := s.Snapshot()
		return res.All.Scheduled, res.All.Started
	}
	start(r, 0, 0)
	if _, n := step(5 * time.Second); n != 0 {
		t.Errorf("%d started are seen though nobody follows, want 0", n)
	}
	stop := s.Live()
	again := s.Live()
	if m, n := step(5100 * milli); m != 51 || n != 1 {
		t.Errorf("100 ms after Live %d scheduled and %d started are seen, want 51 and 1", m, n)
	}
	start(r, 0, 5150*milli)
	if _, n := step(5199 * milli); n != 1 {
		t.Errorf("%d started are seen within 100 ms, want 1", n)
	}
	if _, n := step(5200 * milli); n != 2 {
		t.Errorf("after 100 ms %d started are seen, want 2", n)
	}
	stop()
	stop() // counts once
	start(r, 0, 5250*milli)
	if _, n := step(5300 * milli); n != 3 {
		t.Errorf("%d started are seen while one still follows, want 3", n)
	}
	again()
	start(r, 0, 5350*milli)
	if _, n := step(9999 * milli); n != 3 {
		t.Errorf("%d started are seen after the last one stopped, want 3", n)
	}
	if m, n := step(10 * time.Second); m != 100 || n != 4 {
		t.Errorf("at the end of the window %d scheduled and %d started are seen, want 100 and 4", m, n)
	}
	if w := s.Snapshot().Windows; len(w) != 1 || w[0].All.Started != 4 || w[0].All.Scheduled != 100 || w[0].All.Inflight != 4 {
		t.Errorf("the window says %+v, want 4 of 100 started and in flight", w)
	}
	defer s.Live()()
	// A stall over the ends of windows: each gets what belongs to it.
	start(r, 0, 10500*milli)
	step(35 * time.Second)
	got := windowsOf(s.Snapshot().Windows, func(w *Window) uint64 { return w.Scheduled })
	if want := []uint64{100, 100, 100}; !slices.Equal(got, want) {
		t.Errorf("windows have %v scheduled, want %v", got, want)
	}
}

// Everything that a loop does before the run begins, at negative instants,
// belongs to the first window.
func TestBeforeTheRun(t *testing.T) {
	t.Parallel()
	s := newSampler(t, Options{Loops: 1})
	r := s.Recorder(0, silent{})
	r.Connecting(0, false, -time.Hour)
	r.Connected(0, false, milli, -time.Hour+milli)
	r.Finish(milli, forever)
	s.Run()
	res := s.Snapshot()
	if res.All.Established != 1 || res.PeakOpen != 1 || len(res.Windows) != 1 || res.Windows[0].All.Connections != 1 {
		t.Errorf("%d connections established, windows %+v, want 1 in the first", res.All.Established, res.Windows)
	}
}
