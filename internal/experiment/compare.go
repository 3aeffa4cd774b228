package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"httpgen/internal/experiment/stat"
	"httpgen/internal/report"
	"httpgen/internal/run"
)

// An Arm is one of the targets, or settings of one, that are compared.
type Arm struct {
	Name    string
	Options run.Options // target and workload; what sets the amount of load is set by the comparison

	// CPU returns the processor time that the arm's processes have used so far;
	// nil leaves it out.
	CPU func() (time.Duration, error)
}

// CompareOptions configures a comparison. Arms, and one of Rate and Closed, are
// required.
type CompareOptions struct {
	Arms     []Arm
	Argv     []string      // the command line, for the result; secrets are removed here
	Rate     float64       // arrivals per second, of every arm
	Closed   int           // callers of a closed model instead, of every arm
	Baseline string        // name of the arm that the others are compared with; default the first
	Metric   string        // the primary one; default p50
	Blocks   int           // default 40
	Trial    time.Duration // length of a trial after its warm-up; default 1s
	Settle   time.Duration // before a trial, if the one before left calls that failed; default 1s

	Level       float64 // confidence; default 0.95
	Equivalence float64 // the largest difference that does not matter: 0.02 is 2 %; 0 does not ask
	Allow       float64 // the largest change for the worse that is allowed
	Gate        bool    // compare with Allow
	Ordered     bool    // test for a trend of the primary metric along the arms
	AA          bool    // run the baseline a second time, as an arm of its own, to measure the resolution
	Seed        uint64  // of the order of the arms
}

// A metric is one number of a trial that arms are compared by.
type metric struct {
	name   string
	higher bool // more is better
	of     func(*Trial, *measure) (v float64, ok bool)
}

// metrics are what arms are compared by, in the order of results.
var metrics = []metric{
	{"p50", false, percentileMetric(0.5)},
	{"p90", false, percentileMetric(0.9)},
	{"p99", false, percentileMetric(0.99)},
	{goodput, true, func(_ *Trial, m *measure) (float64, bool) {
		v, _, _ := m.value(goodput)
		return v, m.seconds > 0
	}},
	{errorShare, false, func(_ *Trial, m *measure) (float64, bool) {
		v, _, _ := m.value(errorShare)
		return v, m.arrivals > 0
	}},
	{"cpu", false, func(t *Trial, m *measure) (float64, bool) {
		if t.TargetCPUSeconds == nil || m.good == 0 {
			return 0, false
		}
		return *t.TargetCPUSeconds / float64(m.good), true
	}},
}

// percentileMetric wants as many calls as it takes for the percentile not to be
// their maximum. The trial is the unit, so that it need not be precise in each.
func percentileMetric(q float64) func(*Trial, *measure) (float64, bool) {
	return func(_ *Trial, m *measure) (float64, bool) {
		return m.quantile(q), float64(m.calls)*(1-q) >= 1-1e-9
	}
}

func metricNames() string {
	var names []string
	for _, m := range metrics {
		names = append(names, m.name)
	}
	return strings.Join(names, ", ")
}

// againSuffix is added to the baseline's name for its second run in a block.
const againSuffix = "-again"

