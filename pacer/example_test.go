package pacer_test

import (
	"fmt"
	"time"

	"httpgen/pacer"
)

func ExampleParse() {
	p, err := pacer.Parse("33.3")
	if err != nil {
		fmt.Println(err)
		return
	}
	s := pacer.First(p, 4).Schedule(0, 1, 0)
	for {
		index, at, ok := s.Next()
		if !ok {
			break
		}
		fmt.Println(index, at)
	}
	// Output:
	// 0 0s
	// 1 30.03003ms
	// 2 60.06006ms
	// 3 90.09009ms
}

func ExamplePlannedEnd() {
	p := pacer.First(pacer.Constant{N: 2000, Per: time.Second}, 100000)
	end, count, known := pacer.PlannedEnd(p, 0)
	fmt.Println(p, "has", count, "arrivals until", end, known)
	// Output: 2000/s first 100000 has 100000 arrivals until 50s true
}

// A generator stalls for 3 ms at 1000 arrivals per second. What it owes goes at
// 2000 per second.
func ExampleRelease() {
	p := pacer.Constant{N: 1000, Per: time.Second}
	r := pacer.NewRelease(p, 1, pacer.CatchUp{})
	now := 3500 * time.Microsecond
	r.Look(0)
	r.Look(now)
	for _, intended := range []time.Duration{1 * time.Millisecond, 2 * time.Millisecond, 3 * time.Millisecond} {
		start, _ := r.Due(intended, now)
		fmt.Println("intended", intended, "starts at", start)
	}
	// Output:
	// intended 1ms starts at 3.5ms
	// intended 2ms starts at 4ms
	// intended 3ms starts at 4.5ms
}
