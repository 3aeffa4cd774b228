package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"httpgen/internal/experiment/stat"
	"httpgen/internal/report"
)

// SweepSchema names the version of the JSON form of a SweepResult.
const SweepSchema = "httpgen.sweep/1"

// A SweepResult is the answer of a sweep.
type SweepResult struct {
	Head
	Plan      SweepPlan   `json:"plan"`      // what was asked for
	Objective []Condition `json:"objective"` // beside these, calls open must not grow in number
	Capacity  Capacity    `json:"capacity"`  // the answer
	Rungs     []Rung      `json:"rungs"`     // rates or numbers of connections that were tried, rising
	Knee      Knees       `json:"knee"`      // where the curve bends
	USL       USL         `json:"usl"`       // the universal scalability law, fitted to the stable rungs
	Overload  *Overload   `json:"overload"`  // null without an overload profile
	Trials    []Trial     `json:"trials"`    // in the order in which they were run
}

// SweepPlan is what a sweep was asked to do, after defaults were filled in.
type SweepPlan struct {
	Seed           uint64    `json:"seed"`            // of the order of rates
	By             string    `json:"by"`              // "rate", or "connections" in a closed model
	From           float64   `json:"from"`            // first rate per second, or number of connections
	To             *float64  `json:"to"`              // highest one; null without a bound
	Factor         float64   `json:"factor"`          // from rung to rung on the way up
	Width          float64   `json:"width"`           // of the interval that was to be reached, as a share of its upper end
	Repeat         int       `json:"repeat"`          // trials of a rung that bounds the interval
	TrialSeconds   float64   `json:"trial_seconds"`   // length of a trial without its warm-up
	Arrivals       int       `json:"arrivals"`        // a trial is lengthened to hold so many
	ConfirmSeconds float64   `json:"confirm_seconds"` // length of the trial that confirms the lower bound
	SettleSeconds  float64   `json:"settle_seconds"`  // the target is given this long after calls that failed
	Rates          []float64 `json:"rates"`           // exactly these were tried; empty when they were searched for
	Order          string    `json:"order"`           // of the rates that were given: "up", "down" or "shuffle"
	Beyond         float64   `json:"beyond"`          // multiple of the capacity that the overload profile goes up to; 0 is none
	StepSeconds    float64   `json:"step_seconds"`    // of that profile
}

// Capacity is the interval that holds the highest load at which the objective is
// met.
type Capacity struct {
	Status               string   `json:"status"`                 // "found", "at_least", "below_from", "undecided" or "generator_limited"; only the first is a capacity
	Reason               string   `json:"reason"`                 // why it is that; empty when found to the width asked for
	LowerPerSecond       float64  `json:"lower_per_second"`       // the objective was met in every trial: arrivals per second, or goodput by connections; 0 when nowhere
	UpperPerSecond       *float64 `json:"upper_per_second"`       // it was missed in every trial; null when nowhere
	LowerConnections     int      `json:"lower_connections"`      // the same as numbers of connections; 0 in a sweep over rates
	UpperConnections     int      `json:"upper_connections"`      // 0 in a sweep over rates, and when it was missed nowhere
	Width                float64  `json:"width"`                  // (upper - lower) / upper of what was searched for; 1 without one of them
	BoundBy              string   `json:"bound_by"`               // metrics that were missed at the upper end, or "generator"; empty without any
	RecommendedPerSecond float64  `json:"recommended_per_second"` // operating point, 70 % of the lower end
}

// A Rung is one rate, or number of connections, that was tried.
type Rung struct {
	RatePerSecond float64             `json:"rate_per_second"` // arrivals per second asked for, or replies per second by connections
	Connections   int                 `json:"connections"`     // callers; 0 in a sweep over rates
	Outcome       string              `json:"outcome"`         // "met", "missed", "mixed", "invalid" or "generator_limited"
	Evidence      map[string]Evidence `json:"evidence"`        // by metric, of all valid trials together
	GoodPerSecond float64             `json:"good_per_second"` // goodput, of all valid trials together
	P99           *float64            `json:"p99"`             // latency of all calls in seconds; null when infinite or without valid trials
	Stable        bool                `json:"stable"`          // the number of open calls grew in no valid trial
	Failures      []Failure           `json:"failures"`        // of all trials, and on whose side they were
	TrialIDs      []int               `json:"trial_ids"`
}

