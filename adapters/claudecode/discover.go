package claudecode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
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

	sessions map[string]*session // that have a process, an entry or a part in the query
	others   []*file             // transcripts of other sessions
	twins    map[string][]*file  // further transcripts of sessions, as in another home
	dirs     []string            // all project folders
	found    int                 // transcripts that the answer needs
	late     int                 // those of them for which there was no time
	projects string              // the folder of the last of them
	wanted   []*session          // once they were read, the most urgent first
	claimed  map[int]bool        // pids whose registry entry shows the status of a session
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
	next           continuation     // the session that goes on with it
	continues      string           // the session with which it goes on

	read    bool
	err     error
	facts   facts
	upTo    readUpTo
	sums    *totals
	spent   *kit.Account // what counts for it; nil: not known, or not asked for
	of      *session     // it is a further transcript of this one
	summary string       // its title in another transcript
}

// readUpTo is the part of a transcript that the facts of a session are of.
type readUpTo struct {
	state agentfile.State
	rest  []byte // the unfinished last line, when it is a whole record
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
	entries, broken, unread, problem := readRegistry(d.ctx, root, d.table.pids)
	d.answer.Skip("registry file of an ended process that was not read", unread)
	for i := range entries {
		d.entry(&entries[i])
	}
	for _, b := range broken {
		p, err := d.table.Find(b.pid)
		if err != nil || !program.MayBe(p.Comm) {
			d.answer.Skip("unreadable registry file without a process", 1)
			continue
		}
		d.answer.Problem(b.err)
		d.addByFolder(p, &entry{path: b.path}, "registry file "+filepath.Base(b.path)+" could not be read", b.err)
	}
	if problem == nil {
		return
	}
	d.answer.Problem(problem)
	for _, p := range d.table.claudes {
		if !d.claimed[p.PID] && p.excludedAs == "" && (p.root == "" || p.root == root) {
			d.addByFolder(p.Process, &entry{path: filepath.Join(root, "sessions", "x")}, "the registry could not be read", problem)
		}
	}
}

func (d *discovery) entry(e *entry) {
	s := d.session(e.id)
	if d.table.unread {
		s.unknownBecause = "the process table could not be read"
		return
	}
	p, err := d.table.Find(e.pid)
	if err == nil {
		p.Started, _ = agentproc.Started(d.table, p)
	}
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
	if _, err := os.Lstat(e.path); errors.Is(err, fs.ErrNotExist) {
		return // its process ended in an orderly way since it was read
	}
	if s.endedEntry == nil || e.since.After(s.endedEntry.since) {
		s.endedEntry, s.pidReused = e, err == nil && !elsewhere // a pid of this machine has no meaning there
	}
}

// liveEntry adds the entry of a live process.
func (d *discovery) liveEntry(s *session, e *entry, p proc.Process) {
	if !e.hasStatus() {
		d.addByFolder(p, e, "", nil)
		return
	}
	s.live = append(s.live, liveEntry{entry: *e, process: p})
	d.claimed[p.PID] = true
}

// wants reports whether the answer needs the session.
func (d *discovery) wants(s *session) bool {
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

// byUrgency orders live sessions first, then by the newest change. Sessions are read in this order, so that the most
// important ones are read when time is short.
func byUrgency(a, b *session) int {
	if a.maybeLive() != b.maybeLive() {
		if a.maybeLive() {
			return -1
		}
		return 1
	}
	return cmp.Or(b.changed().Compare(a.changed()), cmp.Compare(a.id, b.id))
}

// changed returns when the transcript was written last; zero without one.
func (s *session) changed() (at time.Time) {
	if s.file != nil {
		at = s.file.info.ModTime()
	}
	return at
}

// load reads a session's transcript, once in each call of Discover.
func (d *discovery) load(ctx context.Context, s *session) {
	if s.read || s.file == nil {
		return
	}
	s.read = true
	s.err = agentfile.Ended(ctx)
	if s.err != nil {
		return
	}
	t := d.transcript(s.file.path)
	s.err = t.Acquire(ctx)
	if s.err != nil {
		return
	}
	defer t.Release()
	s.err = t.read(ctx, s.file.info)
	if s.err != nil {
		return
	}
	s.facts = t.now.clone()
	s.upTo = readUpTo{state: t.State, rest: t.rest}
	if d.query.Once && t.sums.next == t.Next { // a small file, which was read whole
		if sums, err := t.exact(ctx, d.query.Usage); err == nil {
			d.keep(s, sums)
		}
	}
}

// keep keeps the sums of a session, and what they were added up from only for a caller that needs it.
func (d *discovery) keep(s *session, sums totals) {
	if !d.query.Usage {
		sums.ledger = kit.SavedLedger{}
	}
	s.sums = &sums
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

// readAll reads the transcripts that the answer needs. It must be called only when the processes of all sessions are known.
func (d *discovery) readAll() {
	for _, s := range d.sessions {
		if !d.wants(s) {
			continue
		}
		d.wanted = append(d.wanted, s)
		if s.file != nil {
			d.found++
		}
	}
	slices.SortFunc(d.wanted, byUrgency)
	others := d.newestOthers()
	d.found += d.late + len(others)
	reading, cancel := kit.ReadingTime(d.ctx, d.found)
	defer cancel()
	agentfile.Parallel(len(d.wanted), func(i int) { d.load(reading, d.wanted[i]) })
	read := make([]*session, len(others))
	agentfile.Parallel(len(others), func(i int) { // sessions for which there is no time need no memory
		if agentfile.Ended(reading) == nil {
			read[i] = &session{id: others[i].id, file: others[i]}
			d.load(reading, read[i])
		}
	})
	for _, s := range read {
		if s == nil {
			d.isLate(others[0])
		} else {
			d.wanted = append(d.wanted, s)
		}
	}
	d.report()
}

// newestOthers returns the transcripts of the sessions that are not known by anything else, one for each, those written last first.
func (d *discovery) newestOthers() []*file {
	slices.SortFunc(d.others, func(a, b *file) int {
		return cmp.Or(b.info.ModTime().Compare(a.info.ModTime()), strings.Compare(a.path, b.path))
	})
	seen := make(map[string]bool, len(d.others))
	return slices.DeleteFunc(d.others, func(f *file) bool {
		again := seen[f.id] || d.sessions[f.id] != nil
		seen[f.id] = true
		if again {
			d.twin(f)
		}
		return again
	})
}

func (d *discovery) isLate(f *file) { d.late, d.projects = d.late+1, filepath.Dir(f.dir) }

// report adds what could not be read to the answer, but for what was too late.
func (d *discovery) report() {
	var odd []*session // the transcripts without a record of a known form
	seen := 0
	for _, s := range d.wanted {
		if s.err != nil && !errors.Is(s.err, fs.ErrNotExist) && !adapters.IsOutOfTime(s.err) {
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
}

// isOdd reports whether the transcript has records, and none of a known form.
func (s *session) isOdd() bool { return s.facts.records == 0 && len(s.facts.skipped) > 0 }
