// Package prom shows the runs of a process to Prometheus while they go on.
//
// A [Collector] is registered once. Each run is attached to it when its sampler
// exists, and ended when the sampler is done; the counts of ended runs are kept,
// so that no counter ever decreases while the process lives.
//
//	c, err := prom.New(prom.Options{Version: "1.2.3"})
//	registry.MustRegister(c)
//	...
//	run, err := c.Attach(client.Sampler(), prom.Info{ID: "nightly"})
//	run.Begin(time.Now())
//	result, err := client.Run(ctx)
//	run.End(time.Now())
//
// # Design
//
// A scrape looks once at what the loops have handed over to the sampler, and
// makes all metrics of that look: they fit each other, and are no older than
// 100 ms. Loops never wait for a scrape.
//
// Everything counts the warm-up too. Prometheus can leave a span of time out,
// and a counter that stands still for as long as the warm-up lasts would look
// like a broken run.
//
// The histograms are made at scrape time of those of the sampler, as one family
// with classic and native buckets: which of them a server stores is its own
// choice. Their counts and sums are exact. A value is counted as if it were the
// greatest of its bucket in the sampler (512 ns wide, or 0.1 % of the value; 1 %
// with more than 16 streams), so that a classic bucket may miss values within
// that distance below its bound.
//
// Labels are bounded. The names of clients and targets are those that were
// configured; the first 64 pairs of them and the first 40 status codes have
// series of their own, and all others are counted under "other", for as long as
// the process lives. How many were folded is itself counted.
package prom
