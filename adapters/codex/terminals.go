package codex

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/skeleton"
)

// terminalUI is a terminal interface that hosts no thread itself: it shows a thread of
// the daemon, or none yet. A run with --remote is one as well, which always has a thread, of its own folder (0.171.0).
type terminalUI struct {
	*host
	folder string // in which it begins threads; empty: not known
}

// daemonThread is a thread of the daemon that has a rollout.
type daemonThread struct {
	id, folder string
	begun      time.Time
	byRun      bool // a run with --remote began it
}

// firstThread is the longest time from the start of a terminal interface to its first
// thread. It may have to start the daemon before. The thread gets its rollout with the
// first prompt, which can be hours later (0.169.0).
const firstThread = 15 * time.Second

// matchTerminals works out which of the root's terminal interfaces show which of its daemon's
// threads. Only the command line, the folder and the times connect them (0.169.0). In doubt a
// thread counts as attended, and an interface as used.
func (d *discovery) matchTerminals(ctx context.Context, r *root) {
	terminals, threads, used := d.freeTerminals(r), d.daemonThreads(ctx, r), map[*host]bool{}
	isFree := func(k terminalUI, t daemonThread) bool { return !used[k.host] && d.shownBy[t.id] == nil }
	show := func(k terminalUI, t daemonThread, _ string) {
		d.attended[t.id], used[k.host] = true, true
		d.shownBy[t.id] = k.host
	}
	type evidence = skeleton.Evidence[terminalUI, daemonThread]
	skeleton.Match(terminals, threads, isFree, show,
		evidence{Rank: skeleton.Named, Shows: func(k terminalUI, t daemonThread) string {
			return kit.If(k.resumes == t.id && !k.noDaemon, "named by its command line")
		}},
		evidence{Rank: skeleton.Fits, Shows: func(k terminalUI, t daemonThread) string { return kit.If(k.began(t), "its first thread") }})
	for _, k := range terminals {
		for _, t := range threads {
			if d.shownBy[t.id] == nil && k.mayShow(t) {
				d.attended[t.id], used[k.host] = true, true
			}
		}
		if !used[k.host] && k.role == terminal {
			d.addProcess(k.host)
		}
	}
}

// began reports whether a thread can be the first of an interface.
func (k terminalUI) began(t daemonThread) bool {
	after := t.begun.Sub(k.started())
	return k.resumes == "" && !k.reopens && (k.role == run) == t.byRun && k.in(t.folder) && after >= -clockError && after <= firstThread
}

// mayShow reports whether an interface can show a thread that is not assigned to one:
// the user may have chosen the thread from a list, or may have begun the thread there.
func (k terminalUI) mayShow(t daemonThread) bool {
	return k.role == terminal && k.in(t.folder) && k.resumes == "" && (k.reopens || !t.byRun && !k.started().After(t.begun.Add(clockError)))
}

// in reports whether an interface may show threads of the daemon in a folder. An
// unknown folder matches every folder.
func (k terminalUI) in(folder string) bool {
	return !k.noDaemon && (k.folder == "" || folder == "" || k.folder == folder)
}

// freeTerminals returns the root's terminal interfaces that host nothing, and its runs whose thread is in the daemon.
func (d *discovery) freeTerminals(r *root) []terminalUI {
	var list []terminalUI
	for _, h := range r.host {
		away := h.role == run && strings.HasPrefix(h.remote, "unix:")
		if h.role != terminal && !away || h.filesErr != nil || len(h.rollouts) > 0 || h.locksOld() {
			continue
		}
		k := terminalUI{host: h}
		if folder, err := d.adapter.Table.CWD(h.Identity); err == nil && (away || !h.otherFolder) {
			k.folder = folder
			if filepath.IsAbs(h.cd) {
				k.folder = filepath.Clean(h.cd)
			} else if h.cd != "" {
				k.folder = filepath.Join(folder, h.cd)
			}
		}
		list = append(list, k)
	}
	return list
}

// locksOld reports whether the process holds the writer lock of a thread that is older than the
// process. A new thread is locked from the interface's start on, and gets its rollout with the
// first prompt (0.169.0 --no-daemon).
func (h *host) locksOld() bool {
	for id := range h.locks {
		if begun, _ := timeOfID(id); begun.Before(h.started().Add(-clockError)) {
			return true
		}
	}
	return false
}

// daemonThreads returns the threads of the root's daemon that are no sub-agents,
// oldest first.
func (d *discovery) daemonThreads(ctx context.Context, r *root) []daemonThread {
	var list []daemonThread
	for _, ro := range d.openRollouts(r) {
		h := d.running.hostOf(ro.path, ro.id, 0)
		if h == nil || !h.daemon {
			continue
		}
		f, _, err := d.adapter.rollouts.read(ctx, ro.path, ro.info, &adapters.Query{Once: d.query.Once})
		if err != nil {
			f = rolloutFacts{}
		}
		if f.parent != "" {
			continue
		}
		begun, ok := timeOfID(ro.id)
		if !ok {
			begun = f.started
		}
		list = append(list, daemonThread{id: ro.id, folder: f.cwd, begun: begun, byRun: f.byRemote})
	}
	slices.SortFunc(list, func(a, b daemonThread) int { return a.begun.Compare(b.begun) })
	return list
}

// addProcess adds the row of a process to which no thread belongs.
func (d *discovery) addProcess(h *host) {
	folder, _ := d.adapter.Table.CWD(h.Identity) // empty where it is not known
	s := adapters.ProcessSession(Name, h.Process, folder)
	if h.unresponsive != "" {
		s = adapters.UnresponsiveProcess(Name, h.Process, folder, h.unresponsive)
	}
	if h.role == terminal && h.unresponsive == "" {
		s.Evidence += "; it may be at a question of its own (trust this folder?)"
	}
	if h.ephemeral {
		s.Status, s.Unstored = adapters.Working, true
		s.Evidence = fmt.Sprintf("codex exec --ephemeral stores nothing; process %d has been running since %s", h.PID,
			kit.Clock(h.Started, d.now))
	}
	if !d.answer.Has(s.ID) && kit.Asked(d.query, s.ID) {
		d.answer.Add(s)
	}
}

// addUnresponsive adds rows for the processes whose homes do not answer, in place of
// their sessions.
func (d *discovery) addUnresponsive() {
	for _, h := range d.running.hosts {
		if h.unresponsive != "" && h.role != server && !h.ephemeral {
			d.addProcess(h)
		}
	}
}

// addEphemeral adds the runs of codex exec that store nothing.
func (d *discovery) addEphemeral() {
	for _, h := range d.running.hosts {
		if h.role == run && h.ephemeral && h.filesErr == nil && len(h.rollouts) == 0 && len(h.locks) == 0 {
			d.addProcess(h)
		}
	}
}
