package sampler

import "time"

// handover is how old an unmerged value may be while somebody follows live.
const handover = 100 * time.Millisecond

// A Source tells a Recorder what only its loop knows. Both methods are called
// by the goroutine that owns the Recorder.
type Source interface {
	// Scheduled returns how many arrivals of the stream were scheduled on this
	// loop with an intended start before until and were not returned before:
	// those after the warm-up, and those within it.
	Scheduled(stream int, until time.Duration) (main, warmup uint64)
	// Work returns the processor time that the loop's thread has spent since any
	// fixed moment, without spinning.
	Work() time.Duration
}

// A metric indexes the distributions of a part.
type metric uint8

// The measured times.
const (
	latency metric = iota
	service
	lag
	wait
	connect
	tlsTime
	firstByte
	transfer
	lifetime
	failure
	goodLatency
	sessionTime
	numMetrics = iota
)

// shedRun counts arrivals shed, by the window they were intended in.
type shedRun struct {
	window int
	counts [NumCauses]uint64
}

// A part is what one stream did on one loop during one page.
type part struct {
	Tally
	times    [numMetrics]Dist
	shed     []shedRun
	lengths  Lengths
	followed time.Duration // longest that an unfinished arrival was open
}

func (p *part) reset() {
	p.Tally = Tally{}
	for i := range p.times {
		p.times[i].reset()
	}
	p.shed = p.shed[:0]
	p.lengths = p.lengths[:0]
	p.followed = 0
}

// A page is what one loop recorded during one window or a piece of it.
type page struct {
	loop   int
	window int
	closes bool   // the window is over for this loop
	last   bool   // the loop has ended
	parts  []part // two a stream: after the warm-up, and within it
	gauges []gauge
	until  time.Duration // when it was handed over
	load   load
	peak   int
	burst  int
}

// A load is what a loop's thread worked in a span of time.
type load struct{ work, span time.Duration }

func (l *load) add(from load) {
	l.work += from.work
	l.span += from.span
}

// share returns the part of a core that was used, 0 of no time.
func (l *load) share() float64 {
	if l.span <= 0 {
		return 0
	}
	return float64(l.work) / float64(l.span)
}

type gauge struct{ inflight, open int }

// A Recorder takes what happens on one loop. It belongs to that loop's
// goroutine; nothing in it locks, and nothing allocates while pages come back
// in time.
type Recorder struct {
	s      *Sampler
	src    Source
	loop   int
	page   *page
	end    time.Duration // of the current window
	next   time.Duration // when Roll has something to do: end, or earlier for those who follow live
	began  time.Duration // of the current page
	begun  bool          // the run has begun
	worked time.Duration // what Source.Work said when the current page began
	gauges []gauge
	open   int
	peak   int
	burst  int
}

// Next returns the instant at which the loop has to call Roll at the latest.
func (r *Recorder) Next() time.Duration { return r.next }

// Roll hands over what is due at now. A loop calls it whenever now reaches
// Next, also when nothing else happens: a stalled server shows as zeros.
func (r *Recorder) Roll(now time.Duration) {
	for now >= r.next {
		switch {
		case !r.begun:
			// What the thread did before is not work of the run.
			r.begun = true
			r.worked = r.src.Work()
			r.next = min(r.end, handover)
		case now >= r.end:
			r.scheduled(r.end)
			r.page.closes = true
			r.hand(r.end)
		case r.s.live.Load() > 0:
			r.scheduled(now)
			r.hand(now)
		default:
			r.next = min(r.end, now+handover)
		}
	}
}

// Finish hands over everything that is left. The arrivals scheduled before
// until are the run's; now is the instant at which the loop ended. Nothing is
// open on the loop any more, and the recorder is of no further use.
func (r *Recorder) Finish(now, until time.Duration) {
	r.Roll(now)
	r.scheduled(until)
	r.page.closes, r.page.last = true, true
	r.hand(now)
}

func (r *Recorder) scheduled(until time.Duration) {
	for i := range r.gauges {
		main, warm := r.src.Scheduled(i, until)
		r.page.parts[2*i].Scheduled += main
		r.page.parts[2*i+1].Scheduled += warm
	}
}

// hand passes the page on as of now and begins the next one.
func (r *Recorder) hand(now time.Duration) {
	p := r.page
	copy(p.gauges, r.gauges)
	work := r.src.Work()
	p.until, p.load = now, load{max(0, work-r.worked), now - r.began}
	r.worked, r.began = work, now
	p.peak, p.burst = r.peak, r.burst
	r.page = nil
	if !p.last {
		window := p.window
		if p.closes {
			window++
			r.end = r.s.windowEnd(window)
		}
		r.page = r.s.take()
		r.page.loop, r.page.window = r.loop, window
		r.next = min(r.end, now+handover)
	}
	r.s.pages <- p
}

func (r *Recorder) part(stream int, warmup bool) *part {
	i := 2 * stream
	if warmup {
		i++
	}
	return &r.page.parts[i]
}

// at rolls when an event belongs to a later page than the current one.
func (r *Recorder) at(now time.Duration) {
	if now >= r.next {
		r.Roll(now)
	}
}

