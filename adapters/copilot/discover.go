package copilot

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
	"rollcall/adapters/internal/kit"
)

// discovery holds the state of one call of Discover.
type discovery struct {
	*Adapter
	ctx    context.Context
	query  adapters.Query
	now    time.Time
	answer *kit.Answer

	homes      kit.Roots
	unreadable []string // homes whose sessions can't be listed
	processes  []*process
	noTable    bool // the process table could not be read

	all      []place // of the sessions that were listed
	owners   map[place][]*process
	sessions []*session
}

// place is a session's folder.
type place struct{ root, id string }

func (at place) dir() string    { return filepath.Join(store(at.root), at.id) }
func (at place) events() string { return filepath.Join(at.dir(), "events.jsonl") }

// session is a session's file and what was read of it.
type session struct {
	place
	info    fs.FileInfo
	facts   facts
	readErr error
	owner   *process   // that has it
	rivals  []*process // others that continue it
	space   workspace
	spent   *kit.Account
}

// liveOnly reports whether only live sessions are asked for.
func (d *discovery) liveOnly() bool {
	return !d.noTable && len(d.query.IDs) == 0 && !d.query.Since.IsZero() && !d.query.Since.Before(d.now.Add(-time.Second))
}

// absent reports whether nothing shows that Copilot is installed: neither a home nor a process.
func (d *discovery) absent() bool {
	return !d.noTable && len(d.processes) == 0 && d.homes.Absent()
}

// list finds the folders of sessions.
func (d *discovery) list() {
	for _, root := range d.homes.Paths {
		ctx, cancel := kit.Part(d.ctx, 3)
		entries, err := agentfile.Entries(ctx, store(root))
		cancel()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			d.answer.Problem(adapters.AsProblem(store(root), err))
			d.unreadable = append(d.unreadable, root)
		}
		for _, e := range entries {
			if kit.Is(e.Name()) {
				d.all = append(d.all, place{root, e.Name()})
			}
		}
	}
}

// read reads the sessions that a process has or that the query asks for, the ones written last first.
func (d *discovery) read() {
	listed := map[place]bool{}
	for _, at := range d.all {
		listed[at] = true
		if len(d.owners[at]) > 0 || d.wants(at.id) {
			d.examine(at)
		}
	}
	for at := range d.owners {
		if !listed[at] {
			d.examine(at)
		}
	}
	slices.SortFunc(d.sessions, func(a, b *session) int {
		return cmp.Or(cmp.Compare(b.live(), a.live()), b.modified().Compare(a.modified()), strings.Compare(a.dir(), b.dir()))
	})
	ctx, cancel := kit.ReadingTime(d.ctx, len(d.sessions))
	defer cancel()
	agentfile.Parallel(len(d.sessions), func(i int) {
		s := d.sessions[i]
		if s.readErr == nil {
			s.facts, s.readErr = d.transcripts.Read(ctx, s.events(), s.info, d.query.Once)
		}
		if s.readErr == nil {
			var err error
			s.space, err = readWorkspace(filepath.Join(s.dir(), "workspace.yaml"))
			d.answer.Problem(err) // the records have what is needed
		}
	})
	d.sort()
}

// wants reports whether the query may ask for a session without a process.
func (d *discovery) wants(id string) bool {
	if len(d.query.IDs) > 0 {
		return slices.Contains(d.query.IDs, id)
	}
	return !d.liveOnly()
}

// stat finds what the file of a session's records is, which must be a regular one.
func (at place) stat() (fs.FileInfo, error) {
	info, err := os.Stat(at.events())
	if err == nil {
		err = agentfile.CheckRegular(info)
	}
	return info, err
}

// examine adds a session whose file exists and is recent enough.
func (d *discovery) examine(at place) {
	s := &session{place: at}
	if owners := d.owners[at]; len(owners) > 0 {
		s.owner, s.rivals = owners[0], owners[1:]
	}
	var err error
	s.info, err = at.stat()
	if errors.Is(err, fs.ErrNotExist) { // nothing was asked yet
		return
	}
	if err != nil {
		s.readErr = adapters.Unreadable(at.events(), err)
	} else if s.owner == nil && len(d.query.IDs) == 0 && s.info.ModTime().Before(d.query.Since) {
		return
	}
	d.sessions = append(d.sessions, s)
}

func (s *session) live() int {
	if s.owner != nil {
		return 1
	}
	return 0
}

func (s *session) modified() time.Time {
	if s.info == nil {
		return time.Time{}
	}
	return s.info.ModTime()
}

// sort adds the problems of the sessions that could not be read to the answer, and drops those that are nothing.
func (d *discovery) sort() {
	late := 0
	n := len(d.sessions)
	d.sessions = slices.DeleteFunc(d.sessions, func(s *session) bool {
		switch {
		case errors.Is(s.readErr, fs.ErrNotExist):
			return true
		case adapters.IsOutOfTime(s.readErr):
			late++
			return s.owner == nil
		case s.readErr != nil:
			d.answer.Problem(adapters.AsProblem(s.events(), s.readErr))
			d.answer.LeaveOut(kit.NotReadable, 1)
			return s.owner == nil
		case s.facts.known == 0 && s.facts.lines > 0:
			d.answer.Problem(adapters.Unrecognised(s.events(), "no line is a known record"))
			d.answer.LeaveOut(kit.NotRecognised, 1)
			return s.owner == nil
		}
		d.answer.SkipAll(s.facts.skipped)
		return s.facts.known == 0
	})
	d.answer.NotRead(store(d.ownHome()), "sessions", late, n)
}