// Evidence is a metric beside its limit, in seconds, as a share, or per second.
type Evidence struct {
	Value *float64 `json:"value"` // null when infinite
	Limit float64  `json:"limit"` // of the objective
	Low   *float64 `json:"low"`   // interval at 95 %; null when infinite or when there is none
	High  *float64 `json:"high"`  // null when infinite or when there is none
}

// Knees is where each detector sees the curve bend.
type Knees struct {
	Efficiency Knee `json:"efficiency"`  // less than 98 % of the arrivals get good replies
	Kneedle    Knee `json:"kneedle"`     // p99 is furthest below the diagonal
	TwoSegment Knee `json:"two_segment"` // two lines fit the logarithm of p99
	Agree      bool `json:"agree"`       // at least two were found, and their intervals have a rate in common
}

// A Knee is where one detector sees the curve bend.
type Knee struct {
	RatePerSecond *float64 `json:"rate_per_second"` // null when there is none; callers by connections
	Low           *float64 `json:"low"`             // its interval
	High          *float64 `json:"high"`
	Why           string   `json:"why"` // why there is none; empty when there is
}

// USL is the universal scalability law.
type USL struct {
	Gamma    Parameter `json:"gamma"`    // throughput of one call at a time, per second
	Sigma    Parameter `json:"sigma"`    // contention
	Kappa    Parameter `json:"kappa"`    // coherency
	Peak     Parameter `json:"peak"`     // concurrency of the highest throughput
	R2       float64   `json:"r2"`       // share of the variance that the law explains
	Withheld string    `json:"withheld"` // why the peak, or everything, is not given; empty when it is
}

