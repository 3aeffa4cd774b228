package report

import (
	"fmt"
	"strings"
)

// Line returns a finished window as one line for a terminal, without a line
// end. The time in front is the window's end. Target is the rate that the
// process had there, in arrivals per second; it is named where what fell due
// differs from it, and 0 means that there is none.
func Line(w Window, target float64) string {
	w = clean(w)
	rate := func(n uint64) string { return perSecond(Per(n, w.LengthSeconds)) }
	var b strings.Builder
	fmt.Fprintf(&b, "%5.1f s  offered %s", w.StartSeconds+w.LengthSeconds, rate(w.Scheduled))
	if asked := perSecond(target); target > 0 && asked != rate(w.Scheduled) {
		fmt.Fprintf(&b, " (target %s)", asked)
	}
	fmt.Fprintf(&b, "  started %s  replies %s", rate(w.Started), rate(w.Replies))
	fmt.Fprintf(&b, "  p50 %s  p99 %s", millis(w.Latency.P50), millis(w.Latency.P99))
	fmt.Fprintf(&b, "  errors %d  shed %d  in flight %d", w.Errors.Total, w.Shed.Total(), w.Inflight)
	fmt.Fprintf(&b, "  lag p99 %s", millis(w.Lag.P99))
	return b.String()
}

// perSecond prints a rate: whole from 10 on, with a decimal below.
func perSecond(rate float64) string {
	if rate > 0 && rate < 10 {
		return fmt.Sprintf("%.1f/s", rate)
	}
	return fmt.Sprintf("%.0f/s", rate)
}

func millis(seconds *float64) string {
	if seconds == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f ms", *seconds*1e3)
}
