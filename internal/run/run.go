package run

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"time"

	"httpgen/client"
	"httpgen/internal/report"
	"httpgen/sampler"
)

// Version is the program's version.
const Version = "0.1.0"

// A Run is a planned run.
type Run struct {
	id         string
	c          *client.Client
	o          *Options      // of the first client, whose fields about the whole run hold for all
	streams    []*stream     // one a client, in the order of the client package
	plannedEnd time.Duration // of the last client; 0 if it is not known
	count      uint64        // arrivals planned, of all clients; 0 if it is not known
	base       time.Duration
	plan       Plan
}

// A Plan says what a run will offer and what would stop it first. All lines
// are complete sentences without a line end.
type Plan struct {
	Header   []string // what is offered, to whom, and the limits
	Warnings []string // what will probably go wrong, with the arithmetic and the remedy
}

// A Windowed is one finished window of a run that goes on.
type Windowed struct {
	All     report.Window   // the base interval
	Streams []report.Window // one a stream, empty when there is only one
	Target  float64         // rate asked at the middle of Sample, or of All, in arrivals per second; of all clients together; 0 in a closed model
	Warmup  bool
	Sample  *report.Window // set when this interval completes a window of the asked length: the merged one, for the live line
}

// New checks o, resolves names and makes the plan. Errors are the user's to
// mend.
func New(o Options) (*Run, error) { return NewClients([]Client{{Name: "1", Options: o}}) }

// complete works out what takes all clients together, makes the client that
// carries them out, and the plan.
func (r *Run) complete() error {
	o := r.o
	if o.Workers == 0 {
		o.Workers = r.loops() // before processes end
	}
	r.schedule()
	r.windows()
	if o.Drain == nil {
		o.Drain = new(r.patience())
	}
	co := client.Options{
		Loops: o.Workers, Start: o.Start, Warmup: o.Warmup,
		Window: r.base, Merge: int(o.Window / r.base), Spin: o.Spin, CatchUp: o.CatchUp,
		MaxInflight: o.MaxInflight, Drain: *o.Drain, Owed: r.owed(), Tap: o.Tap,
	}
	for _, s := range r.streams {
		s.as.CloseReset = s.o.CloseMode == "rst" || s.o.CloseMode == "auto" && r.portsRunDry(s)
		co.Streams = append(co.Streams, s.as)
	}
	var err error
	if r.c, err = client.New(co); err != nil {
		return r.refused(err)
	}
	return r.makePlan()
}

// trim drops the packages' names from an error that a user reads.
func trim(err error) error {
	if u := errors.Unwrap(err); u != nil {
		err = u
	}
	if text, ok := strings.CutPrefix(err.Error(), "http1: "); ok {
		return errors.New(text)
	}
	return err
}

