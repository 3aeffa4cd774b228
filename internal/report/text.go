package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// ownBlock writes what httperf does not know.
func ownBlock(b *strings.Builder, r *Result) {
	b.WriteByte('\n')
	modelLines(b, r)
	percentileTable(b, &r.Times)
	delayLines(b, r)
	outcomeLines(b, r)
	for i := range r.Streams {
		b.WriteByte('\n')
		streamLines(b, &r.Streams[i], r.Run.TotalSeconds)
	}
	b.WriteByte('\n')
	verdictLines(b, &r.Verdict)
}

func modelLines(b *strings.Builder, r *Result) {
	c := &r.Config
	if r.Model == Closed {
		fmt.Fprintf(b, "Model: closed, %s, each waiting for its reply before the next call (not an open load)\n", plural(c.Closed, "caller"))
	} else {
		fmt.Fprintf(b, "Model: open, %.1f arrivals/s asked, %s", c.RatePerSecond, c.Process)
		if c.Closed > 0 {
			fmt.Fprintf(b, "; beside it closed, %s, each waiting for its reply before the next call", plural(c.Closed, "caller"))
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "Offered rate: %.1f arrivals/s, started %.1f arrivals/s, over %.3f s of sending; an arrival is %s\n",
		r.Rates.OfferedPerSecond, r.Rates.StartedPerSecond, r.Run.SendingSeconds, arrival(r))
	if s := &r.Rates.Replies; s.Samples > 0 {
		fmt.Fprintf(b, "Samples: %s of %.1f s; the reply rate's avg is their mean, its stddev has n-1\n", plural(int(s.Samples), "window"), s.WindowSeconds)
	} else {
		fmt.Fprintf(b, "Samples: none, no window of %.1f s was full\n", s.WindowSeconds)
	}
	if !r.Run.Complete {
		fmt.Fprintf(b, "Stopped: before the planned end (%s)\n", r.Run.StopReason)
	}
}

// arrival says what one arrival of the run is.
func arrival(r *Result) string {
	switch {
	case r.Sessions != nil:
		return "a session"
	case r.Config.KeepOpen:
		return "a call on a kept-open connection"
	case len(r.Streams) > 1 && r.Config.Connections+r.Config.Closed > 0:
		return "a new connection or a call on one that is kept open, as its client has it"
	case len(r.Streams) > 1 && r.Config.CallsPerConnection > 1:
		return fmt.Sprintf("a new connection with up to %s", plural(r.Config.CallsPerConnection, "call"))
	case r.Config.Connections > 0:
		return fmt.Sprintf("a call on a pool of %s", plural(r.Config.Connections, "connection"))
	default:
		return fmt.Sprintf("a new connection with %s", plural(r.Config.CallsPerConnection, "call"))
	}
}

// percentileTable prints latency, service and the latency over all arrivals
// side by side, and below it what a dash and a > mean.
func percentileTable(b *strings.Builder, t *Times) {
	fmt.Fprintf(b, "Percentiles [ms]: %14s %14s %14s\n", "latency", "service", "all started")
	latency, service, all := t.Latency.fields(), t.Service.fields(), t.All.fields()
	var missing []string
	var beyond bool
	for i, level := range levels {
		last := cell(*all[i])
		if t.All.beyond(level.q) {
			last, beyond = fmt.Sprintf("> %.3f", 1e3*t.All.BeyondSeconds), true
		}
		row := []string{cell(*latency[i]), cell(*service[i]), last}
		if slices.Contains(row, "-") {
			missing = append(missing, fmt.Sprintf("%s (%.0f wanted)", level.name, math.Ceil(wanted(level.q))))
		}
		fmt.Fprintf(b, "  %-15s %14s %14s %14s\n", level.name, row[0], row[1], row[2])
	}
	fmt.Fprintf(b, "  %-15s %14s %14s\n", "max", maxCell(&t.Latency), maxCell(&t.Service))
	b.WriteString("  latency counts from the intended start, service from the real one\n")
	if missing != nil {
		fmt.Fprintf(b, "  -: too few samples for %s; there are %d replies\n", strings.Join(missing, ", "), t.Latency.Count)
	}
	if beyond {
		fmt.Fprintf(b, "  >: among the %d of %d calls without a reply as expected; they count as later than all others, and none was followed for longer than that\n",
			t.All.Failed, t.All.Count)
	}
}

func cell(seconds *float64) string {
	if seconds == nil {
		return "-"
	}
	return fmt.Sprintf("%.3f", 1e3**seconds)
}

func maxCell(t *Timing) string {
	if t.Count == 0 {
		return "-"
	}
	return cell(&t.Max)
}

func delayLines(b *strings.Builder, r *Result) {
	t := &r.Times
	if r.Model == Closed {
		b.WriteString("Lag [ms]: p50 - p99 - max - (arrivals of a closed model cannot be late)\n")
	} else {
		fmt.Fprintf(b, "Lag [ms]: p50 %s p99 %s max %s (the generator's own delay)\n", cell(t.Lag.P50), cell(t.Lag.P99), maxCell(&t.Lag))
	}
	if t.Wait.Max > 0 {
		what := "behind others that were due at the same instant"
		if r.Config.Connections > 0 {
			what = "for a free connection of the pool"
		}
		fmt.Fprintf(b, "Wait [ms]: p50 %s p99 %s max %s (%s)\n", cell(t.Wait.P50), cell(t.Wait.P99), maxCell(&t.Wait), what)
	}
}

// outcomeLines tells what became of every arrival. Only what happened gets a line.
func outcomeLines(b *strings.Builder, r *Result) {
	t := &r.Totals
	a := &t.Arrivals
	fmt.Fprintf(b, "Arrivals: scheduled %d started %d (%d late) completed %d failed %d unfinished %d shed %d\n",
		a.Scheduled, a.Started, a.StartedLate, t.Completed, t.Errors.Total, t.Unfinished, a.Shed.Total())
	countLine(b, "Failed by reason", t.Errors.counts())
	if len(t.TLSFailures) > 0 {
		b.WriteString("TLS failures:")
		for _, reason := range slices.Sorted(maps.Keys(t.TLSFailures)) {
			fmt.Fprintf(b, " %s %d", reason, t.TLSFailures[reason])
		}
		b.WriteByte('\n')
	}
	countLine(b, "Shed by cause", a.Shed.counts())
	if t.LostCalls > 0 {
		fmt.Fprintf(b, "Lost calls: %d of %d (%d sent and not answered, %d not sent)\n", t.LostCalls, t.Calls.Planned, t.Calls.Unanswered, t.Calls.Unsent)
	}
	if t.Retries > 0 {
		fmt.Fprintf(b, "Retries: %d\n", t.Retries)
	}
	if t.Status.Class2 != t.Replies {
		codeLine(b, t.Codes)
	}
	if w := r.Warmup; w != nil {
		fmt.Fprintf(b, "Warm-up: the first %.1f s are left out above: scheduled %d started %d completed %d failed %d unfinished %d shed %d\n",
			r.Config.WarmupSeconds, w.Arrivals.Scheduled, w.Arrivals.Started, w.Completed, w.Errors.Total, w.Unfinished, w.Arrivals.Shed.Total())
	}
}

func countLine(b *strings.Builder, head string, counts []count) {
	if sum(counts) == 0 {
		return
	}
	b.WriteString(head + ":")
	for _, c := range counts {
		if *c.n > 0 {
			fmt.Fprintf(b, " %s %d", c.name, *c.n)
		}
	}
	b.WriteByte('\n')
}

func codeLine(b *strings.Builder, codes map[string]uint64) {
	b.WriteString("Replies by code:")
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		fmt.Fprintf(b, " %s=%d", code, codes[code])
	}
	b.WriteByte('\n')
}

