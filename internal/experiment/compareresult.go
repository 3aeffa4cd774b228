package experiment

import (
	"fmt"
	"math"
	"slices"

	"httpgen/internal/experiment/stat"
	"httpgen/internal/report"
)

// CompareSchema names the version of the JSON form of a CompareResult.
const CompareSchema = "httpgen.compare/1"

// A CompareResult is the answer of a comparison.
type CompareResult struct {
	Head
	Plan       ComparePlan           `json:"plan"`       // what was asked for
	Baseline   string                `json:"baseline"`   // the arm that the others are compared with
	Metric     string                `json:"metric"`     // the primary one; the others are exploratory
	Arms       []ArmResult           `json:"arms"`       // in the order in which they were given
	Blocks     []Block               `json:"blocks"`     // that were run
	Effects    []Effect              `json:"effects"`    // one for each metric and each arm but the baseline; the primary metric's first
	Trend      *Trend                `json:"trend"`      // of the primary metric along the arms; null when not asked for
	Same       *Same                 `json:"same"`       // whether all arms are the same; null without an equivalence margin
	Resolution map[string]Resolution `json:"resolution"` // by metric: how small a difference can be seen
	Trials     []Trial               `json:"trials"`     // in the order in which they were run
}

// ComparePlan is what a comparison was asked to do, after defaults were filled
// in.
type ComparePlan struct {
	Seed          uint64  `json:"seed"`            // of the order of the arms
	RatePerSecond float64 `json:"rate_per_second"` // arrivals of every arm; 0 in a closed model
	Closed        int     `json:"closed"`          // callers of every arm; 0 in an open model
	Blocks        int     `json:"blocks"`
	TrialSeconds  float64 `json:"trial_seconds"`  // length of a trial without its warm-up
	SettleSeconds float64 `json:"settle_seconds"` // an arm is given this long after calls that failed
	Level         float64 `json:"level"`          // confidence
	Equivalence   float64 `json:"equivalence"`    // the largest difference that does not matter, as a share; 0 was not asked for
	Allow         float64 `json:"allow"`          // the largest change for the worse that is allowed, as a share
	Gate          bool    `json:"gate"`           // effects of the primary metric are compared with allow
	Ordered       bool    `json:"ordered"`        // a trend along the arms was asked for
	AA            bool    `json:"aa"`             // the last arm is the baseline once more
	Unpaired      bool    `json:"unpaired"`       // results that were measured apart: there are no blocks
}

// An ArmResult is what an arm's trials say together. Medians are over the trials
// of whole blocks, null where there is no value.
type ArmResult struct {
	Name     string `json:"name"`
	Order    int    `json:"order"` // from 1
	TrialIDs []int  `json:"trial_ids"`
	PastKnee bool   `json:"past_knee"` // most of its trials lost calls or left a growing number open: its latencies measure the overload
	P50      Center `json:"p50"`       // seconds
	P90      Center `json:"p90"`       // seconds
	P99      Center `json:"p99"`       // seconds
	Goodput  Center `json:"goodput"`   // good replies per second
	Errors   Center `json:"errors"`    // share of the arrivals
	CPU      Center `json:"cpu"`       // seconds of the target's processors a good reply
}

// A Center is the middle of a metric over an arm's trials.
type Center struct {
	Median *float64 `json:"median"` // null when infinite or unknown
}

// A Block is one round of all arms.
type Block struct {
	Index    int      `json:"index"`    // from 1
	Order    []string `json:"order"`    // the arms in the order in which they were run
	Excluded string   `json:"excluded"` // why it does not count; empty when it does
}

