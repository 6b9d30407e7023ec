package claudecode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/proc"
)

// discovery holds the state of one call of Discover.
type discovery struct {
	adapter *Adapter
	ctx     context.Context
	query   adapters.Query
	now     time.Time
	table   *table

	answer *kit.Answer

	sessions map[string]*session
	leftOut  int          // transcripts for which there is no time, see kit.Newest
	projects string       // the folder of the last of them
	urgent   []*session   // see list
	claimed  map[int]bool // pids whose registry entry shows the status of a session
	byFolder []*folderProcess
}

// session holds what one call of the adapter finds out about one session.
type session struct {
	id   string
	file *file // nil: no transcript yet

	live           []liveEntry      // registry entries whose process lives
	foreignEntry   *entry           // of another machine or container
	endedEntry     *entry           // its process is gone
	pidReused      bool             // another process now has the pid of endedEntry
	owner          *folderProcess   // its process, by its folder and start
	maybe          []*folderProcess // processes that can be its own
	unknownBecause string           // why the registry doesn't show its status
	turnEndPending bool             // the end of its turn isn't in the transcript yet

	read  bool
	err   error
	facts facts
	sums  *totals
	spent *kit.Account // what counts for it; nil: not known, or not asked for
}

type liveEntry struct {
	entry
	process proc.Process
}

func (d *discovery) session(id string) *session {
	s := d.sessions[id]
	if s == nil {
		s = &session{id: id}
		d.sessions[id] = s
	}
	return s
}

// registry reads one root's registry and looks for each entry's process.
func (d *discovery) registry(root string) {
	entries, broken, problem := readRegistry(d.ctx, root)
	for i := range entries {
		d.entry(&entries[i])
	}
	for _, b := range broken {
		p, err := d.table.Find(b.pid)
		if err != nil || !mayBeClaude(p.Comm) {
			d.answer.Skip("unreadable registry file without a process", 1)
			continue
		}
		d.answer.Problem(b.err)
		d.addByFolder(p, &entry{path: b.path}, "registry file "+filepath.Base(b.path)+" could not be read")
	}
	if problem == nil {
		return
	}
	d.answer.Problem(problem)
	for _, p := range d.table.claudes {
		if !d.claimed[p.PID] && p.excludedAs == "" && (p.root == "" || p.root == root) {
			d.addByFolder(p.Process, &entry{path: filepath.Join(root, "sessions", "x")}, "the registry could not be read")
		}
	}
}

func (d *discovery) entry(e *entry) {
	s := d.session(e.id)
	if d.table.err != nil {
		s.unknownBecause = "the process table could not be read"
		return
	}
	p, err := d.table.Find(e.pid)
	if err == nil && e.isBy(p) {
		d.liveEntry(s, e, p)
		return
	}
	if err != nil && !errors.Is(err, proc.ErrGone) {
		s.unknownBecause = fmt.Sprintf("process %d could not be inspected", e.pid)
		return
	}
	switch found := d.innerProcesses(e); len(found) {
	case 0:
	case 1:
		d.liveEntry(s, e, found[0])
		return
	default:
		s.unknownBecause = fmt.Sprintf("%d processes of inner namespaces may have written registry %s", len(found), filepath.Base(e.path))
		return
	}
	here := d.table.Domain()
	elsewhere := e.domain != "" && here != "" && e.domain != here
	if elsewhere && !d.table.sees(e.domain) {
		s.foreignEntry = e
		return
	}
	if s.endedEntry == nil || e.since.After(s.endedEntry.since) {
		s.endedEntry, s.pidReused = e, err == nil && !elsewhere // a pid of this machine has no meaning there
	}
}

// liveEntry adds the entry of a live process.
func (d *discovery) liveEntry(s *session, e *entry, p proc.Process) {
	if !e.hasStatus() {
		d.addByFolder(p, e, "")
		return
	}
	s.live = append(s.live, liveEntry{entry: *e, process: p})
	d.claimed[p.PID] = true
}

// wanted reports whether the answer needs the session.
func (d *discovery) wanted(s *session) bool {
	if len(d.query.IDs) > 0 {
		return slices.Contains(d.query.IDs, s.id)
	}
	if s.maybeLive() || d.query.Since.IsZero() {
		return true
	}
	switch {
	case s.file != nil:
		return !s.file.info.ModTime().Before(d.query.Since)
	case s.endedEntry != nil:
		return !s.endedEntry.modified.Before(d.query.Since)
	}
	return s.foreignEntry != nil && !s.foreignEntry.modified.Before(d.query.Since)
}

