package lab

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Fewer connections in TIME_WAIT than drained do not slow a generator down;
// the kernel forgets them after 60 s, drainLimit has some more.
const (
	drained    = 1000
	drainLimit = 70 * time.Second
)

// Drain waits until the connections in TIME_WAIT are gone, but not for ever.
func Drain(ctx context.Context) error {
	for end := time.Now().Add(drainLimit); time.Now().Before(end); {
		text, err := os.ReadFile("/proc/net/sockstat")
		if err != nil {
			return fmt.Errorf("lab: %w", err)
		}
		n, err := timeWait(string(text))
		if err != nil {
			return err
		}
		if n < drained {
			return nil
		}
		if err := Pause(ctx, 500*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// timeWait returns the connections in TIME_WAIT that /proc/net/sockstat names.
func timeWait(text string) (uint64, error) {
	for line := range strings.Lines(text) {
		w := strings.Fields(line)
		if i := slices.Index(w, "tw"); i > 0 && i+1 < len(w) && w[0] == "TCP:" {
			return strconv.ParseUint(w[i+1], 10, 64)
		}
	}
	return 0, fmt.Errorf("lab: /proc/net/sockstat does not say how many connections are in TIME_WAIT")
}

// Overflows returns how often a full accept queue made the kernel drop a new
// connection, since the system started. A client then waits a second for its
// second attempt.
func Overflows() (uint64, error) {
	text, err := os.ReadFile("/proc/net/netstat")
	if err != nil {
		return 0, fmt.Errorf("lab: %w", err)
	}
	return counter(string(text), "TcpExt:", "ListenOverflows")
}

// counter finds a counter in /proc/net/netstat, whose lines come in pairs of
// names and values.
func counter(text, group, name string) (uint64, error) {
	var names []string
	for line := range strings.Lines(text) {
		w := strings.Fields(line)
		if len(w) == 0 || w[0] != group {
			continue
		}
		if names == nil {
			names = w
			continue
		}
		if i := slices.Index(names, name); i > 0 && i < len(w) {
			return strconv.ParseUint(w[i], 10, 64)
		}
	}
	return 0, fmt.Errorf("lab: the kernel does not count %s", name)
}

// RSS returns the resident memory of a process in bytes.
func RSS(pid int) (uint64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("lab: %w", err)
	}
	return resident(string(text))
}

// resident reads the resident memory from a process's status.
func resident(text string) (uint64, error) {
	for line := range strings.Lines(text) {
		w := strings.Fields(line)
		if len(w) == 3 && w[0] == "VmRSS:" && w[2] == "kB" {
			n, err := strconv.ParseUint(w[1], 10, 64)
			return n << 10, err
		}
	}
	return 0, fmt.Errorf("lab: the process has no resident memory: it has ended")
}
