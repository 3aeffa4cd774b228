package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"httpgen/internal/experiment/stat"
	"httpgen/internal/report"
)

// FairSchema names the version of the JSON form of a FairResult.
const FairSchema = "httpgen.fair/1"

// A FairResult is the answer of a fairness experiment.
type FairResult struct {
	Head
	Plan           FairPlan       `json:"plan"`              // what was asked for
	Saturated      bool           `json:"saturated"`         // more was wanted than there was: only then is there a claim
	Measured       Span           `json:"measured"`          // of each run: all clients were sending
	Decision       string         `json:"decision"`          // "fair", "unfair", "undecided" or "not_saturated"
	Reason         string         `json:"reason"`            // why
	MaxShareError  float64        `json:"max_share_error"`   // largest difference between a share and what is due
	MinMaxRatio    float64        `json:"min_max_ratio"`     // smallest ratio to due over the largest
	Jain           Jain           `json:"jain"`              // weighted index of the ratios to due
	Blocks         int            `json:"blocks"`            // windows of one run, or runs, that the answer rests on
	BlockLength    int            `json:"block_length"`      // windows that count as one independent one
	Effective      float64        `json:"effective"`         // independent blocks that these amount to
	LatencyRatio50 *float64       `json:"latency_p50_ratio"` // largest median latency of a client over the smallest; null with too few replies
	LatencyRatio99 *float64       `json:"latency_p99_ratio"` // the same of p99
	Convergence    []Convergence  `json:"convergence"`       // after clients joined or left
	Clients        []ClientResult `json:"clients"`           // in the order in which they were given
	Trials         []Trial        `json:"trials"`            // in the order in which they were run
}

// FairPlan is what a fairness experiment was asked to do, after defaults were
// filled in.
type FairPlan struct {
	Seed            uint64  `json:"seed"`             // of random processes
	DurationSeconds float64 `json:"duration_seconds"` // of a run without its warm-up; 0 with a number of arrivals
	Arrivals        uint64  `json:"arrivals"`         // of each client; 0 with a duration
	Margin          float64 `json:"margin"`           // largest share error that is still fair
	Level           float64 `json:"level"`            // confidence
	Repeat          int     `json:"repeat"`           // runs
	Rotate          bool    `json:"rotate"`           // clients change places from run to run
	Poisson         bool    `json:"poisson"`          // arrivals are random, not evenly spaced
	Baseline        bool    `json:"baseline"`         // each client was run alone too
}

// A Span is a part of a run, in seconds from its start.
type Span struct {
	StartSeconds float64 `json:"start_seconds"`
	EndSeconds   float64 `json:"end_seconds"`
}

// Jain is the index of fairness: 1 when each client gets the same part of what is
// due to it.
type Jain struct {
	Overall       float64  `json:"overall"`
	Low           *float64 `json:"low"` // interval; null when there is none
	High          *float64 `json:"high"`
	WorstWindow   float64  `json:"worst_window"`   // of the worst block
	WorstExpected float64  `json:"worst_expected"` // what that exceeds in 95 % of the experiments with a target that is fair on average
}

// Convergence says how long shares took to settle.
type Convergence struct {
	Event     string   `json:"event"`      // such as "join c"
	AtSeconds float64  `json:"at_seconds"` // from the start of the run
	Seconds   *float64 `json:"seconds"`    // until the share errors stay inside the margin; null when they do not
}