// Start records that an arrival was started. A negative wait is none; late says
// that it was taken more than 1 ms and one period after its intended start.
func (r *Recorder) Start(stream int, warmup bool, intended, taken, now, wait time.Duration, late bool) {
	r.at(now)
	p := r.part(stream, warmup)
	p.Started++
	if late {
		p.StartedLate++
	}
	p.times[lag].Add(taken - intended)
	if wait >= 0 {
		p.times[waitMetric].Add(wait)
	}
	r.gauges[stream].inflight++
}

// MaxBehind is how long arrivals may stand behind others of the same instant, which
// are started one after the other, without [Recorder.Behind].
const MaxBehind = 10 * time.Millisecond

// Behind records that the arrival started last stood behind others for longer than
// MaxBehind.
func (r *Recorder) Behind(stream int, warmup bool) { r.part(stream, warmup).Tally.Behind++ }

// waitMetric is the metric wait where a parameter has its name.
const waitMetric = wait

// Shed records that an arrival was due and was not started.
func (r *Recorder) Shed(stream int, warmup bool, intended, now time.Duration, cause Cause) {
	r.at(now)
	p := r.part(stream, warmup)
	p.Tally.Shed[cause]++
	w := r.s.windowOf(max(0, intended))
	if n := len(p.shed); n == 0 || p.shed[n-1].window != w {
		p.shed = append(p.shed, shedRun{window: w})
	}
	p.shed[len(p.shed)-1].counts[cause]++
}

// Connecting records that connect() is being called.
func (r *Recorder) Connecting(stream int, warmup bool, now time.Duration) {
	r.at(now)
	r.part(stream, warmup).Attempted++
	r.gauges[stream].open++
	r.open++
	r.peak = max(r.peak, r.open)
}

// Connected records that a connection stands after took.
func (r *Recorder) Connected(stream int, warmup bool, took, now time.Duration) {
	r.at(now)
	p := r.part(stream, warmup)
	p.Established++
	p.times[connect].Add(took)
}

// Secured records that a TLS handshake was done after took.
func (r *Recorder) Secured(stream int, warmup bool, took, now time.Duration) {
	r.at(now)
	r.part(stream, warmup).times[tlsTime].Add(took)
}

// Burst records how many connections one pass of the loop opened.
func (r *Recorder) Burst(n int) { r.burst = max(r.burst, n) }

// Requested records that the kernel took the last byte of a request.
func (r *Recorder) Requested(stream int, warmup bool, bytes int, now time.Duration) {
	r.at(now)
	p := r.part(stream, warmup)
	p.Requests++
	p.RequestBytes += uint64(bytes)
}

// Bytes records traffic, of complete messages or not.
func (r *Recorder) Bytes(stream int, warmup bool, sent, received int) {
	p := r.part(stream, warmup)
	p.SentBytes += uint64(sent)
	p.ReceivedBytes += uint64(received)
}

// Reply records a complete reply. It does not keep s.
func (r *Recorder) Reply(s *Sample) {
	r.at(s.Done)
	p := r.part(s.Stream, s.Warmup)
	p.Replies++
	p.Codes[s.Status]++
	p.Interim += uint64(s.Interim)
	p.HeaderBytes += uint64(s.Header)
	p.BodyBytes += uint64(s.Body)
	p.TrailerBytes += uint64(s.Trailer)
	p.FramingBytes += uint64(s.Framing)
	p.times[latency].Add(s.Done - s.Intended)
	if s.Good {
		p.times[goodLatency].Add(s.Done - s.Intended)
	}
	p.times[service].Add(s.Done - s.Started)
	p.times[firstByte].Add(s.FirstByte - s.Sent)
	p.times[transfer].Add(s.Done - s.FirstByte)
}

// Closed records the end of a connection. It does not keep c.
func (r *Recorder) Closed(c *Conn) {
	r.at(c.Ended)
	r.gauges[c.Stream].open--
	r.open--
	p := r.part(c.Stream, c.Warmup)
	if !c.Established && !c.Unfinished {
		p.Failed++
	}
	if c.Replies > 0 {
		p.times[lifetime].Add(c.Ended - c.Opened)
	}
}

// Arrival records the end of an arrival. It does not keep a.
func (r *Recorder) Arrival(a *Arrival) {
	r.at(a.Ended)
	r.gauges[a.Stream].inflight--
	p := r.part(a.Stream, a.Warmup)
	p.Planned += uint64(a.Planned)
	p.Replied += uint64(a.Replied)
	p.Retries += uint64(a.Retries)
	if a.Unfinished {
		p.Unfinished++
		p.followed = max(p.followed, a.Ended-a.Intended)
		p.UnfinishedCalls += uint64(a.Unanswered + a.Unsent)
		return
	}
	p.Outcomes[a.Outcome]++
	if a.Session {
		p.session(a)
	}
	p.Unanswered += uint64(a.Unanswered)
	p.Unsent += uint64(a.Unsent)
	p.LostCalls += uint64(a.Unanswered + a.Unsent)
	if a.Outcome != OK {
		p.times[failure].Add(a.Ended - a.Started)
	}
}

// session records a session that has ended.
func (p *part) session(a *Arrival) {
	p.lengths.add(a.Replied, 1)
	if a.Outcome == OK {
		p.SessionConns += uint64(a.Conns)
		p.times[sessionTime].Add(a.Ended - a.Started)
	}
}
