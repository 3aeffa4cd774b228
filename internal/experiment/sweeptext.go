package experiment

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// Text writes the result for people: a plot of the rungs, the answer, what it
// rests on, and last the verdict.
func (r *SweepResult) Text(w io.Writer) error {
	p := &page{}
	p.line("Sweep by %s: %s; the number of open calls must not grow", r.Plan.By, Objective(r.Objective))
	p.WriteByte('\n')
	r.plot(p)
	p.WriteByte('\n')
	r.answer(p)
	r.knees(p)
	r.law(p)
	r.overload(p)
	r.tail(p, len(r.Trials))
	return p.writeTo(w)
}

// load prints the load of a rung.
func (r *SweepResult) load(rung *Rung) string {
	if r.Plan.By == "connections" {
		return fmt.Sprint(rung.Connections)
	}
	return short(rung.RatePerSecond)
}

// plot draws good replies and p99 over the rungs.
func (r *SweepResult) plot(p *page) {
	if len(r.Rungs) == 0 {
		p.line("No trial has come to its end.")
		return
	}
	most, low, high := 0.0, math.Inf(1), 0.0
	for i := range r.Rungs {
		most = max(most, r.Rungs[i].GoodPerSecond)
		if v := r.Rungs[i].P99; v != nil && *v > 0 {
			low, high = min(low, *v), max(high, *v)
		}
	}
	head := "rate [1/s]"
	if r.Plan.By == "connections" {
		head = "connections"
	}
	p.line("%11s  %-17s %6s  %10s %-*s  %10s", head, "outcome", "trials", "good [1/s]", barWidth+2, "", "p99 [ms]")
	for i := range r.Rungs {
		rung := &r.Rungs[i]
		if len(rung.Evidence) == 0 {
			p.line("%11s  %-17s %6d", r.load(rung), rung.Outcome, len(rung.TrialIDs))
			continue
		}
		share := 0.0
		if most > 0 {
			share = rung.GoodPerSecond / most
		}
		p.line("%11s  %-17s %6d  %10s %s  %10s %s", r.load(rung), rung.Outcome, len(rung.TrialIDs),
			short(rung.GoodPerSecond), bar(share), cell(rung.P99, 1e3), logBar(rung.P99, low, high))
	}
	p.line("  good: linear; p99: logarithmic, of all calls, those without a good reply infinitely late")
}

// answer writes the capacity.
func (r *SweepResult) answer(p *page) {
	c := &r.Capacity
	lower := short(c.LowerPerSecond) + "/s"
	upper := cell(c.UpperPerSecond, 1) + "/s"
	if r.Plan.By == "connections" {
		lower = fmt.Sprintf("%d connections (%s)", c.LowerConnections, lower)
		upper = fmt.Sprintf("%d connections (%s)", c.UpperConnections, upper)
	}
	switch {
	case c.LowerPerSecond == 0 && c.UpperPerSecond == nil:
		p.line("Capacity: %s", c.Status)
	case c.UpperPerSecond == nil:
		p.line("Capacity: %s: at least %s", c.Status, lower)
	case c.LowerPerSecond == 0:
		p.line("Capacity: %s: missed at %s", c.Status, upper)
	default:
		p.line("Capacity: %s: met at %s, missed at %s (width %s, %s asked)", c.Status, lower, upper, percent(c.Width), percent(r.Plan.Width))
	}
	if c.Reason != "" {
		p.line("  %s", c.Reason)
	}
	if c.BoundBy != "" {
		p.line("  bound by: %s", strings.ReplaceAll(c.BoundBy, ",", ", "))
	}
	for i := range r.Rungs {
		rung := &r.Rungs[i]
		switch {
		case c.LowerPerSecond > 0 && rung.RatePerSecond == c.LowerPerSecond && rung.Connections == c.LowerConnections,
			c.UpperPerSecond != nil && rung.RatePerSecond == *c.UpperPerSecond && rung.Connections == c.UpperConnections:
			r.evidence(p, rung)
		}
	}
	if c.RecommendedPerSecond > 0 {
		p.line("Operating point: %s/s, 70 %% of the lower end", short(c.RecommendedPerSecond))
	}
	r.sides(p)
}

