package experiment

import (
	"fmt"
	"math"
	"slices"

	"httpgen/internal/experiment/stat"
	"httpgen/internal/report"
)

// A Saved is an arm made of results that were measured at some other time.
type Saved struct {
	Name    string
	Results []*report.Result
}

// CompareSaved compares results that were not measured in blocks: whatever else
// changed between them counts as a difference of the arms. The unit is the run,
// so that one result of each arm decides nothing. Of the options Argv, Baseline,
// Metric, Level, Allow and Gate are used.
func CompareSaved(arms []Saved, o CompareOptions) (*CompareResult, error) {
	if len(arms) < 2 {
		return nil, fmt.Errorf("experiment: %d arms: want at least 2", len(arms))
	}
	// Of what a comparison is asked for, only this is checked by its own rules.
	check := CompareOptions{Baseline: o.Baseline, Metric: o.Metric, Level: o.Level, Allow: o.Allow, Gate: o.Gate, Rate: 1, Blocks: stat.MaxBlocks}
	for _, a := range arms {
		check.Arms = append(check.Arms, Arm{Name: a.Name})
	}
	if err := check.validate(); err != nil {
		return nil, err
	}
	c := &comparison{o: check}
	measures := make([][]*measure, len(arms))
	for i, a := range arms {
		if len(a.Results) < 1 || len(a.Results) > maxSample {
			return nil, fmt.Errorf("experiment: arm %s with %d results: want 1 to %d", a.Name, len(a.Results), maxSample)
		}
		for _, r := range a.Results {
			if r == nil || r.Schema != report.ResultSchema {
				return nil, fmt.Errorf("experiment: arm %s: want results of the schema %s", a.Name, report.ResultSchema)
			}
			t, err := c.book.add(Trial{ID: len(c.book.trials) + 1, Phase: "saved", Arm: a.Name, Block: 0, RatePerSecond: r.Config.RatePerSecond, Connections: r.Config.Closed, Result: r}, job{judge: valid})
			if err != nil {
				return nil, err
			}
			if t.Outcome != validTrial {
				continue
			}
			m, err := newMeasure(r)
			if err != nil {
				return nil, err
			}
			measures[i] = append(measures[i], m)
		}
	}
	c.o.Argv = o.Argv
	return c.unpaired(measures)
}

// unpaired makes an answer of what was measured apart.
func (c *comparison) unpaired(measures [][]*measure) (*CompareResult, error) {
	o := &c.o
	r := &CompareResult{
		Head: newHead(CompareSchema, o.Argv, c.book.trials, true), Baseline: o.Baseline, Metric: o.Metric,
		Plan:   ComparePlan{Level: o.Level, Allow: o.Allow, Gate: o.Gate, Unpaired: true},
		Blocks: []Block{}, Effects: []Effect{}, Resolution: map[string]Resolution{}, Trials: c.book.trials,
	}
	r.doubt(report.Degraded, "unpaired", "the results were measured apart: what else changed between them counts as a difference of the arms", 0, 0)
	base := 0
	for i, a := range o.Arms {
		one := ArmResult{Name: a.Name, Order: i + 1, TrialIDs: []int{}}
		var counted []*report.Result
		for _, t := range r.Trials {
			if t.Arm != a.Name {
				continue
			}
			one.TrialIDs = append(one.TrialIDs, t.ID)
			if t.Outcome == validTrial {
				counted = append(counted, t.Result)
			}
		}
		var err error
		if one.PastKnee, err = overloaded(counted); err != nil {
			return nil, err
		}
		r.Arms = append(r.Arms, one)
		if a.Name == o.Baseline {
			base = i
		}
	}
	primaryFirst := slices.SortedStableFunc(slices.Values(metrics), func(a, b metric) int {
		return rankOf(a.name == o.Metric) - rankOf(b.name == o.Metric)
	})
	for _, m := range primaryFirst {
		values := make([][]float64, len(o.Arms))
		for arm := range values {
			for _, one := range measures[arm] {
				if v, ok := m.of(&Trial{}, one); ok {
					values[arm] = append(values[arm], v)
				}
			}
			*r.Arms[arm].center(m.name) = Center{finite(middle(values[arm]))}
		}
		c.apart(r, m, values, base)
	}
	return r, nil
}

func rankOf(first bool) int {
	if first {
		return 0
	}
	return 1
}

// apart compares the arms by one metric.
func (c *comparison) apart(r *CompareResult, m metric, values [][]float64, base int) {
	o := &c.o
	var effects []Effect
	var tests []rankSum
	var p []float64
	for arm, v := range values {
		if arm == base || len(v) == 0 || len(values[base]) == 0 {
			continue
		}
		test := newRankSum(logs(values[base]), logs(v), o.Level)
		e := Effect{
			Arm: o.Arms[arm].Name, Metric: m.name, Primary: m.name == o.Metric, Ratio: finite(math.Exp(test.shift)),
			Low: interval(math.Exp(test.low), math.Exp(test.high), math.Exp(test.low)), High: finite(math.Exp(test.high)),
			Level: o.Level, P: test.p, Blocks: len(v), Resolution: Resolution{From: o.Arms[arm].Name},
		}
		effects, tests, p = append(effects, e), append(tests, test), append(p, test.p)
	}
	for i, adjusted := range stat.Holm(p) {
		e := &effects[i]
		e.PHolm = adjusted
		e.Decision = stat.None.String()
		e.Reason = fmt.Sprintf("p %.3g after Holm is above %.3g", adjusted, 1-o.Level)
		if adjusted <= 1-o.Level {
			e.Decision = stat.Worse.String()
			if (tests[i].shift > 0) == m.higher {
				e.Decision = stat.Better.String()
			}
			e.Reason = fmt.Sprintf("p %.3g after Holm is at most %.3g", adjusted, 1-o.Level)
		}
		if e.Primary && o.Gate {
			bounds := stat.Effect{Low: math.Exp(tests[i].low), High: math.Exp(tests[i].high)}
			e.Gate = bounds.Gate(o.Allow, m.higher).String()
		}
	}
	r.Effects = append(r.Effects, effects...)
}

// logs returns logarithms; those of 0 and of infinity are further out than all
// others, so that two of them are equal.
func logs(v []float64) []float64 {
	const beyond = 1e100
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = max(-beyond, min(beyond, math.Log(x)))
	}
	return out
}
