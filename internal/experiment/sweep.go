package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"httpgen/internal/experiment/stat"
	"httpgen/internal/report"
	"httpgen/internal/run"
	"httpgen/pacer"
)

// SweepOptions configures a sweep. Base and Objective are required.
type SweepOptions struct {
	Base        run.Options        // target and workload; what sets the amount of load is set by the sweep
	Objective   Objective          // what the target has to keep to
	Search      stat.SearchOptions // which rates are tried; numbers of callers with Connections
	Connections bool               // look for a number of callers in a closed model, not for a rate
	Beyond      float64            // overload profile up to this multiple of the capacity; 0 means none
	Step        time.Duration      // length of a step of the profile; default 10s
}

// Bounds of what can be asked for.
const (
	minStep        = 4 * time.Second // half of it holds two windows of a second
	maxStep        = time.Hour
	maxConnections = 1 << 20
)

func (o *SweepOptions) validate() error {
	if err := o.Objective.check(); err != nil {
		return err
	}
	if o.Step == 0 {
		o.Step = 10 * time.Second
	}
	o.Search.Whole = o.Connections
	p := &o.Search
	p.From, p.Factor, p.Width = cmp.Or(p.From, 50), cmp.Or(p.Factor, 2), cmp.Or(p.Width, 0.05)
	if o.Connections {
		p.From = math.Ceil(p.From)
	}
	p.Repeat, p.Arrivals = cmp.Or(p.Repeat, 3), max(cmp.Or(p.Arrivals, 400), o.Objective.Arrivals())
	p.Trial, p.Confirm, p.Settle = cmp.Or(p.Trial, 4*time.Second), cmp.Or(p.Confirm, 10*time.Second), cmp.Or(p.Settle, time.Second)
	if o.Connections && o.Search.To == 0 {
		o.Search.To = maxConnections
	}
	switch {
	case o.Step < minStep || o.Step > maxStep:
		return fmt.Errorf("experiment: step %v of the overload profile: want %v to %v", o.Step, minStep, maxStep)
	case o.Beyond != 0 && o.Connections:
		return fmt.Errorf("experiment: overload of %g times a number of connections: want a sweep over rates, a closed model cannot be overloaded", o.Beyond)
	case o.Connections && o.Search.To > maxConnections:
		return fmt.Errorf("experiment: up to %g connections: want at most %d", o.Search.To, maxConnections)
	case o.Base.Pool > 0 && o.Connections:
		return fmt.Errorf("experiment: a pool of %d connections in a sweep over connections: want one of them", o.Base.Pool)
	}
	if o.Beyond != 0 {
		if _, err := stat.Multiples(o.Beyond); err != nil {
			return fmt.Errorf("experiment: %w", err)
		}
	}
	if o.Base.Timeout == 0 && o.Base.Deadline == 0 && o.Base.ReplyTimeout == 0 {
		o.Base.Deadline = o.Objective.Deadline()
	}
	o.Base = ordinary(o.Base)
	return nil
}

// Key identifies the trials of the sweep.
func (o SweepOptions) Key() (Key, error) {
	if err := o.validate(); err != nil {
		return Key{}, err
	}
	return newKey("sweep", options(o.Base), o.Objective, o.Search, o.Connections, o.Beyond, o.Step)
}

// at returns the options of one trial, with so much sending after the warm-up.
func (o *SweepOptions) at(rate float64, length time.Duration) (run.Options, error) {
	b := o.Base
	b.Duration = b.Warmup + length
	if o.Connections {
		b.Closed = int(rate)
		return b, nil
	}
	return paced(b, rate)
}

// paced returns options with a constant rate, to seven digits.
func paced(o run.Options, rate float64) (run.Options, error) {
	c, text, err := constant(rate)
	o.Process, o.RateText = c, text
	return o, err
}

func constant(rate float64) (c pacer.Constant, text string, err error) {
	decimals := max(0, 6-int(math.Floor(math.Log10(rate))))
	text = strconv.FormatFloat(rate, 'f', decimals, 64)
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		text = strconv.FormatFloat(v, 'f', -1, 64)
	}
	p, err := pacer.Parse(text)
	if err != nil {
		return c, text, fmt.Errorf("experiment: %w", err)
	}
	c, ok := p.(pacer.Constant)
	if !ok {
		return c, text, fmt.Errorf("experiment: rate %q: want a constant one", text)
	}
	return c, text, nil
}

// Sweep looks for the capacity of a target. When ctx ends early, and beside an
// error of a trial, the result is what is known; it is nil when nothing can be
// run.
func (l Lab) Sweep(ctx context.Context, o SweepOptions) (*SweepResult, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	search, err := stat.NewSearch(o.Search)
	if err != nil {
		return nil, fmt.Errorf("experiment: %w", err)
	}
	s := &sweep{o: o, search: search, book: book{Lab: l}}
	if err = s.climb(ctx); err == nil {
		err = s.overload(ctx)
	}
	complete := err == nil
	if errors.Is(err, errStopped) {
		err = nil
	}
	res, failed := s.result(complete)
	return res, errors.Join(err, failed)
}

