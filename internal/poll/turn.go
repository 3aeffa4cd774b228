package poll

import "time"

// turn is how long a Turn takes: short beside what an arrival may be late, and
// long beside what changing threads costs.
const turn = 50 * time.Microsecond

// A Turn divides work that is not urgent, so that a loop on the same processor
// never waits long for it: threads of equal rank else go on for milliseconds. The
// zero value is ready.
type Turn struct{ began time.Time }

// Pass is called between any two small pieces of the work. When they have taken
// long enough together, other threads that want the processor go first.
func (t *Turn) Pass() {
	now := time.Now()
	if t.began.IsZero() {
		t.began = now
	}
	if now.Sub(t.began) < turn {
		return
	}
	yield()
	t.began = time.Now()
}
