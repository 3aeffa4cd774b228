package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
)

// CSV writes a header and one row for each window: those of the run, then those
// of each stream. The column stream is empty in the rows of the run. A
// percentile without enough samples is an empty field.
func CSV(w io.Writer, r *Result) error {
	c := clean(*r)
	cw := csv.NewWriter(w)
	// A csv.Writer keeps its first error for Error, below.
	_ = cw.Write(newRow("", &Window{}).names)
	for i := range c.Windows {
		_ = cw.Write(newRow("", &c.Windows[i]).values)
	}
	for _, s := range c.Streams {
		for i := range s.Windows {
			_ = cw.Write(newRow(s.Name, &s.Windows[i]).values)
		}
	}
	cw.Flush()
	if err := cw.Error(); err != nil {
		return fmt.Errorf("report: csv: %w", err)
	}
	return nil
}

// row is one line of the table. Names and values are built together, so that a
// value cannot slip under another heading.
type row struct {
	names, values []string
}

func newRow(stream string, w *Window) *row {
	r := &row{}
	r.text("stream", stream)
	r.float("start_seconds", w.StartSeconds)
	r.float("length_seconds", w.LengthSeconds)
	r.uint("scheduled", w.Scheduled)
	r.uint("started", w.Started)
	r.counts("shed_", w.Shed.counts())
	r.uint("replies", w.Replies)
	r.counts("status_", w.Status.counts())
	r.uint("errors_total", w.Errors.Total)
	r.counts("errors_", w.Errors.counts())
	r.uint("unfinished", w.Unfinished)
	r.uint("inflight", w.Inflight)
	r.uint("connections", w.Connections)
	r.summary("latency_", &w.Latency)
	r.summary("service_", &w.Service)
	r.optional("lag_p99_seconds", w.Lag.P99)
	r.float("lag_max_seconds", w.Lag.Max)
	return r
}

func (r *row) text(name, value string) {
	r.names = append(r.names, name)
	r.values = append(r.values, value)
}

func (r *row) uint(name string, n uint64) { r.text(name, strconv.FormatUint(n, 10)) }

func (r *row) float(name string, f float64) { r.text(name, strconv.FormatFloat(f, 'f', -1, 64)) }

func (r *row) optional(name string, f *float64) {
	if f == nil {
		r.text(name, "")
		return
	}
	r.float(name, *f)
}

func (r *row) counts(prefix string, counts []count) {
	for _, c := range counts {
		r.uint(prefix+c.name, *c.n)
	}
}

func (r *row) summary(prefix string, s *Summary) {
	r.uint(prefix+"count", s.Count)
	r.float(prefix+"min_seconds", s.Min)
	r.float(prefix+"mean_seconds", s.Mean)
	r.float(prefix+"max_seconds", s.Max)
	r.float(prefix+"stddev_seconds", s.StdDev)
	r.optional(prefix+"p50_seconds", s.P50)
	r.optional(prefix+"p99_seconds", s.P99)
}
