package experiment

import (
	"fmt"
	"strings"

	"httpgen/internal/experiment/stat"
	"httpgen/internal/report"
)

// A Judgement is what one trial says of an objective.
type Judgement struct {
	Outcome stat.Outcome // Met, Missed or Invalid
	Reason  string       // what was missed, or why the trial is invalid; empty when met
	Missed  []string     // metrics of the conditions that were missed, "stable" among them
}

// Judge compares a trial with the objective.
//
// A trial that misses it is held against the target only if the target has
// missed it by itself:
//
//   - Arrivals that the generator shed or made fail are left out. Where calls are
//     shed because too many are open, those that were started tell whether the
//     target held them for too long.
//   - Where the generator was late, every latency may be wrong by its delay, at the
//     start and again at the end. What that could explain does not count, nor do
//     timeouts that it could explain; refused and reset connections do.
//
// Else it is invalid, and so is one that meets the objective while its verdict is
// invalid.
func (o Objective) Judge(r *report.Result) (Judgement, error) {
	m, err := newMeasure(r)
	if err != nil {
		return Judgement{}, err
	}
	var j Judgement
	var why []string
	if m.arrivals == 0 {
		return Judgement{Outcome: stat.Invalid, Reason: "no arrival was scheduled"}, nil
	}
	for _, c := range o {
		v, _, _ := m.value(c.Metric)
		if !c.met(v) {
			j.Missed = append(j.Missed, c.Metric)
			why = append(why, fmt.Sprintf("%s is %s, want %s", c.Metric, c.figure(v), c))
		}
	}
	if !isStable(r) {
		j.Missed = append(j.Missed, stable)
		why = append(why, "the number of open calls grew")
	}
	invalid := r.Verdict.Status == report.Invalid
	switch {
	case len(j.Missed) == 0 && !invalid:
		j.Outcome = stat.Met
	case len(j.Missed) > 0 && (!invalid && m.shed+m.own == 0 || o.targetMissed(r, m)):
		j.Outcome, j.Reason = stat.Missed, strings.Join(why, "; ")
	default:
		j.Outcome, j.Reason = stat.Invalid, limitReason(r, m)
	}
	return j, nil
}

// limitReason says how the generator was the limit.
func limitReason(r *report.Result, m *measure) string {
	if len(r.Verdict.Reasons) > 0 {
		return r.Verdict.Reasons[0].Message
	}
	return fmt.Sprintf("%d arrivals were shed and %d failed by the generator's own limits", m.shed, m.own)
}

// lateReasons are the codes of a verdict that tell of a generator which was late.
// "started" is one when arrivals were shed for being late.
var lateReasons = map[string]bool{"lag": true, "punctuality": true, "cpu": true}

// wasLate says whether the verdict is invalid because the generator was late.
func wasLate(r *report.Result) bool {
	late := r.Totals.Arrivals.Shed.Late > 0
	for _, reason := range r.Verdict.Reasons {
		late = late || lateReasons[reason.Code]
	}
	return late && r.Verdict.Status == report.Invalid
}

// wrongBy returns by how much a quantile of the latency may be wrong because of
// the generator's own delay, in seconds. One long delay in hundreds of arrivals
// moves no p99.
func wrongBy(r *report.Result, q float64) float64 {
	lag := r.Times.Lag.Max
	if v := r.Times.Lag.P99; v != nil && q <= 0.99 {
		lag = *v
	}
	return 2 * lag
}

// targetMissed says whether the target missed the objective without help of the
// generator.
func (o Objective) targetMissed(r *report.Result, all *measure) bool {
	for _, reason := range r.Verdict.Reasons {
		if reason.Code == "accounting" {
			return false // counts that do not add up prove nothing
		}
	}
	m, late := all.without(r.Config.CallsPerConnection), wasLate(r)
	if m.arrivals == 0 {
		return false
	}
	undisturbed := all.shed+all.own == 0
	for _, c := range o {
		v, _, _ := m.value(c.Metric)
		switch c.Metric {
		case errorShare:
			if late {
				v = float64(m.failed-min(m.timeouts, m.failed)) / float64(m.arrivals)
			}
		case achievedShare:
			if late {
				continue
			}
		case goodput:
			if late || !undisturbed {
				continue
			}
		default:
			if late {
				q, _ := quantileOf(c.Metric)
				v = min(v, m.beyond) - wrongBy(r, q)
			}
		}
		if !c.met(v) {
			return true
		}
	}
	return !late && !isStable(r)
}
