package pistore

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
	"rollcall/bounded"
)

// discovery holds the state of one call of Discover.
type discovery struct {
	store  *Store
	ctx    context.Context
	query  adapters.Query
	now    time.Time
	answer *kit.Answer

	settings  settings
	roots     kit.Roots // the folders with sessions: of an agent, with one for each working directory, or one that the settings name, with all sessions in it
	files     []file
	hasRust   bool // the store contains files of pi_agent_rust
	processes []*process
	parents   map[int]int // of all processes, by pid

	live        []*session // those that processes may have
	requested   []*session // further ones that the query wants
	sessionless []*process // without any session

	unresponsiveProcesses []*process // that use a folder with sessions whose file system does not answer

	found, late int    // files that had to be read, and those of them for which there was no time
	lateIn      string // the folder of the last of these
	partial     bool   // files that a live process may have were not examined or read
	unreadable  bool   // a folder with sessions could not be read

	recognised   int    // sessions of the agent that were read
	headerlessIn string // a folder with a file that is not a session
}

// formatVersion is the version that Pi 1.5.2 writes into the headers of its files.
const formatVersion = 3

// readLive reads the files that a live process may have written to or resumed: those
// changed since the first of the processes began, those of its folder that it may have
// read, and the newest ones there.
func (d *discovery) readLive() {
	if len(d.processes) == 0 {
		return
	}
	d.namedFiles()
	since := d.processes[0].Started.Add(-2 * slack)
	slices.SortFunc(d.files, func(a, b file) int { return byNewest(&a, &b) })
	strayed := d.readWatches()
	want := map[string]int{}
	for _, p := range d.processes {
		want[folderName(p.cwd)]++
		if p.oldCWD != "" {
			want[folderName(p.oldCWD)]++
		}
	}
	more := map[string]int{} // older ones taken, by folder
	var mine, rest []file
	for _, f := range d.files {
		enough := want[filepath.Base(f.dir)] + strayed
		if f.dir == f.root {
			enough = 20
		}
		switch {
		case !f.info.ModTime().Before(since), d.mayBeOpened(&f), d.namedByTool(&f):
		case more[f.dir] < enough:
			more[f.dir]++
		default:
			rest = append(rest, f)
			continue
		}
		mine = append(mine, f)
	}
	d.files = rest
	lost := 0
	d.live, lost = d.read(mine)
	d.partial = d.partial || lost > 0
	folders := map[string]string{}
	for _, s := range d.live {
		s.mayBeLive = true
		if _, there := folders[s.cwd]; !there {
			folders[s.cwd] = agentproc.RealPath(s.cwd)
		}
		s.realCWD = folders[s.cwd]
	}
	d.placeProcesses()
}

// mayBeOpened reports whether a process of the file's folder may have opened the file.
func (d *discovery) mayBeOpened(f *file) bool {
	return slices.ContainsFunc(d.processes, func(p *process) bool {
		return filepath.Base(f.dir) == folderName(p.cwd) && p.uses(f.root) && f.readSince(p.Started)
	})
}

// namedByTool reports whether a tool that a process runs names the session in a file. The file may be older than the process if the clock was set.
func (d *discovery) namedByTool(f *file) bool {
	return slices.ContainsFunc(d.processes, func(p *process) bool {
		return slices.ContainsFunc(p.children, func(k toolProcess) bool { return k.session != "" && strings.Contains(filepath.Base(f.path), k.session) })
	})
}

// byNewest orders files by the time at which they were written, the newest first: these are read
// first, in case time runs out, and if two files have the same session, the newer one is used.
func byNewest(a, b *file) int {
	return cmp.Or(b.info.ModTime().Compare(a.info.ModTime()), strings.Compare(a.path, b.path))
}

// namedFiles adds the files that processes and their tools name and that are in no
// listed folder.
func (d *discovery) namedFiles() {
	for _, p := range d.processes {
		paths := []string{p.file}
		for _, k := range p.children {
			paths = append(paths, k.file)
		}
		for _, path := range paths {
			if path == "" || !filepath.IsAbs(path) || !isSession(filepath.Base(path)) {
				continue
			}
			resolved := agentproc.RealPath(path)
			if !bounded.Answers(resolved) {
				continue
			}
			if slices.ContainsFunc(d.files, func(f file) bool { return f.path == resolved || f.path == path }) {
				continue
			}
			f, err := statFile(filepath.Dir(resolved), filepath.Dir(resolved), filepath.Base(resolved))
			if err == nil && agentfile.OwnedByUser(f.info) && !slices.ContainsFunc(d.files, func(o file) bool { return os.SameFile(o.info, f.info) }) {
				p.folders = append(slices.Clone(p.folders), f.root)
				d.files = append(d.files, f)
			}
		}
	}
}