// A Parameter is a fitted value with its interval at 95 %, all null when it is
// withheld.
type Parameter struct {
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// Overload is what became of the target beyond its capacity.
type Overload struct {
	PeakGoodputPerSecond float64      `json:"peak_goodput_per_second"` // of the best step
	KeptAt2x             float64      `json:"kept_at_2x"`              // goodput at twice the capacity as a share of the peak
	Hysteresis           []Hysteresis `json:"hysteresis"`              // by multiple, rising
	RecoverySeconds      *float64     `json:"recovery_seconds"`        // from the step below the capacity until all is served again; null when that did not come
	RecoveryAt1xSeconds  *float64     `json:"recovery_at_1x_seconds"`  // the same from the step at the capacity on the way down: a target that recovers there has nothing left to do below
	TrialID              int          `json:"trial_id"`
}

// Hysteresis compares the way up with the way down.
type Hysteresis struct {
	Multiple   float64 `json:"multiple"`   // of the capacity
	Up         float64 `json:"up"`         // goodput per second on the way up
	Down       float64 `json:"down"`       // on the way down
	Difference float64 `json:"difference"` // (up - down) / peak
}

// result makes an answer of what is known.
func (s *sweep) result(complete bool) (*SweepResult, error) {
	o := &s.o
	p := &o.Search
	r := &SweepResult{
		Head: newHead(SweepSchema, o.Base.Argv, s.book.trials, complete), Objective: list(o.Objective), Trials: list(s.book.trials),
		Plan: SweepPlan{
			Seed: p.Seed, By: "rate", From: p.From, To: finite(p.To), Factor: p.Factor, Width: p.Width, Repeat: p.Repeat,
			TrialSeconds: p.Trial.Seconds(), Arrivals: p.Arrivals, ConfirmSeconds: p.Confirm.Seconds(), SettleSeconds: p.Settle.Seconds(),
			Rates: list(p.Rates), Order: orders[p.Order], Beyond: o.Beyond,
		},
	}
	if p.To == 0 {
		r.Plan.To = nil
	}
	if o.Beyond > 0 {
		r.Plan.StepSeconds = o.Step.Seconds()
	}
	if o.Connections {
		r.Plan.By = "connections"
	}
	for _, rung := range s.search.Rungs() {
		one, err := s.rung(rung)
		if err != nil {
			return nil, err
		}
		r.Rungs = append(r.Rungs, one)
	}
	r.Rungs = list(r.Rungs)
	s.capacity(r)
	var err error
	if err = s.curve(r); err == nil {
		err = s.beyond(r)
	}
	return r, err
}

// orders are the words for the orders of given rates.
var orders = map[stat.RateOrder]string{stat.Up: "up", stat.Down: "down", stat.Shuffle: "shuffle"}

// of returns the trials of a rung, the overload profile not among them.
func (s *sweep) of(rate float64) (trials []*Trial) {
	for i := range s.book.trials {
		t := &s.book.trials[i]
		if t.Phase != "overload" && max(t.RatePerSecond, float64(t.Connections)) == rate {
			trials = append(trials, t)
		}
	}
	return trials
}

func (s *sweep) rung(rung stat.Rung) (Rung, error) {
	out := Rung{RatePerSecond: rung.Rate, Outcome: rung.Outcome().String(), Evidence: map[string]Evidence{}, Stable: true}
	var counted, all []*report.Result
	for _, t := range s.of(rung.Rate) {
		out.TrialIDs = append(out.TrialIDs, t.ID)
		all = append(all, t.Result)
		if t.Outcome != stat.Invalid.String() {
			counted = append(counted, t.Result)
			out.Stable = out.Stable && isStable(t.Result)
		}
	}
	out.TrialIDs, out.Failures = list(out.TrialIDs), failures(all)
	m, err := newMeasure(counted...)
	if err != nil {
		return out, err
	}
	if len(counted) > 0 {
		for _, c := range s.o.Objective {
			v, low, high := m.value(c.Metric)
			out.Evidence[c.Metric] = Evidence{finite(v), c.Limit, finite(low), finite(high)}
		}
		out.GoodPerSecond, _, _ = m.value(goodput)
		out.P99 = finite(m.quantile(0.99))
	}
	if s.o.Connections {
		out.Connections, out.RatePerSecond = int(rung.Rate), out.GoodPerSecond
	}
	return out, nil
}

// capacity fills in the answer.
func (s *sweep) capacity(r *SweepResult) {
	c := s.search.Capacity()
	out := &r.Capacity
	*out = Capacity{Status: c.Status.String(), Reason: c.Reason, Width: c.Width}
	for i, rung := range s.search.Rungs() {
		rate := r.Rungs[i].RatePerSecond
		if rung.Rate == c.Lower {
			out.LowerPerSecond, out.LowerConnections = rate, r.Rungs[i].Connections
		}
		if rung.Rate == c.Upper {
			out.UpperPerSecond, out.UpperConnections = &rate, r.Rungs[i].Connections
			out.BoundBy = s.boundBy(rung.Rate)
		}
	}
	out.RecommendedPerSecond = 0
	if c.Lower > 0 {
		out.RecommendedPerSecond = c.Recommended / c.Lower * out.LowerPerSecond
	}
	if c.Status == stat.CapacityLimited {
		out.BoundBy = generatorSide
		message := c.Reason
		for i := range r.Trials {
			if r.Trials[i].Outcome == stat.Invalid.String() {
				message = c.Reason + ": " + r.Trials[i].Reason
			}
		}
		r.doubt(report.Invalid, "generator_limited", message+"; the target's capacity is at least the lower end", c.Lower, 0)
	}
}

// boundBy names what was missed at a rate.
func (s *sweep) boundBy(rate float64) string {
	var missed []string
	for _, t := range s.of(rate) {
		if t.Outcome != stat.Missed.String() {
			continue
		}
		// The trial was judged before: it can be read.
		j, _ := s.o.Objective.Judge(t.Result)
		for _, m := range j.Missed {
			if !slices.Contains(missed, m) {
				missed = append(missed, m)
			}
		}
	}
	return strings.Join(missed, ",")
}

// curve fills in the knees and the scalability law.
func (s *sweep) curve(r *SweepResult) error {
	var steps []stat.Step
	var loads []stat.Load
	for i := range r.Trials {
		t := &r.Trials[i]
		if t.Outcome != stat.Met.String() && t.Outcome != stat.Missed.String() {
			continue
		}
		m, err := newMeasure(t.Result)
		if err != nil {
			return err
		}
		if p99 := m.quantile(0.99); p99 > 0 {
			steps = append(steps, stat.Step{Rate: max(t.RatePerSecond, float64(t.Connections)), Good: int(m.good), Scheduled: int(m.arrivals), P99: p99})
		}
		good, _, _ := m.value(goodput)
		if mean := t.Result.Times.Latency.Mean; isStable(t.Result) && good > 0 && mean > 0 {
			loads = append(loads, stat.Load{Concurrency: good * mean, Throughput: good})
		}
	}
	knees, err := stat.FindKnees(steps)
	if err != nil {
		return fmt.Errorf("experiment: %w", err)
	}
	r.Knee = Knees{knee(knees.Efficiency), knee(knees.Kneedle), knee(knees.TwoSegment), knees.Agree}
	usl, err := stat.FitUSL(loads)
	if err != nil {
		return fmt.Errorf("experiment: %w", err)
	}
	r.USL = USL{R2: usl.R2, Withheld: usl.Withheld}
	if math.IsNaN(usl.R2) || math.IsInf(usl.R2, 0) {
		r.USL.R2 = 0
	}
	for _, p := range []struct {
		out *Parameter
		in  stat.Parameter
	}{{&r.USL.Gamma, usl.Gamma}, {&r.USL.Sigma, usl.Sigma}, {&r.USL.Kappa, usl.Kappa}, {&r.USL.Peak, usl.Peak}} {
		if p.in != (stat.Parameter{}) {
			*p.out = Parameter{finite(p.in.Value), finite(p.in.Low), finite(p.in.High)}
		}
	}
	return nil
}

func knee(k stat.Knee) Knee {
	if !k.Found {
		return Knee{Why: k.Why}
	}
	return Knee{RatePerSecond: &k.Rate, Low: finite(k.Low), High: finite(k.High)}
}

// beyond fills in the overload profile.
func (s *sweep) beyond(r *SweepResult) error {
	t := s.profile
	if t == nil {
		return nil
	}
	var windows []stat.LoadWindow
	for i := range t.Result.Windows {
		w := &t.Result.Windows[i]
		if w.LengthSeconds > 0 && w.StartSeconds+w.LengthSeconds <= end(t.Result)+edge {
			windows = append(windows, stat.LoadWindow{
				Start: w.StartSeconds, Length: w.LengthSeconds,
				Offered: report.Per(w.Scheduled, w.LengthSeconds), Goodput: report.Per(goodReplies(w), w.LengthSeconds),
			})
		}
	}
	o, err := stat.NewOverload(s.steps, windows)
	if err != nil {
		r.doubt(report.Degraded, "overload", "there is no answer beyond the capacity: "+err.Error(), 0, 0)
		return nil
	}
	r.Overload = &Overload{PeakGoodputPerSecond: o.Peak, KeptAt2x: o.KeptAt2x, Hysteresis: []Hysteresis{}, TrialID: t.ID}
	for _, h := range o.Hysteresis {
		r.Overload.Hysteresis = append(r.Overload.Hysteresis, Hysteresis(h))
	}
	if o.Recovered {
		r.Overload.RecoverySeconds = &o.Recovery
	}
	for i, step := range s.steps {
		if i == 0 || step.Multiple != 1 {
			continue
		}
		if seconds, ok := stat.Recovery(windows, step.Start); ok {
			r.Overload.RecoveryAt1xSeconds = &seconds
		}
	}
	if t.Outcome == invalidTrial {
		r.doubt(report.Degraded, "overload", "beyond the capacity the generator was at its own limit: "+t.Reason, 0, 0)
	}
	return nil
}
