package copilot

import (
	"cmp"
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
	"rollcall/adapters/internal/skeleton"
)

// discovery holds the state of one call of Discover.
type discovery struct {
	*Adapter
	*skeleton.Look
	unreadable []string // homes whose sessions can't be listed
	processes  []*process

	all      []place // of the sessions that were listed, and of those that processes hold or name
	owners   map[place][]*process
	makers   map[place]maker // of copies that no process is recorded to have
	live     []*session      // to be read: those that a process has
	others   []*session      // and the others
	sessions []*session      // that were read
}

// place is a session's folder.
type place struct{ root, id string }

func (at place) dir() string    { return filepath.Join(store(at.root), at.id) }
func (at place) events() string { return filepath.Join(at.dir(), "events.jsonl") }

// session is a session's file and what was read of it.
type session struct {
	kit.Chat
	place
	facts  facts
	unread bool     // its file could not be read
	owner  *process // that has it
	made   maker    // the live process that made it, as a copy
	space  workspace
	spent  *kit.Account
}

// liveOnly reports whether only live sessions are asked for.
func (d *discovery) liveOnly() bool {
	return !d.Homes.NoTable && len(d.Query.IDs) == 0 && !d.Query.Since.IsZero() && !d.Query.Since.Before(d.Now.Add(-time.Second))
}