func (s *session) maybeLive() bool {
	return len(s.live) > 0 || s.owner != nil || len(s.maybe) > 0 || s.unknownBecause != ""
}

// byUrgency sorts live sessions first, then by the newest change. Sessions are read in
// this order, so that the most important ones are read when time is short.
func byUrgency(list []*session) {
	type ranked struct {
		*session
		stopped int
		changed time.Time
	}
	ranks := make([]ranked, len(list)) // found once for each, not at each comparison of 100,000
	for i, s := range list {
		ranks[i].session = s
		if !s.maybeLive() {
			ranks[i].stopped = 1
		}
		if s.file != nil {
			ranks[i].changed = s.file.info.ModTime()
		}
	}
	slices.SortFunc(ranks, func(a, b ranked) int {
		return cmp.Or(a.stopped-b.stopped, b.changed.Compare(a.changed), cmp.Compare(a.id, b.id))
	})
	for i := range ranks {
		list[i] = ranks[i].session
	}
}

// load reads a session's transcript, once in each call of Discover.
func (d *discovery) load(s *session) { d.loadWithin(d.ctx, s) }

func (d *discovery) loadWithin(ctx context.Context, s *session) {
	if s.read || s.file == nil {
		return
	}
	s.read = true
	if s.err = ctx.Err(); s.err != nil {
		return
	}
	t := d.transcript(s.file.path)
	if s.err = t.Acquire(ctx); s.err != nil {
		return
	}
	defer t.Release()
	if s.err = t.read(ctx, s.file.info); s.err != nil {
		return
	}
	s.facts = t.now.clone()
	if d.query.Once && t.sums.next == t.Next { // a small file, which was read whole
		if sums, err := t.exact(ctx); err == nil {
			s.sums = &sums
		}
	}
}

// transcript returns the cached state of a transcript.
func (d *discovery) transcript(path string) *transcript {
	fresh := func(path string) *transcript {
		return &transcript{File: agentfile.NewFile(path), saved: d.adapter.saved}
	}
	if d.query.Once {
		return fresh(path)
	}
	d.adapter.mu.Lock()
	defer d.adapter.mu.Unlock()
	return d.adapter.transcriptCache.Get(path, fresh)
}

// readAll reads the transcripts that the answer needs.
func (d *discovery) readAll() {
	list := d.list()
	reading, cancel := kit.ReadingTime(d.ctx, len(list))
	defer cancel()
	agentfile.Parallel(len(list), func(i int) { d.loadWithin(reading, list[i]) })
	late, where := d.leftOut, ""
	if late > 0 {
		where = d.projects
	}
	var odd []*session // the transcripts without a record of a known form
	seen := 0
	for _, s := range list {
		switch {
		case s.err == nil || errors.Is(s.err, fs.ErrNotExist):
		case adapters.IsOutOfTime(s.err):
			late, where = late+1, filepath.Dir(s.file.dir)
		default:
			d.answer.Problem(adapters.AsProblem(s.file.path, s.err))
			d.answer.LeaveOut(kit.NotReadable, 1)
		}
		d.answer.SkipAll(s.facts.skipped)
		if s.err == nil && s.file != nil && s.file.info.Size() > 0 {
			if seen++; s.isOdd() {
				odd = append(odd, s)
				d.answer.LeaveOut(kit.NotRecognised, 1)
			}
		}
	}
	if len(odd) > 0 && len(odd) == seen && (d.query.Since.IsZero() || len(d.query.IDs) > 0) {
		d.answer.Problem(adapters.Unrecognised(odd[0].file.path, "no record of a known form"))
	}
	d.answer.NotRead(where, "transcripts", late, len(list)+d.leftOut)
}

// isOdd reports whether the transcript has records, and none of a known form.
func (s *session) isOdd() bool { return s.facts.records == 0 && len(s.facts.skipped) > 0 }

// list returns the wanted sessions, the most urgent first. It must be called only when the processes of all sessions are known.
func (d *discovery) list() []*session {
	if d.urgent == nil {
		for _, s := range d.sessions {
			if d.wanted(s) {
				d.urgent = append(d.urgent, s)
			}
		}
		byUrgency(d.urgent)
	}
	return d.urgent
}