// An Effect is one metric of one arm against the baseline's, as a ratio: 1 is no
// difference.
type Effect struct {
	Arm         string       `json:"arm"`
	Metric      string       `json:"metric"`
	Primary     bool         `json:"primary"` // decided on; the others are exploratory
	Ratio       *float64     `json:"ratio"`   // null when infinite
	Low         *float64     `json:"low"`     // interval; null when there is none
	High        *float64     `json:"high"`    // null when infinite or when there is none
	Level       float64      `json:"level"`   // of the interval
	P           float64      `json:"p"`       // exact two-sided signed-rank test
	PHolm       float64      `json:"p_holm"`  // p, adjusted for the number of arms
	Blocks      int          `json:"blocks"`
	Decision    string       `json:"decision"` // "worse", "better", "none" or "identical"
	Reason      string       `json:"reason"`   // why
	Gate        string       `json:"gate"`     // "kept", "undecided" or "broken"; empty without a limit, and for other metrics
	Equivalence *Equivalence `json:"equivalence"`
	Resolution  Resolution   `json:"resolution"` // of this arm against the baseline
}

// Equivalence says whether two arms differ by no more than a margin; null when
// not asked for.
type Equivalence struct {
	Margin       float64  `json:"margin"` // as a share
	Low          *float64 `json:"low"`    // interval of the ratio at 1-2 alpha; null when there is none
	High         *float64 `json:"high"`
	Shown        bool     `json:"shown"`
	Resolution   *float64 `json:"resolution"`    // the smallest margin that these blocks would show; null when there is none
	BlocksNeeded int      `json:"blocks_needed"` // that show the margin with a power of 80 %; 0 when shown or when none would
}

// Same says whether several arms are all the same within the margin.
type Same struct {
	A string `json:"a"` // the pair furthest from it
	B string `json:"b"`
	Equivalence
}

// Trend is Page's test for a metric that rises or falls along ordered arms.
type Trend struct {
	Statistic float64 `json:"statistic"` // Page's L
	Expected  float64 `json:"expected"`  // of it without a trend; above it the metric rises
	P         float64 `json:"p"`         // exact, two-sided
}

// Resolution says how small a difference can be seen, as shares: 0.02 is 2 %.
type Resolution struct {
	HalfWidth  *float64 `json:"half_width"` // of the interval of a ratio; null when there is none
	BlockSD    *float64 `json:"block_sd"`   // of the ratio, from block to block; null when infinite
	Detectable *float64 `json:"detectable"` // the smallest change that is found with a power of 80 %; null when there is none
	Power      float64  `json:"power_10"`   // probability that a change of 10 % is found
	From       string   `json:"from"`       // the arm that it was taken from
}

// result makes an answer of what is known.
func (c *comparison) result(complete bool) (*CompareResult, error) {
	o := &c.o
	r := &CompareResult{
		Head: newHead(CompareSchema, o.Argv, c.book.trials, complete), Baseline: o.Baseline, Metric: o.Metric,
		Plan: ComparePlan{
			Seed: o.Seed, RatePerSecond: o.Rate, Closed: o.Closed, Blocks: o.Blocks, TrialSeconds: o.Trial.Seconds(), SettleSeconds: o.Settle.Seconds(),
			Level: o.Level, Equivalence: o.Equivalence, Allow: o.Allow, Gate: o.Gate, Ordered: o.Ordered, AA: o.AA,
		},
		Blocks: []Block{}, Effects: []Effect{}, Resolution: map[string]Resolution{}, Trials: list(c.book.trials),
	}
	rows, err := c.rows(r)
	if err != nil {
		return nil, err
	}
	names := []string{o.Metric}
	for _, m := range metrics {
		if m.name != o.Metric {
			names = append(names, m.name)
		}
	}
	for _, name := range names {
		i := slices.IndexFunc(metrics, func(m metric) bool { return m.name == name })
		values, ok := values(rows, metrics[i], len(o.Arms))
		for arm := range values {
			*r.Arms[arm].center(name) = Center{finite(middle(values[arm]))}
		}
		if !ok || len(o.Arms) < 2 {
			continue
		}
		if err := c.effects(r, metrics[i], values); err != nil {
			return nil, err
		}
	}
	for _, a := range r.Arms {
		if a.PastKnee {
			r.doubt(report.Degraded, "past_knee", fmt.Sprintf("arm %s is past its knee at this load: its latencies measure the overload; compare at a lower load", a.Name), 0, 0)
		}
	}
	return r, nil
}

