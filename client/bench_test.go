package client

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"httpgen/pacer"
)

// BenchmarkEngine carries out a run of b.N calls against a server in the same
// process, which takes part of the processor.
func BenchmarkEngine(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	go answer(l, lean)
	req, err := NewRequest(RequestOptions{Host: "test"})
	if err != nil {
		b.Fatal(err)
	}
	addr := l.Addr().(*net.TCPAddr).AddrPort()
	for _, bb := range []struct {
		name  string
		shape func(s *Stream, n uint64)
	}{
		{"closed=16/kept", func(s *Stream, n uint64) { s.Closed, s.KeepOpen, s.Limit = 16, true, n }},
		{"closed=16/new", func(s *Stream, n uint64) { s.Closed, s.Limit, s.CloseReset = 16, n, true }},
		{"pool=16", func(s *Stream, n uint64) {
			s.Pool = 16
			s.Process = pacer.First(pacer.Constant{N: 1_000_000, Per: time.Second}, n)
		}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			s := Stream{Target: Target{Addrs: []netip.AddrPort{addr}}, Workload: &Calls{Request: req}, Backlog: 1 << 30}
			bb.shape(&s, uint64(b.N))
			c, err := New(Options{Streams: []Stream{s}, Drain: time.Minute, Owed: time.Minute})
			if err != nil {
				b.Skip(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			r, err := c.Run(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			if r.All.Completed() != uint64(b.N) {
				b.Fatalf("outcomes %s, want %d ok", outcomes(&r.All), b.N)
			}
			b.ReportMetric(float64(b.N)/r.Total.Seconds(), "calls/s")
		})
	}
}
