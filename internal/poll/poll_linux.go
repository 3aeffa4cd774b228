package poll

import (
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Supported says whether this platform has what the package needs.
const Supported = true

// Errno is a system error number; 0 means success.
type Errno = syscall.Errno

// Readiness bits of an Event.
const (
	In     = unix.EPOLLIN
	Out    = unix.EPOLLOUT
	Err    = unix.EPOLLERR
	Hup    = unix.EPOLLHUP
	RdHup  = unix.EPOLLRDHUP
	edge   = unix.EPOLLET & 0xffffffff
	inOnly = unix.EPOLLIN
)

// wakeData marks the event of the wake descriptor. No caller may add a
// descriptor with this value.
const wakeData = ^uint64(0)

// An Event tells which descriptor became ready, by the data it was added with.
type Event = unix.EpollEvent

// Data returns the value that the event's descriptor was added with.
func Data(e *Event) uint64 { return uint64(uint32(e.Fd)) | uint64(uint32(e.Pad))<<32 }

func newEvent(bits uint32, data uint64) Event {
	return Event{Events: bits, Fd: int32(uint32(data)), Pad: int32(uint32(data >> 32))}
}

// A Poller is one epoll instance with a descriptor that wakes it. All methods
// but Wake belong to one goroutine.
type Poller struct {
	fd   int
	wake int
}

// New returns an open Poller.
func New() (*Poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("poll: epoll_create1: %w", err)
	}
	wake, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("poll: eventfd: %w", err)
	}
	p := &Poller{fd: fd, wake: wake}
	ev := newEvent(inOnly, wakeData)
	if err := unix.EpollCtl(fd, unix.EPOLL_CTL_ADD, wake, &ev); err != nil {
		p.Close()
		return nil, fmt.Errorf("poll: epoll_ctl: %w", err)
	}
	return p, nil
}

// Close releases the Poller's descriptors.
func (p *Poller) Close() {
	unix.Close(p.wake)
	unix.Close(p.fd)
}

// Wake makes a current or the next Wait return. Any goroutine may call it
// until Close.
func (p *Poller) Wake() {
	one := [8]byte{1}
	unix.Write(p.wake, one[:])
}

// Add watches fd, edge triggered, for input, output and the peer's half close.
// Closing the descriptor removes it.
func (p *Poller) Add(fd int, data uint64) Errno {
	return p.add(fd, data, In|Out|RdHup|edge)
}

// AddListener watches a listening socket, level triggered.
func (p *Poller) AddListener(fd int, data uint64) Errno { return p.add(fd, data, In) }

// Remove stops watching fd, which stays open.
func (p *Poller) Remove(fd int) Errno {
	_, _, e := syscall.RawSyscall6(syscall.SYS_EPOLL_CTL, uintptr(p.fd), unix.EPOLL_CTL_DEL, uintptr(fd), 0, 0, 0)
	return e
}

func (p *Poller) add(fd int, data uint64, bits uint32) Errno {
	ev := newEvent(bits, data)
	_, _, e := syscall.RawSyscall6(syscall.SYS_EPOLL_CTL, uintptr(p.fd), unix.EPOLL_CTL_ADD, uintptr(fd), uintptr(unsafe.Pointer(&ev)), 0, 0)
	return e
}

// Wait fills events with what became ready and returns their number. A timeout
// of 0 or less polls; a longer one sleeps with nanosecond resolution
// (epoll_pwait2, Linux 5.11). A wake-up or a signal may make it return 0 early.
func (p *Poller) Wait(events []Event, timeout time.Duration) (int, Errno) {
	var n uintptr
	var e Errno
	if timeout <= 0 {
		n, _, e = syscall.RawSyscall6(syscall.SYS_EPOLL_PWAIT, uintptr(p.fd), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), 0, 0, 0)
	} else {
		ts := unix.NsecToTimespec(int64(timeout))
		n, _, e = syscall.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(p.fd), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), uintptr(unsafe.Pointer(&ts)), 0, 0)
	}
	switch e {
	case 0:
	case unix.EINTR:
		return 0, 0
	default:
		return 0, e
	}
	for i := 0; i < int(n); i++ {
		if Data(&events[i]) == wakeData {
			p.drainWake()
			n--
			events[i] = events[n]
			break
		}
	}
	return int(n), 0
}

func (p *Poller) drainWake() {
	var b [8]byte
	syscall.RawSyscall(syscall.SYS_READ, uintptr(p.wake), uintptr(unsafe.Pointer(&b[0])), 8)
}

// ThreadCPU returns the processor time that the calling thread has used.
func ThreadCPU() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// SetTimerSlack sets how late the kernel may wake the calling thread from a
// timed wait; the kernel's default is 50 us. The caller holds its thread
// (runtime.LockOSThread).
func SetTimerSlack(d time.Duration) error {
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(d), 0, 0, 0); err != nil {
		return fmt.Errorf("poll: timer slack %v: %w", d, err)
	}
	return nil
}

// SetSlice asks the scheduler for shorter turns of the calling thread, and so
// for an earlier one when it wakes up beside other busy threads (EEVDF, Linux
// 6.12; older kernels take no notice). It takes no processor time away from
// anybody. The caller holds its thread.
func SetSlice(d time.Duration) error {
	a, err := unix.SchedGetAttr(0, 0)
	if err == nil {
		a.Runtime = uint64(d)
		err = unix.SchedSetAttr(0, a, 0)
	}
	if err != nil {
		return fmt.Errorf("poll: time slice %v: %w", d, err)
	}
	return nil
}

// yield lets the other threads go first that want the processor this one runs
// on. It does not use RawSyscall: the caller may be gone for some milliseconds,
// and the garbage collector would wait for it.
func yield() { syscall.Syscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
