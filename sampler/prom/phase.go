package prom

import "time"

// A phase is a part of a run, in the order of time.
type phase uint8

const (
	waiting phase = iota // there is no run, or it has not begun
	warmup
	running
	draining // no more arrivals are planned
	done
)

// phases are those that are shown; while waiting all of them are 0.
var phases = []struct {
	phase phase
	name  string
}{{warmup, "warmup"}, {running, "running"}, {draining, "draining"}, {done, "done"}}

// phase returns where the run is at now. r may be nil.
func (r *Run) phase(now time.Time) phase {
	switch {
	case r == nil:
		return waiting
	case r.ended:
		return done
	case r.begin.IsZero() || now.Before(r.begin):
		return waiting
	case r.drained || r.info.Planned > 0 && now.Sub(r.begin) >= r.info.Planned:
		return draining
	case now.Sub(r.begin) < r.info.Warmup:
		return warmup
	}
	return running
}
