package experiment

import (
	"fmt"
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"

	"httpgen/internal/experiment/stat"
	"httpgen/internal/report"
)

// A measure is what one trial, or the trials of one rung, measured.
type measure struct {
	arrivals uint64 // scheduled
	good     uint64 // arrivals with good replies
	failed   uint64 // arrivals that failed or did not end
	own      uint64 // those of them that the generator's limits made fail
	timeouts uint64 // those of them that took too long
	shed     uint64 // arrivals that were not started

	calls uint64 // planned, those of shed arrivals included
	late  uint64 // calls without a good reply: later than all others
	odd   uint64 // replies in latency that were not as expected

	latency *hdrhistogram.Histogram // of replies, in nanoseconds; nil without any
	longest float64                 // of latency, in seconds
	beyond  float64                 // the longest that a call was followed, in seconds

	seconds float64 // of sending
	replies uint64  // good ones in windows of that time
}

// newMeasure adds up results.
func newMeasure(results ...*report.Result) (*measure, error) {
	m := &measure{}
	for _, r := range results {
		if err := m.add(r); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *measure) add(r *report.Result) error {
	t := &r.Totals
	a, e, all := &t.Arrivals, &t.Errors, &r.Times.All
	shed := a.Shed.Total()
	m.arrivals += a.Scheduled
	m.good += t.Completed
	m.failed += e.Total + t.Unfinished
	m.own += ownFailures(e)
	m.timeouts += e.ConnectTimeout + e.SendTimeout + e.ReplyTimeout + e.Deadline + t.Unfinished
	m.shed += shed

	// Arrivals that were not started had as many calls to make as the others.
	lost := shed * uint64(max(1, r.Config.CallsPerConnection))
	replied := all.Count - min(all.Failed, all.Count)
	m.calls += all.Count + lost
	m.late += min(all.Failed, all.Count) + lost
	m.odd += r.Times.Latency.Count - min(replied, r.Times.Latency.Count)
	m.longest = max(m.longest, r.Times.Latency.Max)
	m.beyond = max(m.beyond, all.BeyondSeconds)
	if text := r.Times.Latency.HDR; text != "" {
		h, err := hdrhistogram.Decode([]byte(text))
		if err != nil {
			return fmt.Errorf("experiment: run %s: latency histogram: %w", r.Run.ID, err)
		}
		if m.latency == nil {
			m.latency = h
		} else if dropped := m.latency.Merge(h); dropped > 0 {
			return fmt.Errorf("experiment: run %s: %d latencies do not fit the histogram of another run", r.Run.ID, dropped)
		}
	}
	m.seconds += r.Run.SendingSeconds
	m.replies += goodIn(r.Windows, 0, end(r))
	return nil
}

// end returns when sending ended, on the clock of the windows.
func end(r *report.Result) float64 { return r.Config.WarmupSeconds + r.Run.SendingSeconds }

// edge is how far sums of the lengths of windows may be off by rounding, in
// seconds.
const edge = 1e-6

// goodIn returns the good replies of the windows that lie between two offsets.
func goodIn(windows []report.Window, from, to float64) (n uint64) {
	for i := range windows {
		if w := &windows[i]; w.StartSeconds >= from-edge && w.StartSeconds+w.LengthSeconds <= to+edge {
			n += goodReplies(w)
		}
	}
	return n
}

func goodReplies(w *report.Window) uint64 {
	return w.Replies - min(w.Errors.UnexpectedStatus, w.Replies)
}

// ownFailures counts arrivals that failed because the generator was at its
// limit.
func ownFailures(e *report.Errors) uint64 {
	return e.FDUnavailable + e.FileTableFull + e.AddressUnavailable
}

// without returns the measure as it is without the arrivals that the generator
// shed or made fail.
func (m *measure) without(callsPerArrival int) *measure {
	c := *m
	c.arrivals -= min(c.arrivals, c.shed+c.own)
	c.failed -= min(c.failed, c.own)
	lost := (c.shed + c.own) * uint64(max(1, callsPerArrival))
	c.calls -= min(c.calls, lost)
	c.late -= min(c.late, lost)
	c.shed, c.own = 0, 0
	return &c
}

// at returns the latency of a rank, from 1, among all calls.
func (m *measure) at(rank uint64) float64 {
	if rank > m.calls-min(m.late, m.calls) {
		return math.Inf(1)
	}
	if m.latency == nil {
		return math.NaN()
	}
	// Replies that were not as expected are in the histogram and count as late.
	// They may have been the fastest, so that many ranks lie before.
	rank += m.odd
	n := uint64(m.latency.TotalCount())
	if rank >= n {
		return m.longest
	}
	return min(m.longest, float64(m.latency.ValueAtPercentile(100*(float64(rank)-0.25)/float64(n)))/1e9)
}

// quantile returns the nearest-rank quantile of the latency of all calls, in
// seconds: infinite where it falls among those without a good reply, NaN
// without calls.
func (m *measure) quantile(q float64) float64 {
	if m.calls == 0 {
		return math.NaN()
	}
	return m.at(max(1, uint64(math.Ceil(q*float64(m.calls)-1e-6))))
}

// value returns the value of a metric with its interval at 95 %; the interval's
// ends are NaN where there is none.
func (m *measure) value(metric string) (v, low, high float64) {
	nan := math.NaN()
	switch metric {
	case errorShare:
		return proportion(m.failed, m.arrivals)
	case achievedShare:
		return proportion(m.good, m.arrivals)
	case goodput:
		return report.Per(m.replies, m.seconds), nan, nan
	}
	q, ok := quantileOf(metric)
	if !ok {
		return nan, nan, nan
	}
	low, high = nan, nan
	if a, b, ok, err := stat.QuantileRanks(int(m.calls), q, 0.95); err == nil && ok {
		low, high = m.at(uint64(a)), m.at(uint64(b))
	}
	return m.quantile(q), low, high
}

func proportion(k, n uint64) (v, low, high float64) {
	low, high, err := stat.Proportion(int(k), int(n), 0.95)
	if err != nil {
		return math.NaN(), math.NaN(), math.NaN()
	}
	return float64(k) / float64(n), low, high
}

// isStable says whether the number of open calls stayed where it was. A closed
// model cannot grow it.
func isStable(r *report.Result) bool {
	if r.Model == report.Closed {
		return true
	}
	first, last := r.Config.WarmupSeconds, end(r)
	return stat.Stable(openAt(r.Windows, first+(last-first)/4), openAt(r.Windows, last), int(r.Totals.Arrivals.Scheduled))
}

// openAt returns the arrivals open at the end of the window that ends closest
// before an offset, or of the first one.
func openAt(windows []report.Window, at float64) (open int) {
	for i := range windows {
		if w := &windows[i]; i == 0 || w.StartSeconds+w.LengthSeconds <= at+edge {
			open = int(w.Inflight)
		}
	}
	return open
}
