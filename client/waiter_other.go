//go:build !linux

package client

import (
	"syscall"
	"time"
)

// A waiter sleeps until somebody wakes it, as precisely as the runtime's timers
// are.
type waiter struct {
	timer *time.Timer
	c     chan struct{}
}

func newWaiter() (*waiter, error) {
	return &waiter{timer: time.NewTimer(time.Hour), c: make(chan struct{}, 1)}, nil
}

func (w *waiter) wait(d time.Duration) error {
	if d <= 0 {
		return nil
	}
	w.timer.Reset(d)
	select {
	case <-w.c:
	case <-w.timer.C:
	}
	return nil
}

func (w *waiter) wake() {
	select {
	case w.c <- struct{}{}:
	default:
	}
}

func (w *waiter) close() { w.timer.Stop() }

// sharpen does nothing here.
func sharpen() {}

// newEngine chooses the engine of a loop.
func newEngine(l *loop) (engine, error) { return newNet(l) }

// control returns nothing here: socket options are left to the system.
func control(*Stream) func(network, address string, c syscall.RawConn) error { return nil }
