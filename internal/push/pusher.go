package push

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// finishTimeout is the longest that Finish takes.
const finishTimeout = 30 * time.Second

// A receiver takes what was gathered. One goroutine at a time encodes, another
// one at a time sends.
type receiver interface {
	// encode makes a batch of what was gathered at a time in milliseconds, which
	// is later than the one before. There is a batch beside an error.
	encode(families []*dto.MetricFamily, at int64) (batch, error)
	// end returns what follows the last batch, an empty batch if nothing does.
	end() batch
	// send delivers a batch, with retries until ctx ends. It reports failures that
	// another attempt follows, and returns the one of the last.
	send(ctx context.Context, b batch, failed func(error)) error
}

// A Pusher sends what it gathers to one receiver. Its methods may be called by
// any goroutine.
type Pusher struct {
	gatherer  prometheus.Gatherer
	interval  time.Duration
	receiver  receiver
	name      string // of the receiver
	transport *transport
	client    *http.Client
	queue     *queue
	descs     descs

	// Timestamps follow the monotonic clock from here on, so that a clock that is
	// set back makes none of them older than the one before.
	epoch time.Time
	last  int64 // timestamp of the newest batch in milliseconds; of whoever gathers

	failures, samples, dropped atomic.Uint64
	firstMu                    sync.Mutex
	first                      error

	mu       sync.Mutex
	running  bool               // Run was called
	halted   bool               // Finish was called
	abort    context.CancelFunc // ends what Run does
	stop     chan struct{}      // Finish was called
	gathered chan struct{}      // Run gathers no more
	sent     chan struct{}      // Run sends no more

	finish sync.Once
	lost   error
}

// New returns a Pusher of what g gathers. It reads files, and does not use the
// network yet.
func New(o Options, g prometheus.Gatherer) (*Pusher, error) {
	return newPusher(o, g, os.Getenv, newBase())
}

func newPusher(o Options, g prometheus.Gatherer, getenv func(string) string, base http.RoundTripper) (*Pusher, error) {
	if g == nil {
		return nil, errors.New("push: no gatherer: want one")
	}
	to, err := o.validate()
	if err != nil {
		return nil, err
	}
	labels, err := o.labels()
	if err != nil {
		return nil, err
	}
	t := &transport{base: base}
	if t.header, t.secrets, err = o.Auth.load(getenv); err != nil {
		return nil, err
	}
	p := &Pusher{
		gatherer: g, interval: o.Interval, transport: t, client: newClient(t, o.Timeout), epoch: time.Now(),
		abort: func() {}, stop: make(chan struct{}), gathered: make(chan struct{}), sent: make(chan struct{}),
	}
	if o.Pushgateway != "" {
		// A Pushgateway keeps the newest values only, and so does the queue.
		p.name, p.queue = "pushgateway", newQueue(1)
		p.receiver = newGateway(to, p.client, labels)
	} else {
		t.to = to
		p.name, p.queue = "remote-write", newQueue(maxQueued)
		if p.receiver, err = newRemoteWrite(to, p.client, labels, o.Native); err != nil {
			return nil, fmt.Errorf("push: RemoteWrite %q: %w", beforeQuery(o.RemoteWrite), err)
		}
	}
	p.descs = newDescs(p.name)
	return p, nil
}

// Run gathers at once and then every interval, and sends, until ctx ends or
// Finish is called. What was not sent by then is left for Finish. Only the first
// call does anything.
func (p *Pusher) Run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p.mu.Lock()
	if p.running || p.halted {
		p.mu.Unlock()
		return
	}
	p.running, p.abort = true, cancel
	p.mu.Unlock()

	go func() {
		defer close(p.sent)
		p.deliver(ctx)
	}()
	p.gatherAll(ctx)
	close(p.gathered)
	<-p.sent
}

// Finish ends Run, gathers for the last time, sends everything and marks the
// ends of the series. It takes at most 30 s and ends with ctx; if something was
// lost, during Run or now, it returns a [LossError]. Later calls return the same.
func (p *Pusher) Finish(ctx context.Context) error {
	p.finish.Do(func() {
		ctx, cancel := context.WithTimeout(ctx, finishTimeout)
		defer cancel()
		totals, ends := p.flush(ctx)
		if dropped := p.dropped.Load(); dropped > 0 || !totals || !ends {
			p.lost = &LossError{Intervals: dropped, Totals: !totals, Ends: !ends, Err: p.FirstError()}
		}
		p.client.CloseIdleConnections()
	})
	return p.lost
}

// Failures returns how many attempts to send or to gather have failed.
func (p *Pusher) Failures() uint64 { return p.failures.Load() }

