//go:build !race

package pacer

import (
	"testing"
	"time"
)

func TestNextDoesNotAllocate(t *testing.T) {
	for _, p := range everyProcess(t) {
		if Kind(p) == "trace" {
			continue
		}
		s := p.Schedule(1, 2, 1)
		if n := testing.AllocsPerRun(1000, func() { s.Next() }); n != 0 {
			t.Errorf("%v: Next allocates %v times, want 0", p, n)
		}
	}
}

func TestDueDoesNotAllocate(t *testing.T) {
	for _, p := range []Process{
		Constant{1000, time.Second},
		Poisson{1000, time.Second},
		Uniform{0, ms},
		Variable{{ms, ms}, {ms, 2 * ms}},
		Steps{{Constant{5, time.Second}, time.Second}, {Constant{10, time.Second}, 0}},
		Ramp{Constant{5, time.Second}, Constant{10, time.Second}, time.Hour},
		memoryTrace(t, 0, 5),
	} {
		for _, c := range []CatchUp{{}, {Burst: true}, {Drop: true}} {
			r := NewRelease(p, 1, c)
			r.Look(time.Second)
			r.Due(0, time.Second)
			now := time.Second
			if n := testing.AllocsPerRun(1000, func() {
				now += 10
				r.Look(now)
				r.Due(1, now)
			}); n != 0 {
				t.Errorf("%v, %v: Due allocates %v times, want 0", p, c, n)
			}
		}
	}
}
