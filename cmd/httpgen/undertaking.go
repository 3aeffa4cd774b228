package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// An undertaking takes its time and ends with a result, which signals may bring
// forward: a run, or an experiment.
type undertaking struct {
	*program
	watch   *monitor // nil when nobody looks
	sinks   []*sink
	written atomic.Bool // the result is
	last    func()      // what is to be done even when a signal ends the program at once; nil is nothing
}

// sameSignal is how soon after the first a signal is taken for the same one.
const sameSignal = 300 * time.Millisecond

// afterSignal bounds the last push of a run that a signal ended.
const afterSignal = 5 * time.Second

// catch makes the first SIGINT or SIGTERM stop what goes on and the second end the
// program. The function it returns says which was the first, nil for none; after
// it a signal ends the program.
func (u *undertaking) catch(stop func()) (caught func() os.Signal) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	first := make(chan os.Signal, 1)
	go func() {
		s := <-signals
		first <- s
		if u.written.Load() {
			stop() // there is nothing to wait for but scrapes and pushes
			return
		}
		fmt.Fprintf(u.stderr, "%s: %v: the result follows when what is open has ended, after 4 s at the latest; a second signal ends the program at once, without a result\n", u.name, s)
		stop()
		began, again := time.Now(), s
		for again == s && time.Since(began) <= sameSignal {
			// timeout(1) signals its child, and then the group that it is in.
			again = <-signals
		}
		s = again
		discard(u.sinks)
		if u.last != nil {
			go func() {
				s := <-signals // one more does not wait for that either
				os.Exit(signalCode(s))
			}()
			u.last()
		}
		os.Exit(signalCode(s))
	}()
	return func() os.Signal {
		select {
		case s := <-first:
			return s
		default:
			return nil
		}
	}
}

// over is called when the result has been written, and waits for those who look.
// The signal s has ended the undertaking, nil for none.
func (u *undertaking) over(ctx context.Context, s os.Signal) {
	u.written.Store(true)
	if s != nil {
		// The signal has ended all waiting; what was measured is pushed all the same.
		var done context.CancelFunc
		ctx, done = context.WithTimeout(context.Background(), afterSignal)
		defer done()
	}
	u.watch.finish(ctx, s == nil)
}