func (o *CompareOptions) validate() error {
	o.Blocks, o.Trial, o.Settle = cmp.Or(o.Blocks, 40), cmp.Or(o.Trial, time.Second), cmp.Or(o.Settle, time.Second)
	o.Level, o.Metric = cmp.Or(o.Level, 0.95), cmp.Or(o.Metric, "p50")
	if len(o.Arms) < 2 && !(o.AA && len(o.Arms) == 1) {
		return fmt.Errorf("experiment: %d arms: want at least 2, or one with a second run of itself", len(o.Arms))
	}
	o.Baseline = cmp.Or(o.Baseline, o.Arms[0].Name)
	o.Arms = slices.Clone(o.Arms)
	base := slices.IndexFunc(o.Arms, func(a Arm) bool { return a.Name == o.Baseline })
	if base < 0 {
		return fmt.Errorf("experiment: baseline %q: want one of the arms", o.Baseline)
	}
	if o.AA {
		again := o.Arms[base]
		again.Name += againSuffix
		o.Arms = append(o.Arms, again)
	}
	names := map[string]bool{}
	for i := range o.Arms {
		a := &o.Arms[i]
		if a.Name == "" || names[a.Name] {
			return fmt.Errorf("experiment: arm %d with the name %q: want a name of its own", i+1, a.Name)
		}
		names[a.Name] = true
		a.Options = ordinary(a.Options)
	}
	switch {
	case (o.Rate > 0) == (o.Closed > 0):
		return fmt.Errorf("experiment: rate %g and %d callers: want one of them above 0", o.Rate, o.Closed)
	case o.Rate != 0 && !(o.Rate >= 1e-3 && o.Rate <= 1e9) || o.Closed < 0 || o.Closed > maxConnections:
		return fmt.Errorf("experiment: rate %g, %d callers: want 0.001 to 1e9 arrivals per second, or 1 to %d callers", o.Rate, o.Closed, maxConnections)
	case !slices.ContainsFunc(metrics, func(m metric) bool { return m.name == o.Metric }):
		return fmt.Errorf("experiment: metric %q: want one of %s", o.Metric, metricNames())
	case o.Trial < 100*time.Millisecond || o.Trial > 24*time.Hour:
		return fmt.Errorf("experiment: trial of %v: want 100ms to 24h", o.Trial)
	case !(o.Level >= 0.5 && o.Level < 1):
		return fmt.Errorf("experiment: level %g: want 0.5 or more and less than 1", o.Level)
	case !(o.Equivalence >= 0 && o.Equivalence <= 10) || !(o.Allow >= 0 && o.Allow <= 10):
		return fmt.Errorf("experiment: equivalence %g, allowed change %g: want 0 to 10 (0.02 is 2 %%)", o.Equivalence, o.Allow)
	case o.Ordered && (len(o.ordered()) < 3 || len(o.ordered()) > stat.MaxOrdered):
		return fmt.Errorf("experiment: a trend over %d arms: want 3 to %d", len(o.ordered()), stat.MaxOrdered)
	}
	others := len(o.Arms) - 1
	if need := stat.MinBlocks(others, 1-o.Level); o.Blocks < need || o.Blocks > stat.MaxBlocks {
		return fmt.Errorf("experiment: %d blocks cannot decide %d comparisons at a level of %g: want %d to %d", o.Blocks, others, o.Level, need, stat.MaxBlocks)
	}
	return nil
}

// ordered returns the arms of a trend, as indices: the second run of the
// baseline is none.
func (o *CompareOptions) ordered() (arms []int) {
	for i := range o.Arms {
		if !o.AA || i < len(o.Arms)-1 {
			arms = append(arms, i)
		}
	}
	return arms
}

// Key identifies the trials of the comparison. The number of blocks does not
// count: a longer plan begins with a shorter one.
func (o CompareOptions) Key() (Key, error) {
	if err := o.validate(); err != nil {
		return Key{}, err
	}
	var arms []any
	for _, a := range o.Arms {
		arms = append(arms, []any{a.Name, options(a.Options), a.CPU != nil})
	}
	return newKey("compare", arms, o.Rate, o.Closed, o.Trial, o.Settle, o.Seed)
}

// at returns the options of one trial of an arm.
func (o *CompareOptions) at(a *Arm) (run.Options, error) {
	b := a.Options
	b.Duration = b.Warmup + o.Trial
	if o.Closed > 0 {
		b.Closed = o.Closed
		return b, nil
	}
	return paced(b, o.Rate)
}

// Compare runs every arm once in each block, in an order drawn anew, and compares
// the arms by the differences within blocks. When ctx ends early, and beside an
// error of a trial, the result is what is known; it is nil when nothing can be
// run.
func (l Lab) Compare(ctx context.Context, o CompareOptions) (*CompareResult, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	order, err := stat.Order(len(o.Arms), o.Blocks, o.Seed)
	if err != nil {
		return nil, fmt.Errorf("experiment: %w", err)
	}
	c := &comparison{o: o, order: order, book: book{Lab: l}}
	if l.Store != nil {
		if err := l.Store.cut(c.whole(l.Store.kept)); err != nil {
			return nil, err
		}
	}
	err = c.blocks(ctx)
	complete := err == nil
	if errors.Is(err, errStopped) {
		err = nil
	}
	res, failed := c.result(complete)
	return res, errors.Join(err, failed)
}

// attempts is how often a trial is run that is invalid: it is repeated twice.
const attempts = 3

// A comparison is one that goes on.
type comparison struct {
	o     CompareOptions
	order [][]int // arms by block and position
	book  book
}