// A row is a block that counts: the trial of each arm.
type row struct {
	trials   []*Trial
	measures []*measure
}

// rows fills in the arms and the blocks, and returns the blocks that count: whole
// ones, of valid trials.
func (c *comparison) rows(r *CompareResult) (rows []row, err error) {
	o := &c.o
	for i, a := range o.Arms {
		r.Arms = append(r.Arms, ArmResult{Name: a.Name, Order: i + 1, TrialIDs: []int{}})
	}
	counted := make([][]*report.Result, len(o.Arms))
	excluded := 0
	for b, order := range c.order {
		one := row{make([]*Trial, len(o.Arms)), make([]*measure, len(o.Arms))}
		out := Block{Index: b + 1, Order: []string{}}
		for _, arm := range order {
			out.Order = append(out.Order, o.Arms[arm].Name)
		}
		ran := false
		for i := range r.Trials {
			t := &r.Trials[i]
			arm := slices.IndexFunc(o.Arms, func(a Arm) bool { return a.Name == t.Arm })
			if t.Block != b+1 || arm < 0 {
				continue
			}
			ran = true
			r.Arms[arm].TrialIDs = append(r.Arms[arm].TrialIDs, t.ID)
			if t.Outcome == validTrial {
				one.trials[arm] = t
				if one.measures[arm], err = newMeasure(t.Result); err != nil {
					return nil, err
				}
			} else {
				out.Excluded = fmt.Sprintf("arm %s: %s", t.Arm, t.Reason)
			}
		}
		if !ran {
			break
		}
		if whole := !slices.Contains(one.trials, nil); whole {
			out.Excluded = ""
			rows = append(rows, one)
			for arm, t := range one.trials {
				counted[arm] = append(counted[arm], t.Result)
			}
		} else {
			excluded++
			if out.Excluded == "" {
				out.Excluded = "not all arms were run"
			}
		}
		r.Blocks = append(r.Blocks, out)
	}
	for i := range r.Arms {
		if r.Arms[i].PastKnee, err = overloaded(counted[i]); err != nil {
			return nil, err
		}
	}
	if excluded > 0 {
		status := report.Degraded
		if len(rows) < excluded {
			status = report.Invalid
		}
		r.doubt(status, "excluded_blocks", fmt.Sprintf("%d of %d blocks do not count: in each an arm was not run, or the generator was the limit three times", excluded, len(r.Blocks)), float64(excluded), 0)
	}
	return rows, nil
}

// values returns a metric by arm and block. It is ok when every block has one.
func values(rows []row, m metric, arms int) (v [][]float64, ok bool) {
	v = make([][]float64, arms)
	ok = len(rows) > 0
	for _, one := range rows {
		for arm, t := range one.trials {
			x, known := m.of(t, one.measures[arm])
			if known {
				v[arm] = append(v[arm], x)
			}
			ok = ok && known
		}
	}
	return v, ok
}

// middle returns the median, NaN without values.
func middle(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(v))
	if n := len(s); n%2 == 0 {
		return s[n/2-1]/2 + s[n/2]/2
	}
	return s[len(s)/2]
}

// center returns where the median of a metric stands.
func (a *ArmResult) center(metric string) *Center {
	switch metric {
	case "p50":
		return &a.P50
	case "p90":
		return &a.P90
	case "p99":
		return &a.P99
	case goodput:
		return &a.Goodput
	case errorShare:
		return &a.Errors
	}
	return &a.CPU
}

