package push

import "github.com/prometheus/client_golang/prometheus"

// descs are the metrics of one Pusher.
type descs struct{ failures, samples, dropped *prometheus.Desc }

// newDescs tells the pushers of a process apart by what they send to.
func newDescs(receiver string) descs {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("httpgen_push_"+name, help, nil, prometheus.Labels{"receiver": receiver})
	}
	return descs{
		failures: desc("failures_total", "Failed attempts to push, and failed gatherings."),
		samples:  desc("samples_total", "Samples that the receiver accepted; metrics if it is a Pushgateway."),
		dropped:  desc("dropped_intervals_total", "Gathered intervals that were given up."),
	}
}

// Describe makes a Pusher a [prometheus.Collector] of its own counts.
func (p *Pusher) Describe(ch chan<- *prometheus.Desc) {
	ch <- p.descs.failures
	ch <- p.descs.samples
	ch <- p.descs.dropped
}

// Collect may be called at any time, also by what the Pusher gathers.
func (p *Pusher) Collect(ch chan<- prometheus.Metric) {
	ch <- prometheus.MustNewConstMetric(p.descs.failures, prometheus.CounterValue, float64(p.failures.Load()))
	ch <- prometheus.MustNewConstMetric(p.descs.samples, prometheus.CounterValue, float64(p.samples.Load()))
	ch <- prometheus.MustNewConstMetric(p.descs.dropped, prometheus.CounterValue, float64(p.dropped.Load()))
}
