//go:build !linux

package poll

import (
	"runtime"
	"time"
)

// Supported says whether this platform has what the package needs.
const Supported = false

// RaiseFileLimit does nothing here; 0 means that the limit is not known.
func RaiseFileLimit() (uint64, error) { return 0, nil }

// ThreadCPU returns 0: it is not known here.
func ThreadCPU() time.Duration { return 0 }

// ProcessCPU returns 0: it is not known here.
func ProcessCPU() (user, system time.Duration) { return 0, 0 }

// yield lets other goroutines go first.
func yield() { runtime.Gosched() }
