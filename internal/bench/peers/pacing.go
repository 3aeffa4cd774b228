package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"httpgen/internal/bench/lab"
	"httpgen/internal/bench/wire"
)

// pace is how precise one tool was, a value a round.
type pace struct {
	name                       string
	rate, p50, p99, dispersion []float64 // connections per second, microseconds
	count                      int       // connections seen in all rounds
}

func (p *pace) add(v *wire.Precision) {
	p.rate = append(p.rate, v.Rate)
	p.p50 = append(p.p50, float64(v.P50)/float64(time.Microsecond))
	p.p99 = append(p.p99, float64(v.P99)/float64(time.Microsecond))
	p.dispersion = append(p.dispersion, v.Dispersion)
	p.count += v.Count
}

// pacing compares how precisely connections appear on the wire.
func (c *comparison) pacing(ctx context.Context) error {
	if err := wire.Available(); err != nil {
		fmt.Fprintf(c.w, "\nPacing left out: %v\n", err)
		return nil
	}
	tools := lab.Rated()
	all := make([]pace, len(tools))
	for range c.rounds {
		for i, t := range tools {
			p, err := t.Pace(ctx, c.b, c.s, paceRate, paceLength)
			if err != nil {
				return err
			}
			all[i].name = t.Name
			all[i].add(&p)
		}
	}
	paceTable(c.w, all)
	return nil
}

func paceTable(w io.Writer, all []pace) {
	fmt.Fprintf(w, "\nPacing of %d new connections/s on the wire, against an even schedule: %s\n", paceRate, rounds(len(all[0].rate)))
	fmt.Fprintf(w, "  %-10s %-11s %-26s %-24s %-24s %s\n", "tool", "connections", "rate", "deviation us p50", "deviation us p99", "dispersion")
	for i := range all {
		p := &all[i]
		fmt.Fprintf(w, "  %-10s %-11d %-26s %-24s %-24s %s\n", p.name, p.count, lab.NewSpread(p.rate).Format(1),
			lab.NewSpread(p.p50).Format(0), lab.NewSpread(p.p99).Format(0), lab.NewSpread(p.dispersion).Format(3))
	}
}