// A ClientResult is what one client got. Rates and shares count the measured time
// of all runs; totals, rates, times and windows are the first run's.
type ClientResult struct {
	Name             string          `json:"name"`
	Source           string          `json:"source"` // local addresses, separated by commas; empty leaves the choice to the system
	Target           string          `json:"target"` // URL without a password
	Weight           float64         `json:"weight"` // share it is meant to get, relative to the others
	OfferedPerSecond float64         `json:"offered_per_second"`
	GoodputPerSecond float64         `json:"goodput_per_second"`
	Share            float64         `json:"share"`           // of all good replies
	DueShare         float64         `json:"due_share"`       // weighted max-min share of them
	DuePerSecond     float64         `json:"due_per_second"`  // good replies due
	RatioToDue       float64         `json:"ratio_to_due"`    // goodput over due
	ShareError       float64         `json:"share_error"`     // share - due_share
	Low              *float64        `json:"low"`             // interval of the share error; null when there is none
	High             *float64        `json:"high"`            // null when there is none
	RefusedShare     float64         `json:"refused_share"`   // of its arrivals: refused or reset, in all runs
	StarvedSeconds   float64         `json:"starved_seconds"` // longest time without a good reply
	Totals           report.Totals   `json:"totals"`
	Rates            report.Rates    `json:"rates"` // the reply rate is sampled over 5 s, 1 s in runs under 10 s
	Times            report.Times    `json:"times"`
	Windows          []report.Window `json:"windows"`
	Alone            *Alone          `json:"alone"` // null when it was not run alone
}

// Alone is what a client got without the others.
type Alone struct {
	GoodputPerSecond float64  `json:"goodput_per_second"`
	P50              *float64 `json:"p50"` // latency in seconds; null with too few replies
	P99              *float64 `json:"p99"` // null with too few replies
	TrialID          int      `json:"trial_id"`
}

// result makes an answer of what is known.
func (f *fairness) result(complete bool) (*FairResult, error) {
	o := &f.o
	var runs []*Trial
	for i := range f.book.trials {
		if t := &f.book.trials[i]; t.Phase == together {
			runs = append(runs, t)
		}
	}
	if len(runs) == 0 {
		return nil, nil
	}
	r := &FairResult{
		Head: newHead(FairSchema, o.Argv, f.book.trials, complete),
		Plan: FairPlan{
			Seed: o.Seed, DurationSeconds: o.Duration.Seconds(), Arrivals: o.Arrivals, Margin: o.Margin, Level: o.Level,
			Repeat: o.Repeat, Rotate: o.Rotate, Poisson: o.Poisson, Baseline: o.Baseline,
		},
		Convergence: []Convergence{}, Trials: f.book.trials,
	}
	r.Measured = f.measured(runs[0].Result)
	if err := f.decide(r, runs); err != nil {
		return nil, err
	}
	if err := f.settle(r, runs[0].Result); err != nil {
		return nil, err
	}
	r.LatencyRatio50 = spread(r.Clients, func(t *report.Timing) *float64 { return t.P50 })
	r.LatencyRatio99 = spread(r.Clients, func(t *report.Timing) *float64 { return t.P99 })
	if o.shared() {
		r.doubt(report.Degraded, "shared_source", "not every client has a source address of its own: a target that tells clients apart by it takes some for one", 0, 0)
	}
	return r, nil
}

// holds says whether a window lies in the span.
func (s Span) holds(w *report.Window) bool {
	return w.LengthSeconds > 0 && w.StartSeconds >= s.StartSeconds-edge && w.StartSeconds+w.LengthSeconds <= s.EndSeconds+edge
}

// tallies returns the windows of a run that lie in a span, each with what every
// client did.
func (f *fairness) tallies(r *report.Result, span Span) (windows [][]stat.Tally) {
	for i := range f.o.Clients {
		at := 0
		for _, w := range f.stream(r, f.o.Clients[i].Name).Windows {
			if !span.holds(&w) {
				continue
			}
			if at == len(windows) {
				windows = append(windows, make([]stat.Tally, len(f.o.Clients)))
			}
			windows[at][i] = stat.Tally{Offered: float64(w.Scheduled), Good: float64(goodReplies(&w))}
			at++
		}
	}
	return windows
}