// fill sets the defaults and checks what concerns single fields.
func (o *Options) fill() error {
	o.Server = cmp.Or(o.Server, "localhost")
	if err := o.schemes(); err != nil {
		return err
	}
	o.Port = cmp.Or(o.Port, o.defaultPort())
	o.URI = cmp.Or(o.URI, "/")
	o.Method = cmp.Or(o.Method, "GET")
	o.UserAgent = cmp.Or(o.UserAgent, defaultUserAgent)
	o.NumCalls = cmp.Or(o.NumCalls, 1)
	o.Burst = cmp.Or(o.Burst, 1)
	o.Clients = cmp.Or(o.Clients, 1)
	o.CloseMode = cmp.Or(o.CloseMode, "auto")
	o.ConnectTimeout = cmp.Or(o.ConnectTimeout, o.Timeout)
	o.ReplyTimeout = cmp.Or(o.ReplyTimeout, o.Timeout)
	// Clients that run together draw different arrivals from one seed; client 0
	// draws what it draws alone.
	o.Seed ^= uint64(o.Client) << 32
	if o.Process == nil && o.Closed == 0 {
		o.Closed = 1 // httperf's sequential mode
	}
	if o.NumConns == 0 && o.Duration == 0 && !o.Forever {
		o.NumConns = 1
	}
	switch {
	case o.Window != 0 && o.Window < minWindow:
		return fmt.Errorf("window %v: want at least %v", o.Window, minWindow)
	case o.Port < 1 || o.Port > 65535:
		return fmt.Errorf("port %d: want 1 to 65535", o.Port)
	case o.NumCalls < 1 || o.Burst < 1:
		return fmt.Errorf("%d calls in bursts of %d: want at least 1", o.NumCalls, o.Burst)
	case o.CloseMode != "auto" && o.CloseMode != "fin" && o.CloseMode != "rst":
		return fmt.Errorf("close mode %q: want auto, fin or rst", o.CloseMode)
	case o.HTTP2 && o.HTTP10:
		return errors.New("HTTP/2 and HTTP/1.0: want one of them")
	case o.MaxStreams < 0 || o.MaxStreams > 0 && (!o.HTTP2 || o.Pool == 0):
		return fmt.Errorf("%d calls at once on a connection: want 0 or more, and a pool over HTTP/2", o.MaxStreams)
	case o.Pool > 0 && o.Closed > 0 && !o.HTTP2:
		return fmt.Errorf("a pool of %d connections in a closed model: want one of them (a closed model keeps its %d connections open by itself)", o.Pool, o.Closed)
	case o.Pool > 0 && o.NumCalls > 1:
		return fmt.Errorf("a pool of %d connections with %d calls an arrival: on a pool an arrival is one call; multiply the rate instead", o.Pool, o.NumCalls)
	case o.KeepOpen && o.NumCalls > 1:
		return fmt.Errorf("kept-open connections with %d calls an arrival: on kept-open connections an arrival is one call", o.NumCalls)
	case one(len(o.URIs) > 0, o.WorkingSet.N != 0, len(o.Requests) > 0, o.Log != nil, o.Session != nil && o.Session.Script != nil) > 1:
		return errors.New("more than one of a list of URIs, a list of requests, a log, a working set and a script: want one of them")
	case o.Log != nil && (o.Burst > 1 || o.Session != nil):
		return fmt.Errorf("%s in bursts or sessions: a log is replayed one call after the other", o.From)
	case o.WorkingSet.N < 0 || o.WorkingSet.N > MaxWorkingSet:
		return fmt.Errorf("working set of %d files: want 1 to %d", o.WorkingSet.N, MaxWorkingSet)
	case !(o.WorkingSet.Step >= 0 && o.WorkingSet.Step <= 1):
		return fmt.Errorf("working set with a step of %v of a file: want 0 to 1", o.WorkingSet.Step)
	case o.Once && len(o.URIs)+len(o.Requests) == 0:
		return errors.New("once without a list: want one")
	case len(o.Servers) > 0 && len(o.Requests) > 0:
		return fmt.Errorf("%d servers and requests that name theirs: want one of them", len(o.Servers))
	case o.Client < 0 || o.Client >= o.Clients:
		return fmt.Errorf("client %d/%d: want 0/%d to %d/%d", o.Client, o.Clients, o.Clients, o.Clients-1, o.Clients)
	}
	for _, d := range []time.Duration{o.Duration, o.Pause, o.Warmup, o.Window, o.Timeout, o.ThinkTimeout, o.ConnectTimeout, o.ReplyTimeout, o.Deadline} {
		if d < 0 {
			return fmt.Errorf("duration %v: want 0 or more", d)
		}
	}
	return o.checkSession()
}

// one returns how many of the conditions hold.
func one(conditions ...bool) (n int) {
	for _, c := range conditions {
		if c {
			n++
		}
	}
	return n
}

// defaultUserAgent is what requests say of who sends them.
const defaultUserAgent = "httpgen/" + Version

// defaultPort returns the port of the scheme.
func (o *Options) defaultPort() int {
	if o.TLS != nil {
		return 443
	}
	return 80
}

// minWindow is the shortest window: in less nothing can be counted.
const minWindow = 10 * time.Millisecond

// noTimeout is how long the run waits for calls that nothing else bounds.
const noTimeout = 30 * time.Second