// FirstError returns the first of the failures, nil if there is none. It can be
// printed: no credentials are in it.
func (p *Pusher) FirstError() error {
	p.firstMu.Lock()
	defer p.firstMu.Unlock()
	return p.first
}

// gatherAll puts a batch an interval into the queue.
func (p *Pusher) gatherAll(ctx context.Context) {
	ticks := time.NewTicker(p.interval) // it leaves out what is late and keeps the grid
	defer ticks.Stop()
	for {
		at := p.now()
		families, err := p.gatherer.Gather()
		if b := p.encode(families, err, at); !b.empty() {
			p.dropped.Add(p.queue.put(b))
		}
		select {
		case <-ticks.C:
		case <-p.stop:
			return
		case <-ctx.Done():
			return
		}
	}
}

// deliver sends what is in the queue, until that is closed and empty or ctx ends.
func (p *Pusher) deliver(ctx context.Context) {
	for {
		b, ok := p.queue.take(ctx)
		if !ok {
			return
		}
		switch err := p.send(ctx, b); {
		case err == nil:
		case ctx.Err() != nil:
			p.dropped.Add(p.queue.restore(b))
			return
		default:
			p.dropped.Add(1)
		}
	}
}

// flush says whether the final values and the ends of the series are delivered.
func (p *Pusher) flush(ctx context.Context) (totals, ends bool) {
	p.halt()
	final, ok := p.gatherLast(ctx)
	p.queue.close()

	// The two thirds of the time that what is older than the totals may have.
	deadline, _ := ctx.Deadline()
	backlog, cancel := context.WithTimeout(ctx, time.Until(deadline)*2/3)
	defer cancel()
	select {
	case <-p.sent:
	case <-backlog.Done():
		p.abort()
		<-p.sent
	}
	p.deliver(backlog)
	p.dropped.Add(p.queue.clear())

	if !ok {
		p.dropped.Add(1)
		p.fail(fmt.Errorf("the last gathering did not end: %w", ctx.Err()))
		return false, false
	}
	if totals = final.empty() || p.sendLast(ctx, final); !totals {
		p.dropped.Add(1)
	}
	end := p.receiver.end()
	return totals, end.empty() || p.sendLast(ctx, end)
}

// halt ends gathering, and Run if it has not begun.
func (p *Pusher) halt() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.halted = true
	close(p.stop)
	if !p.running {
		close(p.gathered)
		close(p.sent)
	}
}

// gatherLast makes the final batch. It returns false if ctx ends first: the
// gatherer may hang, and then whatever it says later is not looked at.
func (p *Pusher) gatherLast(ctx context.Context) (batch, bool) {
	select {
	case <-p.gathered:
	case <-ctx.Done():
		return batch{}, false
	}
	type result struct {
		families []*dto.MetricFamily
		err      error
	}
	results := make(chan result, 1)
	at := p.now()
	go func() {
		families, err := p.gatherer.Gather()
		results <- result{families, err}
	}()
	select {
	case r := <-results:
		return p.encode(r.families, r.err, at), true
	case <-ctx.Done():
		return batch{}, false
	}
}

// encode makes a batch of what could be gathered.
func (p *Pusher) encode(families []*dto.MetricFamily, err error, at int64) batch {
	if err != nil {
		p.fail(fmt.Errorf("gathering: %w", err))
	}
	b, err := p.receiver.encode(families, at)
	if err != nil {
		p.fail(err)
	}
	return b
}

// send delivers a batch. A failure counts unless it is that ctx has ended.
func (p *Pusher) send(ctx context.Context, b batch) error {
	err := p.receiver.send(ctx, b, p.fail)
	switch {
	case err == nil:
		p.samples.Add(b.samples)
	case ctx.Err() == nil:
		p.fail(err)
	}
	return err
}

// sendLast delivers a batch that nothing comes after, so that the end of ctx is
// a failure too.
func (p *Pusher) sendLast(ctx context.Context, b batch) bool {
	err := p.send(ctx, b)
	if err != nil && ctx.Err() != nil {
		p.fail(fmt.Errorf("no success before the end: %w", ctx.Err()))
	}
	return err == nil
}

// fail counts a failure and keeps the first.
func (p *Pusher) fail(err error) {
	p.failures.Add(1)
	p.firstMu.Lock()
	defer p.firstMu.Unlock()
	if p.first == nil {
		p.first = p.transport.show(p.name, err)
	}
}

// now returns a timestamp in milliseconds that is later than the one before.
func (p *Pusher) now() int64 {
	p.last = max(p.last+1, p.epoch.Add(time.Since(p.epoch)).UnixMilli())
	return p.last
}
