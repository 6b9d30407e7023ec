package proc

import (
	"bytes"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// sameBoot is how far two readings of the boot time may lie apart and still be
// one: below it, rows of different answers agree on Started to the nanosecond.
const sameBoot = 5 * time.Millisecond

// bootTime returns the moment from which start times count. Of the running
// system it is the difference of two clocks, exact and right after a change of
// the clock; btime in <root>/stat, which other trees have, is cut to seconds, so
// that Started may lie up to a second too early there.
func (t *Table) bootTime() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.own {
		if now, ok := clockBoot(); ok && now.Sub(t.booted).Abs() > sameBoot {
			t.booted = now
		}
	}
	if t.booted.IsZero() {
		t.booted = t.btime()
	}
	return t.booted
}

// clockBoot asks the clocks.
func clockBoot() (time.Time, bool) {
	var sinceBoot unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &sinceBoot) != nil {
		return time.Time{}, false
	}
	return time.Now().Round(0).Add(-time.Duration(sinceBoot.Nano())), true
}

// btime reads the line "btime SECONDS" of <root>/stat; the epoch without it.
func (t *Table) btime() time.Time {
	b, err := readAll(filepath.Join(t.root, "stat"), 16<<20)
	if err != nil {
		return time.Unix(0, 0)
	}
	for line := range bytes.Lines(b) {
		if value, found := bytes.CutPrefix(line, []byte("btime ")); found {
			if seconds, err := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64); err == nil {
				return time.Unix(seconds, 0)
			}
		}
	}
	return time.Unix(0, 0)
}
