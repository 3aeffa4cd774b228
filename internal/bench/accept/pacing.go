package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"httpgen/internal/bench/lab"
	"httpgen/internal/bench/wire"
	"httpgen/internal/report"
)

const (
	paceRuns   = 5
	paceLength = 3 * time.Second
)

// pacing compares how precisely connections appear on the wire with the bare
// loop and with httperf.
func pacing(ctx context.Context, b *bench) error {
	if err := wire.Available(); err != nil {
		b.skip(err.Error())
		return nil
	}
	s, err := b.Nginx(ctx)
	if err != nil {
		return err
	}
	defer s.Stop()
	for _, rate := range []int{1000, 2000, 5000, 10000} {
		if err := pace(ctx, b, s, rate); err != nil {
			return err
		}
	}
	return poissonPace(ctx, b, s)
}

// precision is what one tool gave, a value a run; times are in microseconds.
type precision struct{ p50, p99, dispersion []float64 }

func (p *precision) add(v *wire.Precision) {
	p.p50 = append(p.p50, float64(v.P50)/float64(time.Microsecond))
	p.p99 = append(p.p99, float64(v.P99)/float64(time.Microsecond))
	p.dispersion = append(p.dispersion, v.Dispersion)
}

// median returns the medians over the runs.
func (p *precision) median() (p50, p99, dispersion float64) {
	return lab.NewSpread(p.p50).Median, lab.NewSpread(p.p99).Median, lab.NewSpread(p.dispersion).Median
}

// pace compares the tools at one rate.
func pace(ctx context.Context, b *bench, s *lab.Server, rate int) error {
	tools := lab.Rated()
	got := map[*lab.Tool]*precision{}
	seen, want := 0, 0
	for range b.repeat(paceRuns) {
		for _, t := range tools {
			p, err := t.Pace(ctx, b.Bench, s, rate, paceLength)
			if err != nil {
				return err
			}
			if got[t] == nil {
				got[t] = &precision{}
			}
			got[t].add(&p)
			if t == lab.Httpgen {
				seen += p.Count
				want += rate * int(paceLength/time.Second)
			}
		}
	}
	name := fmt.Sprintf("%d/s ", rate)
	p50, p99, dispersion := got[lab.Httpgen].median()
	_, bare99, bareDispersion := got[lab.Bare].median()
	b.equal(name+"on the wire", uint64(seen), uint64(want))
	b.atMost(name+"deviation p50", p50, 10, " us")
	b.atMost(name+"deviation p99", p99, max(1.5*bare99, 300), " us")
	b.atMost(name+"dispersion", dispersion, max(bareDispersion, .02), "")
	for _, t := range tools[1:] {
		peer50, peer99, peerDispersion := got[t].median()
		b.note(name+t.Name, fmt.Sprintf("p50 %.0f us, p99 %.0f us, dispersion %.3f", peer50, peer99, peerDispersion))
		if t == lab.Httperf {
			b.atMost(name+"p50 against "+t.Name, p50, peer50/10, " us")
		}
	}
	return nil
}

// poissonPace checks that random arrivals are as random as they should be.
func poissonPace(ctx context.Context, b *bench, s *lab.Server) error {
	const length = 30 * time.Second
	var r *lab.Report
	t, err := wire.Capture(ctx, wire.Connections, s.Port, lab.ServerCore, func() (err error) {
		r, err = b.Generate(ctx, length+30*time.Second, append(s.Flags(), "--rate", "poisson:1000",
			"--duration", strconv.Itoa(int(length.Seconds())), "--timeout", "5")...)
		return err
	})
	if err != nil {
		return err
	}
	b.equal("poisson on the wire", uint64(len(t)), r.Totals.Arrivals.Started)
	b.within("poisson dispersion", t.Dispersion(), 1, .1, "")
	b.verdict(&r.Verdict, report.Valid)
	return nil
}
