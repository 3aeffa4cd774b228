package report

// Window is one interval of a run. A reply belongs to the window in which it
// was complete, an error to the one in which it was noticed.
type Window struct {
	StartSeconds  float64   `json:"start_seconds"`  // offset from the start of the run
	LengthSeconds float64   `json:"length_seconds"` // the last one of a run may be shorter
	Scheduled     uint64    `json:"scheduled"`      // arrivals due
	Started       uint64    `json:"started"`        // arrivals begun
	Shed          Shed      `json:"shed"`           // arrivals deliberately not begun
	Replies       uint64    `json:"replies"`        // complete replies
	Status        Status    `json:"status"`         // replies by class of their status
	Errors        Errors    `json:"errors"`         // failed arrivals by reason
	Unfinished    uint64    `json:"unfinished"`     // arrivals given up in it because the drain ended
	Inflight      uint64    `json:"inflight"`       // arrivals open at its end
	Connections   uint64    `json:"connections"`    // connections open at its end
	Latency       Summary   `json:"latency"`        // from the intended start, in seconds
	Service       Summary   `json:"service"`        // from the real start, in seconds
	Lag           WindowLag `json:"lag"`            // the generator's own delay, in seconds
}

// WindowLag is the generator's own delay in a window, in seconds.
type WindowLag struct {
	P99 *float64 `json:"p99"` // null with too few arrivals
	Max float64  `json:"max"` // 0 without arrivals
}
