package target

import (
	"testing"
	"time"
)

// A demand is a clock by which requests come at a steady rate.
type demand struct{ now time.Duration }

// offer calls f for each of rate requests per second that come within d.
func (m *demand) offer(rate int, d time.Duration, f func(now time.Duration)) {
	from := m.now
	for i := 0; ; i++ {
		m.now = from + time.Duration(i)*time.Second/time.Duration(rate)
		if m.now >= from+d {
			m.now = from + d
			return
		}
		f(m.now)
	}
}

// What is left of a capacity is a straight line of what is offered.
func TestCollapseIsLinear(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		offered int
		kept    float64
		want    float64
	}{
		{"half", 50, 0.5, 100},
		{"just the capacity", 100, 0.5, 100},
		{"a quarter more", 125, 0.5, 87.5},
		{"half more", 150, 0.5, 75},
		{"twice", 200, 0.5, 50},
		{"thrice", 300, 0.5, 50},
		{"little kept, half more", 150, 0.25, 62.5},
		{"little kept, twice", 200, 0.25, 25},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newCapacity(100, Collapse{Kept: tt.kept, Hold: time.Second})
			var m demand
			m.offer(tt.offered, 5*time.Second, c.count)
			if got := c.at(m.now); got != tt.want || c.lowest != tt.want {
				t.Errorf("%v/s left, lowest %v/s; want %v/s", got, c.lowest, tt.want)
			}
		})
	}
}

// The way down follows what is offered, the way up waits.
func TestCollapseHolds(t *testing.T) {
	t.Parallel()
	const hold = 5 * time.Second
	c := newCapacity(100, Collapse{Kept: 0.5, Hold: hold})
	var m demand
	for _, step := range []struct {
		offered int
		length  time.Duration
		want    float64 // at its end
	}{
		{100, 2 * time.Second, 100},
		{150, 2 * time.Second, 75},
		{200, 2 * time.Second, 50},
		{300, 2 * time.Second, 50},
		{200, 2 * time.Second, 50},
		{150, 2 * time.Second, 50},
		// From here on it is calm, after the second that held some of the 150/s.
		{100, time.Second, 50},
		{100, 3 * time.Second, 50},
		{50, hold - 3*time.Second - 1, 50},
		{50, 1, 100},
		{100, 2 * time.Second, 100},
		{200, 2 * time.Second, 50},
	} {
		m.offer(step.offered, step.length, c.count)
		if got := c.at(m.now); got != step.want {
			t.Fatalf("%v/s at %v, after %d/s for %v; want %v/s", got, m.now, step.offered, step.length, step.want)
		}
	}
	if c.collapses != 2 || c.lowest != 50 {
		t.Errorf("%d collapses, lowest %v/s; want 2, 50/s", c.collapses, c.lowest)
	}
}

// Overload that comes back before the hold is over starts it anew.
func TestCollapseHoldsAnew(t *testing.T) {
	t.Parallel()
	c := newCapacity(100, Collapse{Kept: 0.5, Hold: 3 * time.Second})
	var m demand
	m.offer(200, 2*time.Second, c.count)
	m.offer(50, 2*time.Second, c.count)
	m.offer(120, 2*time.Second, c.count)
	m.offer(100, 2*time.Second, c.count)
	if got := c.at(m.now); got != 50 {
		t.Errorf("%v/s 1 s after the second overload has left the count, want 50/s", got)
	}
	if got := c.at(m.now + 2*time.Second - 1); got != 50 {
		t.Errorf("%v/s just before the hold ends, want 50/s", got)
	}
	if got := c.at(m.now + 2*time.Second); got != 100 || c.collapses != 1 {
		t.Errorf("%v/s after the hold, %d collapses; want 100/s, 1", got, c.collapses)
	}
}

// A long rest is over at once, and ends a collapse.
func TestCollapseRests(t *testing.T) {
	t.Parallel()
	c := newCapacity(100, Collapse{Kept: 0.5, Hold: 0})
	var m demand
	for range 3 {
		m.offer(200, 2*time.Second, c.count)
		if got := c.at(m.now); got != 50 {
			t.Errorf("%v/s, want 50/s", got)
		}
		m.now += 50 * 365 * 24 * time.Hour
		if got := c.at(m.now); got != 100 {
			t.Errorf("%v/s after a rest, want 100/s", got)
		}
	}
	if c.collapses != 3 {
		t.Errorf("%d collapses, want 3", c.collapses)
	}
}
