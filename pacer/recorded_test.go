package pacer

import (
	"testing"
	"time"
)

// recording is a process of another package.
type recording struct{ *Trace }

func (r recording) Ends() (time.Duration, uint64, bool) { return r.after(r.last), r.n, true }

func TestRecorded(t *testing.T) {
	t.Parallel()
	trace, err := NewTrace([]time.Duration{0, time.Second, 3 * time.Second, 3 * time.Second}, 1)
	if err != nil {
		t.Fatal(err)
	}
	r := recording{trace}
	if kind := Kind(First(r, 2)); kind != "trace" {
		t.Errorf("kind %s, want trace", kind)
	}
	for _, tt := range []struct {
		name  string
		p     Process
		end   time.Duration
		count uint64
	}{
		{"whole", r, 4 * time.Second, 4},
		{"first two", First(r, 2), 2 * time.Second, 2},
		{"more than there are", First(r, 9), 4 * time.Second, 4},
		{"for two seconds", For(r, 2*time.Second), 2 * time.Second, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			end, count, known := PlannedEnd(tt.p, 0)
			if end != tt.end || count != tt.count || !known {
				t.Errorf("PlannedEnd = %v, %d, %v; want %v, %d, true", end, count, known, tt.end, tt.count)
			}
		})
	}
}
