package experiment

import (
	"cmp"
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"httpgen/internal/report"
	"httpgen/internal/run"
	"httpgen/pacer"
)

// A calls builds a result out of calls.
type calls struct {
	t       testing.TB
	latency *hdrhistogram.Histogram
	r       *report.Result
	lost    uint64
}

// newCalls begins the result of a run of that length.
func newCalls(t testing.TB, length, window time.Duration) *calls {
	r := &report.Result{Schema: report.ResultSchema, Model: report.Open, Verdict: report.Verdict{Status: report.Valid}}
	r.Tool = report.Tool{Name: "httpgen", Version: run.Version, Go: "go", OS: "linux", CPUs: 2}
	r.Run = report.Run{ID: "run", StartedAt: time.Unix(1e9, 0).UTC(), StopReason: "duration", Complete: true, SendingSeconds: length.Seconds(), TotalSeconds: length.Seconds()}
	r.Config = report.Config{CallsPerConnection: 1, WindowSeconds: 1, BaseWindowSeconds: window.Seconds()}
	for i := range int(math.Round(float64(length) / float64(window))) {
		r.Windows = append(r.Windows, report.Window{StartSeconds: (time.Duration(i) * window).Seconds(), LengthSeconds: window.Seconds()})
	}
	return &calls{t: t, latency: hdrhistogram.New(1, int64(time.Hour/time.Nanosecond), 3), r: r}
}

// window returns the window that holds an offset, the last one for later ones.
func (c *calls) window(at float64) *report.Window {
	return &c.r.Windows[max(0, min(len(c.r.Windows)-1, int(at/c.r.Config.BaseWindowSeconds)))]
}

// reply adds an arrival due at an offset with a reply after a latency, in seconds.
func (c *calls) reply(at, latency float64) {
	c.due(at)
	c.latency.RecordValue(int64(latency * 1e9))
	c.r.Totals.Completed++
	c.r.Totals.Replies++
	if done := at + latency; done < c.r.Run.SendingSeconds {
		c.window(done).Replies++
	} else {
		c.r.Windows[len(c.r.Windows)-1].Inflight++
	}
	c.r.Times.Latency.Max = max(c.r.Times.Latency.Max, latency)
}

// fail adds an arrival due at an offset that fails.
func (c *calls) fail(at float64, reason string) {
	c.due(at)
	c.lost++
	if !c.r.Totals.Errors.Add(reason, 1) {
		c.t.Fatalf("no reason %s", reason)
	}
	c.window(at).Errors.Add(reason, 1)
}

func (c *calls) due(at float64) {
	c.r.Totals.Arrivals.Scheduled++
	c.r.Totals.Arrivals.Started++
	c.window(at).Scheduled++
}

// result completes the result.
func (c *calls) result() *report.Result {
	r := c.r
	lat := &r.Times.Latency
	lat.Count, lat.Mean = uint64(c.latency.TotalCount()), c.latency.Mean()/1e9
	text, err := c.latency.EncodeV2()
	if err != nil {
		c.t.Fatal(err)
	}
	if lat.Count > 0 {
		lat.HDR = string(text)
	}
	at := func(q float64) float64 { return float64(c.latency.ValueAtPercentile(100*q)) / 1e9 }
	lat.Percentiles = report.NewPercentiles(lat.Count, at)
	r.Times.All = report.NewAllArrivals(lat.Count+c.lost, c.lost, 2, at)
	return r
}

// invalid makes the verdict invalid for a reason.
func invalid(r *report.Result, code string) *report.Result {
	r.Verdict = report.Verdict{Status: report.Invalid, Reasons: []report.Reason{{Code: code, Message: code + " is above its limit", Value: 2, Limit: 1}}}
	return r
}

// A machine is a Runner with a server of known capacity: one queue, from which
// replies come at the capacity, and calls that wait for too long end.
type machine struct {
	t        testing.TB
	capacity float64 // replies per second
	most     float64 // rate beyond which the generator is the limit; 0 is none
	ran      []run.Options
	settled  int
	stop     func() // called in trial stopAt, which is then incomplete
	stopAt   int
	err      error // returned from trial errAt on
	errAt    int
}

func (m *machine) Settle(context.Context, time.Duration) { m.settled++ }

func (m *machine) Run(ctx context.Context, o run.Options) (Measurement, error) {
	m.ran = append(m.ran, o)
	if m.err != nil && len(m.ran) == m.errAt {
		return Measurement{}, m.err
	}
	c := newCalls(m.t, o.Duration, cmp.Or(o.Window, 100*time.Millisecond))
	if m.stop != nil && len(m.ran) == m.stopAt {
		m.stop()
		c.r.Run.Complete = false
	}
	const service = 0.01
	if o.Process == nil {
		// Each caller waits for its reply; those beyond the capacity are refused.
		c.r.Model = report.Closed
		places := int(m.capacity * service)
		for at := 0.0; at < o.Duration.Seconds()-service; at += service {
			for i := range o.Closed {
				if i < places {
					c.reply(at, service)
				} else {
					c.fail(at, "connect_refused")
				}
			}
		}
		return Measurement{Result: c.result()}, nil
	}
	schedule := pacer.For(o.Process, o.Duration).Schedule(0, 1, 0)
	deadline := o.Deadline.Seconds()
	var free float64 // when the server is free again
	for {
		_, d, ok := schedule.Next()
		if !ok {
			break
		}
		at := d.Seconds()
		if start := max(at, free); start-at > deadline-service {
			c.fail(at, "deadline")
		} else {
			free = start + 1/m.capacity
			c.reply(at, start-at+service)
		}
	}
	r := c.result()
	if rate := o.Process.Rate(0); m.most > 0 && rate > m.most {
		// The generator was late by half a second.
		r.Times.Lag.Max = 0.5
		return Measurement{Result: invalid(r, "lag")}, nil
	}
	return Measurement{Result: r}, nil
}

var errBroken = errors.New("broken")