// whole returns how many of the kept trials belong to whole blocks. Half a block
// is run again: its arms have to share their time.
func (c *comparison) whole(kept []Trial) int {
	n := 0
	done := map[string]bool{}
	for i := range kept {
		t := &kept[i]
		if i > 0 && t.Block != kept[i-1].Block {
			clear(done)
		}
		// A trial stands when it is valid, or when it was run for the last time.
		tries := 1
		for k := i - 1; k >= 0 && kept[k].Block == t.Block && kept[k].Arm == t.Arm; k-- {
			tries++
		}
		done[t.Arm] = done[t.Arm] || t.Outcome == validTrial || tries == attempts
		all := true
		for _, a := range c.o.Arms {
			all = all && done[a.Name]
		}
		if all {
			n = i + 1
		}
	}
	return n
}

func (c *comparison) blocks(ctx context.Context) error {
	o := &c.o
	for b, order := range c.order {
		for position, arm := range order {
			a := &o.Arms[arm]
			options, err := o.at(a)
			if err != nil {
				return err
			}
			left := (len(c.order)-b)*len(order) - position
			for try := 1; try <= attempts; try++ {
				t, err := c.book.do(ctx, job{
					trial:  Trial{Phase: "block", Arm: a.Name, Block: b + 1, RatePerSecond: o.Rate, Connections: o.Closed},
					what:   fmt.Sprintf("block %d of %d, %s for %s", b+1, len(c.order), a.Name, clock(options.Duration)),
					left:   left,
					time:   time.Duration(left) * options.Duration,
					settle: o.Settle,
					run:    func() (Measurement, error) { return c.book.Runner.Run(ctx, options) },
					judge:  valid,
					cpu:    a.CPU,
				})
				if err != nil {
					return err
				}
				if t.Outcome == validTrial {
					break
				}
			}
		}
	}
	return nil
}

// Schedule says what the comparison would run.
func (o CompareOptions) Schedule() (Schedule, error) {
	if err := o.validate(); err != nil {
		return Schedule{}, err
	}
	order, err := stat.Order(len(o.Arms), o.Blocks, o.Seed)
	if err != nil {
		return Schedule{}, fmt.Errorf("experiment: %w", err)
	}
	var s Schedule
	for b, arms := range order {
		for _, arm := range arms {
			a := &o.Arms[arm]
			s.add(a.Options.Warmup+o.Trial, "block %d, %s for %s", b+1, a.Name, clock(a.Options.Warmup+o.Trial))
		}
	}
	return s, nil
}

// Recompare analyses the trials of a comparison again that was kept as JSON. What
// it was asked for stands, the arms may have other names and another order.
func Recompare(r *CompareResult) (*CompareResult, error) {
	p := &r.Plan
	if r.Schema != CompareSchema || len(r.Arms) < 2 || len(r.Blocks) == 0 {
		return nil, fmt.Errorf("experiment: schema %q, %d arms, %d blocks: want a comparison, %s", r.Schema, len(r.Arms), len(r.Blocks), CompareSchema)
	}
	c := &comparison{o: CompareOptions{
		Argv: r.Run.Argv, Rate: p.RatePerSecond, Closed: p.Closed, Baseline: r.Baseline, Metric: r.Metric, Blocks: p.Blocks,
		Trial: seconds(p.TrialSeconds), Settle: seconds(p.SettleSeconds), Level: p.Level, Equivalence: p.Equivalence,
		Allow: p.Allow, Gate: p.Gate, Ordered: p.Ordered, Seed: p.Seed,
	}}
	for _, a := range r.Arms {
		c.o.Arms = append(c.o.Arms, Arm{Name: a.Name})
	}
	again := p.AA // it is among the arms already
	if err := c.o.validate(); err != nil {
		return nil, err
	}
	c.o.AA = again
	for _, b := range r.Blocks {
		var order []int
		for _, name := range b.Order {
			i := slices.IndexFunc(c.o.Arms, func(a Arm) bool { return a.Name == name })
			if i < 0 {
				return nil, fmt.Errorf("experiment: block %d holds arm %q: want one of the arms", b.Index, name)
			}
			order = append(order, i)
		}
		c.order = append(c.order, order)
	}
	for i := range r.Trials {
		if r.Trials[i].Result == nil {
			return nil, fmt.Errorf("experiment: trial %d has no result", r.Trials[i].ID)
		}
		if _, err := c.book.add(r.Trials[i], job{judge: valid}); err != nil {
			return nil, err
		}
	}
	return c.result(r.Run.Complete)
}

func seconds(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }

// overloaded says whether an arm's trials tell that its rate is beyond its knee.
func overloaded(results []*report.Result) (bool, error) {
	past := 0
	for _, r := range results {
		m, err := newMeasure(r)
		if err != nil {
			return false, err
		}
		achieved, _, _ := m.value(achievedShare)
		if achieved < 0.98 || !isStable(r) {
			past++
		}
	}
	return 2*past > len(results), nil
}
