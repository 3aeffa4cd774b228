package target

import (
	"testing"
	"time"
)

// try lets one request that comes at now pass, if it may.
func (g *gate) try(now time.Duration) bool {
	ok := g.open(now, now)
	if ok {
		g.pass()
	}
	return ok
}

// Where someone always waits, a permission follows the other at equal
// distances, also when the loop looks late.
func TestGateIsExact(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		capacity float64
		want     time.Duration // of 30 permissions
	}{
		{0.5, 60 * time.Second},
		{100, 300 * time.Millisecond},
		{3000, 30 * 333333},
		{100000, 300 * time.Microsecond},
	} {
		g := newGate(newCapacity(tt.capacity, Collapse{}))
		const start = time.Minute
		if !g.try(start) {
			t.Fatalf("capacity %v: shut at the start", tt.capacity)
		}
		now, real := start, start
		for range 30 {
			if g.open(now, real) {
				t.Fatalf("capacity %v: open too early, at %v", tt.capacity, now)
			}
			now = g.at
			real = max(real, now) + g.period/3 // later and later
			if !g.open(now, real) {
				t.Fatalf("capacity %v: shut at its own instant %v", tt.capacity, now)
			}
			g.pass()
		}
		if got := now - start; got != tt.want {
			t.Errorf("capacity %v: 30 permissions in %v, want %v", tt.capacity, got, tt.want)
		}
		if g.served != 29 {
			t.Errorf("capacity %v: %d passed in saturated time, want 29", tt.capacity, g.served)
		}
	}
}

// After a rest eleven may pass at once, as the limiter has it, and no more.
func TestGateSaves(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		rest time.Duration
		want int
	}{
		{"none", 0, 0},
		{"one period", 10 * time.Millisecond, 1},
		{"five", 50 * time.Millisecond, 5},
		{"ten", 100 * time.Millisecond, 10},
		{"eleven", 110 * time.Millisecond, 11},
		{"an hour", time.Hour, 11},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := newGate(newCapacity(100, Collapse{}))
			now := time.Second
			g.try(now)
			if g.try(now) { // leaves a permission in hand
				t.Fatal("open twice at the start")
			}
			now += tt.rest
			n := 0
			for g.try(now) {
				n++
			}
			if n != tt.want {
				t.Errorf("%d passed at once, want %d", n, tt.want)
			}
		})
	}
}

// What is refused at once does not cost capacity.
func TestGateRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		offered  int
		collapse Collapse
		want     int // passed in the last 10 s
		rate     float64
	}{
		{"half", 200, Collapse{}, 2000, 0},
		{"just the capacity", 400, Collapse{}, 4000, 0},
		{"a little more", 440, Collapse{}, 4000, 400},
		{"twice", 800, Collapse{}, 4000, 400},
		{"no multiple", 1234, Collapse{}, 4000, 400},
		{"collapse, half", 200, Collapse{Kept: 0.5, Hold: time.Second}, 2000, 0},
		{"collapse, just the capacity", 400, Collapse{Kept: 0.5, Hold: time.Second}, 4000, 0},
		{"collapse, half more", 600, Collapse{Kept: 0.5, Hold: time.Second}, 3000, 300},
		{"collapse, twice", 800, Collapse{Kept: 0.5, Hold: time.Second}, 2000, 200},
		{"collapse, thrice", 1200, Collapse{Kept: 0.25, Hold: time.Second}, 1000, 100},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := newGate(newCapacity(400, tt.collapse))
			m := demand{now: time.Hour}
			passed := 0
			call := func(now time.Duration) {
				g.capacity.count(now)
				if g.try(now) {
					passed++
				}
			}
			m.offer(tt.offered, 2*time.Second, call)
			served, saturate := g.served, g.saturate
			passed = 0
			m.offer(tt.offered, 10*time.Second, call)
			// One period at either end.
			if passed < tt.want-1 || passed > tt.want+1 {
				t.Errorf("%d passed, want %d", passed, tt.want)
			}
			if tt.rate == 0 {
				if g.served > 0 {
					t.Errorf("%d passed in saturated time, want 0", g.served)
				}
				return
			}
			rate := float64(g.served-served) / (g.saturate - saturate).Seconds()
			if rate < 0.999*tt.rate || rate > 1.001*tt.rate {
				t.Errorf("saturated rate %.2f/s, want %v/s", rate, tt.rate)
			}
		})
	}
}

// Time in which nobody asked is not saturated.
func TestGateSaturation(t *testing.T) {
	t.Parallel()
	g := newGate(newCapacity(100, Collapse{}))
	m := demand{now: time.Second}
	call := func(now time.Duration) { g.try(now) }
	for range 5 {
		m.offer(1000, 2*time.Second, call)
		m.offer(10, 10*time.Second, call)
	}
	if got := g.saturate; got < 5*(2*time.Second-20*time.Millisecond) || got > 5*2*time.Second {
		t.Errorf("saturated for %v, want 5 x 2 s less a period", got)
	}
	if rate := float64(g.served) / g.saturate.Seconds(); rate < 99 || rate > 101 {
		t.Errorf("saturated rate %.2f/s, want 100/s", rate)
	}
}

// A freeze earns nothing.
func TestGateFreezes(t *testing.T) {
	t.Parallel()
	g := newGate(newCapacity(100, Collapse{}))
	now := time.Second
	g.try(now)
	if g.try(now) {
		t.Fatal("open twice at the start")
	}
	g.shift(time.Minute)
	now += time.Minute
	if g.try(now) {
		t.Error("open after the freeze")
	}
	if want := now + 10*time.Millisecond; g.at != want {
		t.Errorf("opens at %v, want %v", g.at, want)
	}
	if !g.try(g.at) || g.try(g.at) || g.at != now+20*time.Millisecond {
		t.Errorf("next permission at %v, want %v", g.at, now+20*time.Millisecond)
	}
}
