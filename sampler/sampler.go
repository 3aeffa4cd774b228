package sampler

import (
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"
)

// Options configures a Sampler. Every field but Loops may be left zero.
type Options struct {
	Loops   int           // how many recorders there will be; required
	Streams []string      // names of the streams; default one stream "1"
	Base    time.Duration // base interval; default 1 s
	Merge   int           // base intervals that make one Sample; default 1
	Warmup  time.Duration // arrivals intended before are kept apart; windows count from here
}

func (o *Options) validate() error {
	if o.Loops < 1 {
		return fmt.Errorf("sampler: %d loops: want at least 1", o.Loops)
	}
	if o.Base == 0 {
		o.Base = time.Second
	}
	if o.Base < 0 || o.Warmup < 0 {
		return fmt.Errorf("sampler: base interval %v, warm-up %v: want none below 0", o.Base, o.Warmup)
	}
	o.Merge = max(1, o.Merge)
	if len(o.Streams) == 0 {
		o.Streams = []string{"1"}
	}
	return nil
}

// A Sampler merges what the recorders of a run hand over. Its methods may be
// called by any goroutine.
type Sampler struct {
	o      Options
	digits int
	pages  chan *page
	free   chan *page
	live   atomic.Int32
	done   chan struct{}
	loops  []*Recorder

	mu      sync.Mutex
	changed *sync.Cond
	streams []total
	windows []WindowSet
	first   int // index of windows[0]
	open    []*openWindow
	ended   bool
	works   []work // one a loop
	burst   int
	running int           // loops that have not ended
	end     time.Duration // when the last loop ended
	spare   []*openWindow // for reuse: their histograms are large
	sample  windowPart    // grows to Options.Merge intervals
}

// total is what one stream has done so far.
type total struct {
	name string
	main part
	warm part
	at   []gauge // per loop, at its last hand-over
}

type work struct {
	busy time.Duration
	span time.Duration
	peak int
}

// openWindow collects a window until every loop has closed it.
type openWindow struct {
	left    int // loops that have not closed it
	streams []windowPart
	busy    float64
	span    time.Duration
}

type windowPart struct {
	w       Window
	latency Dist
	service Dist
	lag     Dist
}

// New returns a Sampler that merges from now on; Wait returns once every
// recorder has finished.
func New(o Options) (*Sampler, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	s := &Sampler{
		o:       o,
		digits:  3,
		pages:   make(chan *page, 16*o.Loops),
		free:    make(chan *page, 4*o.Loops),
		done:    make(chan struct{}),
		works:   make([]work, o.Loops),
		running: o.Loops,
	}
	if len(o.Streams) > 16 {
		s.digits = 2
	}
	s.changed = sync.NewCond(&s.mu)
	s.first = s.windowOf(0)
	for _, name := range o.Streams {
		s.streams = append(s.streams, total{name: name, at: make([]gauge, o.Loops)})
	}
	for range 2 * o.Loops {
		s.free <- s.newPage()
	}
	return s, nil
}

// Recorder returns the recorder of a loop, 0 to Options.Loops-1. src tells it
// about the loop's schedule.
func (s *Sampler) Recorder(loop int, src Source) *Recorder {
	r := &Recorder{s: s, src: src, loop: loop, gauges: make([]gauge, len(s.o.Streams))}
	r.page = s.take()
	r.page.loop, r.page.window = loop, s.first
	r.end = s.windowEnd(s.first)
	r.next = r.end
	if s.live.Load() > 0 {
		r.next = min(r.end, handover)
	}
	return r
}

// Run merges pages until every recorder has finished. One goroutine calls it,
// once.
func (s *Sampler) Run() {
	for left := s.o.Loops; left > 0; {
		p := <-s.pages
		if p.last {
			left--
		}
		s.mu.Lock()
		s.merge(p)
		s.mu.Unlock()
		s.give(p)
	}
	s.mu.Lock()
	s.trim()
	for len(s.open) > 0 {
		s.publish()
	}
	s.ended = true
	s.changed.Broadcast()
	s.mu.Unlock()
	close(s.done)
}

// Wait returns when Run has merged everything.
func (s *Sampler) Wait() { <-s.done }

func (s *Sampler) newPage() *page {
	n := len(s.o.Streams)
	p := &page{parts: make([]part, 2*n), gauges: make([]gauge, n)}
	for i := range p.parts {
		for m := range p.parts[i].times {
			p.parts[i].times[m].digits = s.digits
		}
	}
	if n <= 4 {
		// What every run records is made now, not at the first arrival.
		for i := 0; i < len(p.parts); i += 2 {
			for _, m := range []metric{latency, service, lag, connect, firstByte, transfer, lifetime} {
				p.parts[i].times[m].grow()
			}
		}
	}
	return p
}

