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
)

// discovery is one Discover.
type discovery struct {
	*Store
	ctx      context.Context
	query    adapters.Query
	at       time.Time
	roll     adapters.Roll
	problems []error
	shared   []error // what concerns sessions of which it can't be told whose they are

	settings  settings
	roots     []root
	files     []file
	rust      bool // something in the store is pi_agent_rust's
	processes []*process
	tableErr  error
	blind     bool        // the process table could not be read
	parents   map[int]int // of all processes, by pid

	live  []*session // those that processes may have
	asked []*session // further ones that the query wants
	loose []*process // without any session

	before bool // all folders were listed at an earlier question
	listed bool // and at this one

	recognised int    // sessions of the agent that were read
	strange    string // a folder with a file that is no session
}

// formatVersion is what Pi 1.5.2 writes into its headers.
const formatVersion = 3

func (d *discovery) problem(err error) {
	if err != nil {
		d.problems = append(d.problems, err)
	}
}

// readLive reads the files that a live process may have written to, or may have
// resumed: those changed since the first of them began, and the newest of its
// folder.
func (d *discovery) readLive() {
	if len(d.processes) == 0 {
		return
	}
	d.namedFiles()
	since := d.processes[0].Started.Add(-2 * slack)
	slices.SortFunc(d.files, func(a, b file) int {
		return cmp.Or(b.info.ModTime().Compare(a.info.ModTime()), strings.Compare(a.path, b.path))
	})
	strayed := d.readWatches()
	want := map[string]int{}
	for _, p := range d.processes {
		want[folderName(p.cwd)]++
		if p.was != "" {
			want[folderName(p.was)]++
		}
	}
	more := map[string]int{} // older ones taken, by folder
	var rest []file
	for _, f := range d.files {
		enough := want[filepath.Base(f.dir)] + strayed
		if f.dir == f.root {
			enough = 20
		}
		switch {
		case !f.info.ModTime().Before(since):
		case more[f.dir] < enough:
			more[f.dir]++
		default:
			rest = append(rest, f)
			continue
		}
		d.live = append(d.live, &session{file: f})
	}
	d.files = rest
	d.read(d.live)
	d.live = d.known(d.live)
	folders := map[string]string{}
	for _, s := range d.live {
		if _, there := folders[s.cwd]; !there {
			folders[s.cwd] = realPath(s.cwd)
		}
		s.real = folders[s.cwd]
	}
	d.placeProcesses()
}

// liveOnly says whether live sessions are all that is asked for. The first time
// everything is looked at, which tells whether pi_agent_rust is there.
func (d *discovery) liveOnly() bool {
	return d.before && !d.blind && len(d.query.IDs) == 0 && !d.query.Since.IsZero() && !d.query.Since.Before(d.at.Add(-time.Second))
}

// namedFiles adds the files that processes and their tools name and that lie in
// no folder that was listed.
func (d *discovery) namedFiles() {
	for _, p := range d.processes {
		paths := []string{p.file}
		for _, k := range p.kids {
			paths = append(paths, k.file)
		}
		for _, path := range paths {
			if path == "" || !filepath.IsAbs(path) || !isSession(filepath.Base(path)) {
				continue
			}
			resolved := realPath(path)
			if slices.ContainsFunc(d.files, func(f file) bool { return f.path == resolved || f.path == path }) {
				continue
			}
			f, err := statFile(filepath.Dir(resolved), filepath.Dir(resolved), filepath.Base(resolved))
			if err == nil && ownedByUser(f.info) && !slices.ContainsFunc(d.files, func(o file) bool { return os.SameFile(o.info, f.info) }) {
				p.places = append(slices.Clone(p.places), f.root)
				d.files = append(d.files, f)
			}
		}
	}
}

// readAsked reads what else the query wants.
func (d *discovery) readAsked() {
	for _, f := range d.files {
		if d.wants(&f) {
			d.asked = append(d.asked, &session{file: f})
		}
	}
	d.read(d.asked)
	d.asked = d.known(d.asked)
	d.readMisnamed()
	if d.strange != "" && d.recognised == 0 && len(d.query.IDs) == 0 {
		d.problem(adapters.Unrecognised(d.strange, "none of %d files begins with a session header",
			d.roll.Skipped["file without a session header"]))
	}
}

// readMisnamed looks for ids that are in no name: 0.27.9 names a file by another
// random id than that of its header. Later versions do not, nor make such ids.
func (d *discovery) readMisnamed() {
	read := slices.Concat(d.live, d.asked)
	missing := slices.ContainsFunc(d.query.IDs, func(id string) bool {
		return !strings.HasPrefix(id, loosePrefix) && !slices.ContainsFunc(read, func(s *session) bool { return s.id == id })
	})
	if !missing {
		return
	}
	var further []*session
	for _, f := range d.files {
		if randomID.MatchString(f.label) && !d.wants(&f) {
			further = append(further, &session{file: f})
		}
	}
	d.read(further)
	for _, s := range d.known(further) {
		if slices.Contains(d.query.IDs, s.id) {
			d.asked = append(d.asked, s)
		}
	}
}

func (d *discovery) wants(f *file) bool {
	if whose := f.certain(); whose != "" && whose != d.name {
		return false
	}
	if len(d.query.IDs) > 0 {
		return slices.ContainsFunc(d.query.IDs, f.may)
	}
	return d.query.Since.IsZero() || !f.info.ModTime().Before(d.query.Since)
}

