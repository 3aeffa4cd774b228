//go:build accept

package target

import (
	"io"
	"net/netip"
	"sync"
	"testing"
	"time"
)

// A server that is saturated serves what its options say, within 1 %. It is
// timed, and so not among the ordinary tests.
func TestAcceptKnownAnswer(t *testing.T) {
	for _, tt := range []struct {
		name  string
		o     Options
		want  float64 // replies per second
		count int     // replies to wait for
	}{
		{"10ms x 1", Options{Service: Constant(10 * time.Millisecond), Workers: 1}, 100, 300},
		{"1ms x 3", Options{Service: Constant(time.Millisecond), Workers: 3}, 3000, 9000},
		{"exp:2ms x 4", Options{Service: Exponential(2 * time.Millisecond), Workers: 4}, 2000, 20000},
		{"accept, 10ms x 1", Options{Service: Constant(10 * time.Millisecond), Workers: 1, Overload: AcceptLate}, 100, 300},
		{"accept and close, 10ms x 1", Options{Service: Constant(10 * time.Millisecond), Workers: 1, Overload: AcceptLate, Close: true}, 100, 300},
		{"accept and close, 1ms x 3", Options{Service: Constant(time.Millisecond), Workers: 3, Overload: AcceptLate, Close: true}, 3000, 9000},
		{"capacity 100", Options{Capacity: 100}, 100, 300},
		{"capacity 3000", Options{Capacity: 3000}, 3000, 9000},
		{"capacity 3000 and close", Options{Capacity: 3000, Close: true}, 3000, 9000},
		{"shares, 5ms x 2", Options{Service: Constant(5 * time.Millisecond), Workers: 2, Shares: []Share{{netip.MustParseAddr("127.0.0.1"), 1}}}, 400, 1200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, tt.o)
			var wg sync.WaitGroup
			done := make(chan struct{})
			for range 24 {
				wg.Go(func() { calls(t, s, tt.o.Close, done) })
			}
			await := func(n uint64) (Stats, time.Time) {
				tick := time.NewTicker(time.Millisecond)
				defer tick.Stop()
				for range tick.C {
					if st := s.Stats(); st.Replies >= n {
						return st, time.Now()
					}
				}
				panic("unreachable")
			}
			a, from := await(24)
			b, to := await(a.Replies + uint64(tt.count))
			close(done)
			wg.Wait()
			seen := float64(b.Replies-a.Replies) / to.Sub(from).Seconds()
			t.Logf("counted %.2f/s, its own word %.2f/s, late by %v, at most %v", seen, b.Rate(), b.LateMean, b.LateMax)
			bound := 0.01
			if tt.o.Service.exponential {
				bound = 0.03 // its own scatter: 1/sqrt(20000) is 0.7 %
			}
			for name, got := range map[string]float64{"counted": seen, "its own": b.Rate()} {
				if got < tt.want*(1-bound) || got > tt.want*(1+bound) {
					t.Errorf("%s rate %.2f/s, want %.0f within %.0f %%", name, got, tt.want, 100*bound)
				}
			}
		})
	}
}

// calls makes one call after the other until done is closed.
func calls(t testing.TB, s *Server, closes bool, done <-chan struct{}) {
	var c *client
	b := make([]byte, 4096)
	for {
		select {
		case <-done:
			return
		default:
		}
		if c == nil {
			c = dial(t, s)
		}
		if _, err := io.WriteString(c, get); err != nil {
			t.Error(err)
			return
		}
		if _, err := c.Read(b); err != nil {
			t.Error(err)
			return
		}
		if closes {
			c.Close()
			c = nil
		}
	}
}
