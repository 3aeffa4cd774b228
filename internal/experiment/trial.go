package experiment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"httpgen/internal/report"
	"httpgen/internal/run"
)

// A Trial is one run of an experiment, as it is kept.
type Trial struct {
	ID               int            `json:"id"`                 // number of the trial, from 1
	Phase            string         `json:"phase"`              // why it was run, such as "climb", "block" or "alone"
	Arm              string         `json:"arm"`                // of a comparison, or the client that is alone; else empty
	Block            int            `json:"block"`              // of a comparison, or the repeat, from 1; else 0
	RatePerSecond    float64        `json:"rate_per_second"`    // arrivals per second asked for; 0 in a closed model
	Connections      int            `json:"connections"`        // callers of a closed model; else 0
	Outcome          string         `json:"outcome"`            // "met" or "missed" an objective; "valid" without one; or "invalid"
	Reason           string         `json:"reason"`             // why it is not met or not valid; else empty
	TargetCPUSeconds *float64       `json:"target_cpu_seconds"` // processor time of the target's processes; null when they were not named
	Counters         *Counters      `json:"counters"`           // what the system counted meanwhile; null where it does not tell
	Result           *report.Result `json:"result"`
}

// The outcomes of trials without an objective.
const (
	validTrial   = "valid"
	invalidTrial = "invalid"
)

// Progress is what an experiment tells while it goes on.
type Progress struct {
	Begin *Trial        // the trial that begins, without a result; nil when one has ended
	Trial *Trial        // the trial that has just ended; nil when one begins
	What  string        // of the trial, such as "climb at 100/s for 4s"
	Done  int           // trials that have ended
	Left  int           // trials still to come, this one included; 0 when that is not known
	Time  time.Duration // that they take at least
	Known string        // the answer so far; empty without any
}

// String returns one line.
func (p Progress) String() string {
	s := fmt.Sprintf("trial %d: %s", p.Done+1, p.What)
	if p.Trial != nil {
		s = fmt.Sprintf("trial %d: %s: %s", p.Trial.ID, p.What, p.Trial.Outcome)
		if p.Trial.Reason != "" {
			s += " (" + p.Trial.Reason + ")"
		}
	}
	if p.Left > 0 {
		s += fmt.Sprintf("; %d left, at least %s", p.Left, p.Time.Round(time.Second))
	}
	if p.Known != "" {
		s += "; " + p.Known
	}
	return s
}

// A Lab is what an experiment is carried out with.
type Lab struct {
	Runner   Runner
	Clients  ClientsRunner  // of Fair alone
	Store    *Store         // keeps the trials; nil keeps them in the result alone
	Progress func(Progress) // nil tells nobody
}

// errStopped ends an experiment whose context ended: what is known is reported.
var errStopped = errors.New("stopped")

// A book leads the trials of one experiment.
type book struct {
	Lab
	trials []Trial
	busy   bool // the target may still work on calls of the last trial
}

// A job is a trial to be carried out.
type job struct {
	trial  Trial                                        // its Phase, Arm, Block, rate or connections
	what   string                                       // for the progress
	left   int                                          // jobs to come, this one included; 0 unknown
	time   time.Duration                                // that they take
	known  func() string                                // the answer so far; nil has none
	settle time.Duration                                // before it, if the target may be busy
	run    func() (Measurement, error)                  // carries it out
	judge  func(*report.Result) (string, string, error) // returns outcome and reason
	note   func(*Trial) error                           // takes the outcome into account; nil does nothing
	cpu    func() (time.Duration, error)                // of the target's processes; nil unknown
	part   func(*report.Result) bool                    // whether a trial that was stopped says something; nil says that none does
}

// do takes the next trial from what was kept, or carries it out and keeps it.
// The error is errStopped when ctx ended first.
func (b *book) do(ctx context.Context, j job) (*Trial, error) {
	t := j.trial
	t.ID = len(b.trials) + 1
	if b.Store != nil {
		kept, ok, err := b.Store.next(t)
		if err != nil {
			return nil, err
		}
		if ok {
			return b.add(*kept, j)
		}
	}
	if ctx.Err() != nil {
		return nil, errStopped
	}
	if b.busy && j.settle > 0 {
		b.Runner.Settle(ctx, j.settle)
	}
	b.tell(j, Progress{Begin: &t})
	var before time.Duration
	var err error
	if j.cpu != nil {
		if before, err = j.cpu(); err != nil {
			return nil, fmt.Errorf("experiment: processor time of %s: %w", t.Arm, err)
		}
	}
	m, err := j.run()
	switch {
	case err != nil:
		return nil, err
	case ctx.Err() != nil && !m.Result.Run.Complete:
		if j.part == nil || !j.part(m.Result) {
			return nil, errStopped
		}
		// It counts, but is not kept: who resumes the experiment runs all of it.
		t.Result, t.Counters = m.Result, m.Counters
		if _, err := b.add(t, j); err != nil {
			return nil, err
		}
		return nil, errStopped
	}
	if j.cpu != nil {
		after, err := j.cpu()
		if err != nil {
			return nil, fmt.Errorf("experiment: processor time of %s: %w", t.Arm, err)
		}
		t.TargetCPUSeconds = new(max(0, after-before).Seconds())
	}
	t.Result, t.Counters = m.Result, m.Counters
	added, err := b.add(t, j)
	if err == nil && b.Store != nil {
		err = b.Store.save(added)
	}
	if err != nil {
		return nil, err
	}
	return added, nil
}

// add judges a trial, anew if it was kept, and notes it.
func (b *book) add(t Trial, j job) (*Trial, error) {
	var err error
	if t.Outcome, t.Reason, err = j.judge(t.Result); err != nil {
		return nil, err
	}
	total := &t.Result.Totals
	b.busy = total.Unfinished+total.Errors.Total > 0
	b.trials = append(b.trials, t)
	if j.note != nil {
		if err := j.note(&t); err != nil {
			return nil, err
		}
	}
	b.tell(j, Progress{Trial: &t})
	return &t, nil
}

// tell completes p and hands it on.
func (b *book) tell(j job, p Progress) {
	if b.Progress == nil {
		return
	}
	p.What, p.Done, p.Left, p.Time = j.what, len(b.trials), j.left, j.time
	if p.Trial != nil && j.left > 0 {
		p.Left--
	}
	if j.known != nil {
		p.Known = j.known()
	}
	b.Progress(p)
}

// valid judges a trial that has no objective: it counts unless the generator was
// the limit.
func valid(r *report.Result) (outcome, reason string, err error) {
	if r.Verdict.Status != report.Invalid {
		return validTrial, "", nil
	}
	m, err := newMeasure(r)
	if err != nil {
		return "", "", err
	}
	return invalidTrial, limitReason(r, m), nil
}

// ordinary returns options without what a trial sets itself.
func ordinary(o run.Options) run.Options {
	o.Process, o.RateText, o.Period, o.Closed = nil, "", false, 0
	o.NumConns, o.Duration, o.Forever = 0, 0, false
	o.Start = time.Time{}
	return o
}
