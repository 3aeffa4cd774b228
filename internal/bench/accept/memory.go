package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"syscall"
	"time"

	"httpgen/internal/bench/lab"
	"httpgen/internal/report"
)

const (
	heldMost    = 15000 // connections
	heldSpare   = 500   // descriptors for everything else
	heldRate    = 3000  // connections per second
	heldTimeout = 10 * time.Second
	heldSettle  = time.Second // before the first arrival, for the memory at rest
)

// held opens as many connections as descriptors allow to a server that never
// answers: they time out on time, cost little, and do not disturb the pace.
func held(ctx context.Context, b *bench) error {
	count, err := heldCount()
	if err != nil {
		return err
	}
	s, err := b.Serve(ctx, nil, "--silent")
	if err != nil {
		return err
	}
	defer s.Stop()
	if err := lab.Drain(ctx); err != nil {
		return err
	}
	r, m, err := watched(ctx, b, 2*time.Minute, append(s.Flags(), "--rate", strconv.Itoa(heldRate), "--num-conns", strconv.Itoa(count),
		"--timeout", strconv.Itoa(int(heldTimeout.Seconds())), "--start-at", "+"+heldSettle.String())...)
	if err != nil {
		return err
	}
	f := &r.Times.Failure
	b.equal("timed out", r.Totals.Errors.ReplyTimeout, uint64(count))
	b.equal("open at once", r.Totals.Connections.PeakOpen, uint64(count))
	b.atLeast("failure min", 1e3*f.Min, ms(new(heldTimeout.Seconds())), " ms")
	b.atMost("failure p99", ms(f.P99), ms(new(heldTimeout.Seconds()))+10, " ms")
	b.note("failure max", number(1e3*f.Max)+" ms")
	b.atMost("memory", (m.peak()-m.at(heldSettle*3/4))/float64(count), 2048, " bytes a connection")
	b.adds("accounts", &r.Totals)
	b.verdict(&r.Verdict, report.Valid)
	return b.oneTooMany(ctx, s)
}

// oneTooMany offers one connection more than may be open.
func (b *bench) oneTooMany(ctx context.Context, s *lab.Server) error {
	const most = 1000
	r, err := b.Generate(ctx, time.Minute, append(s.Flags(), "--rate", "2000", "--num-conns", strconv.Itoa(most+1),
		"--timeout", "3", "--max-inflight", strconv.Itoa(most))...)
	if err != nil {
		return err
	}
	b.equal("one too many shed", r.Totals.Arrivals.Shed.Inflight, 1)
	b.put(reason(&r.Verdict, "inflight") != nil, "one too many reasons", codes(&r.Verdict), "inflight")
	b.not("one too many verdict", r.Verdict.Status, report.Valid)
	b.adds("one too many accounts", &r.Totals)
	return nil
}

// heldCount returns how many connections to hold.
func heldCount() (int, error) {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 0, fmt.Errorf("descriptor limit: %w", err)
	}
	if l.Max <= 2*heldSpare {
		return 0, fmt.Errorf("descriptor limit %d: want more than %d", l.Max, 2*heldSpare)
	}
	return int(min(heldMost, l.Max-heldSpare)), nil
}

const (
	growthCalls = 5000000
	// The Go heap grows to 4 MiB before its first collection, which says
	// nothing about a leak; after growthSettle it has been through several.
	heapFloor    = 4
	growthSettle = 10 * time.Second
)

// growth makes many calls on kept-open connections: after its first second the
// program needs hardly more memory.
func growth(ctx context.Context, b *bench) error {
	s, err := b.Serve(ctx, nil)
	if err != nil {
		return err
	}
	defer s.Stop()
	r, m, err := watched(ctx, b, 8*time.Minute, append(s.Flags(), "--closed", "50", "--num-conns", strconv.Itoa(growthCalls), "--timeout", "5")...)
	if err != nil {
		return err
	}
	b.equal("replies", r.Totals.Replies, growthCalls)
	b.atMost("memory after 1 s", m.growth(time.Second), 1+heapFloor, " MiB more")
	b.atMost("memory after 10 s", m.growth(growthSettle), 1, " MiB more")
	b.note("took", number(r.Outcome.Wall.Seconds())+" s")
	b.adds("accounts", &r.Totals)
	return nil
}

// reading is the resident memory of a process at an instant, from its start.
type reading struct {
	at    time.Duration
	bytes float64
}

// readings are in order of time.
type readings []reading

// at returns the memory at the first reading from then on; the last one's when
// there is none.
func (m readings) at(then time.Duration) float64 {
	var bytes float64
	for _, r := range m {
		bytes = r.bytes
		if r.at >= then {
			break
		}
	}
	return bytes
}

// peakAfter returns the most memory from then on.
func (m readings) peakAfter(then time.Duration) (bytes float64) {
	for _, r := range m {
		if r.at >= then {
			bytes = max(bytes, r.bytes)
		}
	}
	return bytes
}

// growth returns how much more memory there was later than then, in MiB.
func (m readings) growth(then time.Duration) float64 {
	return (m.peakAfter(then) - m.at(then)) / (1 << 20)
}

func (m readings) peak() float64 { return m.peakAfter(0) }

// watched runs httpgen and reads its memory all the while.
func watched(ctx context.Context, b *bench, limit time.Duration, flags ...string) (*lab.Report, readings, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("httpgen did not end within %v", limit))
	defer cancel()
	p, err := lab.StartPinned(ctx, lab.ClientCore, b.JSON(flags...)...)
	if err != nil {
		return nil, nil, err
	}
	var m readings
	begin := time.Now()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for running := true; running; {
		select {
		case <-p.Done():
			running = false
		case <-tick.C:
			// A process that is about to end has no memory to read.
			if bytes, err := lab.RSS(p.PID()); err == nil {
				m = append(m, reading{time.Since(begin), float64(bytes)})
			}
		}
	}
	o, err := p.Wait()
	if ctx.Err() != nil {
		err = errors.Join(err, context.Cause(ctx))
	}
	if err != nil {
		return nil, nil, err
	}
	r, err := lab.Decode(o)
	return r, m, err
}
