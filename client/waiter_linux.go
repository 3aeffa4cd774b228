package client

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"time"

	"httpgen/internal/poll"
)

// A waiter sleeps until somebody wakes it: precisely when it is for a short time,
// and otherwise as the runtime has it. A thread that sleeps in the kernel makes
// the runtime look after it every 20 us, which took a tenth of a core beside TLS
// handshakes.
type waiter struct {
	p      *poll.Poller
	events []poll.Event
	timer  *time.Timer
	c      chan struct{}
	inside atomic.Bool // the kernel's sleep, which needs a call of its own to end
}

// precise is up to how long a sleep is precise. The runtime's timers may be late
// by a millisecond.
const precise = 5 * time.Millisecond

func newWaiter() (*waiter, error) {
	p, err := poll.New()
	return &waiter{p: p, events: make([]poll.Event, 1), timer: time.NewTimer(time.Hour), c: make(chan struct{}, 1)}, err
}

func (w *waiter) wait(d time.Duration) error {
	if d > precise {
		w.timer.Reset(d - precise)
		select {
		case <-w.c:
		case <-w.timer.C:
		}
		return nil
	}
	w.inside.Store(true)
	defer w.inside.Store(false)
	select {
	case <-w.c:
		return nil // somebody saw us outside
	default:
	}
	if _, e := w.p.Wait(w.events, d); e != 0 {
		return fmt.Errorf("epoll: %w", e)
	}
	select {
	case <-w.c:
	default:
	}
	return nil
}

func (w *waiter) wake() {
	select {
	case w.c <- struct{}{}:
	default:
	}
	if w.inside.Load() {
		w.p.Wake()
	}
}

func (w *waiter) close() {
	w.timer.Stop()
	w.p.Close()
}

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
