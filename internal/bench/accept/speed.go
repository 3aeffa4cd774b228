package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"httpgen/internal/bench/lab"
)

const (
	speedRounds = 5
	speedCount  = 15000 // connections of one measurement
	speedLength = 3 * time.Second
)

// shape is one kind of load that speed compares, and how much of the bare
// loop's rate httpgen must reach with it.
type shape struct {
	name  string
	load  lab.Load
	share float64
}

// results are what the rounds gave, by tool.
type results map[*lab.Tool]*struct{ rate, user, system []float64 }

// add keeps a measurement; a round without one is NaN.
func (r results) add(t *lab.Tool, m *lab.Measurement, missing bool) {
	if r[t] == nil {
		r[t] = &struct{ rate, user, system []float64 }{}
	}
	rate, user, system := m.Rate, m.UserMicros(), m.SystemMicros()
	if missing {
		rate, user, system = math.NaN(), math.NaN(), math.NaN()
	}
	g := r[t]
	g.rate = append(g.rate, rate)
	g.user = append(g.user, user)
	g.system = append(g.system, system)
}

// speed compares how much one core does, with the bare loop and, shown beside,
// with the other tools.
func speed(ctx context.Context, b *bench) error {
	s, err := b.Nginx(ctx)
	if err != nil {
		return err
	}
	defer s.Stop()
	for _, c := range []shape{
		{"one source ", lab.Load{Count: speedCount, Sources: 1}, .93},
		{"64 sources ", lab.Load{Count: speedCount, Sources: 64}, .9},
		{"kept alive ", lab.Load{Length: speedLength}, .93},
	} {
		c.load.Server = s
		got, err := speedOf(ctx, b, &c)
		if err != nil {
			return err
		}
		own := got[lab.Httpgen]
		ratio := lab.Ratios(own.rate, got[lab.Bare].rate)
		b.put(ratio.Median >= c.share, c.name+"against bare", ratio.Format(3), fmt.Sprintf("at least %v", c.share))
		user := lab.NewSpread(own.user)
		if c.load.Length == 0 {
			b.put(user.Median <= 2.5, c.name+"user us", user.Format(2), "at most 2.5")
		} else if wrk := got[lab.Wrk]; wrk != nil {
			limit := lab.NewSpread(wrk.user)
			b.put(user.Median <= limit.Median, c.name+"user us", user.Format(2), "at most wrk's "+limit.Format(2))
		}
		for _, t := range append([]*lab.Tool{lab.Httpgen, lab.Bare}, lab.Peers...) {
			if g := got[t]; g != nil {
				b.note(c.name+t.Name, fmt.Sprintf("%s/s, httpgen x %s, user us %s, system us %s", lab.NewSpread(g.rate).Format(0),
					lab.Ratios(own.rate, g.rate).Format(2), lab.NewSpread(g.user).Format(1), lab.NewSpread(g.system).Format(1)))
			}
		}
	}
	return nil
}

// speedOf measures one kind of load.
func speedOf(ctx context.Context, b *bench, c *shape) (results, error) {
	got := results{}
	measure := func(t *lab.Tool) error {
		m, err := t.Measure(ctx, b.Bench, c.load)
		if m.Overflowed {
			b.note(c.name+t.Name, "the accept queue overflowed: too slow to count")
		}
		got.add(t, &m, err != nil)
		return err
	}
	for round := range b.repeat(speedRounds) {
		for _, t := range []*lab.Tool{lab.Httpgen, lab.Bare} {
			if err := measure(t); err != nil {
				return nil, err
			}
		}
		for _, t := range lab.Peers {
			// From one source each measurement waits a minute for ports, so the
			// others have one turn there; and they cannot use several.
			if !t.Installed() || c.load.Sources > 1 && !t.Spread || c.load.Sources == 1 && round > 0 {
				continue
			}
			if err := measure(t); err != nil {
				b.note(c.name+t.Name, err.Error())
			}
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
		}
	}
	return got, nil
}
