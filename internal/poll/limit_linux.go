package poll

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// RaiseFileLimit raises the soft limit of open descriptors to the hard one and
// returns the limit that then holds.
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
	return l.Cur, nil
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