// streamLines are indented, so that a script which looks for httperf's heads at
// the start of a line finds only those of the whole run.
func streamLines(b *strings.Builder, s *Stream, duration float64) {
	fmt.Fprintf(b, "Stream %s: %s, weight %g\n", oneLine(s.Name), oneLine(s.Target), s.Weight)
	b.WriteString("  ")
	totalLine(b, &s.Totals, duration)
	b.WriteString("  ")
	replyRateLine(b, &s.Rates.Replies)
	b.WriteString("  ")
	replyTimeLine(b, &s.Times)
	for _, reason := range s.Verdict.Reasons {
		fmt.Fprintf(b, "  %s: %s: %s\n", s.Verdict.Status, reason.Code, oneLine(reason.Message))
	}
}

// verdictLines come last: one for the verdict, one for each reason. A line that
// calls the verdict valid appears only where it is, also with streams.
func verdictLines(b *strings.Builder, v *Verdict) {
	fmt.Fprintf(b, "Verdict: %s\n", v.Status)
	for _, reason := range v.Reasons {
		fmt.Fprintf(b, "  %s: %s\n", reason.Code, oneLine(reason.Message))
	}
}

// oneLine replaces line ends, which would let a message pass for another line.
func oneLine(s string) string { return strings.Join(strings.FieldsFunc(s, isLineEnd), " ") }

func isLineEnd(r rune) bool { return r == '\n' || r == '\r' }

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