// read fills in the facts.
func (d *discovery) read(list []*session) {
	parallel(len(list), func(i int) {
		s := list[i]
		if s.sqlite {
			s.facts, s.bad = d.readDatabase(&s.file)
		} else {
			s.facts, s.bad = d.transcript(s.path).read(d.ctx, s.info, d.query.Totals)
			if !s.begun.IsZero() && s.begun.Before(s.at) { // before 0.31 the header's time is that of the first answer
				s.at = s.begun
			}
		}
	})
}

// known leaves out what is no session or could not be read, and says so.
func (d *discovery) known(list []*session) []*session {
	var out []*session
	newest := map[string]int{}
	for _, s := range list {
		mine := s.guess() == d.name
		if s.known {
			mine = s.writer() == d.name
		}
		switch {
		case s.bad == nil && s.known:
			d.rust = d.rust || s.writer() == adapters.PiRust
			if mine {
				d.recognised++
				if s.version > formatVersion {
					d.roll.Skipped[fmt.Sprintf("session format %d, newer than is known", s.version)]++
				}
				for reason, n := range s.skipped {
					d.roll.Skipped[reason] += n
				}
			}
			i, twice := newest[s.id]
			switch { // Pi can leave two files of one session: the newer counts
			case !twice:
				newest[s.id] = len(out)
				out = append(out, s)
			case s.active().After(out[i].active()):
				out[i] = s
			}
		case !mine, errors.Is(s.bad, fs.ErrNotExist):
		case errors.Is(s.bad, context.Canceled), errors.Is(s.bad, context.DeadlineExceeded):
			d.roll.Skipped["session not read in time"]++
		case s.bad != nil:
			d.problem(d.unreadable(s))
		case s.info.Size() > 0:
			d.roll.Skipped["file without a session header"]++
			d.strange = s.dir
		}
	}
	return out
}

func (d *discovery) unreadable(s *session) error {
	var p *adapters.Problem
	if errors.As(s.bad, &p) {
		return s.bad
	}
	return adapters.Unreadable(s.path, s.bad)
}

// answer makes the roll.
func (d *discovery) answer() {
	seen := map[string]bool{}
	for _, s := range slices.Concat(d.live, d.asked) {
		if seen[s.id] || s.writer() != d.name || !d.queried(s.id) {
			continue
		}
		seen[s.id] = true
		row := d.row(s)
		if len(d.query.IDs) == 0 && row.Status == adapters.Stopped && row.LastActivityAt.Before(d.query.Since) {
			continue
		}
		d.roll.Sessions = append(d.roll.Sessions, row)
	}
	for _, p := range d.loose {
		if row := d.looseRow(p); p.agent == d.name && d.queried(row.ID) {
			d.roll.Sessions = append(d.roll.Sessions, row)
		}
	}
}

func (d *discovery) queried(id string) bool {
	return len(d.query.IDs) == 0 || slices.Contains(d.query.IDs, id)
}

// row is a session as it is answered.
func (d *discovery) row(s *session) adapters.Session {
	v := d.decide(s)
	out := adapters.Session{
		ID: s.id, Agent: d.name, Status: v.status, Outcome: v.outcome, Evidence: v.evidence,
		CWD: s.cwd, Model: s.model, Title: s.title, FirstPrompt: s.firstPrompt, LastPrompt: s.lastPrompt,
		Tokens: s.tokens(), Context: adapters.Context{Used: s.context},
		StartedAt: s.at, LastActivityAt: s.active(), Files: []string{s.path},
	}
	if s.exact {
		out.CostUSD = s.sums.cost
	}
	if s.owner != nil && v.status != adapters.Stopped && s.doubt == "" {
		out.Process = s.owner.Identity
	}
	return out
}

// heldBefore is what was surely seen together at earlier questions.
func (d *discovery) heldBefore() map[string]heldBy {
	d.mu.Lock()
	defer d.mu.Unlock()
	before := make(map[string]heldBy, len(d.held))
	for id, h := range d.held {
		alive := slices.ContainsFunc(d.processes, func(p *process) bool { return p.Identity == id })
		if old, there := before[h.session]; !there || alive || !old.alive && h.active.After(old.active) {
			before[h.session] = heldBy{pid: id.PID, alive: alive, active: h.active}
		}
	}
	return before
}

// heldBy is the session that a process was last surely seen with.
func (d *discovery) heldBy(p *process) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.held[p.Identity].session
}

// maxHeld bounds what is remembered of processes that have ended.
const maxHeld = 1000

// remember keeps what the next question and WatchPaths start from.
func (d *discovery) remember() {
	watch := d.watchPaths()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.watch = watch
	d.rustSeen = d.rustSeen || d.rust
	d.listedOnce = d.listedOnce || d.listed
	d.cache.trim()
	for id := range d.seen {
		if !d.blind && !slices.ContainsFunc(d.processes, func(p *process) bool { return p.Identity == id }) && !d.table.Alive(id) {
			delete(d.seen, id)
		}
	}
	if len(d.held) > maxHeld {
		clear(d.held)
	}
	for _, s := range d.live {
		if s.owner != nil && s.doubt == "" {
			d.held[s.owner.Identity] = held{s.id, s.active(), s.file}
		}
	}
}

func (d *discovery) watchPaths() []string {
	var watch []string
	add := func(path string) {
		if !slices.Contains(watch, path) {
			watch = append(watch, path)
		}
	}
	for _, r := range d.roots {
		if info, err := os.Stat(r.path); err != nil || !info.IsDir() {
			add(filepath.Dir(r.path)) // where it will appear
			continue
		}
		add(r.path)
		for _, p := range d.processes {
			if p.uses(r.path) {
				add(filepath.Join(r.path, folderName(p.cwd)))
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
