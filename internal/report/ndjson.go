package report

import (
	"fmt"
	"io"
)

// NDJSON writes a run as it goes, one JSON object a line: a line for each
// window and at last one for the result. It must not be used by several
// goroutines at once.
type NDJSON struct {
	w   io.Writer
	run string
}

// NewNDJSON returns a writer of the run with that ID. Every line is one Write.
func NewNDJSON(w io.Writer, run string) *NDJSON { return &NDJSON{w: w, run: run} }

// windowLine is a line for a window.
type windowLine struct {
	Type   string `json:"type"`   // "window"
	Run    string `json:"run"`    // ID of the run
	Stream string `json:"stream"` // name of the client; empty for the whole run
	Window
}

// resultLine is the last line. The windows have been written before it.
type resultLine struct {
	Type    string  `json:"type"`    // "result"
	Run     string  `json:"run"`     // ID of the run
	Totals  Totals  `json:"totals"`  // of the run, without the warm-up
	Verdict Verdict `json:"verdict"` // of the run
}

// Window writes a finished window of a stream; an empty name means the whole run.
func (n *NDJSON) Window(stream string, w Window) error {
	return n.line(clean(windowLine{"window", n.run, stream, w}))
}

// Result writes the last line: the totals and the verdict.
func (n *NDJSON) Result(r *Result) error {
	return n.line(clean(resultLine{"result", n.run, r.Totals, r.Verdict}))
}

func (n *NDJSON) line(v any) error {
	b, err := marshal(v)
	if err == nil {
		_, err = n.w.Write(append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("report: ndjson: %w", err)
	}
	return nil
}
