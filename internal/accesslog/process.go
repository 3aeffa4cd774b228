package accesslog

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"time"

	"httpgen/pacer"
)

// Bounds of a speed. Between them every float64, written as a decimal, is a
// ratio of two 64-bit integers.
const (
	minSpeed = 0.001
	maxSpeed = 1e9
)

// A replay is the process of a log's own times.
type replay struct {
	l     *Log
	speed float64
	num   uint64 // speed is num/den
	den   uint64
	err   error // why there are no arrivals
}

// Process returns the arrivals of the log: each request as long after the
// first one as it was logged, divided by speed and rounded down to a
// nanosecond. Speed is the decimal number that it prints as, from 0.001 to 1e9;
// at 2 the log takes half its time. Another speed has no arrivals, and the
// schedule's Err says why.
//
// The schedules read the file as they go, in constant memory. The mean of the
// log is their rate.
func (l *Log) Process(speed float64) pacer.Process {
	p := &replay{l: l, speed: speed}
	if !(speed >= minSpeed && speed <= maxSpeed) {
		p.err = fmt.Errorf("%s: speed %v: want a number from %v to %v", l.file.Name(), speed, minSpeed, maxSpeed)
		return p
	}
	// A number as FormatFloat prints it always reads back.
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(speed, 'g', -1, 64))
	p.num, p.den = r.Num().Uint64(), r.Denom().Uint64()
	if _, ok := p.scale(p.length()); !ok {
		p.err = fmt.Errorf("%s: %s at speed %v: want less than %s", l.file.Name(), l.Span(), speed, time.Duration(math.MaxInt64))
	}
	return p
}

// Schedule implements pacer.Process. The seed is not used.
func (p *replay) Schedule(shard, shards int, _ uint64) pacer.Schedule {
	if shard < 0 || shard >= shards {
		panic(fmt.Sprintf("accesslog: shard %d of %d: want 0 <= shard < shards", shard, shards))
	}
	s := &schedule{p: p, skip: uint64(shard), others: uint64(shards) - 1, err: p.err, done: p.err != nil}
	if !s.done {
		s.in = newCursor(p.l.file, p.l.size)
		if p.l.spread {
			s.group = newGroup(p.l)
		}
	}
	return s
}

// Rate implements pacer.Process: it is the mean of the log, 0 when all its
// requests are at one instant.
func (p *replay) Rate(time.Duration) float64 {
	gaps := p.l.n - 1
	if p.l.spread {
		gaps = p.l.n
	}
	length := p.length()
	if length == 0 || p.err != nil {
		return 0
	}
	return float64(gaps) / time.Duration(length).Seconds() * p.speed
}

// Ends returns when the replay is over and how many arrivals it has until
// then. It ends one mean gap after the last request; where the requests are
// spread, with the last second. known is false when the speed is none.
func (p *replay) Ends() (end time.Duration, count uint64, known bool) {
	if p.err != nil {
		return 0, 0, false
	}
	end, _ = p.scale(p.length())
	if !p.l.spread {
		gap := time.Duration(1)
		if p.l.n > 1 {
			gap = max(gap, time.Duration(uint64(end)/(p.l.n-1)))
		}
		end += min(gap, math.MaxInt64-end)
	}
	return end, p.l.n, true
}

// String returns the name of the log, and the speed unless it is 1.
func (p *replay) String() string {
	if p.speed == 1 {
		return "access log " + p.l.file.Name()
	}
	return "access log " + p.l.file.Name() + " at " + strconv.FormatFloat(p.speed, 'f', -1, 64) + "x"
}

// length returns the time that the gaps between requests take as logged, in
// nanoseconds; where the requests are spread, up to the end of the last second.
func (p *replay) length() uint64 {
	n := uint64(p.l.last - p.l.first)
	if p.l.spread {
		n += 1e9
	}
	return n
}

// scale divides a logged offset, in nanoseconds, by the speed. It is not ok
// beyond the range of a time.Duration.
func (p *replay) scale(ns uint64) (time.Duration, bool) {
	hi, lo := bits.Mul64(ns, p.den)
	if hi >= p.num {
		return 0, false
	}
	q, _ := bits.Div64(hi, lo, p.num)
	return time.Duration(q), q <= math.MaxInt64
}
