package prom

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"httpgen/internal/poll"
)

// An emission collects the metrics of one scrape.
type emission struct {
	created time.Time
	turn    *poll.Turn
	metrics []prometheus.Metric
}

func (e *emission) put(d *prometheus.Desc, m prometheus.Metric, err error) {
	if err != nil {
		m = prometheus.NewInvalidMetric(d, err)
	}
	e.metrics = append(e.metrics, m)
}

// counter returns an add for counters whose labels begin with first.
func (e *emission) counter(d *prometheus.Desc, first ...string) add {
	return func(v float64, labels ...string) {
		m, err := prometheus.NewConstMetricWithCreatedTimestamp(d, prometheus.CounterValue, v, e.created, append(first[:len(first):len(first)], labels...)...)
		e.put(d, m, err)
	}
}

// gauge returns an add for gauges whose labels begin with first.
func (e *emission) gauge(d *prometheus.Desc, first ...string) add {
	return func(v float64, labels ...string) {
		m, err := prometheus.NewConstMetric(d, prometheus.GaugeValue, v, append(first[:len(first):len(first)], labels...)...)
		e.put(d, m, err)
	}
}

// states puts out what belongs to no pair.
func (e *emission) states(s state) {
	for _, f := range states {
		f.each(s, e.gauge(f.desc))
	}
	add := e.counter(overflowDesc)
	add(float64(s.overflow.client), "client")
	add(float64(s.overflow.target), "target")
	add(float64(s.overflow.code), "code")
}

// series puts out what belongs to a pair.
func (e *emission) series(s *series, c *codes) {
	for _, f := range counters {
		f.each(&s.now, e.counter(f.desc, s.client, s.target))
		e.turn.Pass()
	}
	replies := e.counter(repliesDesc, s.client, s.target)
	c.each(&s.now.Tally, func(code string, n uint64) { replies(float64(n), code) })
	for i, t := range timings {
		e.metrics = append(e.metrics, s.now.times[i].metric(t.desc, t.first, e.created, s.client, s.target))
		e.turn.Pass()
	}
	for _, f := range levels {
		f.each(&s.level, e.gauge(f.desc, s.client, s.target))
	}
}
