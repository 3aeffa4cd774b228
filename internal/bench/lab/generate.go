package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"httpgen/internal/report"
)

// Exit codes of httpgen with which a result comes.
const (
	exitOK      = 0
	exitSilent  = 3
	exitInvalid = 4
)

// A Report is the result of a run of httpgen and how its process ended.
type Report struct {
	report.Result
	Outcome *Outcome
}

// Generate runs httpgen on ClientCore and returns its result. It is an error
// when there is none; an invalid one is not.
func (b *Bench) Generate(ctx context.Context, limit time.Duration, flags ...string) (*Report, error) {
	o, err := Run(ctx, ClientCore, limit, b.JSON(flags...)...)
	if err != nil {
		return nil, err
	}
	return Decode(o)
}

// JSON returns the command that runs httpgen with those flags and prints its
// result as JSON.
func (b *Bench) JSON(flags ...string) []string {
	return append([]string{b.Httpgen, "-q", "-o", "json"}, flags...)
}

// Decode reads what a command of JSON printed.
func Decode(o *Outcome) (*Report, error) {
	switch o.Code {
	case exitOK, exitSilent, exitInvalid:
	default:
		return nil, fmt.Errorf("lab: httpgen ended with %d: %s", o.Code, lastLine(o.Stderr))
	}
	r := &Report{Outcome: o}
	if err := json.Unmarshal([]byte(o.Stdout), &r.Result); err != nil {
		return nil, fmt.Errorf("lab: httpgen's result: %w", err)
	}
	return r, nil
}
