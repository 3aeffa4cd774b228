package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"time"

	"httpgen/internal/experiment/stat"
	"httpgen/internal/report"
	"httpgen/internal/run"
	"httpgen/pacer"
)

// A Client is one of several that share a target.
type Client struct {
	Name   string
	Weight float64       // share it is meant to get, relative to the others; default 1
	Rate   float64       // arrivals per second; required
	Join   time.Duration // when it begins; 0 is the start
	Leave  time.Duration // when it ends; 0 is the end
	// Options are its target, workload and source addresses. What sets the amount
	// of load is set by the experiment.
	Options run.Options
}

// A ClientsRunner carries out runs of several clients.
type ClientsRunner interface {
	// RunClients carries out one run with a common start. Each client's options
	// are complete, and the result has a stream for each, by its name.
	RunClients(ctx context.Context, clients []Client) (Measurement, error)
}

// FairOptions configures a fairness experiment. Clients are required.
type FairOptions struct {
	Clients  []Client
	Argv     []string      // the command line, for the result; secrets are removed here
	Duration time.Duration // of a run after its warm-up; default 30s, not used with Arrivals
	Arrivals uint64        // of each client instead
	Margin   float64       // largest share error that is still fair; default 0.02
	Level    float64       // confidence; default 0.95
	Repeat   int           // runs; 1, or 6 and more. Default 1
	Rotate   bool          // clients change places from run to run
	Baseline bool          // run each client alone too
	Settle   time.Duration // between runs, if there were calls that failed; default 1s
	Seed     uint64        // of random arrivals

	// Poisson draws the arrivals of every client at random. Evenly spaced ones fall
	// into step with a target whose services take always the same time, and then
	// one client may find the queue full every time.
	Poisson bool
}

// The bounds of a fairness experiment.
const (
	maxClients = 1000
	minRepeats = 6 // fewer runs have no interval
)

func (o *FairOptions) validate() error {
	o.Margin, o.Level = cmp.Or(o.Margin, 0.02), cmp.Or(o.Level, 0.95)
	o.Repeat, o.Settle = cmp.Or(o.Repeat, 1), cmp.Or(o.Settle, time.Second)
	if o.Arrivals == 0 {
		o.Duration = cmp.Or(o.Duration, 30*time.Second)
	} else {
		o.Duration = 0
	}
	n := len(o.Clients)
	switch {
	case n < 2 || n > maxClients:
		return fmt.Errorf("experiment: %d clients: want 2 to %d", n, maxClients)
	case !(o.Margin > 0 && o.Margin < 1):
		return fmt.Errorf("experiment: share margin %g: want more than 0 and less than 1 (0.02 is 2 percentage points)", o.Margin)
	case !(o.Level >= 0.5 && o.Level < 1):
		return fmt.Errorf("experiment: level %g: want 0.5 or more and less than 1", o.Level)
	case o.Repeat < 1 || o.Repeat > 1 && o.Repeat < minRepeats || o.Repeat > stat.MaxBlocks:
		return fmt.Errorf("experiment: %d repeats: want 1, or %d to %d: fewer have no interval", o.Repeat, minRepeats, stat.MaxBlocks)
	case o.Rotate && o.Repeat%n != 0:
		return fmt.Errorf("experiment: %d repeats of %d clients that change places: want a multiple of %d", o.Repeat, n, n)
	case o.Duration < 0 || o.Duration > 24*time.Hour:
		return fmt.Errorf("experiment: duration %v: want more than 0 and at most 24h", o.Duration)
	}
	o.Clients = slices.Clone(o.Clients)
	names := map[string]bool{}
	for i := range o.Clients {
		c := &o.Clients[i]
		c.Weight = cmp.Or(c.Weight, 1)
		switch {
		case c.Name == "" || names[c.Name]:
			return fmt.Errorf("experiment: client %d with the name %q: want a name of its own", i+1, c.Name)
		case !(c.Rate >= 1e-3 && c.Rate <= 1e9):
			return fmt.Errorf("experiment: client %s: rate %g: want 0.001 to 1e9 arrivals per second", c.Name, c.Rate)
		case !(c.Weight >= 1e-9 && c.Weight <= 1e9):
			return fmt.Errorf("experiment: client %s: weight %g: want 1e-9 to 1e9", c.Name, c.Weight)
		case c.Join < 0 || c.Leave < 0 || c.Leave > 0 && c.Leave <= c.Join:
			return fmt.Errorf("experiment: client %s: joins at %v and leaves at %v: want it to leave after it joins", c.Name, c.Join, c.Leave)
		case o.Poisson && c.Join+c.Leave > 0:
			return fmt.Errorf("experiment: client %s: joins or leaves, with random arrivals: want evenly spaced ones", c.Name)
		}
		names[c.Name] = true
		c.Options = ordinary(c.Options)
	}
	if from, to := o.together(); to-from < time.Second {
		return fmt.Errorf("experiment: all clients send together from %v to %v: want a second at least", from, to)
	}
	return nil
}

