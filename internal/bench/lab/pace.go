package lab

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"httpgen/internal/bench/wire"
)

// paceCommand returns the command that opens count connections at a rate.
func paceCommand(b *Bench, t *Tool, s *Server, rate, count int) []string {
	if t == Bare {
		return []string{b.Bare, "-addr", s.Addr(), "-path", s.Path, "-rate", strconv.Itoa(rate), "-n", strconv.Itoa(count)}
	}
	flags := append(s.Flags(), "--rate", strconv.Itoa(rate), "--num-conns", strconv.Itoa(count), "--num-calls", "1", "--timeout", "5")
	if t == Httpgen {
		return b.JSON(flags...)
	}
	return append([]string{t.Name}, flags...)
}

// Pace lets the tool open new connections at a rate for that long and returns
// how precisely they appeared on the wire, seen from the server's core.
// Only httpgen, the bare loop and httperf have a rate.
func (t *Tool) Pace(ctx context.Context, b *Bench, s *Server, rate int, length time.Duration) (wire.Precision, error) {
	if t != Httpgen && t != Bare && t != Httperf {
		return wire.Precision{}, fmt.Errorf("lab: %s has no rate of new connections", t.Name)
	}
	count := int(float64(rate) * length.Seconds())
	trace, err := wire.Capture(ctx, wire.Connections, s.Port, ServerCore, func() error {
		_, err := Run(ctx, ClientCore, length+toolLimit, paceCommand(b, t, s, rate, count)...)
		return err
	})
	if err != nil {
		return wire.Precision{}, err
	}
	return trace.Against(float64(rate)), nil
}

// Rated returns the tools that have a rate of new connections and are there.
func Rated() []*Tool {
	tools := []*Tool{Httpgen, Bare}
	if Httperf.Installed() {
		tools = append(tools, Httperf)
	}
	return tools
}