// effects compares the arms by one metric.
func (c *comparison) effects(r *CompareResult, m metric, values [][]float64) error {
	o := &c.o
	primary := m.name == o.Metric
	base := slices.IndexFunc(o.Arms, func(a Arm) bool { return a.Name == o.Baseline })
	all, err := stat.Effects(values, stat.CompareOptions{Baseline: base, HigherBetter: m.higher, Level: o.Level, Margin: o.Equivalence})
	if err != nil {
		return fmt.Errorf("experiment: %s: %w", m.name, err)
	}
	var widest *Resolution
	for _, e := range all {
		name := o.Arms[e.Arm].Name
		out := Effect{
			Arm: name, Metric: m.name, Primary: primary, Ratio: finite(e.Ratio), Low: interval(e.Low, e.High, e.Low), High: finite(e.High), Level: e.Level,
			P: e.P, PHolm: e.PHolm, Blocks: e.Blocks, Decision: e.Decision.String(), Reason: e.Reason, Resolution: resolution(e.Resolution, name),
		}
		if e.Equivalence != nil {
			out.Equivalence = new(equivalence(*e.Equivalence))
		}
		if primary && o.Gate {
			out.Gate = e.Gate(o.Allow, m.higher).String()
		}
		r.Effects = append(r.Effects, out)
		// Two runs of the same arm tell best what cannot be told apart; else
		// the arm that is known least.
		again := o.AA && e.Arm == len(o.Arms)-1
		if widest == nil || again || wider(&out.Resolution, widest) {
			widest = &out.Resolution
			r.Resolution[m.name] = out.Resolution
		}
	}
	if !primary {
		return nil
	}
	if o.Ordered {
		var v [][]float64
		for _, arm := range o.ordered() {
			v = append(v, values[arm])
		}
		t, err := stat.Page(v)
		if err != nil {
			return fmt.Errorf("experiment: %s: %w", m.name, err)
		}
		r.Trend = &Trend{t.L, t.Expected, t.P}
	}
	if o.Equivalence > 0 {
		s, err := stat.AllSame(values, o.Equivalence, o.Level)
		if err != nil {
			return fmt.Errorf("experiment: %s: %w", m.name, err)
		}
		r.Same = &Same{o.Arms[s.A].Name, o.Arms[s.B].Name, equivalence(s.Equivalence)}
	}
	return nil
}

// interval returns one end of an interval, null when it has none: from 0 to
// infinity says nothing.
func interval(low, high, v float64) *float64 {
	if low == 0 && math.IsInf(high, 1) {
		return nil
	}
	return finite(v)
}

// wider says whether a resolution is worse than another.
func wider(a, b *Resolution) bool {
	return b.HalfWidth != nil && (a.HalfWidth == nil || *a.HalfWidth > *b.HalfWidth)
}

func resolution(r stat.Resolution, from string) Resolution {
	out := Resolution{HalfWidth: finite(r.HalfWidth), BlockSD: finite(r.BlockSD), Detectable: finite(r.Detectable), From: from}
	if p := r.Power(0.1); out.HalfWidth != nil && !math.IsNaN(p) {
		out.Power = p
	}
	return out
}

func equivalence(q stat.Equivalence) Equivalence {
	return Equivalence{q.Margin, interval(q.Low, q.High, q.Low), finite(q.High), q.Shown, finite(q.Resolution), q.BlocksNeeded}
}

// Gate returns what the limit on changes for the worse makes of the comparison:
// "broken" when an arm is surely worse than allowed, "undecided" when one may be,
// else "kept". Without a limit it is empty.
func (r *CompareResult) Gate() string {
	if !r.Plan.Gate {
		return ""
	}
	worst := stat.GateKept.String()
	found := false
	for _, e := range r.Effects {
		if !e.Primary {
			continue
		}
		found = true
		if e.Gate == stat.GateBroken.String() {
			return e.Gate
		}
		if e.Gate == stat.GateUndecided.String() {
			worst = e.Gate
		}
	}
	if !found {
		return stat.GateUndecided.String()
	}
	return worst
}
