//go:build !race

package http2

import "testing"

// TestCallAllocs checks that in steady state a call takes no allocation, nor
// does a new connection.
func TestCallAllocs(t *testing.T) {
	for _, tt := range []struct {
		name  string
		piece int
		conns bool
	}{
		{"whole", 1 << 30, false},
		{"byte by byte", 1, false},
		{"new connection", 1 << 30, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLoad(t, 10, insertReply)
			l.piece = tt.piece
			for range 100 {
				l.round()
			}
			allocs := testing.AllocsPerRun(100, func() {
				if tt.conns {
					l.connect()
				}
				l.round()
			})
			if allocs != 0 {
				t.Errorf("%v allocations in 10 calls, want 0", allocs)
			}
		})
	}
}
