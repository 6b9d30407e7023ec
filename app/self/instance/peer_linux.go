package instance

import "golang.org/x/sys/unix"

// ticksPerSecond is the unit of proc.Identity.Start.
const ticksPerSecond = 100

// sinceBoot returns the time in the unit of proc.Identity.Start.
func sinceBoot() uint64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return 0
	}
	return uint64(now.Nano()) / (1e9 / ticksPerSecond)
}
