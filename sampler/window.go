package sampler

import "time"

// A Summary describes the values of one window.
type Summary struct {
	Count  uint64
	Min    time.Duration
	Max    time.Duration
	Mean   float64 // seconds
	Stddev float64 // seconds
	P50    time.Duration
	P99    time.Duration
}

func summarize(d *Dist) Summary {
	return Summary{d.n, d.min, d.max, d.Mean(), d.Stddev(), d.Quantile(.5), d.Quantile(.99)}
}

// A Window is one base interval of a run. Scheduled and Shed count arrivals
// intended within it, everything else what happened within it.
type Window struct {
	Index       int           // 0 begins where the warm-up ends; negative during it
	Start       time.Duration // offset from the start of the run
	Length      time.Duration
	Scheduled   uint64
	Shed        [NumCauses]uint64
	Started     uint64
	Replies     uint64
	Good        uint64    // arrivals that ended well
	Status      [6]uint64 // by the code's first digit, [0] others
	Errors      [NumClasses]uint64
	Unfinished  uint64
	Inflight    int // arrivals open at the end of the window
	Connections int // connections open at the end of the window
	Latency     Summary
	Service     Summary
	Lag         Summary
	Busy        float64 // share of a core that the busiest loop worked
}

// Warmup says whether the window lies in the warm-up.
func (w *Window) Warmup() bool { return w.Index < 0 }

// WindowSet is one base interval: the whole run, and each stream.
type WindowSet struct {
	All     Window
	Streams []Window // empty when there is only one stream
	Sample  *Window  // with the last interval of Options.Merge ones, or of the run: all of them together
}