// decide fills in the answer and what each client got.
func (f *fairness) decide(r *FairResult, runs []*Trial) error {
	o := &f.o
	var weights []float64
	for i := range o.Clients {
		weights = append(weights, o.Clients[i].Weight)
	}
	so := stat.FairOptions{Margin: o.Margin, Level: o.Level, Repeats: o.Repeat > 1}
	var blocks [][]stat.Tally
	starved := make([]int, len(weights))
	var seconds, window float64
	var late string
	for _, t := range runs {
		windows := f.tallies(t.Result, r.Measured)
		if t.Outcome == invalidTrial && !so.Limited {
			so.Limited = true
			r.doubt(report.Invalid, "generator_limited", "the generator was the limit: "+t.Reason, 0, 0)
		}
		if v := &t.Result.Verdict; v.Status == report.Invalid && len(v.Reasons) > 0 {
			late = v.Reasons[0].Message
		}
		sum := make([]stat.Tally, len(weights))
		for _, block := range windows {
			for i, c := range block {
				sum[i].Offered += c.Offered
				sum[i].Good += c.Good
			}
		}
		window = t.Result.Config.BaseWindowSeconds
		seconds += window * float64(len(windows))
		for i := range starved {
			starved[i] = max(starved[i], stat.Starved(windows, i))
		}
		if so.Repeats {
			windows = [][]stat.Tally{sum}
		}
		blocks = append(blocks, windows...)
	}
	if late != "" {
		r.doubt(report.Degraded, "run_invalid", "shares count, but times of a run are not to be believed: "+late, 0, 0)
	}
	s, err := stat.NewFairness(weights, blocks, so)
	if err != nil {
		return fmt.Errorf("experiment: %w", err)
	}
	r.Saturated, r.Decision, r.Reason = s.Saturated, s.Decision.String(), f.named(s.Reason)
	r.MaxShareError, r.MinMaxRatio = s.MaxShareError, s.MinMaxRatio
	r.Blocks, r.BlockLength, r.Effective = len(blocks), s.BlockLength, s.Effective
	r.Jain = Jain{Overall: s.Jain, WorstWindow: s.WorstBlock, WorstExpected: s.WorstExpected}
	if s.JainLow != 0 || s.JainHigh != 1 {
		r.Jain.Low, r.Jain.High = &s.JainLow, &s.JainHigh
	}
	for i, c := range s.Clients {
		var offered, good float64
		for _, block := range blocks {
			offered, good = offered+block[i].Offered, good+block[i].Good
		}
		one := f.client(i, runs)
		one.OfferedPerSecond, one.GoodputPerSecond, one.DuePerSecond = offered/seconds, good/seconds, c.Due/seconds
		one.Share, one.DueShare, one.RatioToDue, one.ShareError = c.Share, c.DueShare, c.Ratio, c.Error
		one.Low, one.High = finite(c.Low), finite(c.High)
		one.StarvedSeconds = float64(starved[i]) * window
		r.Clients = append(r.Clients, one)
	}
	return nil
}

// named puts the clients' names into a reason in place of their numbers.
func (f *fairness) named(reason string) string {
	for i := range f.o.Clients {
		if rest, ok := strings.CutPrefix(reason, fmt.Sprintf("client %d ", i)); ok {
			return "client " + f.o.Clients[i].Name + " " + rest
		}
	}
	return reason
}

