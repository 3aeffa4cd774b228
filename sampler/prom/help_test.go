package prom

import (
	"fmt"
	"runtime"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"httpgen/sampler"
)

const (
	micro = time.Microsecond
	milli = time.Millisecond
	// forever is later than everything that is scheduled in a test.
	forever = 1000 * time.Hour
)

// script is a Source that says for each stream what it was told.
type script struct{ main, warmup []uint64 }

func (s *script) Scheduled(stream int, _ time.Duration) (main, warmup uint64) {
	main, warmup = s.main[stream], s.warmup[stream]
	s.main[stream], s.warmup[stream] = 0, 0
	return main, warmup
}

func (*script) Work() time.Duration { return 0 }

// bench is a run with one loop.
type bench struct {
	t   testing.TB
	s   *sampler.Sampler
	r   *sampler.Recorder
	src script
}

// newBench returns a run whose sampler is being driven.
func newBench(t testing.TB, o sampler.Options) *bench {
	t.Helper()
	o.Loops = 1
	s, err := sampler.New(o)
	if err != nil {
		t.Fatal(err)
	}
	n := max(1, len(o.Streams))
	b := &bench{t: t, s: s, src: script{make([]uint64, n), make([]uint64, n)}}
	b.r = s.Recorder(0, &b.src)
	go s.Run()
	return b
}

// finish ends the run at now and returns what came of it.
func (b *bench) finish(now time.Duration) *sampler.Result {
	b.r.Finish(now, forever)
	b.s.Wait()
	return b.s.Snapshot()
}

// start begins one arrival that carries one call on a new connection.
func (b *bench) start(stream int, warmup bool, at, lag time.Duration) {
	if warmup {
		b.src.warmup[stream]++
	} else {
		b.src.main[stream]++
	}
	b.r.Start(stream, warmup, at, at+lag, at+lag, -1, false)
	b.r.Connecting(stream, warmup, at+lag)
}

// reply carries an arrival out that takes latency from at on.
func (b *bench) reply(stream int, warmup bool, at, latency time.Duration, code int) {
	b.start(stream, warmup, at, 10*micro)
	b.r.Connected(stream, warmup, 40*micro, at+50*micro)
	b.r.Requested(stream, warmup, 70, at+60*micro)
	b.r.Bytes(stream, warmup, 70, 1000)
	done := at + latency
	b.r.Reply(&sampler.Sample{
		Stream: stream, Warmup: warmup, Status: code, Intended: at, Started: at + 10*micro, Sent: at + 60*micro,
		FirstByte: done, Done: done, Header: 200, Body: 800,
	})
	b.r.Closed(&sampler.Conn{Stream: stream, Warmup: warmup, Opened: at + 10*micro, Ended: done, Established: true, Replies: 1})
	b.r.Arrival(&sampler.Arrival{Stream: stream, Warmup: warmup, Intended: at, Started: at + 10*micro, Ended: done, Planned: 1, Replied: 1})
}

// fail ends an arrival before its connection stands.
func (b *bench) fail(stream int, at, after time.Duration, class sampler.Class) {
	b.start(stream, false, at, 10*micro)
	b.r.Closed(&sampler.Conn{Stream: stream, Opened: at, Ended: at + after})
	b.r.Arrival(&sampler.Arrival{Stream: stream, Intended: at, Started: at, Ended: at + after, Outcome: class, Planned: 1, Unsent: 1})
}

// handOver waits until what was recorded before now is merged.
func (b *bench) handOver(now time.Duration) {
	b.r.Roll(now)
	for started := uint64(0); started == 0; runtime.Gosched() {
		b.s.View(func(v *sampler.View) { started = v.Streams[0].Started })
	}
}

func newCollector(t testing.TB) *Collector {
	t.Helper()
	c, err := New(Options{Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func attach(t testing.TB, c *Collector, s *sampler.Sampler, i Info) *Run {
	t.Helper()
	r, err := c.Attach(s, i)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// families returns what a strict registry makes of c.
func families(t testing.TB, c *Collector) []*dto.MetricFamily {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(c); err != nil {
		t.Fatal(err)
	}
	all, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// scrape returns all series with their values, histograms as a server without
// native ones stores them. Names come without the prefix.
func scrape(t testing.TB, c *Collector) map[string]float64 {
	t.Helper()
	got := map[string]float64{}
	for _, f := range families(t, c) {
		name := strings.TrimPrefix(f.GetName(), "httpgen_")
		for _, m := range f.Metric {
			switch {
			case m.Counter != nil:
				got[name+labels(m)] = m.Counter.GetValue()
			case m.Gauge != nil:
				got[name+labels(m)] = m.Gauge.GetValue()
			case m.Histogram != nil:
				h := m.Histogram
				got[name+"_count"+labels(m)] = float64(h.GetSampleCount())
				got[name+"_sum"+labels(m)] = h.GetSampleSum()
				for _, b := range h.Bucket {
					got[fmt.Sprintf("%s_bucket%s%g", name, labels(m), b.GetUpperBound())] = float64(b.GetCumulativeCount())
				}
			}
		}
	}
	return got
}

// labels returns the values of the labels in the order of their names.
func labels(m *dto.Metric) string {
	var all []string
	for _, l := range m.Label {
		all = append(all, l.GetName()+"="+l.GetValue())
	}
	sort.Strings(all)
	return "{" + strings.Join(all, ",") + "}"
}

// wantSeries compares some series.
func wantSeries(t *testing.T, got, want map[string]float64) {
	t.Helper()
	for name, v := range want {
		if have, ok := got[name]; !ok || have != v {
			t.Errorf("%s = %v (there: %v), want %v", name, have, ok, v)
		}
	}
}
