package dashboard

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"httpgen/sampler"
	"httpgen/sampler/prom"
)

const (
	micro = time.Microsecond
	milli = time.Millisecond
	// runScrapes is for how many scrapes the run of an endpoint goes on.
	runScrapes = 14
)

// replyRates are the replies per second of the clients of an endpoint, which are
// their weights too.
var replyRates = []int{10, 30, 60}

// An endpoint shows a run that goes on by one second with each scrape: its
// replies do not depend on how fast the test is.
type endpoint struct {
	*httptest.Server
	t        *testing.T
	registry *prometheus.Registry
	failures prometheus.Counter // of pushes

	mu        sync.Mutex
	collector *prom.Collector
	sampler   *sampler.Sampler
	recorder  *sampler.Recorder
	run       *prom.Run
	script    script
	second    int
}

// A script is what a loop knows of itself.
type script struct {
	scheduled []uint64
	started   uint64
	work      time.Duration
}

// Scheduled implements sampler.Source.
func (s *script) Scheduled(stream int, _ time.Duration) (main, warmup uint64) {
	main, s.scheduled[stream] = s.scheduled[stream], 0
	return main, 0
}

// Work implements sampler.Source.
func (s *script) Work() time.Duration { return s.work }

func newEndpoint(t *testing.T) *endpoint {
	t.Helper()
	e := &endpoint{
		t: t, registry: prometheus.NewPedanticRegistry(), script: script{scheduled: make([]uint64, len(replyRates))},
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "httpgen_push_failures_total", Help: "Failed pushes.", ConstLabels: prometheus.Labels{"receiver": "remote-write"},
		}),
	}
	var err error
	if e.collector, err = prom.New(prom.Options{Version: "1.2.3"}); err != nil {
		t.Fatal(err)
	}
	e.registry.MustRegister(e.collector, e.failures, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if e.sampler, err = sampler.New(sampler.Options{Loops: 1, Streams: []string{"a", "b", "c"}}); err != nil {
		t.Fatal(err)
	}
	e.recorder = e.sampler.Recorder(0, &e.script)
	go e.sampler.Run()
	var streams []prom.Stream
	for _, n := range replyRates {
		streams = append(streams, prom.Stream{Weight: float64(n), Rate: func(time.Duration) float64 { return float64(n) }})
	}
	e.run, err = e.collector.Attach(e.sampler, prom.Info{ID: "scripted", Process: "constant", Engine: "loop", MaxInflight: 100, Streams: streams})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.collector.SetTrial("fair", "a", 0, 1); err != nil {
		t.Fatal(err)
	}
	e.run.Begin(time.Now())
	metrics := promhttp.HandlerFor(e.registry, promhttp.HandlerOpts{})
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.advance(r.Context())
		metrics.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		e.Close()
		e.end()
	})
	return e
}

// advance carries out the next second of the run.
func (e *endpoint) advance(ctx context.Context) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.run == nil {
		return
	}
	begin := time.Duration(e.second) * time.Second
	e.second++
	for stream, n := range replyRates {
		for i := range n {
			// All of them end within the second, which is handed over as a whole.
			at := begin + time.Duration(i)*800*milli/time.Duration(n)
			// One reply in ten is late by the fault of the generator.
			lag, service := 10*micro, 3*milli
			if stream == 0 {
				lag, service = 150*milli, 10*milli
			}
			e.reply(stream, at, lag, service)
		}
	}
	for i := range 10 {
		e.refused(2, begin+time.Duration(i)*80*milli)
	}
	for range 5 {
		e.script.scheduled[1]++
		e.recorder.Shed(1, false, begin, begin+milli, sampler.ShedInflight)
	}
	e.recorder.Burst(4)
	e.failures.Inc()
	e.script.work += 400 * milli
	e.recorder.Roll(begin + time.Second)
	for merged := false; !merged && ctx.Err() == nil; runtime.Gosched() {
		e.sampler.View(func(v *sampler.View) {
			var started uint64
			for i := range v.Streams {
				started += v.Streams[i].Started
			}
			merged = started == e.script.started
		})
	}
	if e.second == runScrapes {
		e.endLocked()
	}
}

func (e *endpoint) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.endLocked()
}

func (e *endpoint) endLocked() {
	if e.run == nil {
		return
	}
	now := time.Duration(e.second) * time.Second
	e.recorder.Finish(now, now)
	e.sampler.Wait()
	e.run.End(time.Now())
	e.run = nil
}

// start begins an arrival that carries one call on a new connection.
func (e *endpoint) start(stream int, at, lag time.Duration) {
	e.script.scheduled[stream]++
	e.script.started++
	e.recorder.Start(stream, false, at, at+lag, at+lag, 20*micro, lag > milli)
	e.recorder.Connecting(stream, false, at+lag)
}

// reply carries an arrival out.
func (e *endpoint) reply(stream int, at, lag, service time.Duration) {
	e.start(stream, at, lag)
	started := at + lag
	e.recorder.Connected(stream, false, 40*micro, started+40*micro)
	e.recorder.Secured(stream, false, 400*micro, started+440*micro)
	e.recorder.Requested(stream, false, 70, started+500*micro)
	e.recorder.Bytes(stream, false, 70, 1000)
	done := started + service
	e.recorder.Reply(&sampler.Sample{
		Stream: stream, Status: 200, Intended: at, Started: started, Sent: started + 500*micro, FirstByte: done - milli, Done: done,
		Header: 200, Body: 800,
	})
	e.recorder.Closed(&sampler.Conn{Stream: stream, Opened: started, Ended: done, Established: true, Replies: 1})
	e.recorder.Arrival(&sampler.Arrival{Stream: stream, Intended: at, Started: started, Ended: done, Planned: 1, Replied: 1})
}

// refused ends an arrival before its connection stands.
func (e *endpoint) refused(stream int, at time.Duration) {
	e.start(stream, at, 10*micro)
	e.recorder.Closed(&sampler.Conn{Stream: stream, Opened: at, Ended: at + milli})
	e.recorder.Arrival(&sampler.Arrival{
		Stream: stream, Intended: at, Started: at, Ended: at + milli, Outcome: sampler.ConnectRefused, Planned: 1, Unsent: 1,
	})
}

// names returns what the series are called that the endpoint shows.
func (e *endpoint) names(t *testing.T) map[string]bool {
	t.Helper()
	families, err := e.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, f := range families {
		names[f.GetName()] = true
		if f.GetType() == dto.MetricType_HISTOGRAM || f.GetType() == dto.MetricType_SUMMARY {
			for _, suffix := range []string{"_bucket", "_count", "_sum"} {
				names[f.GetName()+suffix] = true
			}
		}
	}
	return names
}
