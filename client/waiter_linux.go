package client

import (
	"fmt"
	"syscall"
	"time"

	"httpgen/internal/poll"
)

// A waiter sleeps precisely until somebody wakes it.
type waiter struct {
	p      *poll.Poller
	events []poll.Event
}

func newWaiter() (*waiter, error) {
	p, err := poll.New()
	return &waiter{p: p, events: make([]poll.Event, 1)}, err
}

func (w *waiter) wait(d time.Duration) error {
	if _, e := w.p.Wait(w.events, d); e != 0 {
		return fmt.Errorf("epoll: %w", e)
	}
	return nil
}

func (w *waiter) wake() { w.p.Wake() }

func (w *waiter) close() { w.p.Close() }

// sharpen makes the calling thread wake up on time. Without the first the
// kernel wakes it up to 50 us late, and without the second behind other busy
// threads; a kernel that refuses is no reason to stop.
func sharpen() {
	poll.SetTimerSlack(time.Nanosecond)
	poll.SetSlice(100 * time.Microsecond)
}

// newEngine chooses the engine of a loop.
func newEngine(l *loop) (engine, error) {
	for i := range l.streams {
		if l.streams[i].TLS != nil || l.c.o.portable {
			return newNet(l)
		}
	}
	return newEpoll(l)
}

// control returns what sets a stream's socket options before connecting, nil
// where there are none.
func control(s *Stream) func(network, address string, c syscall.RawConn) error {
	if len(s.Sources) == 0 && s.SendBuffer == 0 && s.ReceiveBuffer == 0 {
		return nil
	}
	return func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) {
			if len(s.Sources) > 0 {
				poll.SetBindNoPort(int(fd))
			}
			if s.SendBuffer > 0 {
				poll.SetSendBuffer(int(fd), s.SendBuffer)
			}
			if s.ReceiveBuffer > 0 {
				poll.SetReceiveBuffer(int(fd), s.ReceiveBuffer)
			}
		})
	}
}
