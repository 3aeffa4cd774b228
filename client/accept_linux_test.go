//go:build accept && !race

package client

import (
	"runtime"
	"testing"
	"time"
)

// TestAcceptHeapDoesNotGrow makes five million calls: after its first second a
// run needs no more memory, but for a record a window.
func TestAcceptHeapDoesNotGrow(t *testing.T) {
	const count = 5_000_000
	o := plan(t, to(serve(t, lean)), 1, Calls{})
	s := &o.Streams[0]
	s.Process, s.Closed, s.KeepOpen, s.Limit = nil, 50, true, count
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan *Result)
	go func() {
		r, err := c.Run(t.Context())
		if err != nil {
			t.Error(err)
		}
		done <- r
	}()
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // what the first one has put off
		runtime.ReadMemStats(&m)
		return int64(m.HeapInuse)
	}
	var first, last int64
	for w := range c.Sampler().Follow() {
		if first == 0 && w.All.Start+w.All.Length >= time.Second {
			first = heap()
		} else if first > 0 && w.All.Inflight > 0 {
			last = heap()
		}
	}
	r := <-done
	t.Logf("%d calls in %v: heap in use %d bytes after the first second, %d at the end, %+d", r.All.Replies, r.Total, first, last, last-first)
	if r.All.Replies != count {
		t.Errorf("%d replies, want %d", r.All.Replies, count)
	}
	if last-first >= 1<<20 {
		t.Errorf("the heap grew by %d bytes, want less than 1 MiB", last-first)
	}
}
