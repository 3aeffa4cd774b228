package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// fresh is how long what is known of the process is shown: less than the
// shortest interval at which servers scrape as a rule.
const fresh = 900 * time.Millisecond

// A cached is a collector that asks others again only when what they said is not
// fresh any more. To read what the system says of a process takes a quarter of a
// millisecond in one piece, a scrape that is repeated soon should not pay again.
type cached struct {
	of []prometheus.Collector

	mu   sync.Mutex
	at   time.Time
	said []prometheus.Metric
}

// Describe implements [prometheus.Collector].
func (c *cached) Describe(ch chan<- *prometheus.Desc) {
	for _, o := range c.of {
		o.Describe(ch)
	}
}

// Collect implements [prometheus.Collector].
func (c *cached) Collect(ch chan<- prometheus.Metric) {
	for _, m := range c.metrics() {
		ch <- m
	}
}

func (c *cached) metrics() []prometheus.Metric {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); c.said == nil || now.Sub(c.at) >= fresh {
		c.at, c.said = now, nil
		said := make(chan prometheus.Metric)
		go func() {
			defer close(said)
			for _, o := range c.of {
				o.Collect(said)
			}
		}()
		for m := range said {
			c.said = append(c.said, m)
		}
	}
	return c.said
}
