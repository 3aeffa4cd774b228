package experiment

import (
	"time"

	"golang.org/x/sys/unix"
)

// processClock returns the processor time that a process has used, by the clock
// that the kernel has for each (clock_getcpuclockid(3)). It has nanoseconds where
// /proc has ticks of 10 ms, a tenth of what a server uses in a trial of a second.
func processClock(pid int) (time.Duration, bool) {
	const scheduled = 2 // the kind of the clock, in its lowest bits
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid)<<3|scheduled, &t); err != nil {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}
