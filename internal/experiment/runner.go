package experiment

import (
	"context"
	"fmt"
	"time"

	"httpgen/internal/report"
	"httpgen/internal/run"
)

// A Runner carries out trials, one at a time.
type Runner interface {
	// Run carries out one trial. When ctx ends early the result is that of an
	// incomplete run.
	Run(ctx context.Context, o run.Options) (Measurement, error)
	// Settle gives the target up to d to get rid of what it still has to do. It
	// returns early when ctx ends.
	Settle(ctx context.Context, d time.Duration)
}

// A Measurement is what came of a trial.
type Measurement struct {
	Result   *report.Result
	Counters *Counters // what the system counted meanwhile; nil where it does not tell
}

// Live is the Runner that measures.
type Live struct {
	// Watch is told of each run before it begins, and what it returns is called
	// when the run has ended. An error keeps the run from being carried out; nil
	// watches nothing.
	Watch func(r *run.Run) (ended func(), err error)
}

// Run implements Runner.
func (l Live) Run(ctx context.Context, o run.Options) (Measurement, error) {
	r, err := run.New(o)
	if err != nil {
		return Measurement{}, fmt.Errorf("experiment: %w", err)
	}
	return l.measure(ctx, r)
}

// measure carries a run out.
func (l Live) measure(ctx context.Context, r *run.Run) (Measurement, error) {
	if l.Watch != nil {
		ended, err := l.Watch(r)
		if err != nil {
			return Measurement{}, fmt.Errorf("experiment: %w", err)
		}
		defer ended()
	}
	before := readCounters()
	res, err := r.Do(ctx)
	if err != nil {
		return Measurement{}, fmt.Errorf("experiment: %w", err)
	}
	return Measurement{res, readCounters().since(before)}, nil
}

// Settle implements Runner.
func (Live) Settle(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
