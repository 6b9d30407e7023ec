package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// fieldProcessor is the field of the processor on which a thread ran last, by its index after the comm.
const fieldProcessor = 36

// errMoved reports that a thread changed its processor while it was read: it runs now.
var errMoved = errors.New("the thread runs")

// LastRun implements Details. The kernel keeps the time at which a thread was on a processor last (se.exec_start in /proc/PID/task/TID/sched, in milliseconds;
// with CONFIG_SCHED_DEBUG, as distributions have it, and always since 6.15) by the clock of that processor. That clock leaves out its interrupts, so that
// it differs from the others': the calling thread visits the processor to read it.
func (t *Table) LastRun(id Identity) (time.Time, error) {
	if !t.ownNamespace {
		return time.Time{}, ErrUnsupported
	}
	return detail(t, id, func() (last time.Time, err error) {
		threads, err := os.ReadDir(t.path(id.PID, "task"))
		if err != nil {
			return last, err
		}
		for _, thread := range threads {
			at, err := threadLastRun(t.path(id.PID, "task/"+thread.Name()))
			switch {
			case isGone(err):
			case errors.Is(err, errMoved):
				return time.Now(), nil
			case err != nil:
				return last, err
			case at.After(last):
				last = at
			}
		}
		return last, nil
	})
}

// threadLastRun returns when the thread with that folder ran last.
func threadLastRun(folder string) (time.Time, error) {
	processor, err := processorOf(folder)
	if err != nil {
		return time.Time{}, err
	}
	ran, err := execStart(folder)
	if err != nil {
		return time.Time{}, err
	}
	now, err := processorClock(processor)
	if err != nil {
		return time.Time{}, err
	}
	after, err := processorOf(folder)
	if err == nil && after != processor {
		err = errMoved
	}
	return time.Now().Add(-max(0, now-ran)), err
}

// processorOf returns the processor on which a thread ran last.
func processorOf(folder string) (int, error) {
	b, err := readAll(folder+"/stat", maxStatus)
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(fields) <= fieldProcessor {
		return 0, errStat
	}
	return strconv.Atoi(string(fields[fieldProcessor]))
}

// execStart returns the time at which a thread was on its processor last, by that processor's clock.
func execStart(folder string) (time.Duration, error) {
	b, err := readAll(folder+"/sched", maxStatus)
	if errors.Is(err, unix.ENOENT) {
		err = fmt.Errorf("%s/sched: %w", folder, ErrUnsupported)
	}
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(b, []byte("se.exec_start"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	ms, err := strconv.ParseFloat(string(bytes.Trim(line, " :")), 64)
	return time.Duration(ms * float64(time.Millisecond)), err
}

// processorClock returns the time by a processor's clock.
func processorClock(processor int) (time.Duration, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, only unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return 0, err
	}
	only.Set(processor)
	if err := unix.SchedSetaffinity(0, &only); err != nil { // a processor that is off, or not ours
		return 0, err
	}
	defer func() { _ = unix.SchedSetaffinity(0, &before) }()
	return execStart("/proc/thread-self")
}