// take returns an empty page without waiting.
func (s *Sampler) take() *page {
	select {
	case p := <-s.free:
		return p
	default:
		return s.newPage()
	}
}

// give empties a page and keeps it, unless there are enough.
func (s *Sampler) give(p *page) {
	for i := range p.parts {
		p.parts[i].reset()
	}
	*p = page{parts: p.parts, gauges: p.gauges}
	select {
	case s.free <- p:
	default:
	}
}

// windowOf returns the index of the window that holds offset at. The warm-up
// is cut into windows that end where it ends.
func (s *Sampler) windowOf(at time.Duration) int {
	d := at - s.o.Warmup
	if d >= 0 {
		return int(d / s.o.Base)
	}
	return -int((-d + s.o.Base - 1) / s.o.Base)
}

// windowEnd returns the end of a window as an offset from the start.
func (s *Sampler) windowEnd(i int) time.Duration {
	return s.o.Warmup + time.Duration(i+1)*s.o.Base
}

func (s *Sampler) windowStart(i int) time.Duration { return max(0, s.windowEnd(i-1)) }

// window returns the open window of that index, making those up to it. An
// index already published yields nil.
func (s *Sampler) window(i int) *openWindow {
	base := s.first + len(s.windows)
	for i >= base+len(s.open) {
		w := s.blank()
		w.left = s.running
		n := base + len(s.open)
		for k := range w.streams {
			w.streams[k].w = Window{Index: n, Start: s.windowStart(n), Length: s.windowEnd(n) - s.windowStart(n)}
		}
		s.open = append(s.open, w)
	}
	if i < base {
		return nil
	}
	return s.open[i-base]
}

func (s *Sampler) merge(p *page) {
	w := s.window(p.window)
	w.span = max(w.span, p.span)
	if p.span > 0 {
		w.busy = max(w.busy, float64(p.work)/float64(p.span))
	}
	c := &s.works[p.loop]
	c.busy += p.work
	c.span += p.span
	c.peak = p.peak
	s.burst = max(s.burst, p.burst)
	for i := range s.streams {
		t := &s.streams[i]
		t.at[p.loop] = p.gauges[i]
		for k := range 2 {
			from := &p.parts[2*i+k]
			into := &t.main
			if k == 1 {
				into = &t.warm
			}
			into.Tally.Merge(&from.Tally)
			for m := range from.times {
				into.times[m].Merge(&from.times[m])
			}
			if (p.window < 0) == (k == 1) {
				w.streams[i].add(from)
			}
			for _, run := range from.shed {
				s.shed(i, run)
			}
		}
	}
	if p.last {
		// A loop that has ended closes every later window too, the ones that
		// slower loops are still going to open included.
		s.running--
		s.end = max(s.end, p.until)
	}
	if p.closes {
		w.left--
		if p.last {
			for _, later := range s.open[p.window-s.first-len(s.windows)+1:] {
				later.left--
			}
		}
	}
	// The last window waits for the end, which tells its length.
	for len(s.open) > 0 && s.open[0].left == 0 && s.running > 0 {
		s.publish()
	}
}

// trim cuts the last window where the run ended.
func (s *Sampler) trim() {
	if len(s.open) == 0 {
		return
	}
	last := s.open[len(s.open)-1]
	empty := true
	for i := range last.streams {
		w := &last.streams[i].w
		w.Length = min(w.Length, max(0, s.end-w.Start))
		empty = empty && w.Length == 0 && w.Started+w.Replies+w.Good+w.Unfinished+sum(w.Errors[:]) == 0
	}
	if empty {
		s.open = s.open[:len(s.open)-1]
	}
}

// blank returns an empty window, of recycled memory where there is some.
func (s *Sampler) blank() *openWindow {
	n := len(s.spare)
	if n == 0 {
		w := &openWindow{streams: make([]windowPart, len(s.streams))}
		for i := range w.streams {
			p := &w.streams[i]
			p.latency.digits, p.service.digits, p.lag.digits = s.digits, s.digits, s.digits
		}
		return w
	}
	w := s.spare[n-1]
	s.spare = s.spare[:n-1]
	for i := range w.streams {
		p := &w.streams[i]
		p.w = Window{}
		p.latency.reset()
		p.service.reset()
		p.lag.reset()
	}
	w.busy, w.span = 0, 0
	return w
}

