package tray_test

import (
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"rollcall/internal/desktoptest"
	"rollcall/internal/must"
)

// TestDesktopCost measures the tray at rest on a real panel, for 3 s or as long
// as ROLLCALL_MEASURE says: while nothing changes it does nothing.
func TestDesktopCost(t *testing.T) {
	rest := 3 * time.Second
	if v := os.Getenv("ROLLCALL_MEASURE"); v != "" {
		rest = must.Get(time.ParseDuration(v))(t)
	}
	d := onDesktop(t, desktoptest.XfcePanel, false, sample())
	d.icon()
	d.tray.wait("shown", 1)
	d.open()
	d.close()
	// What the opening and the start leave to be done: the watch for a missing
	// registration, the grace of a host.
	pid := d.tray.cmd.Process.Pid
	before := usage(t, pid)
	for end := time.Now().Add(time.Minute); ; {
		time.Sleep(2 * time.Second) // no event shows that it rests
		now := usage(t, pid)
		rests := now.wakes == before.wakes
		before = now
		if rests || time.Now().After(end) {
			break
		}
	}
	time.Sleep(rest) // the time for which it is measured
	after := usage(t, pid)
	limit := 20 + 100*int(rest/(50*time.Second))
	if after.wakes-before.wakes > limit { // Go's own monitor wakes once a minute, some seventy times in a row: not in the next seconds again
		before = after
		time.Sleep(rest)
		after = usage(t, pid)
	}
	cpu, wakes := after.cpu-before.cpu, after.wakes-before.wakes
	t.Logf("at rest for %v: %v of CPU (%.3f %%), %d wake-ups, %d KB of its own",
		rest, cpu, 100*cpu.Seconds()/rest.Seconds(), wakes, after.memory)
	// The clock ticks every 10 ms: one tick is the least that can be seen.
	if cpu > 10*time.Millisecond+rest/1000 {
		t.Errorf("%v of CPU in %v", cpu, rest)
	}
	if wakes > limit {
		t.Errorf("%d wake-ups in %v, want at most %d", wakes, rest, limit)
	}
	// With the race detector; every adapter is linked in, as in the program.
	if after.memory > 44<<10 {
		t.Errorf("%d KB of memory of its own", after.memory)
	}
}

type use struct {
	cpu    time.Duration
	wakes  int // voluntary context switches of all threads
	memory int // KB, without the pages of files, which depend on the system's cache
}

func usage(t *testing.T, pid int) use {
	t.Helper()
	var u use
	stat := must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)))(t)
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+2:]))
	for _, f := range fields[11:13] { // user and system, in ticks
		ticks, _ := strconv.Atoi(f)
		u.cpu += time.Duration(ticks) * 10 * time.Millisecond
	}
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	for _, task := range tasks {
		u.wakes += statusField(t, task, "voluntary_ctxt_switches")
	}
	u.memory = statusField(t, fmt.Sprintf("/proc/%d/status", pid), "RssAnon")
	return u
}

func statusField(t *testing.T, path, name string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		return 0 // the thread has ended
	}
	for line := range strings.Lines(string(text)) {
		if key, value, _ := strings.Cut(line, ":"); key == name {
			n, _ := strconv.Atoi(strings.Fields(value)[0])
			return n
		}
	}
	t.Fatalf("%s: no %s", path, name)
	return 0
}

// TestDesktopStart measures how long the icon takes, from the start of the
// process to its registration at the panel, and until it is to be seen.
func TestDesktopStart(t *testing.T) {
	d := desktoptest.For(t, desktoptest.Options{Panel: desktoptest.XfcePanel, Size: image.Pt(900, 760)})
	var registered, seen []time.Duration
	for range 10 {
		tray := startTray(t, sample(), long, d.Env()...)
		registered = append(registered, tray.wait("shown", 1).At.Sub(tray.start))
		(&desktop{Desktop: d, t: t, tray: tray, name: "start"}).icon()
		seen = append(seen, time.Since(tray.start))
		tray.in.Close()
		tray.exit()
		waitNoIcon(t, d)
	}
	slices.Sort(registered)
	slices.Sort(seen)
	t.Logf("registered after %v (median), %v (worst); seen after %v, %v",
		registered[5].Round(time.Millisecond), registered[9].Round(time.Millisecond),
		seen[5].Round(time.Millisecond), seen[9].Round(time.Millisecond))
}