// client returns what was seen of client i.
func (f *fairness) client(i int, runs []*Trial) ClientResult {
	c := &f.o.Clients[i]
	s := f.stream(runs[0].Result, c.Name)
	one := ClientResult{
		Name: c.Name, Target: s.Target, Weight: c.Weight,
		Totals: s.Totals, Rates: s.Rates, Times: s.Times, Windows: list(s.Windows),
	}
	if one.Totals.Codes == nil {
		one.Totals.Codes = map[string]uint64{}
	}
	one.Rates.Replies = samples(s.Windows, end(runs[0].Result))
	var sources []string
	for _, a := range c.Options.Sources {
		sources = append(sources, a.String())
	}
	one.Source = strings.Join(sources, ",")
	var refused, scheduled uint64
	for _, t := range runs {
		total := &f.stream(t.Result, c.Name).Totals
		refused += total.Errors.ConnectRefused + total.Errors.Reset + total.Errors.H2Refused
		scheduled += total.Arrivals.Scheduled
	}
	one.RefusedShare = report.Per(refused, float64(scheduled))
	for k := range f.book.trials {
		if t := &f.book.trials[k]; t.Phase == alone && t.Arm == c.Name {
			one.Alone = &Alone{TrialID: t.ID, P50: t.Result.Times.Latency.P50, P99: t.Result.Times.Latency.P99}
			one.Alone.GoodputPerSecond = report.Per(goodIn(t.Result.Windows, 0, end(t.Result)), t.Result.Run.SendingSeconds)
		}
	}
	return one
}

// samples returns the reply rate in samples of 5 s, 1 s in runs under 10 s,
// whatever the length of the windows.
func samples(windows []report.Window, until float64) report.Samples {
	if len(windows) == 0 {
		return report.NewSamples(nil, 0)
	}
	length := 5.0
	if until-windows[0].StartSeconds < 10-edge {
		length = 1
	}
	var rates []float64
	var replies uint64
	begin := windows[0].StartSeconds
	for i := range windows {
		w := &windows[i]
		at := w.StartSeconds + w.LengthSeconds
		if at > until+edge {
			break
		}
		replies += w.Replies
		if at >= begin+length-edge {
			rates = append(rates, report.Per(replies, at-begin))
			begin, replies = at, 0
		}
	}
	return report.NewSamples(rates, length)
}

// settle fills in how long shares took to settle after a client joined or left.
func (f *fairness) settle(r *FairResult, first *report.Result) error {
	o := &f.o
	warmup := first.Config.WarmupSeconds
	type event struct {
		at   time.Duration
		what string
	}
	var events []event
	for i := range o.Clients {
		c := &o.Clients[i]
		if c.Join > 0 {
			events = append(events, event{c.Join, "join " + c.Name})
		}
		if c.Leave > 0 && c.Leave < o.length() {
			events = append(events, event{c.Leave, "leave " + c.Name})
		}
	}
	slices.SortStableFunc(events, func(a, b event) int { return int(a.at/time.Millisecond) - int(b.at/time.Millisecond) })
	var weights []float64
	for i := range o.Clients {
		weights = append(weights, o.Clients[i].Weight)
	}
	windows := f.tallies(first, Span{warmup, warmup + o.length().Seconds()})
	window := first.Config.BaseWindowSeconds
	if len(windows) == 0 || window <= 0 {
		return nil
	}
	index := func(d time.Duration) int { return min(len(windows), int(math.Ceil(d.Seconds()/window-edge))) }
	for i, e := range events {
		until := len(windows)
		for _, next := range events[i+1:] {
			if next.at > e.at {
				until = index(next.at)
				break
			}
		}
		// About five seconds hold replies enough for shares to a percent.
		span := max(1, int(math.Round(5/window)))
		after, ok, err := stat.Convergence(weights, windows, index(e.at), until, span, o.Margin)
		if err != nil {
			return fmt.Errorf("experiment: %s: %w", e.what, err)
		}
		c := Convergence{Event: e.what, AtSeconds: warmup + e.at.Seconds()}
		if ok {
			c.Seconds = new(float64(after) * window)
		}
		r.Convergence = append(r.Convergence, c)
	}
	return nil
}

// spread returns the largest of a percentile over the clients as a multiple of
// the smallest, null when one is not known.
func spread(clients []ClientResult, of func(*report.Timing) *float64) *float64 {
	low, high := math.Inf(1), 0.0
	for i := range clients {
		v := of(&clients[i].Times.Latency)
		if v == nil || *v <= 0 {
			return nil
		}
		low, high = min(low, *v), max(high, *v)
	}
	return finite(high / low)
}
