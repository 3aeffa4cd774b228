package sampler

import (
	"math/rand/v2"
	"testing"
	"time"
)

// BenchmarkRecord records a whole arrival with one call.
func BenchmarkRecord(b *testing.B) {
	r := newSampler(b, Options{Loops: 1, Base: 1 << 60}).Recorder(0, silent{})
	b.ReportAllocs()
	for now := time.Duration(0); b.Loop(); now += 100 {
		oneArrival(r, now)
	}
}

// BenchmarkMerge merges the page of a window with 5000 arrivals.
func BenchmarkMerge(b *testing.B) {
	s := newSampler(b, Options{Loops: 1, Base: time.Hour})
	r := s.Recorder(0, silent{})
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 5000 {
		oneArrival(r, time.Duration(i)*micro)
		for _, m := range []metric{latency, service, firstByte} {
			r.page.parts[0].times[m].Add(time.Duration(random.ExpFloat64() * float64(10*milli)))
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		s.merge(r.page)
	}
}

func BenchmarkDistAdd(b *testing.B) {
	d := newDist(3)
	b.ReportAllocs()
	for v := time.Duration(0); b.Loop(); v = (v + 12345) & (1<<24 - 1) {
		d.Add(v)
	}
}
