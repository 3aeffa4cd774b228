//go:build !race

package client

import (
	"context"
	"net"
	"runtime"
	"slices"
	"testing"
	"time"

	"httpgen/internal/poll"
	"httpgen/pacer"
)

// mallocs returns how many allocations a run takes.
func mallocs(t *testing.T, o Options) uint64 {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Skip(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs
}

// TestNoAllocationPerCall compares runs of different length: what a call
// allocates would show as a difference of at least the calls between them.
func TestNoAllocationPerCall(t *testing.T) {
	const few, many = 200, 5200
	addr := to(serve(t, lean))
	numbered := request(t, RequestOptions{URI: "/{seq}?{rand}", Host: "test", Expand: &Expand{}})
	for _, tt := range []struct {
		name  string
		shape func(o *Options, n uint64)
	}{
		{"closed", func(o *Options, n uint64) {
			s := &o.Streams[0]
			s.Process, s.Closed, s.KeepOpen, s.Limit = nil, 8, true, n
		}},
		{"pool", func(o *Options, n uint64) {
			s := &o.Streams[0]
			s.Process = pacer.First(pacer.Constant{N: 20000, Per: time.Second}, n)
			s.Pool = 8
		}},
		{"calls on a connection", func(o *Options, n uint64) {
			s := &o.Streams[0]
			s.Process = pacer.First(pacer.Constant{N: 1000, Per: time.Second}, 1)
			s.Workload = &Calls{Request: s.Workload.(*Calls).Request, Calls: int(n), Burst: 4}
		}},
		{"placeholders", func(o *Options, n uint64) {
			s := &o.Streams[0]
			s.Process = pacer.First(pacer.Constant{N: 1000, Per: time.Second}, 1)
			s.Workload = &Calls{Request: numbered, Calls: int(n), Burst: 4}
		}},
		{"placeholders, many arrivals", func(o *Options, n uint64) {
			s := &o.Streams[0]
			s.Process, s.Closed, s.KeepOpen, s.Limit = nil, 8, true, n
			s.Workload = &Calls{Request: numbered}
		}},
		{"script on two connections", func(o *Options, n uint64) {
			s := &o.Streams[0]
			s.Process = pacer.First(pacer.Constant{N: 1000, Per: time.Second}, 1)
			s.Sessions = &Sessions{MaxConns: 2, MaxPiped: 1}
			plain := s.Workload.(*Calls).Request
			// One call alone, two on a connection each, two that wait for room.
			burst := Burst{Requests: []*Request{plain, numbered, plain, numbered, plain}}
			s.Workload = NewScript([]ScriptSession{{Bursts: slices.Repeat([]Burst{burst}, int(n)/5)}})
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			measure := func(n uint64) uint64 {
				o := plan(t, addr, n, Calls{})
				o.Window = time.Hour // windows allocate, once an interval
				tt.shape(&o, n)
				return mallocs(t, o)
			}
			measure(few)
			base := measure(few)
			if more := measure(many); more > base+(many-few)/10 {
				t.Errorf("%d calls take %d allocations, %d calls %d: want no more for each call", few, base, many, more)
			}
		})
	}
}

// TestHeapOfHeldConnections weighs connections that are held open.
func TestHeapOfHeldConnections(t *testing.T) {
	const few, many = 256, 3328 // whole chunks, within the backlog of the listener
	limit, err := poll.RaiseFileLimit()
	if err != nil || limit < many+500 {
		t.Skipf("%d descriptors: want %d", limit, many+500)
	}
	a, b := heldHeap(t, few), heldHeap(t, many)
	per := (float64(b) - float64(a)) / (many - few)
	t.Logf("heap in use while %d and %d connections are held: %d and %d bytes, %.0f a connection", few, many, a, b, per)
	if per > 1024 {
		t.Errorf("%.0f bytes of heap a held connection, want at most 1024", per)
	}
}

// heldHeap returns the heap in use, after a collection, while n connections
// wait for a server that never answers.
func heldHeap(t *testing.T, n uint64) uint64 {
	t.Helper()
	// Nobody accepts: the peers have no memory of this process.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	o := plan(t, to(l.Addr().(*net.TCPAddr).AddrPort()), n, Calls{})
	o.Streams[0].Process = pacer.First(pacer.Constant{N: 20000, Per: time.Second}, n)
	o.Streams[0].Timeouts = Timeouts{Reply: time.Minute}
	o.Drain = time.Minute
	o.Window = 50 * time.Millisecond
	c, err := New(o)
	if err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan *Result)
	go func() {
		r, _ := c.Run(ctx)
		done <- r
	}()
	var held uint64
	for s := range c.Sampler().Follow() {
		if held == 0 && uint64(s.All.Inflight) == n && uint64(s.All.Connections) == n {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			held = m.HeapInuse
			l.Close() // resets what is held
			cancel()
		}
	}
	if r := <-done; held == 0 || r.All.Started != n {
		t.Fatalf("started %d of %d, heap %d: the connections were not held", r.All.Started, n, held)
	}
	return held
}
