package main

import (
	"context"
	"time"
)

// stall freezes the server for 1 s in a run of 4 s: a quarter of the calls
// waits, evenly spread between 0 and 1 s.
func stall(ctx context.Context, b *bench) error {
	s, err := b.Serve(ctx, nil, "--freeze", "1s@1s")
	if err != nil {
		return err
	}
	defer s.Stop()
	r, err := b.Generate(ctx, 30*time.Second, append(s.Flags(), "--rate", "100", "--num-conns", "400", "--timeout", "5")...)
	if err != nil {
		return err
	}
	l := &r.Times.Latency
	b.equal("calls", l.Count, 400)
	b.within("latency p90", ms(l.P90), 600, 20, " ms")
	b.within("latency p99", ms(l.P99), 960, 20, " ms")
	b.adds("accounts", &r.Totals)
	return nil
}

// silent waits for a server that never answers, without a timeout: the drain
// ends the run.
func silent(ctx context.Context, b *bench) error {
	s, err := b.Serve(ctx, nil, "--silent")
	if err != nil {
		return err
	}
	defer s.Stop()
	r, err := b.Generate(ctx, 30*time.Second, append(s.Flags(), "--rate", "100", "--num-conns", "100", "--drain", "2")...)
	if err != nil {
		return err
	}
	b.within("ends after", r.Outcome.Wall.Seconds(), 3, .5, " s")
	b.equal("unfinished", r.Totals.Unfinished, 100)
	b.adds("accounts", &r.Totals)
	b.is("exit code", number(float64(r.Outcome.Code)), "3")
	return nil
}