// A sweep is one that goes on.
type sweep struct {
	o       SweepOptions
	search  *stat.Search
	book    book
	steps   []stat.LoadStep // of the overload profile
	profile *Trial          // the run of that profile; nil without one
}

// judge judges a trial by the objective, in the words of results.
func (s *sweep) judge(r *report.Result) (outcome, reason string, err error) {
	j, err := s.o.Objective.Judge(r)
	return j.Outcome.String(), j.Reason, err
}

// outcomes are the words that a trial's outcome may be.
var outcomes = map[string]stat.Outcome{
	stat.Met.String(): stat.Met, stat.Missed.String(): stat.Missed, stat.Invalid.String(): stat.Invalid,
}

// climb carries out the search.
func (s *sweep) climb(ctx context.Context) error {
	for {
		next, more := s.search.Next()
		if !more {
			return nil
		}
		o, err := s.o.at(next.Rate, next.Length)
		if err != nil {
			return err
		}
		j := job{
			trial:  Trial{Phase: next.Phase.String(), RatePerSecond: next.Rate},
			what:   s.o.describe(next),
			known:  s.known,
			settle: next.Settle,
			run:    func() (Measurement, error) { return s.book.Runner.Run(ctx, o) },
			judge:  s.judge,
			note: func(t *Trial) error {
				if err := s.search.Observe(next, outcomes[t.Outcome]); err != nil {
					return fmt.Errorf("experiment: %w", err)
				}
				return nil
			},
		}
		if s.o.Connections {
			j.trial.RatePerSecond, j.trial.Connections = 0, int(next.Rate)
		}
		if _, err := s.book.do(ctx, j); err != nil {
			return err
		}
	}
}

// describe says what a trial is.
func (o *SweepOptions) describe(t stat.Trial) string {
	return fmt.Sprintf("%s at %s for %s", t.Phase, o.load(t.Rate), clock(o.Base.Warmup+t.Length))
}

// load prints a rate or a number of connections.
func (o *SweepOptions) load(v float64) string {
	if o.Connections {
		return fmt.Sprintf("%.0f connections", v)
	}
	return figure(v) + "/s"
}

// known says where the capacity is as far as is known.
func (s *sweep) known() string {
	c := s.search.Capacity()
	switch {
	case c.Lower == 0 && math.IsInf(c.Upper, 1):
		return ""
	case math.IsInf(c.Upper, 1):
		return "met at " + s.o.load(c.Lower)
	case c.Lower == 0:
		return "missed at " + s.o.load(c.Upper)
	}
	return fmt.Sprintf("between %s and %s", s.o.load(c.Lower), s.o.load(c.Upper))
}

// overload carries out the overload profile, if one was asked for and there is a
// capacity to exceed.
func (s *sweep) overload(ctx context.Context) error {
	lower := s.search.Capacity().Lower
	if s.o.Beyond == 0 || lower == 0 {
		return nil
	}
	process, steps, length, err := s.o.overloadProfile(lower)
	if err != nil {
		return err
	}
	b := s.o.Base
	// The first step begins with the clock: what leads up to it is it.
	b.Warmup, b.Window, b.Duration = 0, time.Second, length
	b.Process, b.RateText = process, process.String()
	t, err := s.book.do(ctx, job{
		trial:  Trial{Phase: "overload", RatePerSecond: lower},
		what:   fmt.Sprintf("overload up to %s/s for %s", figure(s.o.Beyond*lower), clock(length)),
		known:  s.known,
		settle: time.Second,
		run:    func() (Measurement, error) { return s.book.Runner.Run(ctx, b) },
		judge:  valid,
	})
	s.steps, s.profile = steps, t
	return err
}

// overloadProfile returns the steps of the profile. The last one, below the
// capacity, is twice as long: a target may take its time to recover.
func (o *SweepOptions) overloadProfile(lower float64) (p pacer.Steps, steps []stat.LoadStep, length time.Duration, err error) {
	multiples, err := stat.Multiples(o.Beyond)
	if err != nil {
		return nil, nil, 0, fmt.Errorf("experiment: %w", err)
	}
	for i, m := range multiples {
		d := o.Step
		if i == len(multiples)-1 {
			d *= 2
		}
		c, _, err := constant(m * lower)
		if err != nil {
			return nil, nil, 0, err
		}
		p = append(p, pacer.Step{Rate: c, For: d})
		steps = append(steps, stat.LoadStep{Multiple: m, Start: length.Seconds(), End: (length + d).Seconds()})
		length += d
	}
	return p, steps, length, nil
}

// figure prints a rate.
func figure(v float64) string { return strconv.FormatFloat(v, 'g', 5, 64) }

// clock prints a duration in seconds.
func clock(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'g', 4, 64) + "s" }
