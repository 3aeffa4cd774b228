package target

import (
	"math"
	"time"

	"go.uber.org/ratelimit"
)

const (
	// slack is the limiter's default: so many permissions that nobody used are
	// kept for later.
	slack = 10
	// gateEpoch is instant 0 on the limiter's clock. A limiter takes the time 0
	// for "never used".
	gateEpoch = 1_000_000_000_000_000_000
)

// A gate lets requests pass as fast as a capacity says. Its limiter runs on a
// clock that never blocks: a permission is taken in advance, kept in hand and
// used once its instant has come, so none is lost because the loop is late.
type gate struct {
	capacity capacity
	limiter  ratelimit.Limiter
	clock    gateClock
	rate     float64       // what limiter was made for, per second
	period   time.Duration // of limiter
	frozen   time.Duration // sum of the freezes, in which its clock stands

	at     time.Duration // of the permission in hand, else of the last one
	inHand bool
	timed  bool // a timer waits for the permission in hand

	// Saturation is measured from one request that finds the gate shut to the
	// next. Only where as many passed as there were permissions has nobody been
	// missing between them.
	shutFor  time.Duration // the permission that was not there yet
	shutAt   time.Duration // by the clock
	passed   int64         // requests since then; -1 when that proves nothing
	served   uint64        // requests that passed in saturated time
	saturate time.Duration // sum of it
}

func newGate(c capacity) *gate {
	g := &gate{capacity: c, passed: -1}
	g.build(c.rate)
	return g
}

// build makes the limiter for a rate. Its first permission is due at once; when
// there was a limiter before, it stands for the last one of that.
func (g *gate) build(rate float64) {
	first := g.limiter == nil
	g.rate = rate
	g.period = time.Duration(math.Round(float64(time.Second) / rate))
	g.limiter = ratelimit.New(1, ratelimit.Per(g.period), ratelimit.WithSlack(slack), ratelimit.WithClock(&g.clock))
	if !first {
		g.take(g.at)
		g.passed = -1
	}
}

// take returns the next permission of the limiter.
func (g *gate) take(now time.Duration) time.Duration {
	g.clock.now = now - g.frozen
	return time.Duration(g.limiter.Take().UnixNano()-gateEpoch) + g.frozen
}

// open reports whether a request may pass at now; at the latest it may at g.at.
// Someone wants to pass, so a gate that is shut is a saturated one. The clock
// says real.
func (g *gate) open(now, real time.Duration) bool {
	if rate := g.capacity.at(now); rate != g.rate {
		g.build(rate)
	}
	if !g.inHand || now-g.at > slack*g.period {
		g.at = g.take(now)
		g.inHand = true
	}
	if g.at <= now {
		return true
	}
	if g.passed >= 0 && g.at-g.shutFor == time.Duration(g.passed)*g.period {
		g.served += uint64(g.passed)
		g.saturate += real - g.shutAt
	}
	g.shutFor, g.shutAt, g.passed = g.at, real, 0
	return false
}

// pass uses the permission that open has seen.
func (g *gate) pass() {
	g.inHand = false
	if g.passed >= 0 {
		g.passed++
	}
}

// shift delays everything by a freeze of length d.
func (g *gate) shift(d time.Duration) {
	g.frozen += d
	g.at += d
	g.shutFor += d
	g.shutAt += d
}

// gateClock is the limiter's clock. Take returns the instant at which it would
// have woken up.
type gateClock struct{ now time.Duration }

func (c *gateClock) Now() time.Time { return time.Unix(0, gateEpoch+int64(c.now)) }

func (c *gateClock) Sleep(time.Duration) {}