// readRequested reads the other sessions for which the query asks.
func (d *discovery) readRequested() {
	var wanted []file
	for _, f := range d.files {
		if d.wants(&f) {
			wanted = append(wanted, f)
		}
	}
	slices.SortFunc(wanted, func(a, b file) int { return byNewest(&a, &b) })
	d.requested, _ = d.read(wanted)
	if d.headerlessIn != "" && d.recognised == 0 && len(d.query.IDs) == 0 {
		d.answer.Problem(adapters.Unrecognised(d.headerlessIn, "none of %d files begins with a session header",
			d.answer.Skipped("file without a session header")))
	}
}

func (d *discovery) wants(f *file) bool {
	if whose := f.certain(); whose != "" && whose != d.store.Name() {
		return false
	}
	if len(d.query.IDs) > 0 {
		return slices.ContainsFunc(d.query.IDs, f.mayHaveID)
	}
	return d.query.Since.IsZero() || !f.info.ModTime().Before(d.query.Since)
}

// read reads the sessions of files, the first ones first. It returns those that could be read, and for how many files there was no
// time; it adds the problems of the others to the answer, or counts them as skipped.
func (d *discovery) read(files []file) (sessions []*session, lost int) {
	ctx, cancel := kit.ReadingTime(d.ctx, len(files))
	defer cancel()
	list := make([]*session, len(files))
	agentfile.Parallel(len(files), func(i int) { // sessions for which there is no time need no memory
		if agentfile.Ended(ctx) != nil {
			return
		}
		s := &session{file: files[i]}
		list[i] = s
		s.facts, s.readErr = d.store.transcripts.Read(ctx, s.path, s.info, d.query.Once)
		if !d.query.Usage { // thousands of sessions need no ledgers
			s.ledger = kit.Ledger{}
		}
		if !s.begun.IsZero() && s.begun.Before(s.at) { // before 0.31 the header's time is that of the first answer
			s.at = s.begun
		}
	})
	for i, s := range list {
		if s != nil && !adapters.IsOutOfTime(s.readErr) {
			continue
		}
		lost++
		list[i] = nil
		if files[i].guess() == d.store.Name() {
			d.isLate(files[i].root, 1, 0)
		}
	}
	d.found += len(files)
	return d.sessionsOf(slices.DeleteFunc(list, func(s *session) bool { return s == nil })), lost
}

// nameByFile takes the id and the time of a session from the name of its file. It is
// for a file whose header can't be read because a single line is too long.
func (s *session) nameByFile() {
	if s.readErr == nil && !s.known && s.longLine != "" && wholeID.MatchString(s.label) {
		s.id = s.label
		s.at = s.begun
		s.known = true
		s.unheaded = true
	}
}

// sessionsOf returns the sessions that could be read. It adds the problems of the
// others to the answer, or counts them as skipped.
func (d *discovery) sessionsOf(list []*session) []*session {
	var out []*session
	newest := map[string]int{}
	for _, s := range list {
		s.nameByFile()
		mine := s.guess() == d.store.Name()
		if s.known {
			mine = s.writer() == d.store.Name()
		}
		switch {
		case s.readErr == nil && s.known:
			d.hasRust = d.hasRust || s.writer() == PiRust
			if mine {
				d.recognised++
				if s.version > formatVersion {
					d.answer.Skip(fmt.Sprintf("session format %d, which is newer than Rollcall supports", s.version), 1)
				}
				d.answer.SkipAll(s.SkippedRecords())
			}
			i, twice := newest[s.id]
			switch { // Pi can leave two files of one session: the newer is shown
			case !twice:
				newest[s.id] = len(out)
				out = append(out, s)
			case s.active().After(out[i].active()):
				s.twins = append(s.twins, out[i].twins...)
				s.twins = append(s.twins, out[i])
				out[i] = s
			default:
				out[i].twins = append(out[i].twins, s)
			}
		case !mine, errors.Is(s.readErr, fs.ErrNotExist):
		case s.readErr != nil:
			d.answer.Problem(adapters.AsProblem(s.path, s.readErr))
			d.answer.LeaveOut(kit.NotReadable, 1)
		case s.info.Size() > 0:
			d.answer.Skip("file without a session header", 1)
			d.answer.LeaveOut(kit.NotRecognised, 1)
			d.headerlessIn = s.dir
		}
	}
	return out
}

func (d *discovery) watchPaths() []string {
	var watch []string
	add := func(path string) { watch = kit.AppendNew(watch, path) }
	for _, r := range d.roots.Paths {
		if info, err := os.Stat(r); err != nil || !info.IsDir() {
			add(filepath.Dir(r)) // where it will appear
			continue
		}
		add(r)
		for _, p := range d.processes {
			if p.uses(r) {
				add(filepath.Join(r, folderName(p.cwd)))
			}
		}
	}
	for _, s := range d.live {
		if s.owner != nil || len(s.hosts) > 0 || s.doubt != "" {
			add(s.dir)
		}
	}
	slices.Sort(watch)
	return watch
}