// shed books arrivals that were shed in the window they were intended in,
// which may be published already.
func (s *Sampler) shed(stream int, run shedRun) {
	if w := s.window(run.window); w != nil {
		for c, n := range run.counts {
			w.streams[stream].w.Shed[c] += n
		}
		return
	}
	set := &s.windows[run.window-s.first]
	for c, n := range run.counts {
		set.All.Shed[c] += n
		if len(set.Streams) > 0 {
			set.Streams[stream].Shed[c] += n
		}
	}
}

func (p *windowPart) add(from *part) {
	w := &p.w
	w.Scheduled += from.Scheduled
	w.Started += from.Started
	w.Replies += from.Replies
	w.Good += from.Outcomes[OK]
	for d := range w.Status {
		w.Status[d] += from.Status(d)
	}
	for c, n := range from.Outcomes[OK+1:] {
		w.Errors[c+1] += n
	}
	w.Unfinished += from.Unfinished
	p.latency.Merge(&from.times[latency])
	p.service.Merge(&from.times[service])
	p.lag.Merge(&from.times[lag])
}

// publish turns the oldest open window into a finished one.
func (s *Sampler) publish() {
	o := s.open[0]
	s.open = s.open[1:]
	var set WindowSet
	var joined windowPart
	all := &o.streams[0]
	if len(o.streams) > 1 {
		all = &joined
	}
	for i := range o.streams {
		p := &o.streams[i]
		for _, g := range s.streams[i].at {
			p.w.Inflight += g.inflight
			p.w.Connections += g.open
		}
		p.w.Latency, p.w.Service, p.w.Lag = summarize(&p.latency), summarize(&p.service), summarize(&p.lag)
		p.w.Busy = o.busy
		if len(o.streams) > 1 {
			set.Streams = append(set.Streams, p.w)
			all.join(p)
		}
	}
	all.w.Latency, all.w.Service, all.w.Lag = summarize(&all.latency), summarize(&all.service), summarize(&all.lag)
	set.All = all.w
	s.extend(&set, all, len(s.open) == 0 && s.running == 0)
	s.windows = append(s.windows, set)
	s.spare = append(s.spare, o)
	s.changed.Broadcast()
}

// extend adds a finished interval to the sample that it belongs to, and hands
// the sample out with its last interval.
func (s *Sampler) extend(set *WindowSet, all *windowPart, last bool) {
	if s.o.Merge == 1 {
		sample := set.All
		set.Sample = &sample
		return
	}
	p, w := &s.sample, &s.sample.w
	if w.Length == 0 {
		w.Index, w.Start = all.w.Index, all.w.Start
	}
	start, length := w.Start, w.Length+all.w.Length
	w.Inflight, w.Connections = 0, 0
	busy := max(w.Busy, all.w.Busy)
	p.join(all)
	w.Start, w.Length, w.Busy = start, length, busy
	if (all.w.Index+1)%s.o.Merge != 0 && !last && all.w.Index != -1 {
		return
	}
	w.Latency, w.Service, w.Lag = summarize(&p.latency), summarize(&p.service), summarize(&p.lag)
	sample := *w
	set.Sample = &sample
	p.w = Window{}
	p.latency.reset()
	p.service.reset()
	p.lag.reset()
}

// join adds another stream's window of the same interval.
func (p *windowPart) join(q *windowPart) {
	w, v := &p.w, &q.w
	w.Index, w.Start, w.Length, w.Busy = v.Index, v.Start, v.Length, v.Busy
	w.Scheduled += v.Scheduled
	w.Started += v.Started
	w.Replies += v.Replies
	w.Good += v.Good
	w.Unfinished += v.Unfinished
	w.Inflight += v.Inflight
	w.Connections += v.Connections
	for i, n := range v.Shed {
		w.Shed[i] += n
	}
	for i, n := range v.Status {
		w.Status[i] += n
	}
	for i, n := range v.Errors {
		w.Errors[i] += n
	}
	p.latency.Merge(&q.latency)
	p.service.Merge(&q.service)
	p.lag.Merge(&q.lag)
}

// Follow yields every window of the run, from the first, as soon as all loops
// have closed it, and ends with the run. A slow consumer never holds up the
// run or another consumer.
func (s *Sampler) Follow() iter.Seq[WindowSet] {
	return func(yield func(WindowSet) bool) {
		for i := 0; ; i++ {
			s.mu.Lock()
			for i >= len(s.windows) && !s.ended {
				s.changed.Wait()
			}
			if i >= len(s.windows) {
				s.mu.Unlock()
				return
			}
			w := s.windows[i]
			s.mu.Unlock()
			if !yield(w) {
				return
			}
		}
	}
}

// Live makes every loop hand over at least every 100 ms until the returned
// function is called.
func (s *Sampler) Live() (stop func()) {
	s.live.Add(1)
	return sync.OnceFunc(func() { s.live.Add(-1) })
}
