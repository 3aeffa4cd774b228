package sampler

import (
	"fmt"
	"iter"
	"slices"
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
	joined  windowPart    // all streams of one window
	sample  windowPart    // grows to Options.Merge intervals
	merged  int           // intervals in sample
}

// maxSpare is how many finished windows are kept for reuse. While one loop
// stalls the others open many more, which are let go.
const maxSpare = 4

// total is what one stream has done so far.
type total struct {
	name string
	main part
	warm part
	at   []gauge // per loop, at its last hand-over
}

// work is what one loop has done so far.
type work struct {
	load load // up to the last page with a scheduled arrival, without the warm-up
	tail load // since then
	peak int
}

// openWindow collects a window until every loop has closed it.
type openWindow struct {
	left    int // loops that have not closed it
	streams []windowPart
	loads   []load // one a loop
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
		p := s.newPage()
		s.furnish(p)
		s.free <- p
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
		s.step(p)
	}
	s.finish()
}

func (s *Sampler) step(p *page) {
	s.mu.Lock()
	s.merge(p)
	s.mu.Unlock()
	s.give(p)
}

// finish publishes what waited for the end.
func (s *Sampler) finish() {
	s.mu.Lock()
	s.trim()
	for len(s.open) > 0 {
		s.publish()
	}
	if s.merged > 0 {
		s.windows[len(s.windows)-1].Sample = s.takeSample()
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
	return p
}

// furnish makes now what would otherwise be made at the first arrival.
func (s *Sampler) furnish(p *page) {
	if len(s.o.Streams) > 4 {
		return // too much memory to be spent on streams that may do nothing
	}
	for i := range p.parts {
		if i%2 == 1 && s.o.Warmup == 0 {
			continue
		}
		for m := range p.parts[i].times {
			if d := &p.parts[i].times[m]; d.h == nil {
				d.grow()
			}
		}
		if p.parts[i].shed == nil {
			p.parts[i].shed = make([]shedRun, 0, 4)
		}
	}
}

// take returns an empty page without waiting. One that has to be made is bare:
// after a stall many windows go by with nothing in them.
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
	if len(s.free) < cap(s.free) { // nobody else adds to it
		s.furnish(p)
		s.free <- p
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
	w.loads[p.loop].add(p.load)
	var scheduled uint64
	for i := range s.streams {
		t := &s.streams[i]
		t.at[p.loop] = p.gauges[i]
		if p.closes {
			w.streams[i].w.Inflight += p.gauges[i].inflight
			w.streams[i].w.Connections += p.gauges[i].open
		}
		for k := range 2 {
			from := &p.parts[2*i+k]
			into := &t.main
			if k == 1 {
				into = &t.warm
			}
			into.Tally.Merge(&from.Tally)
			into.lengths.merge(from.lengths)
			into.followed = max(into.followed, from.followed)
			for m := range from.times {
				into.times[m].Merge(&from.times[m])
			}
			if (p.window < 0) == (k == 1) {
				w.streams[i].add(from)
			}
			for _, run := range from.shed {
				s.shed(i, run)
			}
			scheduled += from.Scheduled
		}
	}
	c := &s.works[p.loop]
	c.peak = p.peak
	s.burst = max(s.burst, p.burst)
	if p.window >= 0 {
		// A long drain must not make a loop look idle that was busy before.
		c.tail.add(p.load)
		if scheduled > 0 {
			c.load.add(c.tail)
			c.tail = load{}
		}
	}
	if p.closes {
		w.left--
	}
	if p.last {
		// A loop that has ended closes every later window too, the ones that
		// slower loops are still going to open included.
		s.running--
		s.end = max(s.end, p.until)
		for _, later := range s.open[p.window-s.first-len(s.windows)+1:] {
			later.left--
		}
	}
	// The last window waits for the end, which tells its length.
	for len(s.open) > 0 && s.open[0].left == 0 && s.running > 0 {
		s.publish()
	}
}

// trim cuts the windows where the run ended, and drops those beyond.
func (s *Sampler) trim() {
	for _, o := range s.open {
		for i := range o.streams {
			w := &o.streams[i].w
			w.Length = min(w.Length, max(0, s.end-w.Start))
		}
	}
	for n := len(s.open); n > 0 && s.open[n-1].empty(); n-- {
		s.open = s.open[:n-1]
	}
}

// empty says whether the window has neither length nor content.
func (o *openWindow) empty() bool {
	for i := range o.streams {
		w := &o.streams[i].w
		if w.Length+time.Duration(w.Scheduled+w.Started+w.Replies+w.Good+w.Unfinished+sum(w.Shed[:])+sum(w.Errors[:])) > 0 {
			return false
		}
	}
	return true
}

// blank returns an empty window, of recycled memory where there is some.
func (s *Sampler) blank() *openWindow {
	n := len(s.spare)
	if n == 0 {
		w := &openWindow{streams: make([]windowPart, len(s.streams)), loads: make([]load, s.o.Loops)}
		for i := range w.streams {
			p := &w.streams[i]
			p.latency.digits, p.service.digits, p.lag.digits = s.digits, s.digits, s.digits
		}
		return w
	}
	w := s.spare[n-1]
	s.spare = s.spare[:n-1]
	for i := range w.streams {
		w.streams[i].reset()
	}
	clear(w.loads)
	return w
}

// shed books arrivals that were shed in the window they were intended in,
// which may be published already. What a consumer holds does not change.
func (s *Sampler) shed(stream int, run shedRun) {
	if o := s.window(run.window); o != nil {
		o.streams[stream].w.addShed(&run.counts)
		return
	}
	i := run.window - s.first
	set := &s.windows[i]
	set.All.addShed(&run.counts)
	if len(set.Streams) > 0 {
		set.Streams = slices.Clone(set.Streams)
		set.Streams[stream].addShed(&run.counts)
	}
	for ; i < len(s.windows); i++ {
		if set := &s.windows[i]; set.Sample != nil {
			sample := *set.Sample
			sample.addShed(&run.counts)
			set.Sample = &sample
			return
		}
	}
	s.sample.w.addShed(&run.counts)
}

func (w *Window) addShed(counts *[NumCauses]uint64) {
	for c, n := range counts {
		w.Shed[c] += n
	}
}

func (p *windowPart) reset() {
	p.w = Window{}
	p.latency.reset()
	p.service.reset()
	p.lag.reset()
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
	busy := 0.
	for i := range o.loads {
		busy = max(busy, o.loads[i].share())
	}
	var set WindowSet
	all := &o.streams[0]
	for i := range o.streams {
		p := &o.streams[i]
		p.w.Busy = busy
		p.summarize()
	}
	if len(o.streams) > 1 {
		all = &s.joined
		all.reset()
		w := &o.streams[0].w
		all.w = Window{Index: w.Index, Start: w.Start, Length: w.Length, Busy: busy}
		for i := range o.streams {
			all.join(&o.streams[i])
			set.Streams = append(set.Streams, o.streams[i].w)
		}
		all.summarize()
	}
	set.All = all.w
	s.extend(&set, all)
	s.windows = append(s.windows, set)
	if len(s.spare) < maxSpare {
		s.spare = append(s.spare, o)
	}
	s.changed.Broadcast()
}

// extend adds a finished interval to the sample that it belongs to, and hands
// the sample out with its last interval. Samples too are counted from the end
// of the warm-up.
func (s *Sampler) extend(set *WindowSet, all *windowPart) {
	if s.o.Merge == 1 {
		sample := set.All
		set.Sample = &sample
		return
	}
	w := &s.sample.w
	if s.merged == 0 {
		w.Index, w.Start = all.w.Index, all.w.Start
	}
	s.merged++
	if length := w.Length + all.w.Length; length > 0 {
		w.Busy = (w.Busy*float64(w.Length) + all.w.Busy*float64(all.w.Length)) / float64(length)
		w.Length = length
	}
	w.Inflight, w.Connections = 0, 0
	s.sample.join(all)
	if (all.w.Index+1)%s.o.Merge == 0 {
		set.Sample = s.takeSample()
	}
}

// takeSample finishes the sample and begins the next one.
func (s *Sampler) takeSample() *Window {
	s.sample.summarize()
	sample := s.sample.w
	s.sample.reset()
	s.merged = 0
	return &sample
}

// summarize fills the summaries of the window.
func (p *windowPart) summarize() {
	p.w.Latency, p.w.Service, p.w.Lag = summarize(&p.latency), summarize(&p.service), summarize(&p.lag)
}

// join adds all that is counted in q.
func (p *windowPart) join(q *windowPart) {
	w, v := &p.w, &q.w
	w.Scheduled += v.Scheduled
	w.Started += v.Started
	w.Replies += v.Replies
	w.Good += v.Good
	w.Unfinished += v.Unfinished
	w.Inflight += v.Inflight
	w.Connections += v.Connections
	w.addShed(&v.Shed)
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
// run or another consumer. Arrivals shed later than that are missing from what
// was yielded; [Sampler.Snapshot] has them.
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

// Live makes every loop hand over at least every 100 ms, from 100 ms after the
// call at the latest, until the returned function is called.
func (s *Sampler) Live() (stop func()) {
	s.live.Add(1)
	return sync.OnceFunc(func() { s.live.Add(-1) })
}