// leaves returns when a client ends, as an offset from the end of the warm-up.
func (o *FairOptions) leaves(c *Client) time.Duration {
	last := o.Duration
	if o.Arrivals > 0 {
		last = c.Join + time.Duration(math.Min(float64(o.Arrivals)/c.Rate*1e9, math.MaxInt64/2))
	}
	if c.Leave > 0 {
		last = min(last, c.Leave)
	}
	return last
}

// together returns when all clients are sending.
func (o *FairOptions) together() (from, to time.Duration) {
	to = math.MaxInt64
	for i := range o.Clients {
		c := &o.Clients[i]
		from, to = max(from, c.Join), min(to, o.leaves(c))
	}
	return from, to
}

// length returns how long a run sends.
func (o *FairOptions) length() (d time.Duration) {
	for i := range o.Clients {
		d = max(d, o.leaves(&o.Clients[i]))
	}
	return d
}

// window returns the length of the windows: a hundred or more in the time that
// counts, but none shorter than shares can be counted in. All of them go into the
// samples of the reply rate.
func (o *FairOptions) window() time.Duration {
	from, to := o.together()
	for _, d := range []time.Duration{time.Second, 500 * time.Millisecond, 200 * time.Millisecond} {
		if to-from >= 100*d {
			return d
		}
	}
	return 100 * time.Millisecond
}

// Key identifies the trials of the experiment. More repeats begin like fewer, so
// that their number counts only where other trials follow them.
func (o FairOptions) Key() (Key, error) {
	if err := o.validate(); err != nil {
		return Key{}, err
	}
	var clients []any
	for _, c := range o.Clients {
		clients = append(clients, []any{c.Name, c.Weight, c.Rate, c.Join, c.Leave, options(c.Options)})
	}
	repeat := 0
	if o.Baseline {
		repeat = o.Repeat
	}
	return newKey("fair", clients, o.Duration, o.Arrivals, o.Rotate, o.Poisson, o.Seed, repeat)
}

// place returns client i as it is run at a position among all: its schedule
// begins a part of a period later, so that clients of one rate do not send all
// at once.
func (o *FairOptions) place(i, position int) (Client, error) {
	c := o.Clients[i]
	b := &c.Options
	rate, text, err := constant(c.Rate)
	if err != nil {
		return c, err
	}
	phase := time.Duration(float64(position) / float64(len(o.Clients)) / c.Rate * 1e9)
	// What is left of the period is no arrival: the share of each client is exact.
	begin := b.Warmup + c.Join
	if c.Join == 0 {
		begin = 0 // the warm-up too
	}
	steps := pacer.Steps{{Rate: pacer.Constant{Per: time.Second}, For: begin + phase}, {Rate: rate}}
	if c.Leave > 0 {
		steps[1].For = max(0, b.Warmup+c.Leave-begin-phase)
		steps = append(steps, pacer.Step{Rate: pacer.Constant{Per: time.Second}})
	}
	b.Process, b.RateText = steps, text
	if o.Poisson {
		b.Process = pacer.Poisson(rate)
	}
	b.Window = o.window()
	b.Seed = o.Seed + uint64(i)
	if o.Arrivals > 0 {
		// Arrivals that are due in the warm-up come on top.
		early, ok := pacer.Count(b.Process, b.Warmup, b.Seed)
		if !ok {
			return c, fmt.Errorf("experiment: client %s: its arrivals in a warm-up of %v cannot be counted", c.Name, b.Warmup)
		}
		b.NumConns = early + o.Arrivals
	} else {
		b.Duration = b.Warmup + o.Duration
	}
	return c, nil
}

// Fair runs all clients together and says whether each gets what is due to it.
// When ctx ends early, and beside an error of a trial, the result is what is
// known; it is nil when nothing can be run, or no run has come to its end.
func (l Lab) Fair(ctx context.Context, o FairOptions) (*FairResult, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	f := &fairness{o: o, book: book{Lab: l}}
	err := f.runs(ctx)
	complete := err == nil
	if errors.Is(err, errStopped) {
		err = nil
	}
	res, failed := f.result(complete)
	return res, errors.Join(err, failed)
}

// A fairness is an experiment that goes on.
type fairness struct {
	o    FairOptions
	book book
}

// The phases of its trials.
const (
	together = "together"
	alone    = "alone"
)

