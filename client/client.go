package client

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"httpgen/internal/poll"
	"httpgen/sampler"
)

// ErrUnsupported says that no engine can carry out the options here.
var ErrUnsupported = errors.New("no engine for this platform")

// reserve is how many descriptors stay free beside those of arrivals in flight.
const reserve = 64

// A Client carries out one run.
type Client struct {
	o        Options
	s        *sampler.Sampler
	loops    []*loop
	inflight atomic.Int64
	bound    int64
	limit    uint64          // of open descriptors, 0 unknown
	calls    atomic.Uint64   // calls seen by the tap
	counters []atomic.Uint64 // arrivals begun, per closed stream
	cancel   atomic.Bool

	tlsMu       sync.Mutex
	tlsFailures []TLSFailures // one a stream
}

// New returns a Client that is ready to run. It raises the limit of open
// descriptors to the hard limit.
func New(o Options) (*Client, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	c := &Client{o: o, counters: make([]atomic.Uint64, len(o.Streams)), tlsFailures: make([]TLSFailures, len(o.Streams))}
	if n := o.Loops + 2; runtime.GOMAXPROCS(0) < n {
		// A loop that polls must not starve the sampler or the collector.
		runtime.GOMAXPROCS(n)
	}
	c.bound = int64(o.MaxInflight)
	if limit, err := poll.RaiseFileLimit(); err != nil {
		return nil, fmt.Errorf("client: %w", err)
	} else if c.limit = limit; c.bound == 0 {
		c.bound = 1 << 40
		if limit > 0 {
			c.bound = max(1, int64(limit)-min(reserve, int64(limit)/4)-2*int64(o.Loops))
		}
	}
	var names []string
	for i := range o.Streams {
		names = append(names, o.Streams[i].Name)
	}
	var err error
	if c.s, err = sampler.New(sampler.Options{Loops: o.Loops, Streams: names, Base: o.Window, Merge: o.Merge, Warmup: o.Warmup}); err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	for i := range o.Loops {
		d, err := newLoop(c, i)
		if err != nil {
			return nil, fmt.Errorf("client: %w", err)
		}
		c.loops = append(c.loops, d)
	}
	if c.Engine() == "conn" && runtime.GOMAXPROCS(0) < handshakes && slices.ContainsFunc(o.Streams, func(s Stream) bool { return s.Process != nil }) {
		// A loop that is due must not wait until a handshake is done: better that
		// the system shares its processors out among more threads. On one core and
		// with 2000 new TLS connections a second the lag's p99 went from 50 to 7 ms.
		runtime.GOMAXPROCS(handshakes)
	}
	return c, nil
}

// handshakes is how many threads work at once beside an open model, where each
// connection has a goroutine.
const handshakes = 8

// Sampler returns the sampler of the run, to be followed while it goes on.
func (c *Client) Sampler() *sampler.Sampler { return c.s }

// MaxInflight returns the bound of arrivals in flight that holds.
func (c *Client) MaxInflight() int { return int(c.bound) }

// Engine names what moves the bytes: "loop" for raw sockets, "conn" for
// connections of package net.
func (c *Client) Engine() string {
	if _, ok := c.loops[0].io.(*netEngine); ok {
		return "conn"
	}
	return "loop"
}

// FileLimit returns how many descriptors the process may open, 0 if it is not
// known.
func (c *Client) FileLimit() uint64 { return c.limit }

// Run carries out the run and returns what came of it. When ctx ends, no more
// arrivals start, and what is open has Options.StopDrain to end. Run may be
// called once.
func (c *Client) Run(ctx context.Context) (*Result, error) {
	for _, d := range c.loops {
		if err := d.prepare(); err != nil {
			return nil, fmt.Errorf("client: %w", err)
		}
	}
	merged := make(chan struct{})
	go func() {
		c.s.Run()
		close(merged)
	}()
	defer context.AfterFunc(ctx, func() {
		c.cancel.Store(true)
		for _, d := range c.loops {
			d.wake()
		}
	})()

	r := &Result{Spin: c.o.Spin}
	n := len(c.loops)
	var opened, ended sync.WaitGroup
	opened.Add(n)
	ended.Add(n)
	begin := make(chan struct{})
	errs := make([]error, n)
	sending := make([]time.Duration, n)
	total := make([]time.Duration, n)
	for i, d := range c.loops {
		go func() {
			defer ended.Done()
			errs[i] = d.open()
			opened.Done()
			<-begin
			var err error
			sending[i], total[i], err = d.run(r.Started)
			errs[i] = errors.Join(errs[i], err)
		}()
	}
	opened.Wait()
	runtime.GC()
	user, system := poll.ProcessCPU()
	// Every loop is at its start line when the schedule begins.
	r.Started = time.Now().Add(2 * time.Millisecond)
	if d := time.Until(c.o.Start); d > 0 {
		r.Started = r.Started.Add(d)
	}
	close(begin)
	ended.Wait()
	r.User, r.System = poll.ProcessCPU()
	r.User -= user
	r.System -= system
	<-merged
	for i := range n {
		r.Sending = max(r.Sending, sending[i])
		r.Total = max(r.Total, total[i])
		r.Stalled = r.Stalled || c.loops[i].stalled
		r.Starting = max(r.Starting, c.loops[i].lastStart)
	}
	r.Stopped = c.cancel.Load()
	r.Result = c.s.Snapshot()
	r.TLSFailures = c.tlsFailures
	if err := errors.Join(errs...); err != nil {
		return r, fmt.Errorf("client: %w", err)
	}
	return r, nil
}

// enter asks for the start of one more arrival; false means that the bound is
// reached.
func (c *Client) enter() bool {
	if c.inflight.Add(1) <= c.bound {
		return true
	}
	c.inflight.Add(-1)
	return false
}

func (c *Client) leave() { c.inflight.Add(-1) }