// patience returns how long the arrivals of the most patient client may take.
func (r *Run) patience() (d time.Duration) {
	for _, s := range r.streams {
		d = max(d, s.o.patience())
	}
	return d
}

// patience returns how long an arrival may take that keeps within all timeouts,
// and a second for the last of them to be noticed; at most maxPatience.
func (o *Options) patience() time.Duration {
	most, _, think := o.shape()
	if o.Deadline > 0 && most == 1 && o.Session == nil {
		return o.Deadline + time.Second
	}
	reply := o.ReplyTimeout
	if reply > 0 || o.ThinkTimeout > 0 {
		reply += o.ThinkTimeout
	}
	if reply == 0 {
		reply = o.Deadline
	}
	if o.ConnectTimeout == 0 || reply == 0 {
		return min(noTimeout+think, maxPatience)
	}
	if o.Session != nil {
		// Each call may need a connection of its own.
		return min(patient(most, o.ConnectTimeout+o.Timeout+reply)+think+time.Second, maxPatience)
	}
	bursts := (o.NumCalls + o.Burst - 1) / o.Burst
	return min(o.ConnectTimeout+patient(bursts, o.Timeout+reply+o.Pause)+time.Second, maxPatience)
}

// maxPatience bounds the wait for arrivals of very many calls.
const maxPatience = 24 * time.Hour

// patient returns n times d, but at most maxPatience.
func patient(n int, d time.Duration) time.Duration {
	if d > 0 && time.Duration(n) > maxPatience/d {
		return maxPatience
	}
	return time.Duration(n) * d
}

// owed returns how long after the planned end owed arrivals still start: no
// longer than the longest single timeout.
func (r *Run) owed() (d time.Duration) {
	for _, s := range r.streams {
		o := &s.o
		d = max(d, cmp.Or(max(o.ConnectTimeout, o.Timeout, o.ReplyTimeout+o.ThinkTimeout, o.Deadline), noTimeout))
	}
	return min(d, *r.o.Drain)
}

// loopRate is how many new connections a second are given to one loop: half of
// what one core opens at saturation, measured against nginx on loopback.
const loopRate = 8000

// loops chooses the number of loops. A second loop on the core that a server
// or the sampler needs costs more than it brings, so no more than half of the
// processors are used.
func (r *Run) loops() int {
	most := max(1, runtime.GOMAXPROCS(0)/2)
	callers, peak := 0, 0.
	for _, s := range r.streams {
		callers = min(most, callers+min(most, s.o.Closed))
	}
	for at := time.Duration(0); at <= 10*time.Minute; at += 10 * time.Second {
		peak = max(peak, r.rate(at))
	}
	return max(1, min(most, callers+int(min(float64(most), peak/loopRate+.999))))
}

// rate returns what all open clients together are to offer, in arrivals per second.
func (r *Run) rate(at time.Duration) (rate float64) {
	for _, s := range r.streams {
		if s.o.Process != nil {
			rate += s.o.Process.Rate(at)
		}
	}
	return rate
}

// isClosed says whether all clients are of the closed model.
func (r *Run) isClosed() bool {
	return !slices.ContainsFunc(r.streams, func(s *stream) bool { return s.o.Process != nil })
}

// schedule bounds the processes and works out when the last one ends.
func (r *Run) schedule() {
	allEnd, allCounted := true, true
	for _, s := range r.streams {
		ends, counted := s.schedule()
		allEnd, allCounted = allEnd && ends, allCounted && counted
		r.plannedEnd, r.count = max(r.plannedEnd, s.plannedEnd), r.count+s.count
	}
	if !allEnd {
		r.plannedEnd = 0
	}
	if !allCounted {
		r.count = 0
	}
}

// windows chooses the length of the samples and of the base interval.
func (r *Run) windows() {
	o := r.o
	end := r.plannedEnd - o.Warmup
	known := r.plannedEnd > 0
	r.base = time.Second
	if known && end < 10*time.Second {
		r.base = 100 * time.Millisecond
	}
	if o.Window == 0 {
		switch {
		case known && end < 2*time.Second:
			o.Window = 100 * time.Millisecond
		case known && end < 10*time.Second:
			o.Window = time.Second
		default:
			o.Window = 5 * time.Second
		}
	}
	if o.Window%r.base != 0 {
		// A length of one's own becomes the base interval.
		r.base = o.Window
	}
}

