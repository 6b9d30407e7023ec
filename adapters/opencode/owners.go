package opencode

import (
	"bytes"
	"io"
	"maps"
	"slices"
	"time"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/proc"
)

// clockStep is the longest time by which the clock may have been set forward while a process runs:
// its log has earlier times than its start then.
const clockStep = 24 * time.Hour

// findWritten finds the runs that processes are writing. A run that began before the process is
// that of a parent from which the process inherited a descriptor, or the clock was set forward
// since: the system derives a start from the clock of now. The times in the log and in the store
// are then those by which the process is compared with its sessions.
func (d *discovery) findWritten(l *links, log string) {
	l.written = map[*host]*run{}
	earlier := map[*run][]*host{}
	for _, h := range l.hosts {
		for _, id := range d.adapter.writtenBy(h.Identity, log) {
			one := l.shared[id]
			switch {
			case one == nil:
			case one.first.Add(startSlack).Before(h.Started):
				earlier[one] = append(earlier[one], h)
			case l.written[h] == nil || !l.written[h].worked():
				l.written[h] = one
			}
		}
	}
	taken := map[*run]bool{}
	for _, one := range l.written {
		taken[one] = true
	}
	for one, hosts := range earlier {
		if h := hosts[0]; len(hosts) == 1 && !taken[one] && l.written[h] == nil {
			l.written[h], h.began = one, one.first
		}
	}
}

// assign matches the runs of a root's log to its processes, by their descriptors and their starts.
func (l *links) assign(sessions map[string]*facts) {
	prompts := map[string]string{}
	for id, f := range sessions {
		prompts[id] = f.lastPrompt
	}
	hosts := slices.DeleteFunc(slices.Clone(l.hosts), l.isStarting)
	written := maps.Clone(l.written)
	maps.DeleteFunc(written, func(h *host, _ *run) bool { return l.isStarting(h) })
	l.runs = assign(hosts, l.working(), written, func(h *host, one *run) bool { return h.canBe(one, prompts) })
}

// worked reports whether a run has worked in a folder. Kilo's terminal interface has a second run
// that never does.
func (r *run) worked() bool { return len(r.folders) > 0 || len(r.sessions) > 0 }

// working returns the runs that have worked or may be about to.
func (l *links) working() map[string]*run {
	runs := maps.Clone(l.shared)
	maps.DeleteFunc(runs, func(_ string, r *run) bool { return !r.worked() && l.now.Sub(r.first) > settled })
	return runs
}

// writtenBy returns the runs whose lines a process wrote last, usually one. It returns
// none if the system doesn't show that, as on systems other than Linux.
func (a *Adapter) writtenBy(id proc.Identity, log string) []string {
	ends, err := a.Table.Appended(id, log)
	if err != nil || len(ends) == 0 {
		return nil
	}
	f, _, err := agentfile.OpenRegular(log)
	if err != nil {
		return nil
	}
	defer f.Close()
	var runs []string
	for _, end := range ends {
		runs = kit.AppendNew(runs, runBefore(f, end))
	}
	return runs
}

// runBefore returns the run of the line of a shared log that ends at an offset, and ""
// when no line ends there, as in a log that was cut since.
func runBefore(f io.ReaderAt, end int64) string {
	for _, size := range []int64{4 << 10, 64 << 10, maxLine} {
		size = min(size, end)
		b := make([]byte, size)
		if n, err := f.ReadAt(b, end-size); int64(n) != size || err != nil && n == 0 {
			return ""
		}
		line, whole := bytes.CutSuffix(b, []byte("\n"))
		if !whole {
			return ""
		}
		begin := bytes.LastIndexByte(line, '\n')
		if begin < 0 && size < end {
			continue
		}
		runs := map[string]*run{}
		sharedLine(runs, line[begin+1:])
		for id := range runs {
			return id
		}
		return ""
	}
	return ""
}
