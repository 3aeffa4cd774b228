package prom

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"httpgen/internal/poll"
	"httpgen/sampler"
)

// A Collector shows the runs of this process. It is a [prometheus.Collector]
// for one registry; its methods may be called by any goroutine.
type Collector struct {
	clock   func() time.Time
	created time.Time // what all counters count from
	build   []string  // label values

	mu       sync.Mutex
	run      *Run // the newest, ended or not; nil before the first
	pairs    map[pair]*series
	series   []*series // all, in the order they came
	codes    codes
	overflow struct{ client, target, code uint64 }
	trial    []string // label values, none outside of an experiment
	process  process
}

// A process is what the newest run says of itself as a whole.
type process struct {
	loops    int
	peakOpen int
	maxBurst int
	busy     float64
	verdict  sampler.Status
}

// New returns a Collector without a run.
func New(o Options) (*Collector, error) {
	if err := checkName("version", o.Version); err != nil {
		return nil, err
	}
	c := &Collector{
		clock: time.Now, created: time.Now(), pairs: map[pair]*series{}, codes: newCodes(),
		build: []string{o.Version, "", runtime.Version(), runtime.GOOS, runtime.GOARCH},
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				c.build[1] = s.Value
			}
		}
	}
	return c, nil
}

// Attach shows the run of a sampler from now on, beside the counts of all that
// were attached before. The one before must have ended. While a run is attached
// its loops hand over every 100 ms.
func (c *Collector) Attach(s *sampler.Sampler, i Info) (*Run, error) {
	if s == nil {
		return nil, errors.New("prom: no sampler: want one")
	}
	if err := i.validate(namesOf(s)); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run != nil && !c.run.ended {
		return nil, fmt.Errorf("prom: run %q is attached: want it ended before the next", c.run.info.ID)
	}
	for _, s := range c.series {
		s.level = level{}
	}
	r := &Run{c: c, info: i, sampler: s, stop: s.Live()}
	for k := range i.Streams {
		to := c.seriesOf(pair{i.Streams[k].Client, i.Streams[k].Target})
		to.current = true
		to.weight += i.Streams[k].Weight
		r.series = append(r.series, to)
	}
	c.run = r
	return r, nil
}

// seriesOf returns the series of a pair, which are those of all others once
// there are too many.
func (c *Collector) seriesOf(p pair) *series {
	if s := c.pairs[p]; s != nil {
		return s
	}
	if rest := (pair{other, other}); len(c.pairs) >= maxPairs && p != rest {
		c.overflow.client++
		c.overflow.target++
		return c.seriesOf(rest)
	}
	s := &series{pair: p}
	c.pairs[p] = s
	c.series = append(c.series, s)
	return s
}

// SetTrial says which trial of an experiment the newest run is. Rungs and
// trials are numbered as the experiment numbers them. An empty experiment ends
// that.
func (c *Collector) SetTrial(experiment, arm string, rung, trial int) error {
	if err := checkName("experiment", experiment); err != nil {
		return err
	}
	if err := checkName("arm", arm); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trial = nil
	if experiment != "" {
		c.trial = []string{experiment, arm, strconv.Itoa(rung), strconv.Itoa(trial)}
	}
	return nil
}

// look takes over how the attached run stands, if there is one.
func (c *Collector) look(turn *poll.Turn) {
	r := c.run
	if r == nil || r.ended {
		return
	}
	for _, s := range r.series {
		s.now = s.past
		s.level = level{weight: s.weight, current: true}
	}
	r.sampler.View(func(v *sampler.View) {
		all, each := v.Judge(r.info.Closed)
		for i, s := range r.series {
			s.now.add(&v.Streams[i], r.info.Streams[i].Judged, turn)
			s.level.add(&v.Streams[i], each[i].Status)
		}
		c.process = process{loops: v.Loops, peakOpen: v.PeakOpen, maxBurst: v.MaxBurst, busy: v.Busy, verdict: all.Status}
	})
	for _, s := range r.series {
		c.overflow.code += c.codes.see(&s.now.Tally)
	}
}

// rate sets the target rates of the newest run as of now, in phase p.
func (c *Collector) rate(now time.Time, p phase) {
	for _, s := range c.series {
		s.rate = 0
	}
	if p != warmup && p != running {
		return
	}
	for i, s := range c.run.series {
		if rate := c.run.info.Streams[i].Rate; rate != nil {
			s.rate += rate(now.Sub(c.run.begin))
		}
	}
}

// Describe implements [prometheus.Collector].
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, f := range states {
		ch <- f.desc
	}
	for _, f := range counters {
		ch <- f.desc
	}
	for _, f := range timings {
		ch <- f.desc
	}
	for _, f := range levels {
		ch <- f.desc
	}
	ch <- repliesDesc
	ch <- overflowDesc
}

// Collect implements [prometheus.Collector].
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	// Whoever takes the metrics slowly must not hold up the next scrape.
	for _, m := range c.collect() {
		ch <- m
	}
}

func (c *Collector) collect() []prometheus.Metric {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock()
	p := c.run.phase(now)
	var turn poll.Turn
	c.look(&turn)
	c.rate(now, p)
	e := emission{created: c.created, turn: &turn}
	e.states(state{c, p})
	for _, s := range c.series {
		e.series(s, &c.codes)
	}
	return e.metrics
}