// evidence writes the metrics of a rung beside their limits.
func (r *SweepResult) evidence(p *page, rung *Rung) {
	var items []string
	for _, c := range r.Objective {
		e, ok := rung.Evidence[c.Metric]
		if !ok {
			continue
		}
		value := math.Inf(1)
		if e.Value != nil {
			value = *e.Value
		}
		s := fmt.Sprintf("%s %s", c.Metric, c.figure(value))
		if e.Low != nil {
			high := math.Inf(1)
			if e.High != nil {
				high = *e.High
			}
			s += fmt.Sprintf(" [%s, %s]", c.figure(*e.Low), c.figure(high))
		}
		items = append(items, s)
	}
	if !rung.Stable {
		items = append(items, "open calls grew")
	}
	what := "/s"
	if r.Plan.By == "connections" {
		what = " connections"
	}
	p.line("  at %s%s: %s", r.load(rung), what, strings.Join(items, ", "))
}

// sides says where and on whose side calls failed.
func (r *SweepResult) sides(p *page) {
	for i := range r.Rungs {
		rung := &r.Rungs[i]
		if len(rung.Failures) == 0 {
			continue
		}
		var items []string
		for _, f := range rung.Failures {
			items = append(items, fmt.Sprintf("%s %d (%s)", f.Reason, f.Count, f.Side))
		}
		p.line("Failures at %s: %s", r.load(rung), strings.Join(items, ", "))
		if s := r.counted(rung); s != "" {
			p.line("  the system counted: %s", s)
		}
	}
}

// counted adds up what the system counted in the trials of a rung.
func (r *SweepResult) counted(rung *Rung) string {
	var c Counters
	for _, id := range rung.TrialIDs {
		if id < 1 || id > len(r.Trials) || r.Trials[id-1].Counters == nil {
			continue
		}
		t := r.Trials[id-1].Counters
		c.ListenOverflows += t.ListenOverflows
		c.ListenDrops += t.ListenDrops
		c.TCPAborts += t.TCPAborts
		c.RetransmittedSegs += t.RetransmittedSegs
		c.SYNRetransmits += t.SYNRetransmits
		c.TimeWaitOverflows += t.TimeWaitOverflows
	}
	var items []string
	for _, f := range []struct {
		name string
		n    uint64
	}{
		{"accept queue overflows", c.ListenOverflows}, {"listen drops", c.ListenDrops}, {"resets", c.TCPAborts},
		{"retransmitted segments", c.RetransmittedSegs}, {"retransmitted SYNs", c.SYNRetransmits}, {"TIME_WAIT overflows", c.TimeWaitOverflows},
	} {
		if f.n > 0 {
			items = append(items, fmt.Sprintf("%s %d", f.name, f.n))
		}
	}
	return strings.Join(items, ", ")
}

func (r *SweepResult) knees(p *page) {
	for _, k := range []struct {
		name string
		knee *Knee
	}{{"efficiency", &r.Knee.Efficiency}, {"two segments", &r.Knee.TwoSegment}, {"Kneedle", &r.Knee.Kneedle}} {
		if k.knee.RatePerSecond == nil {
			p.line("Knee by %s: none: %s", k.name, k.knee.Why)
			continue
		}
		p.line("Knee by %s: %s [%s, %s]", k.name, cell(k.knee.RatePerSecond, 1), cell(k.knee.Low, 1), cell(k.knee.High, 1))
	}
	if r.Knee.Agree {
		p.line("  they agree")
	}
}

func (r *SweepResult) law(p *page) {
	if r.USL.Withheld != "" {
		p.line("Scalability law: withheld: %s", r.USL.Withheld)
		return
	}
	p.line("Scalability law: highest throughput with %s calls at once [%s, %s]; sigma %s, kappa %s, R2 %s",
		cell(r.USL.Peak.Value, 1), cell(r.USL.Peak.Low, 1), cell(r.USL.Peak.High, 1), cell(r.USL.Sigma.Value, 1), cell(r.USL.Kappa.Value, 1), short(r.USL.R2))
}

func (r *SweepResult) overload(p *page) {
	o := r.Overload
	if o == nil {
		return
	}
	p.line("Overload up to %gx: best step %s/s, at twice the capacity %s of it", r.Plan.Beyond, short(o.PeakGoodputPerSecond), percent(o.KeptAt2x))
	for _, h := range o.Hysteresis {
		p.line("  at %gx: up %s/s, down %s/s, difference %s of the best", h.Multiple, short(h.Up), short(h.Down), percent(h.Difference))
	}
	for _, c := range []struct {
		from string
		v    *float64
	}{{"to the capacity", o.RecoveryAt1xSeconds}, {"below the capacity", o.RecoverySeconds}} {
		if c.v == nil {
			p.line("  after the load fell %s: not recovered before the end", c.from)
			continue
		}
		p.line("  after the load fell %s: recovered in %s s", c.from, short(*c.v))
	}
}