// list finds the folders of sessions.
func (d *discovery) list() {
	for _, root := range d.Homes.Paths {
		ctx, cancel := kit.Part(d.Ctx, 3)
		entries, err := agentfile.Entries(ctx, store(root))
		cancel()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			d.Report.Problem(adapters.AsProblem(store(root), err))
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
	for _, at := range d.all {
		if len(d.owners[at]) > 0 || d.wants(at.id) {
			d.examine(at)
		}
	}
	for len(d.live) > 0 {
		files := d.live
		d.live = nil
		d.readFiles(files)
		d.findCopies()
	}
	d.readFiles(slices.DeleteFunc(d.others, func(s *session) bool {
		_, is := d.makers[s.place]
		return is
	}))
	agentfile.Parallel(len(d.sessions), func(i int) {
		s := d.sessions[i]
		if s.unread {
			return
		}
		var err error
		s.space, err = readWorkspace(filepath.Join(s.dir(), "workspace.yaml"))
		d.Report.Problem(err) // the records have what is needed
	})
}

// readFiles reads the records of sessions.
func (d *discovery) readFiles(files []*session) {
	skeleton.Read(d.Look, d.transcripts, files, d.take, func(s *session) {
		if s.owner != nil {
			s.unread = true
			d.sessions = append(d.sessions, s)
		}
	})
}

// take adds a session that was read. One without a record is none yet.
func (d *discovery) take(s *session, read facts) bool {
	s.facts = read
	isStrange := read.known == 0 && read.lines > 0
	if isStrange {
		d.Report.Problem(adapters.Unrecognised(s.events(), "no line is a known record"))
		d.Report.LeaveOut(kit.NotRecognised, 1)
	}
	if read.known > 0 || isStrange && s.owner != nil {
		d.sessions = append(d.sessions, s)
	}
	return true
}

// wants reports whether the query may ask for a session without a process.
func (d *discovery) wants(id string) bool {
	if len(d.Query.IDs) > 0 {
		return slices.Contains(d.Query.IDs, id)
	}
	return !d.liveOnly()
}

// examine adds a session whose file exists and is recent enough.
func (d *discovery) examine(at place) {
	s := &session{place: at, made: d.makers[at]}
	if owners := d.owners[at]; len(owners) > 0 {
		s.owner = owners[0]
	}
	chat, ok, hidden := d.Report.Stat(at.root, at.events())
	s.Chat = chat
	switch {
	case hidden:
		d.Report.LeaveOut(kit.NotReadable, 1)
		if s.owner != nil {
			s.unread = true
			d.sessions = append(d.sessions, s)
		}
	case ok && (s.owner != nil || s.made.process != nil):
		d.live = append(d.live, s)
	case ok && (len(d.Query.IDs) > 0 || d.IsRecent(chat.Info.ModTime())):
		d.others = append(d.others, s)
	}
}

// addSessions adds the sessions to the answer.
func (d *discovery) addSessions() {
	if d.Query.Usage {
		d.settle()
	}
	d.Report.Expect(len(d.sessions))
	for _, s := range d.sessions {
		if s.owner != nil {
			s.owner.sessions++
		}
	}
	for _, s := range d.sessions {
		d.Add(d.row(s))
	}
}

// row returns a session for the answer.
func (d *discovery) row(s *session) adapters.Session {
	f := &s.facts
	v := d.decide(s)
	out := adapters.Session{
		ID: s.id, Agent: Name, Model: f.model, Version: f.version, Files: []string{s.events()},
		State: v,
		Place: adapters.Place{CWD: cmp.Or(f.cwd, s.space.cwd), Branch: cmp.Or(f.branch, s.space.branch), Home: s.root},
		Topic: adapters.Topic{Title: s.title(), FirstPrompt: f.firstPrompt, LastPrompt: f.lastPrompt},
		Spent: adapters.Spent{Tokens: f.tokens()},
		Times: adapters.Times{StartedAt: f.started, LastActivityAt: f.last, TurnStartedAt: f.prompted},
	}
	if v.Status != adapters.Stopped {
		out.Doing, out.DoingSince = f.doing()
	}
	out.Usage = s.spent.Steps()
	if s.owner != nil && v.Status != adapters.Stopped {
		out.Process, out.Shared = s.owner.Identity, s.owner.sessions > 1 // a server of the protocol for agents, or of the SDK
		out.CWD = cmp.Or(out.CWD, s.owner.CWD)
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
		if p.sessions == 0 {
			d.AddProcess(d.processRow(p))
		}
	}
}

// processRow returns the row of a process whose session has no prompt. What the process holds goes before its command line: one that
// was to continue a session that another process has, and went back from that (1.0.102), has begun one of its own, and its row has
// the id of that one, not to be taken for the one in the command line.
func (d *discovery) processRow(p *process) adapters.Session {
	row := p.Row(d.Look, false, true, false)
	row.Parent = p.parent
	switch i := slices.IndexFunc(d.unreadable, p.Uses); {
	case i >= 0:
		row.Status, row.Evidence = adapters.Unknown, fmt.Sprintf("process %d has its session in %s, which can't be read", p.PID, store(d.unreadable[i]))
	case len(p.has) == 1 && p.Resumes && p.has[0] != p.Named:
		row.ID = p.has[0]
		row.Evidence = fmt.Sprintf("process %d holds this session, which has no prompt yet; its command line continues another one", p.PID)
	case len(p.has) > 0:
	case p.Named != "" && d.Report.Has(p.Named):
		row.Status, row.Evidence = adapters.Unknown, fmt.Sprintf("process %d continues session %s, which another process has: which of the two works is not recorded", p.PID, p.Named)
	case p.Resumes:
		row.Status, row.Evidence = adapters.Unknown, fmt.Sprintf("process %d continues a session, and is not recorded as the one that has it", p.PID)
	}
	return row
}

// maxWatched is the largest number of folders of sessions that are watched.
const maxWatched = 24

// watchPaths returns the folders in which sessions appear, and those of running sessions.
func (d *discovery) watchPaths() []string {
	var watch []string
	for _, root := range d.Homes.Paths {
		for _, dir := range []string{store(root), root, filepath.Dir(root)} { // where it will appear
			if info, err := os.Stat(dir); err == nil && info.IsDir() {
				watch = kit.AppendNew(watch, dir)
				break
			}
		}
	}
	live := 0
	for _, s := range d.sessions {
		if live++; (s.owner != nil || s.mayBeShown()) && live <= maxWatched {
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
