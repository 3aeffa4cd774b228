package pacer

import (
	"fmt"
	"testing"
	"time"

	"go.uber.org/ratelimit"
)

// asked is the rate that both pacings below are asked for, per second.
const asked = 70000

// BenchmarkSchedule starts arrivals when the schedule says, polling the clock.
func BenchmarkSchedule(b *testing.B) {
	s := Constant{asked, time.Second}.Schedule(0, 1, 0)
	begin := time.Now()
	for b.Loop() {
		_, at, _ := s.Next()
		for time.Since(begin) < at {
		}
	}
	reportRate(b)
}

// BenchmarkLimiterAsSchedule starts arrivals when a limiter lets them.
func BenchmarkLimiterAsSchedule(b *testing.B) {
	l := ratelimit.New(asked)
	for b.Loop() {
		l.Take()
	}
	reportRate(b)
}

func reportRate(b *testing.B) {
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "arrivals/s")
	b.ReportMetric(asked, "asked/s")
}

func BenchmarkNext(b *testing.B) {
	k := func(n uint64) Constant { return Constant{n, time.Second} }
	for _, p := range []Process{
		k(30011),
		Poisson{1e6, time.Second},
		Uniform{1, 1000},
		Variable{{10, 1000}, {5, 500}},
		Steps{{k(1e6), time.Second}, {k(2e6), 0}},
		Ramp{k(1000), k(1e6), time.Hour},
		memoryTrace(b, make([]time.Duration, 1e6)...),
	} {
		b.Run("process="+Kind(p), func(b *testing.B) {
			b.ReportAllocs()
			s := p.Schedule(0, 1, 1)
			for b.Loop() {
				if _, _, ok := s.Next(); !ok {
					s = p.Schedule(0, 1, 1)
				}
			}
		})
	}
}

func BenchmarkDue(b *testing.B) {
	for _, owed := range []bool{false, true} {
		b.Run(fmt.Sprintf("owed=%t", owed), func(b *testing.B) {
			b.ReportAllocs()
			r := NewRelease(Constant{asked, time.Second}, 1, CatchUp{})
			now := time.Second
			r.Look(now)
			intended := now
			if owed {
				intended = 0
			}
			for b.Loop() {
				r.Due(intended, now)
			}
		})
	}
}