func (f *fairness) runs(ctx context.Context) error {
	o := &f.o
	n, length := len(o.Clients), o.length()
	left := o.Repeat
	if o.Baseline {
		left += n
	}
	var offered float64
	for i := range o.Clients {
		offered += o.Clients[i].Rate
	}
	for k := range o.Repeat {
		var clients []Client
		for position := range n {
			i := position
			if o.Rotate {
				i = (position + k) % n
			}
			c, err := o.place(i, position)
			if err != nil {
				return err
			}
			clients = append(clients, c)
		}
		if _, err := f.book.do(ctx, job{
			trial:  Trial{Phase: together, Block: k + 1, RatePerSecond: offered},
			what:   fmt.Sprintf("run %d of %d, %d clients for %s", k+1, o.Repeat, n, clock(length)),
			left:   left,
			time:   time.Duration(left) * length,
			settle: o.Settle,
			run:    func() (Measurement, error) { return f.book.Clients.RunClients(ctx, clients) },
			judge:  f.judge,
			part:   f.part,
		}); err != nil {
			return err
		}
		left--
	}
	if !o.Baseline {
		return nil
	}
	for i := range o.Clients {
		c, err := o.place(i, 0)
		if err != nil {
			return err
		}
		if _, err := f.book.do(ctx, job{
			trial:  Trial{Phase: alone, Arm: c.Name, RatePerSecond: c.Rate},
			what:   fmt.Sprintf("%s alone for %s", c.Name, clock(length)),
			left:   left,
			time:   time.Duration(left) * length,
			settle: o.Settle,
			run:    func() (Measurement, error) { return f.book.Runner.Run(ctx, c.Options) },
			judge:  valid,
		}); err != nil {
			return err
		}
		left--
	}
	return nil
}

// judge checks that the result has what the answer is made of. A trial is invalid
// where the generator did not offer what it was asked for; that it was some
// milliseconds late changes no share.
func (f *fairness) judge(r *report.Result) (outcome, reason string, err error) {
	for i := range f.o.Clients {
		name := f.o.Clients[i].Name
		if f.stream(r, name) == nil {
			return "", "", fmt.Errorf("experiment: run %s has no client %q", r.Run.ID, name)
		}
	}
	if reason := f.limited(r); reason != "" {
		return invalidTrial, reason, nil
	}
	return validTrial, "", nil
}

// longestLag is how late the p99 of a client's arrivals may be, in seconds.
const longestLag = 0.1

// limited says how the generator was the limit while shares were counted; it is
// empty when it was not.
func (f *fairness) limited(r *report.Result) string {
	span := f.measured(r)
	for _, reason := range r.Verdict.Reasons {
		if reason.Code == "accounting" {
			return reason.Message
		}
	}
	for i := range r.Streams {
		s := &r.Streams[i]
		lag := s.Times.Lag.Max
		if p99 := s.Times.Lag.P99; p99 != nil {
			lag = *p99
		}
		if lag > longestLag {
			return fmt.Sprintf("client %s: arrivals started %s ms late (p99, want at most %g)", s.Name, short(1e3*lag), 1e3*longestLag)
		}
		for k := range s.Windows {
			w := &s.Windows[k]
			if own := w.Shed.Total() + ownFailures(&w.Errors); own > 0 && span.holds(w) {
				return fmt.Sprintf("client %s: %d arrivals were shed or failed by the generator's own limits %g s after the start", s.Name, own, w.StartSeconds)
			}
		}
	}
	return ""
}

// part says whether the shares in a run that was stopped can be looked at.
func (f *fairness) part(r *report.Result) bool {
	for i := range f.o.Clients {
		if f.stream(r, f.o.Clients[i].Name) == nil {
			return false
		}
	}
	// More runs are compared as a whole, and a part of one is no whole.
	return f.o.Repeat == 1 && len(f.tallies(r, f.measured(r))) > 0
}

// measured returns when all clients are sending in a run, as far as it came.
func (f *fairness) measured(r *report.Result) Span {
	from, to := f.o.together()
	s := Span{r.Config.WarmupSeconds + from.Seconds(), r.Config.WarmupSeconds + to.Seconds()}
	if !r.Run.Complete {
		s.EndSeconds = min(s.EndSeconds, end(r))
	}
	return s
}

// stream returns a client's part of a result, nil when there is none.
func (f *fairness) stream(r *report.Result, name string) *report.Stream {
	for i := range r.Streams {
		if r.Streams[i].Name == name {
			return &r.Streams[i]
		}
	}
	return nil
}

// Schedule says what the experiment would run.
func (o FairOptions) Schedule() (Schedule, error) {
	if err := o.validate(); err != nil {
		return Schedule{}, err
	}
	var s Schedule
	for k := range o.Repeat {
		s.add(o.length(), "run %d, %d clients for %s", k+1, len(o.Clients), clock(o.length()))
	}
	if o.Baseline {
		for i := range o.Clients {
			s.add(o.length(), "%s alone for %s", o.Clients[i].Name, clock(o.length()))
		}
	}
	return s, nil
}

// shared says whether two clients may come from one source address, so that the
// target cannot tell them apart.
func (o *FairOptions) shared() bool {
	seen := map[netip.Addr]bool{}
	for i := range o.Clients {
		sources := o.Clients[i].Options.Sources
		for _, a := range sources {
			if seen[a] {
				return true
			}
			seen[a] = true
		}
		if len(sources) == 0 {
			return true
		}
	}
	return false
}
