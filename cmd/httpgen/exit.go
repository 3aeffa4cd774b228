package main

import (
	"os"
	"syscall"

	"httpgen/internal/report"
)

// Exit codes. When several apply, the usage error comes first, then an I/O
// error, then the signal, then the verdict, then the threshold, then the silent target.
const (
	exitOK        = 0
	exitInternal  = 1  // internal or I/O error
	exitUsage     = 2  // the command line cannot be carried out
	exitSilent    = 3  // arrivals were started and there was no reply at all
	exitInvalid   = 4  // the verdict is invalid
	exitThreshold = 99 // a threshold failed
	exitSignal    = 128
)

// A usageError is a mistake in the command line.
type usageError struct{ error }

// signalCode returns the exit code of a run that a signal ended.
func signalCode(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return exitSignal + int(n)
	}
	return exitInternal
}

// resultCode returns the exit code of a run with the result r that s ended; nil
// when no signal did.
func resultCode(r *report.Result, s os.Signal) int {
	started, replies := r.Totals.Arrivals.Started, r.Totals.Replies
	if w := r.Warmup; w != nil {
		started += w.Arrivals.Started
		replies += w.Replies
	}
	switch {
	case s != nil:
		return signalCode(s)
	case r.Verdict.Status == report.Invalid:
		return exitInvalid
	case started > 0 && replies == 0:
		return exitSilent
	}
	return exitOK
}