// Engine names what moves the bytes, as in the result.
func (r *Run) Engine() string { return r.c.Engine() }

// A Description is what those who show a run have to know of it.
type Description struct {
	Sampler     *sampler.Sampler
	Process     string // kind of the arrivals, "mixed" when clients differ
	Closed      bool   // all clients are of the closed model
	Warmup      time.Duration
	Planned     time.Duration // 0 if it is not known
	MaxInflight int
	Streams     []Described // one a client, in the sampler's order
}

// A Described is one client of a run.
type Described struct {
	Name   string // "1" in a run of one
	Weight float64
	Judged bool                           // replies are compared with an expected status
	Rate   func(at time.Duration) float64 // arrivals per second asked for; nil in a closed model
}

// Description describes the run.
func (r *Run) Description() Description {
	d := Description{
		Sampler: r.c.Sampler(), Process: r.streams[0].process(), Closed: r.isClosed(), Warmup: r.o.Warmup, Planned: r.plannedEnd,
		MaxInflight: r.c.MaxInflight(),
	}
	for _, s := range r.streams {
		d.Process = same(d.Process, s.process(), mixed)
		one := Described{Name: s.name, Weight: s.weight, Judged: s.o.Expect != nil}
		if s.o.Process != nil {
			one.Rate = s.o.Process.Rate
		}
		d.Streams = append(d.Streams, one)
	}
	return d
}

// ID returns the run's identifier, as in the result.
func (r *Run) ID() string { return r.id }

// newID returns an identifier that sorts by time.
func newID() string {
	var b [4]byte
	rand.Read(b[:])
	return time.Now().UTC().Format("20060102T150405Z") + "-" + hex.EncodeToString(b[:])
}

// Do carries the run out and returns its result. The result is complete and
// its accounts hold also when ctx ended the run early. An error without a
// result is internal or an I/O error.
func (r *Run) Do(ctx context.Context) (*report.Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, s := range r.streams {
		if s.replay != nil {
			s.replay.stop = cancel
		}
	}
	res, err := r.c.Run(ctx)
	if res == nil {
		return nil, err
	}
	err = errors.Join(err, r.broken())
	return r.result(res), err
}

// broken returns why recordings could not be replayed to their end, nil if they
// were.
func (r *Run) broken() error {
	var errs []error
	for _, s := range r.streams {
		err := s.broken()
		if err != nil && r.several() {
			err = fmt.Errorf("client %s: %w", s.name, err)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Follow yields each window as soon as it is over, until the run has ended. It
// may be called before or during Do, any number of times.
func (r *Run) Follow() iter.Seq[Windowed] {
	return func(yield func(Windowed) bool) {
		for set := range r.c.Sampler().Follow() {
			w := Windowed{All: window(&set.All), Warmup: set.All.Warmup()}
			for i := range set.Streams {
				w.Streams = append(w.Streams, window(&set.Streams[i]))
			}
			middle := &set.All
			if set.Sample != nil {
				s := window(set.Sample)
				w.Sample, middle = &s, set.Sample
			}
			w.Target = r.rate(middle.Start + middle.Length/2)
			if !yield(w) {
				return
			}
		}
	}
}

// verdict turns the sampler's into the report's. A recording that broke off makes
// it invalid.
func verdict(v *sampler.Verdict, broken error) report.Verdict {
	out := report.Verdict{Status: v.Status.String()}
	for _, r := range v.Reasons {
		out.Reasons = append(out.Reasons, report.Reason{Code: r.Code, Message: r.Message, Value: r.Value, Limit: r.Limit})
	}
	if broken != nil {
		out.Status = report.Invalid
		out.Reasons = append(out.Reasons, report.Reason{Code: "replay", Message: fmt.Sprintf("the recording could not be read to its end, and arrivals from there on made no calls: %v", broken)})
	}
	return out
}
