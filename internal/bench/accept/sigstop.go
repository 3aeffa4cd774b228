package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"httpgen/internal/bench/lab"
	"httpgen/internal/bench/wire"
	"httpgen/internal/report"
)

const (
	stopRate   = 1000 // connections per second
	stopAfter  = 3 * time.Second
	stopFor    = time.Second
	stopWithin = 10 * time.Second // length of the run
	stopLost   = stopRate         // arrivals that fall due while it stands still
)

// sigstop stops httpgen itself for 1 s. What it owes then goes out as its
// catch-up says, and none of it is hidden.
func sigstop(ctx context.Context, b *bench) error {
	if err := wire.Available(); err != nil {
		b.skip(err.Error())
		return nil
	}
	s, err := b.Serve(ctx, nil)
	if err != nil {
		return err
	}
	defer s.Stop()
	for _, c := range []struct {
		catchUp string
		figures func(name string, t wire.Trace, r *lab.Report)
	}{
		{"2x", func(name string, t wire.Trace, r *lab.Report) {
			perSlot := float64(stopRate) * wire.Slot.Seconds()
			b.atMost(name+"most in 10 ms", float64(t.MaxSlot()), 2.2*perSlot, "")
			b.atLeast(name+"latency p90", ms(r.Times.Latency.P90), 300, " ms")
			b.atMost(name+"service p99", ms(r.Times.Service.P99), 100, " ms")
			b.atLeast(name+"lag p90", ms(r.Times.Lag.P90), 300, " ms")
		}},
		{"burst", func(name string, t wire.Trace, r *lab.Report) {
			b.within(name+"at once", owedAtOnce(t), stopLost, .1*stopLost, "")
		}},
		{"drop", func(name string, t wire.Trace, r *lab.Report) {
			b.within(name+"shed late", float64(r.Totals.Arrivals.Shed.Late), stopLost, .1*stopLost, "")
		}},
	} {
		t, r, err := stopped(ctx, b, s, c.catchUp)
		if err != nil {
			return err
		}
		name := c.catchUp + " "
		c.figures(name, t, r)
		if c.catchUp != "drop" {
			b.within(name+"lag max", 1e3*r.Times.Lag.Max, 1000, 100, " ms")
		}
		b.equal(name+"on the wire", uint64(len(t)), r.Totals.Arrivals.Started)
		b.adds(name+"accounts", &r.Totals)
		b.not(name+"verdict", r.Verdict.Status, report.Valid)
	}
	return nil
}

// owedAtOnce returns how many arrivals came close together beyond those that
// fell due meanwhile. A burst of 1000 takes 50 to 100 ms.
func owedAtOnce(t wire.Trace) float64 {
	const together = 200 * time.Millisecond
	return float64(t.Burst(together)) - stopRate*together.Seconds()
}

// stopped makes a run in which httpgen stands still for a while.
func stopped(ctx context.Context, b *bench, s *lab.Server, catchUp string) (t wire.Trace, r *lab.Report, err error) {
	ctx, cancel := context.WithTimeout(ctx, stopWithin+stopFor+30*time.Second)
	defer cancel()
	t, err = wire.Capture(ctx, wire.Connections, s.Port, lab.ServerCore, func() error {
		argv := b.JSON(append(s.Flags(), "--rate", fmt.Sprint(stopRate), "--duration", stopWithin.String(), "--timeout", "5", "--catch-up", catchUp)...)
		p, err := lab.StartPinned(ctx, lab.ClientCore, argv...)
		if err != nil {
			return err
		}
		err = standStill(ctx, p)
		if err != nil {
			err = errors.Join(err, p.Signal(syscall.SIGTERM))
		}
		o, waitErr := p.Wait()
		if err = errors.Join(err, waitErr); err != nil {
			return err
		}
		r, err = lab.Decode(o)
		return err
	})
	return t, r, err
}

// standStill stops a process for a while. It always lets it go on.
func standStill(ctx context.Context, p *lab.Process) error {
	if err := lab.Pause(ctx, stopAfter); err != nil {
		return err
	}
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	err := lab.Pause(ctx, stopFor)
	if e := p.Signal(syscall.SIGCONT); e != nil && !errors.Is(e, os.ErrProcessDone) {
		err = errors.Join(err, e)
	}
	return err
}
