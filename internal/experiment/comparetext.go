package experiment

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// Text writes the result for people: the arms, each effect with its interval, and
// last the verdict.
func (r *CompareResult) Text(w io.Writer) error {
	p := &page{}
	load := short(r.Plan.RatePerSecond) + " arrivals/s"
	if r.Plan.Closed > 0 {
		load = fmt.Sprintf("%d callers (closed model, not an open load)", r.Plan.Closed)
	}
	if r.Plan.Unpaired {
		p.line("Compare by %s against %s: %d arms of results that were measured apart (unpaired)", r.Metric, r.Baseline, len(r.Arms))
	} else {
		p.line("Compare by %s against %s: %d blocks of %d arms at %s, %s s a trial", r.Metric, r.Baseline, len(r.Blocks), len(r.Arms), load, short(r.Plan.TrialSeconds))
	}
	p.WriteByte('\n')
	p.line("%-20s %12s %12s %12s %12s %10s %12s", "medians of trials", "p50 [ms]", "p90 [ms]", "p99 [ms]", "good [1/s]", "errors", "cpu [us]")
	for i := range r.Arms {
		a := &r.Arms[i]
		errors := "-"
		if v := a.Errors.Median; v != nil {
			errors = percent(*v)
		}
		p.line("%-20s %12s %12s %12s %12s %10s %12s", a.Name, cell(a.P50.Median, 1e3), cell(a.P90.Median, 1e3), cell(a.P99.Median, 1e3),
			cell(a.Goodput.Median, 1), errors, cell(a.CPU.Median, 1e6))
	}
	metric := ""
	for i := range r.Effects {
		e := &r.Effects[i]
		if e.Metric != metric {
			metric = e.Metric
			r.effectsHead(p, e)
		}
		p.line("  %-18s %-9s x %s [%s, %s]  %s  p %.3g  %s", e.Arm, e.Decision, cell(e.Ratio, 1), cell(e.Low, 1), cell(e.High, 1), e.plot(), e.PHolm, e.conclusion())
	}
	if len(r.Effects) == 0 {
		p.WriteByte('\n')
		p.line("No block counts: there is no answer.")
	}
	p.WriteByte('\n')
	if r.Same != nil {
		p.line("All arms the same within %s: %s; furthest are %s and %s", percent(r.Same.Margin), shown(&r.Same.Equivalence), r.Same.A, r.Same.B)
	}
	if r.Trend != nil {
		p.line("Trend of %s along the arms: Page's L %s, %s without one, p %.3g", r.Metric, short(r.Trend.Statistic), short(r.Trend.Expected), r.Trend.P)
	}
	if gate := r.Gate(); gate != "" {
		p.line("Limit of %s for the worse: %s", percent(r.Plan.Allow), gate)
	}
	r.tail(p, len(r.Trials))
	return p.writeTo(w)
}

func (r *CompareResult) effectsHead(p *page, e *Effect) {
	kind := "exploratory: not decided on"
	if e.Primary {
		kind = "decided on"
	}
	p.WriteByte('\n')
	p.line("%s (%s), ratio to %s with its interval at %g %%; p after Holm", e.Metric, kind, r.Baseline, 100*e.Level)
	res := r.Resolution[e.Metric]
	if r.Plan.Unpaired {
		return
	}
	if res.HalfWidth == nil {
		p.line("  resolution: none, too few blocks")
		return
	}
	if *res.HalfWidth == 0 {
		p.line("  resolution: not known, most blocks do not differ at all")
		return
	}
	p.line("  resolution (from %s): +- %s; the smallest change found in 80 %% of the cases is %s, one of 10 %% is found in %s",
		res.From, percent(*res.HalfWidth), optionalPercent(res.Detectable), percent(res.Power))
}

func optionalPercent(v *float64) string {
	if v == nil {
		return "unknown"
	}
	return percent(*v)
}

// conclusion adds what was asked beside the decision.
func (e *Effect) conclusion() string {
	var items []string
	if e.Equivalence != nil {
		items = append(items, fmt.Sprintf("the same within %s: %s", percent(e.Equivalence.Margin), shown(e.Equivalence)))
	}
	if e.Gate != "" {
		items = append(items, "limit "+e.Gate)
	}
	return strings.Join(items, "; ")
}

func shown(q *Equivalence) string {
	switch {
	case q.Shown:
		return "shown"
	case q.BlocksNeeded > 0:
		return fmt.Sprintf("not shown, only within %s; %d blocks would show it", optionalPercent(q.Resolution), q.BlocksNeeded)
	}
	return fmt.Sprintf("not shown, only within %s", optionalPercent(q.Resolution))
}

// plot draws the interval of the ratio from a half to the double, logarithmic; a
// colon is no difference.
func (e *Effect) plot() string {
	const half = barWidth / 2
	line := []byte(strings.Repeat(" ", half) + ":" + strings.Repeat(" ", half))
	if e.Low == nil || e.Ratio == nil || *e.Low <= 0 || *e.Ratio <= 0 {
		return "|" + string(line) + "|"
	}
	at := func(v float64) int {
		return half + int(math.Round(min(1, max(-1, math.Log2(v)))*half))
	}
	high := math.Inf(1)
	if e.High != nil {
		high = *e.High
	}
	for i := at(*e.Low); i <= at(high); i++ {
		line[i] = '-'
	}
	line[at(*e.Ratio)] = 'o'
	return "|" + string(line) + "|"
}
