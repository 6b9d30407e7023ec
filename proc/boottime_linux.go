package proc

import (
	"math"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// sameBoot is the largest difference between two readings of the boot time that still count
// as one: below it, rows of different answers agree on Started to the nanosecond.
const sameBoot = 5 * time.Millisecond

// bootTime returns the moment from which start times count. For the running system it is the
// difference of two clocks, which is exact, and right even after a change of the clock. Other
// trees have only btime in <root>/stat, which is cut to seconds, so that Started may be up to a
// second too early there.
func (t *Table) bootTime() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ownNamespace {
		if now, ok := clockBoot(); ok && now.Sub(t.booted).Abs() > sameBoot {
			t.booted = now
		}
	}
	if t.booted.IsZero() {
		t.booted = t.btime()
	}
	return t.booted
}

// clockBoot returns the time of the boot from two clocks of the system.
func clockBoot() (time.Time, bool) {
	return bootTimeFrom(func() (time.Duration, bool) {
		var sinceBoot unix.Timespec
		err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &sinceBoot)
		return time.Duration(sinceBoot.Nano()), err == nil
	}, time.Now)
}

// bootTimeFrom returns the time from which running counts, by the clock now. On a busy
// machine any time may pass between the two readings, so it uses the fastest of several
// pairs of readings.
func bootTimeFrom(running func() (time.Duration, bool), now func() time.Time) (since time.Time, ok bool) {
	const enough, tries = sameBoot / 10, 20
	best := time.Duration(math.MaxInt64)
	for try := 0; try < tries && best > enough; try++ {
		before, known := running()
		at := now().Round(0)
		after, _ := running()
		if !known {
			return time.Time{}, false
		}
		if took := after - before; took < best {
			best, since = took, at.Add(-(before + took/2))
		}
	}
	return since, true
}

// btime reads the line "btime SECONDS" of <root>/stat. It returns the epoch if there is no such line.
func (t *Table) btime() time.Time {
	b, _ := readAll(filepath.Join(t.root, "stat"), 16<<20)
	value, _ := field(b, "btime ")
	seconds, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return time.Unix(0, 0)
	}
	return time.Unix(seconds, 0)
}
