package experiment

import (
	"fmt"
	"io"
)

// Text writes the result for people: httperf's lines for each client, shares
// against what is due, the answer, and last the verdict.
func (r *FairResult) Text(w io.Writer) error {
	p := &page{}
	run := &r.Trials[0].Result.Run
	for i := range r.Clients {
		c := &r.Clients[i]
		from := ""
		if c.Source != "" {
			from = " from " + c.Source
		}
		p.line("Client %s: %s%s, weight %g", c.Name, c.Target, from, c.Weight)
		t, s := &c.Totals, &c.Rates.Replies
		p.line("Total: connections %d requests %d replies %d test-duration %.3f s", t.Connections.Attempted, t.Requests, t.Replies, run.TotalSeconds)
		p.line("Reply rate [replies/s]: min %.1f avg %.1f max %.1f stddev %.1f (%d samples)", s.Min, s.Avg, s.Max, s.StdDev, s.Samples)
		p.line("Reply time [ms]: response %.1f transfer %.1f", 1e3*c.Times.FirstByte.Mean, 1e3*c.Times.Transfer.Mean)
		p.WriteByte('\n')
	}
	p.line("Shares of good replies from %.4g s to %.4g s", r.Measured.StartSeconds, r.Measured.EndSeconds)
	p.line("%-12s %8s %12s %12s %10s %10s  %-*s %10s %8s", "client", "weight", "offered [/s]", "good [/s]", "share", "due", barWidth+2, "", "of due", "refused")
	for i := range r.Clients {
		c := &r.Clients[i]
		p.line("%-12s %8g %12s %12s %10s %10s  %s %10s %8s", c.Name, c.Weight, short(c.OfferedPerSecond), short(c.GoodputPerSecond),
			percent(c.Share), percent(c.DueShare), bar(c.Share), short(c.RatioToDue), percent(c.RefusedShare))
	}
	p.WriteByte('\n')
	p.line("Fairness: %s: %s", r.Decision, r.Reason)
	p.line("  largest share error %s, limit %s; %d blocks amount to %s independent ones of %d", percent(r.MaxShareError), percent(r.Plan.Margin), r.Blocks, short(r.Effective), r.BlockLength)
	for i := range r.Clients {
		if c := &r.Clients[i]; c.Low != nil && c.High != nil {
			p.line("  client %s: share error %s [%s, %s]", c.Name, percent(c.ShareError), percent(*c.Low), percent(*c.High))
		}
	}
	index := ""
	if r.Jain.Low != nil && r.Jain.High != nil {
		index = fmt.Sprintf(" [%s, %s]", short(*r.Jain.Low), short(*r.Jain.High))
	}
	p.line("  Jain's index of the ratios to due: %s%s; worst block %s, above %s in 95 %% of the cases if fair on average", short(r.Jain.Overall), index, short(r.Jain.WorstWindow), short(r.Jain.WorstExpected))
	p.line("  smallest ratio to due over the largest: %s; largest latency over the smallest: p50 %s, p99 %s", short(r.MinMaxRatio), cell(r.LatencyRatio50, 1), cell(r.LatencyRatio99, 1))
	for i := range r.Clients {
		if c := &r.Clients[i]; c.StarvedSeconds > 0 {
			p.line("  client %s: up to %s s without a good reply", c.Name, short(c.StarvedSeconds))
		}
	}
	for _, c := range r.Convergence {
		if c.Seconds == nil {
			p.line("  %s at %g s: shares did not settle", c.Event, c.AtSeconds)
			continue
		}
		p.line("  %s at %g s: shares settled after %s s", c.Event, c.AtSeconds, short(*c.Seconds))
	}
	for i := range r.Clients {
		if c := &r.Clients[i]; c.Alone != nil {
			p.line("  client %s alone: %s/s, p50 %s ms, p99 %s ms; together %s, p50 %s ms, p99 %s ms", c.Name, short(c.Alone.GoodputPerSecond), cell(c.Alone.P50, 1e3), cell(c.Alone.P99, 1e3),
				short(c.GoodputPerSecond)+"/s", cell(c.Times.Latency.P50, 1e3), cell(c.Times.Latency.P99, 1e3))
		}
	}
	r.tail(p, len(r.Trials))
	return p.writeTo(w)
}
