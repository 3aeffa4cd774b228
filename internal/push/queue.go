package push

import (
	"context"
	"sync"

	dto "github.com/prometheus/client_model/go"
)

const (
	// maxQueued is how many intervals may wait for a receiver that can take
	// several.
	maxQueued = 60
	// maxQueuedBytes bounds the memory of those that wait.
	maxQueuedBytes = 32 << 20
)

// A batch is what was gathered at one instant, ready to be sent.
type batch struct {
	message  []byte              // for remote write
	families []*dto.MetricFamily // for a Pushgateway
	samples  uint64              // marks that end a series are none
}

// empty says that there is nothing to send.
func (b batch) empty() bool { return len(b.message) == 0 && len(b.families) == 0 }

// A queue holds the batches that are to be sent, the oldest first. Any
// goroutine may put; one at a time may take.
type queue struct {
	limit int           // in batches
	ready chan struct{} // capacity 1: something changed

	mu      sync.Mutex
	batches []batch
	bytes   int
	closed  bool
}

func newQueue(limit int) *queue {
	return &queue{limit: limit, ready: make(chan struct{}, 1)}
}

// put adds the newest batch and returns how many of the oldest were dropped.
func (q *queue) put(b batch) (dropped uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return 1
	}
	q.batches = append(q.batches, b)
	q.bytes += len(b.message)
	for len(q.batches) > q.limit || q.bytes > maxQueuedBytes && len(q.batches) > 1 {
		q.pop()
		dropped++
	}
	q.signal()
	return dropped
}

// restore puts a batch back that was taken and not sent, unless there is no
// room for it. It returns how many batches were dropped.
func (q *queue) restore(b batch) (dropped uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.batches) == q.limit || q.bytes+len(b.message) > maxQueuedBytes && len(q.batches) > 0 {
		return 1
	}
	q.batches = append([]batch{b}, q.batches...)
	q.bytes += len(b.message)
	return 0
}

// take returns the oldest batch, and waits for one. It returns false when ctx
// has ended, or the queue is closed and empty.
func (q *queue) take(ctx context.Context) (batch, bool) {
	for ctx.Err() == nil {
		q.mu.Lock()
		if len(q.batches) > 0 {
			b := q.pop()
			q.mu.Unlock()
			return b, true
		}
		closed := q.closed
		q.mu.Unlock()
		if closed {
			break
		}
		select {
		case <-q.ready:
		case <-ctx.Done():
		}
	}
	return batch{}, false
}

// close lets nothing in any more.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.signal()
}

// clear drops all batches and returns how many there were.
func (q *queue) clear() (dropped uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	dropped = uint64(len(q.batches))
	q.batches, q.bytes = nil, 0
	return dropped
}

// pop removes the oldest batch. The caller holds the lock.
func (q *queue) pop() batch {
	b := q.batches[0]
	q.batches[0] = batch{} // lets its memory go
	q.batches = q.batches[1:]
	q.bytes -= len(b.message)
	return b
}

func (q *queue) signal() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}
