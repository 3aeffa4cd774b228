package push

import (
	"context"
	"testing"
)

func sized(n int, bytes int) batch { return batch{message: make([]byte, bytes), samples: uint64(n)} }

func TestQueueBounds(t *testing.T) {
	t.Parallel()
	q := newQueue(3)
	for i := 1; i <= 5; i++ {
		want := uint64(0)
		if i > 3 {
			want = 1
		}
		if got := q.put(sized(i, 1)); got != want {
			t.Errorf("put %d drops %d, want %d", i, got, want)
		}
	}
	first, ok := q.take(t.Context())
	if !ok || first.samples != 3 {
		t.Fatalf("took %d, %v, want 3: the oldest are dropped", first.samples, ok)
	}
	if got := q.restore(first); got != 0 {
		t.Errorf("restore with room drops %d, want 0", got)
	}
	if again, _ := q.take(t.Context()); again.samples != 3 {
		t.Errorf("took %d, want the one that was put back", again.samples)
	}
	q.put(sized(6, 1))
	if got := q.restore(first); got != 1 {
		t.Errorf("restore without room drops %d, want 1", got)
	}
	if got := q.put(sized(7, maxQueuedBytes+1)); got != 3 {
		t.Errorf("a batch beyond the bytes drops %d, want the 3 others and not itself", got)
	}
	if got := q.restore(first); got != 1 {
		t.Errorf("restore without bytes drops %d, want 1", got)
	}
	if got := q.clear(); got != 1 {
		t.Errorf("clear drops %d, want 1", got)
	}
	q.put(sized(8, 1))
	q.close()
	if got := q.put(sized(9, 1)); got != 1 {
		t.Errorf("put after close drops %d, want 1", got)
	}
	if b, ok := q.take(t.Context()); !ok || b.samples != 8 {
		t.Errorf("took %d, %v after close, want 8", b.samples, ok)
	}
	if _, ok := q.take(t.Context()); ok {
		t.Error("took something of a closed and empty queue")
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	q = newQueue(1)
	q.put(sized(1, 1))
	if _, ok := q.take(done); ok {
		t.Error("took something after the context ended")
	}
}
