package report

import "math"

// Rates are events per second.
type Rates struct {
	OfferedPerSecond     float64 `json:"offered_per_second"`     // arrivals due, over the sending time
	StartedPerSecond     float64 `json:"started_per_second"`     // arrivals started, over the sending time
	ConnectionsPerSecond float64 `json:"connections_per_second"` // connections attempted, over the total time
	RequestsPerSecond    float64 `json:"requests_per_second"`    // requests sent, over the total time
	Replies              Samples `json:"replies"`                // replies per second, from one sample a window
}

// Per returns n events over a time in seconds as a rate; 0 over no time.
func Per(n uint64, seconds float64) float64 { return ratio(float64(n), seconds) }

// ratio returns a/b, and 0 where there is nothing to divide by.
func ratio(a, b float64) float64 {
	if b <= 0 {
		return 0
	}
	return a / b
}

// Samples summarises a rate that was sampled once a window.
type Samples struct {
	Min           float64 `json:"min"`            // lowest sample; 0 without any
	Avg           float64 `json:"avg"`            // mean of the samples
	Max           float64 `json:"max"`            // highest sample
	StdDev        float64 `json:"stddev"`         // with n-1; 0 below two samples
	Samples       uint64  `json:"samples"`        // full windows
	WindowSeconds float64 `json:"window_seconds"` // length of each
}

// NewSamples summarises rates, one for each window of that many seconds.
func NewSamples(rates []float64, window float64) Samples {
	s := Samples{Samples: uint64(len(rates)), WindowSeconds: window}
	if len(rates) == 0 {
		return s
	}
	s.Min, s.Max = math.Inf(1), math.Inf(-1)
	for _, r := range rates {
		s.Min, s.Max = min(s.Min, r), max(s.Max, r)
		s.Avg += r / float64(len(rates))
	}
	var squares float64
	for _, r := range rates {
		squares += (r - s.Avg) * (r - s.Avg)
	}
	s.StdDev = math.Sqrt(ratio(squares, float64(len(rates)-1)))
	return s
}

// Sessions counts the sessions of a session workload.
type Sessions struct {
	OK                    uint64   `json:"ok"`                      // ended well
	Total                 uint64   `json:"total"`                   // ended
	PerSecond             float64  `json:"per_second"`              // that ended well, over the total time: httperf's average
	Rate                  Samples  `json:"rate"`                    // sessions that ended well per second, from one sample a window
	ConnectionsPerSession float64  `json:"connections_per_session"` // mean, of sessions that ended well
	LifetimeSeconds       float64  `json:"lifetime_seconds"`        // mean, of sessions that ended well
	FailtimeSeconds       float64  `json:"failtime_seconds"`        // mean, of sessions that failed
	LengthHistogram       []uint64 `json:"length_histogram"`        // sessions with 0, 1, 2 ... replies, well ended or not
}
