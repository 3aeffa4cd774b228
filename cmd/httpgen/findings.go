package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"httpgen/internal/experiment"
	"httpgen/internal/report"
)

// Findings are what came of an experiment.
type findings struct {
	verdict string
	trials  []experiment.Trial
	forms   map[string]func(io.Writer) error // by the formats of answerOutput
	broken  bool                             // a threshold failed
}

// newFindings returns the findings that a result is.
func newFindings[T experiment.SweepResult | experiment.CompareResult | experiment.FairResult](r *T, text func(io.Writer) error, h *experiment.Head, trials []experiment.Trial) *findings {
	return &findings{verdict: h.Verdict.Status, trials: trials, forms: map[string]func(io.Writer) error{
		"text": text,
		"json": func(w io.Writer) error { return experiment.WriteJSON(w, r) },
		"csv":  func(w io.Writer) error { return experiment.WriteCSV(w, trials) },
	}}
}

// silent says whether arrivals were started and there was no reply at all.
func (f *findings) silent() bool {
	var started, replies uint64
	for i := range f.trials {
		t := &f.trials[i].Result.Totals
		started += t.Arrivals.Started
		replies += t.Replies
	}
	return started > 0 && replies == 0
}

// code returns the exit code of the experiment, which s ended; nil when no signal
// did.
func (f *findings) code(s os.Signal) int {
	switch {
	case s != nil:
		return signalCode(s)
	case f.verdict == report.Invalid:
		return exitInvalid
	case f.broken:
		return exitThreshold
	case f.silent():
		return exitSilent
	}
	return exitOK
}

// answerOutput is one -o of an experiment.
type answerOutput struct{ output }

func (o *answerOutput) UnmarshalText(b []byte) error {
	format, file, named := strings.Cut(string(b), "=")
	switch {
	case format != "text" && format != "json" && format != "csv":
		return fmt.Errorf("%q: want text, json or csv, and =FILE for a file", b)
	case named && file == "":
		return fmt.Errorf("%q: the name of the file is empty", b)
	}
	o.output = output{format, file}
	return nil
}
