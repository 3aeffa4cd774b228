package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"httpgen/internal/bench/lab"
)

// comparison is the state of the program.
type comparison struct {
	b      *lab.Bench
	s      *lab.Server
	tools  []*lab.Tool // httpgen first
	rounds int
	w      io.Writer
}

// series is what one tool gave, a value a round.
type series struct {
	name               string
	rate, user, system []float64 // calls per second, microseconds per call
	failed, overflowed uint64    // calls, rounds
}

func (s *series) add(m *lab.Measurement) {
	s.rate = append(s.rate, m.Rate)
	s.user = append(s.user, m.UserMicros())
	s.system = append(s.system, m.SystemMicros())
	s.failed += m.Failed
	if m.Overflowed {
		s.overflowed++
	}
}

// skip marks a round without a measurement.
func (s *series) skip() {
	s.rate = append(s.rate, math.NaN())
	s.user = append(s.user, math.NaN())
	s.system = append(s.system, math.NaN())
}

// speed compares how fast the tools are.
func (c *comparison) speed(ctx context.Context, title, unit string, load lab.Load) error {
	load.Server = c.s
	all := make([]series, len(c.tools))
	for range c.rounds {
		for i, t := range c.tools {
			l := load
			if !t.Spread {
				l.Sources = 1
			}
			all[i].name = t.Name
			m, err := t.Measure(ctx, c.b, l)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err != nil {
				// One tool that fails must not cost the others' figures.
				fmt.Fprintf(c.w, "%s: left out of a round: %v\n", t.Name, err)
				all[i].skip()
				continue
			}
			all[i].add(&m)
		}
	}
	speedTable(c.w, title, unit, all)
	return nil
}

// speedTable prints one row a tool; the first is the one the ratios are of.
func speedTable(w io.Writer, title, unit string, all []series) {
	fmt.Fprintf(w, "\n%s: %s\n", title, rounds(len(all[0].rate)))
	fmt.Fprintf(w, "  %-10s %-26s %-22s %-22s %-24s %s\n", "tool", unit, "httpgen is faster by", "user us a call", "system us a call", "failed")
	for i := range all {
		s := &all[i]
		ratio := "-"
		if i > 0 {
			ratio = lab.Ratios(all[0].rate, s.rate).Format(3)
		}
		note := ""
		if s.overflowed > 0 {
			note = fmt.Sprintf("  (the accept queue overflowed in %s: too slow to count)", rounds(int(s.overflowed)))
		}
		fmt.Fprintf(w, "  %-10s %-26s %-22s %-22s %-24s %d%s\n", s.name, lab.NewSpread(s.rate).Format(0), ratio,
			lab.NewSpread(s.user).Format(2), lab.NewSpread(s.system).Format(2), s.failed, note)
	}
}

func rounds(n int) string {
	if n == 1 {
		return "1 round"
	}
	return fmt.Sprintf("%d rounds", n)
}