// addSessions adds the sessions to the answer.
func (d *discovery) addSessions() {
	if d.query.Usage {
		d.settle()
	}
	d.answer.Expect(len(d.sessions))
	for _, s := range d.sessions {
		if s.owner != nil {
			s.owner.sessions++
		}
	}
	for _, s := range d.sessions {
		if len(d.query.IDs) > 0 && !slices.Contains(d.query.IDs, s.id) {
			continue
		}
		row := d.row(s)
		if len(d.query.IDs) == 0 && row.Status == adapters.Stopped && row.LastActivityAt.Before(d.query.Since) {
			continue
		}
		d.answer.AddOnce(row, "second session with the same id", (*adapters.Session).Live)
	}
}

// row returns a session for the answer.
func (d *discovery) row(s *session) adapters.Session {
	f := &s.facts
	v := d.decide(s)
	out := adapters.Session{
		ID: s.id, Agent: Name, Status: v.Status, WaitingFor: v.WaitingFor, Outcome: v.Outcome, Evidence: v.Evidence, AskAgain: v.AskAgain,
		CWD: cmp.Or(f.cwd, s.space.cwd), Branch: cmp.Or(f.branch, s.space.branch), Model: f.model, Title: s.title(),
		FirstPrompt: f.firstPrompt, LastPrompt: f.lastPrompt, Version: f.version, Tokens: f.tokens(),
		StartedAt: f.started, LastActivityAt: f.last, TurnStartedAt: f.prompted, Files: []string{s.events()}, Home: s.root,
	}
	if v.Status != adapters.Stopped {
		out.Doing, out.DoingSince = f.doing()
	}
	if s.spent != nil {
		out.Usage = s.spent.Usage
	}
	if s.owner != nil && v.Status != adapters.Stopped {
		out.Process, out.Shared = s.owner.Identity, s.owner.sessions > 1 // a server of the protocol for agents, or of the SDK
		out.CWD = cmp.Or(out.CWD, s.owner.cwd)
		if s.owner.parent != s.id {
			out.Parent = s.owner.parent
		}
	}
	return out
}

// title returns the name of the session, unless it is the beginning of the first prompt, which Copilot takes until there is
// another.
func (s *session) title() string {
	if name := s.space.name; s.space.userNamed || !strings.HasPrefix(strings.Join(strings.Fields(s.facts.firstPrompt), " "), strings.TrimSuffix(strings.Join(strings.Fields(name), " "), "…")) {
		return name
	}
	return ""
}

// addProcesses adds the processes without a session: a terminal before its first prompt.
func (d *discovery) addProcesses() {
	for _, p := range d.processes {
		if p.sessions > 0 || !slices.ContainsFunc(d.homes.Paths, p.uses) {
			continue
		}
		row := d.processRow(p)
		if len(d.query.IDs) == 0 || slices.Contains(d.query.IDs, row.ID) {
			d.answer.Add(row)
		}
	}
}

// processRow returns the row of a process whose session has no prompt. What the process holds goes before its command line: one that
// was to continue a session that another process has, and went back from that (1.0.102), has begun one of its own, and its row has
// the id of that one, not to be taken for the one in the command line.
func (d *discovery) processRow(p *process) adapters.Session {
	row := adapters.ProcessSession(Name, p.Process, p.cwd)
	row.Parent = p.parent
	id, continues := p.resumes()
	switch i := slices.IndexFunc(d.unreadable, p.uses); {
	case i >= 0:
		row.Status, row.Evidence = adapters.Unknown, fmt.Sprintf("process %d has its session in %s, which can't be read", p.PID, store(d.unreadable[i]))
	case len(p.has) == 1 && continues && p.has[0] != id:
		row.ID = p.has[0]
		row.Evidence = fmt.Sprintf("process %d holds this session, which has no prompt yet; its command line continues another one", p.PID)
	case len(p.has) > 0:
	case id != "" && d.answer.Has(id):
		row.Status, row.Evidence = adapters.Unknown, fmt.Sprintf("process %d continues session %s, which another process has: which of the two works is not recorded", p.PID, id)
	case continues:
		row.Status, row.Evidence = adapters.Unknown, fmt.Sprintf("process %d continues a session, and is not recorded as the one that has it", p.PID)
	}
	return row
}

// maxWatched is the largest number of folders of sessions that are watched.
const maxWatched = 24

// watchPaths returns the folders in which sessions appear, and those of running sessions.
func (d *discovery) watchPaths() []string {
	var watch []string
	for _, root := range d.homes.Paths {
		for _, dir := range []string{store(root), root, filepath.Dir(root)} { // where it will appear
			if info, err := os.Stat(dir); err == nil && info.IsDir() {
				watch = kit.AppendNew(watch, dir)
				break
			}
		}
	}
	live := 0
	for _, s := range d.sessions {
		if live++; s.owner != nil && live <= maxWatched {
			watch = kit.AppendNew(watch, s.dir())
		}
	}
	for at := range d.owners { // those that have no prompt yet
		if live++; live <= maxWatched {
			watch = kit.AppendNew(watch, at.dir())
		}
	}
	return watch
}
