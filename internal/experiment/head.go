package experiment

import (
	"math"
	"runtime"
	"time"

	"httpgen/internal/report"
	"httpgen/internal/run"
)

// A Head is what the results of all experiments begin with.
type Head struct {
	Schema  string         `json:"schema"`  // name and version of the form
	Tool    report.Tool    `json:"tool"`    // what measured
	Run     Run            `json:"run"`     // when, how long, how it ended
	Verdict report.Verdict `json:"verdict"` // may the answer be believed
}

// A Run tells when an experiment took place. It follows from its trials.
type Run struct {
	Argv         []string  `json:"argv"`          // command line with secret values replaced
	StartedAt    time.Time `json:"started_at"`    // of the first trial
	TotalSeconds float64   `json:"total_seconds"` // of all trials, pauses between them left out
	Complete     bool      `json:"complete"`      // every trial that was needed was run
}

func newHead(schema string, argv []string, trials []Trial, complete bool) Head {
	h := Head{
		Schema: schema,
		Tool:   report.Tool{Name: "httpgen", Version: run.Version, Go: runtime.Version(), OS: runtime.GOOS, CPUs: runtime.NumCPU()},
		Run:    Run{Argv: append([]string{}, report.Redact(argv)...), Complete: complete},
	}
	h.Verdict = report.Verdict{Status: report.Valid, Reasons: []report.Reason{}}
	for i := range trials {
		r := trials[i].Result
		if i == 0 {
			h.Tool, h.Run.StartedAt = r.Tool, r.Run.StartedAt
		}
		h.Run.TotalSeconds += r.Run.TotalSeconds + r.Config.WarmupSeconds
	}
	if !complete {
		h.doubt(report.Degraded, "stopped", "the experiment was stopped before its end: the answer is what was known then", float64(len(trials)), 0)
	}
	return h
}

// doubt adds a reason to believe less of the answer.
func (h *Head) doubt(status, code, message string, value, limit float64) {
	if h.Verdict.Status != report.Invalid {
		h.Verdict.Status = status
	}
	h.Verdict.Reasons = append(h.Verdict.Reasons, report.Reason{Code: code, Message: message, Value: value, Limit: limit})
}

// finite returns v for JSON, which has no infinity: null stands for that and for
// what is not known.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// list returns v, or an empty list instead of none.
func list[T any](v []T) []T {
	if v == nil {
		return []T{}
	}
	return v
}
