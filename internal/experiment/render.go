package experiment

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"httpgen/internal/report"
)

// WriteJSON writes a result of an experiment as an indented JSON document.
func WriteJSON[T SweepResult | CompareResult | FairResult](w io.Writer, r *T) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return fmt.Errorf("experiment: json: %w", err)
	}
	return nil
}

// WriteCSV writes a header and a row for each trial; in one of several clients,
// a row for each of them. An infinite or unknown value is an empty field.
func WriteCSV(w io.Writer, trials []Trial) error {
	cw := csv.NewWriter(w)
	// A csv.Writer keeps its first error for Error, below.
	_ = cw.Write([]string{
		"id", "phase", "arm", "block", "client", "rate_per_second", "connections", "outcome", "reason",
		"scheduled", "started", "completed", "failed", "unfinished", "shed", "goodput_per_second",
		"p50_seconds", "p90_seconds", "p99_seconds", "target_cpu_seconds", "verdict",
	})
	for i := range trials {
		t := &trials[i]
		clients := []report.Stream{{Totals: t.Result.Totals, Times: t.Result.Times, Windows: t.Result.Windows, Verdict: t.Result.Verdict}}
		if len(t.Result.Streams) > 0 {
			clients = t.Result.Streams
		}
		for k := range clients {
			_ = cw.Write(csvRow(t, &clients[k]))
		}
	}
	cw.Flush()
	if err := cw.Error(); err != nil {
		return fmt.Errorf("experiment: csv: %w", err)
	}
	return nil
}

func csvRow(t *Trial, s *report.Stream) []string {
	count := func(n uint64) string { return strconv.FormatUint(n, 10) }
	float := func(v *float64) string {
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(*v, 'f', -1, 64)
	}
	a := &s.Totals.Arrivals
	good := report.Per(goodIn(s.Windows, 0, end(t.Result)), t.Result.Run.SendingSeconds)
	p := &s.Times.All
	return []string{
		strconv.Itoa(t.ID), t.Phase, t.Arm, strconv.Itoa(t.Block), s.Name, float(&t.RatePerSecond), strconv.Itoa(t.Connections), t.Outcome, t.Reason,
		count(a.Scheduled), count(a.Started), count(s.Totals.Completed), count(s.Totals.Errors.Total), count(s.Totals.Unfinished), count(a.Shed.Total()), float(&good),
		float(p.P50), float(p.P90), float(p.P99), float(t.TargetCPUSeconds), s.Verdict.Status,
	}
}

// A page collects the lines of a text.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) {
	p.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " ") + "\n")
}

func (p *page) writeTo(w io.Writer) error {
	if _, err := io.WriteString(w, p.String()); err != nil {
		return fmt.Errorf("experiment: text: %w", err)
	}
	return nil
}

// tail writes what all texts end with: how many trials there were and whether
// the answer may be believed.
func (h *Head) tail(p *page, trials int) {
	p.line("Trials: %d, %.1f s of sending and waiting", trials, h.Run.TotalSeconds)
	p.line("Verdict: %s", h.Verdict.Status)
	for _, r := range h.Verdict.Reasons {
		p.line("  %s: %s", r.Code, oneLine(r.Message))
	}
}

// oneLine replaces line ends, which would let a message pass for another line.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}

// cell prints a value times a scale, a dash when it is null.
func cell(v *float64, scale float64) string {
	if v == nil {
		return "-"
	}
	return short(*v * scale)
}

// short prints a number with four digits or, from 1000 on, all of its whole part.
func short(v float64) string {
	decimals := 3
	if a := math.Abs(v); a >= 1 {
		decimals = max(0, 3-int(math.Floor(math.Log10(a))))
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// percent prints a share.
func percent(v float64) string { return strconv.FormatFloat(100*v, 'g', 3, 64) + " %" }

// barWidth is the length of the longest bar of a plot, in characters.
const barWidth = 24

// bar draws a share of the longest bar; what is above 0 shows.
func bar(share float64) string {
	n := 0
	if share > 0 {
		n = min(barWidth, max(1, int(math.Round(share*barWidth))))
	}
	return "|" + strings.Repeat("#", n) + strings.Repeat(" ", barWidth-n) + "|"
}

// logBar draws a value between the smallest and the largest of a plot on a
// logarithmic scale. An infinite one, nil, runs over the edge.
func logBar(v *float64, low, high float64) string {
	if v == nil {
		return "|" + strings.Repeat("#", barWidth) + ">"
	}
	if high <= low {
		return bar(0.5)
	}
	// The smallest has a bar too.
	return bar(0.05 + 0.95*math.Log(*v/low)/math.Log(high/low))
}
