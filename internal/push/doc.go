// Package push sends metrics to a receiver while they change: by Prometheus
// remote write (version 1), or to a Pushgateway. It is for processes that end
// before a scraper has seen enough of them.
//
//	p, err := push.New(push.Options{RemoteWrite: "http://localhost:9090/api/v1/write"}, registry)
//	go p.Run(ctx)
//	...
//	err = p.Finish(ctx)
//
// # Design
//
// Two goroutines do the work of [Pusher.Run]. One gathers on a fixed grid,
// encodes, and puts what it made into a queue; it never waits for the network.
// The other one sends, in order of time, with retries. The queue is bounded and
// drops its oldest interval when it is full: counters are cumulative, so that a
// dropped interval costs resolution and no totals.
//
// [Pusher.Finish] gathers for the last time when the caller's numbers stand.
// What is still queued is sent before that, since receivers refuse samples that
// are older than those they have, but it may use two thirds of the time at most:
// the totals matter more. By remote write the end of each series is then marked
// one millisecond after its last sample. Without such a mark an instant query
// would show the last value for five minutes; with it, last_over_time shows the
// last value at any time.
//
// The receiver is not trusted. Of its replies a bounded part is read, an error
// that quotes the credentials is not shown, and redirects are not followed: they
// are an answer as any other that is no success.
//
// Proxies from the environment are not used. Metrics are as old as the moment
// they were gathered, also where a metric has a timestamp of its own.
package push
