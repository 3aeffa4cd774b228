package main

import (
	"fmt"

	"httpgen/internal/report"
)

// periodic gathers windows to a line a second, as --periodic-stats asks for. A
// window knows its replies by the class of their status, not by the status.
type periodic struct {
	due    float64 // end of the second under way, from the start of the run; 0 before the first window
	class2 uint64
	class3 uint64
}

// rounding is what sums of windows may be off by, in seconds.
const rounding = 1e-6

// add returns a line when w completes a second; windows longer than that give
// a line each.
func (p *periodic) add(w report.Window) (line string, complete bool) {
	if p.due == 0 {
		p.due = w.StartSeconds + 1
	}
	p.class2 += w.Status.Class2
	p.class3 += w.Status.Class3
	end := w.StartSeconds + w.LengthSeconds
	if end < p.due-rounding {
		return "", false
	}
	line = fmt.Sprintf("periodic: %.1f s, 2xx: %d, 3xx: %d", end, p.class2, p.class3)
	p.class2, p.class3 = 0, 0
	for p.due <= end+rounding {
		p.due++
	}
	return line, true
}
