package proc

import (
	"os"
	"strings"
	"time"
)

// Made implements Details. A pipe of which a process has both ends was made by the process itself, as Node.js does right after its start, unless its
// parent has it as well. Bun opens the statm of its own process then. The kernel gives both the time of that moment.
func (t *Table) Made(p Process) (time.Time, error) {
	return detail(t, p.Identity, func() (first time.Time, err error) {
		own, err := t.ownFiles(p.PID)
		first = oldest(own)
		if first.IsZero() || first.After(p.Started.Add(2*time.Second/ticksPerSecond)) {
			return first, err
		}
		_ = t.eachFD(p.PPID, func(_, target string) error { // a parent that is gone, or another user's, has given it nothing
			delete(own, target)
			return nil
		})
		return oldest(own), nil
	})
}

// oldest returns the earliest of the times; zero if there is none.
func oldest(files map[string]time.Time) (first time.Time) {
	for _, at := range files {
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first
}

// ownFiles returns the times of the files that a process may have made for itself, by their names.
func (t *Table) ownFiles(pid int) (map[string]time.Time, error) {
	own, ends := map[string]time.Time{}, map[string]int{}
	err := t.eachFD(pid, func(fd, target string) error {
		if ends[target]++; strings.HasPrefix(target, "pipe:") && ends[target] == 2 || strings.HasPrefix(target, "/proc/") && strings.HasSuffix(target, "/statm") {
			if info, err := os.Stat(t.path(pid, "fd/"+fd)); err == nil {
				own[target] = info.ModTime()
			}
		}
		return nil
	})
	return own, err
}
