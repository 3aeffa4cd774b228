package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"httpgen/internal/bench/lab"
	"httpgen/internal/bench/wire"
	"httpgen/internal/report"
)

// The bursts of the trace: size arrivals at one instant, every apart.
const (
	burstSize  = 100
	bursts     = 50
	burstApart = 100 * time.Millisecond
)

// trace replays a schedule that is made of bursts. They are the load, not the
// generator's fault: they go out as they are, and the run is valid.
func trace(ctx context.Context, b *bench) error {
	if err := wire.Available(); err != nil {
		b.skip(err.Error())
		return nil
	}
	file := b.Path("bursts.trace")
	if err := os.WriteFile(file, []byte(burstTrace()), 0o644); err != nil {
		return err
	}
	s, err := b.Serve(ctx, nil)
	if err != nil {
		return err
	}
	defer s.Stop()
	var r *lab.Report
	t, err := wire.Capture(ctx, wire.Connections, s.Port, lab.ServerCore, func() (err error) {
		r, err = b.Generate(ctx, 30*time.Second, s.URL(), "--rate", "trace:"+file, "--timeout", "5")
		return err
	})
	if err != nil {
		return err
	}
	whole := 0
	for _, n := range t.Groups(burstApart / 2) {
		if n == burstSize {
			whole++
		}
	}
	b.equal("on the wire", uint64(len(t)), burstSize*bursts)
	b.equal("whole bursts", uint64(whole), bursts)
	b.atLeast("most in 10 ms", float64(t.MaxSlot()), .9*burstSize, "")
	b.adds("accounts", &r.Totals)
	b.verdict(&r.Verdict, report.Valid)
	return nil
}

// burstTrace returns the schedule, a line an arrival.
func burstTrace() string {
	var t strings.Builder
	for i := range bursts {
		t.WriteString(strings.Repeat(fmt.Sprintf("%v\n", (time.Duration(i)*burstApart).Seconds()), burstSize))
	}
	return t.String()
}
