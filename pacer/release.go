package pacer

import (
	"fmt"
	"math"
	"time"

	"go.uber.org/ratelimit"
)

const (
	// stall is the gap between two looks at the schedule from which on what
	// became due meanwhile counts as owed.
	stall = time.Millisecond
	// rampPiece is how long one limiter serves where the rate changes all the
	// time.
	rampPiece = 100 * time.Millisecond
	// maxPeriod bounds the period of a limiter (34 years), so that a few
	// reservations stay within the range of a time.Time in nanoseconds.
	maxPeriod = 1 << 60
	// epoch is offset 0 on the limiter's clock. A limiter takes the time 0 for
	// "never used".
	epoch = 1_000_000_000_000_000_000
)

// Release lets the arrivals of one part of a schedule go: those that are on
// time at once, those that are owed after a stall as CatchUp says.
//
// An arrival is owed when it became due during a gap of more than 1 ms between
// two looks at the schedule, and was more than 1 ms late at the second; so a
// loop may sleep as long as nothing is due. Owed arrivals and those that queue
// behind them are spaced, by a rate limiter that runs faster than the schedule,
// until it has caught up. Bursts that the schedule itself contains go out as
// they are.
//
// Once per pass, in this order:
//
//	r.Look(now)
//	for { // while the next arrival is due: intended <= now
//		start, late := r.Due(intended, now)
//		// late: shed it. Else start it at start: now, or in a later pass;
//		// then the arrivals behind it wait for it.
//	}
//
// A Release belongs to one goroutine. It allocates when the rate changes, and
// never otherwise.
type Release struct {
	p          Process
	shards     float64
	c          CatchUp
	continuous bool // the rate changes all the time

	looked time.Duration // time of the last Look
	owed   time.Duration // arrivals intended before it are owed
	behind bool          // what is due queues behind owed arrivals

	limiter ratelimit.Limiter // nil before the first owed arrival
	clock   releaseClock
	rate    float64       // what limiter was made for, per second over all parts
	period  time.Duration // of limiter
	last    time.Duration // permission that it gave last
}

// NewRelease returns the release of one of shards parts of p. It panics when
// shards < 1 or c makes no sense; what ParseCatchUp returns always does.
func NewRelease(p Process, shards int, c CatchUp) *Release {
	if shards < 1 {
		panic(fmt.Sprintf("pacer: release of %d shards: want 1 or more", shards))
	}
	if err := c.validate(); err != nil {
		panic("pacer: catch-up: " + err.Error())
	}
	r := &Release{p: base(p), shards: float64(shards), c: c}
	switch r.p.(type) {
	case Constant, Poisson, Uniform, Variable, Steps, *Trace:
	default:
		r.continuous = true
	}
	return r
}

// Look notes that the loop looked at its schedule at now. Call it once per pass
// before Due.
func (r *Release) Look(now time.Duration) {
	if now-r.looked > stall {
		r.owed = now - stall
		// What was reserved before the stall and not used is lost: the limiter
		// never makes up for time, it only goes on.
		r.clock.from = now
	}
	r.looked = now
}

// Due is called once for each arrival, in order, once it is due (intended <=
// now). It returns the instant at which the arrival may start, which is
// intended itself or, when owed, maybe later than now; and whether it has to be
// shed as late (CatchUp.Drop only).
func (r *Release) Due(intended, now time.Duration) (start time.Duration, late bool) {
	switch {
	case r.c.Burst:
		return intended, false
	case r.c.Drop:
		return intended, now-intended > r.c.Bound
	case intended < r.owed:
		r.behind = true
	case r.behind && r.last+r.period <= intended:
		r.behind = false
	}
	if !r.behind || !r.adapt(intended) {
		return intended, false
	}
	r.last = r.take(now)
	return max(intended, r.last), false
}

// take reserves the next permission. The limiter forgets permissions that were
// not taken in time, and a loop is never in time to the nanosecond: its clock
// is therefore late by what is no stall yet, but not before the last stall.
func (r *Release) take(now time.Duration) time.Duration {
	r.clock.now = max(now-stall, r.clock.from)
	return time.Duration(r.limiter.Take().UnixNano() - epoch)
}

// adapt sees to it that the limiter is one for the rate at intended. Without a
// rate (all arrivals of a trace at one instant) there is nothing to space.
func (r *Release) adapt(intended time.Duration) bool {
	rate := r.p.Rate(intended)
	if r.continuous {
		middle := intended - intended%rampPiece + rampPiece/2
		if m := r.p.Rate(middle); m > 0 {
			rate = m
		}
	}
	if r.limiter != nil && rate == r.rate {
		return true
	}
	period := r.shards / rate * float64(time.Second) / r.c.Factor
	if !(rate > 0) || math.IsNaN(period) {
		return false
	}
	fresh := r.limiter == nil
	r.rate, r.period = rate, time.Duration(min(period, maxPeriod))
	// One permission per period, rounded down to a nanosecond: a rate in whole
	// arrivals per second would be rounded, and one below 1/s impossible.
	r.limiter = ratelimit.New(1, ratelimit.Per(r.period), ratelimit.WithoutSlack, ratelimit.WithClock(&r.clock))
	if !fresh {
		// The first Take of a limiter is due at once. It stands for the last
		// permission of the limiter before.
		r.clock.now = r.last
		r.limiter.Take()
	}
	return true
}

// releaseClock is the limiter's clock. It never blocks: Take returns the
// instant at which it would have woken up.
type releaseClock struct {
	now  time.Duration
	from time.Duration // end of the last stall
}

func (c *releaseClock) Now() time.Time { return time.Unix(0, epoch+int64(c.now)) }

func (c *releaseClock) Sleep(time.Duration) {}
