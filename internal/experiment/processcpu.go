package experiment

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ProcessCPU returns the processor time that a process and its descendants have
// used so far. Linux alone tells.
func ProcessCPU(pid int) (time.Duration, error) {
	own, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("experiment: process %d: %w", pid, err)
	}
	if _, _, _, ok := parseProcess(string(own)); !ok {
		return 0, fmt.Errorf("experiment: process %d: /proc/%d/stat cannot be read", pid, pid)
	}
	names, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, fmt.Errorf("experiment: %w", err)
	}
	parents, used := map[int]int{}, map[int]time.Duration{}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		id, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil {
			continue
		}
		if parent, own, ended, ok := parseProcess(string(b)); ok {
			if exact, ok := processClock(id); ok {
				own = exact // which is not in ticks
			}
			parents[id], used[id] = parent, own+ended
		}
	}
	return familyTime(pid, parents, used), nil
}

// familyTime adds up what a process and its descendants used.
func familyTime(pid int, parents map[int]int, used map[int]time.Duration) (sum time.Duration) {
	for id := range used {
		// Numbers are reused while they are read, so that there may be a circle.
		at := id
		for range len(parents) {
			if at == pid {
				sum += used[id]
				break
			}
			parent, ok := parents[at]
			if !ok {
				break
			}
			at = parent
		}
	}
	return sum
}

// parseProcess reads the parent of a process, and the processor time that it used
// itself and those of its children that have ended, from /proc/PID/stat.
func parseProcess(s string) (parent int, own, ended time.Duration, ok bool) {
	// The name, in brackets, may hold anything.
	f := strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
	const (
		ppid  = 1  // of the fields behind the name
		utime = 11 // and stime, cutime, cstime behind it
	)
	if len(f) < utime+4 {
		return 0, 0, 0, false
	}
	parent, err := strconv.Atoi(f[ppid])
	if err != nil {
		return 0, 0, 0, false
	}
	var used [4]time.Duration
	for i := range used {
		n, err := strconv.ParseUint(f[utime+i], 10, 32)
		if err != nil {
			return 0, 0, 0, false
		}
		used[i] = time.Duration(n) * time.Second / ticks
	}
	return parent, used[0] + used[1], used[2] + used[3], true
}
