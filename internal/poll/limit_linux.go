package poll

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// tableSize bounds for how many descriptors RaiseFileLimit makes room: at 8 bytes
// each.
const tableSize = 1 << 18

// RaiseFileLimit raises the soft limit of open descriptors to the hard one and
// returns the limit that then holds. It makes the kernel's table of descriptors
// large at once: else the table doubles as connections open, and in a process with
// several threads each time waits 5 to 25 ms for all processors.
func RaiseFileLimit() (uint64, error) {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return 0, fmt.Errorf("poll: descriptor limit: %w", err)
	}
	if l.Cur < l.Max {
		l.Cur = l.Max
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
			return 0, fmt.Errorf("poll: descriptor limit %d: %w", l.Max, err)
		}
	}
	growTable(int(min(l.Cur, tableSize)))
	return l.Cur, nil
}

// growTable makes room for n descriptors, as far as the system has it.
func growTable(n int) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	// A descriptor with a number that high is the only way to ask for it.
	if high, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, n-1); err == nil {
		unix.Close(high)
	}
}

// zoneID returns the scope number of an IPv6 zone.
func zoneID(zone string) (uint32, error) {
	if n, err := strconv.ParseUint(zone, 10, 32); err == nil {
		return uint32(n), nil
	}
	i, err := net.InterfaceByName(zone)
	if err != nil {
		return 0, fmt.Errorf("poll: zone %q: %w", zone, err)
	}
	return uint32(i.Index), nil
}

// ProcessCPU returns the processor time that the process has used.
func ProcessCPU() (user, system time.Duration) {
	var ru unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &ru); err != nil {
		return 0, 0
	}
	return time.Duration(ru.Utime.Nano()), time.Duration(ru.Stime.Nano())
}

// LocalPortRange returns the first and the last port of the system's range of
// local ports, zeros when it is not known.
func LocalPortRange() (low, high uint16) {
	b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return 0, 0
	}
	if _, err := fmt.Sscan(string(b), &low, &high); err != nil || low == 0 || high < low {
		return 0, 0
	}
	return low, high
}
