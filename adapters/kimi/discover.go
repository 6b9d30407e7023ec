package kimi

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
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
	processes []*process
	workspace []string // folders of sessions
	files     []*file  // with the records of agents
	states    []*file  // state.json
	folders   []*session
	sessions  []*session          // that were read
	prompts   map[string][]string // what was typed in a folder's terminals, by its file
}

// file is a file of a session.
type file struct {
	kit.Chat
	of    *session
	agent string // whose records it has; empty: it is the state.json
}

const (
	mainAgent     = "main"
	sessionPrefix = "session_"
	wireName      = "wire.jsonl"
)

// session is one conversation: a folder.
type session struct {
	facts          // of its main agent
	state          facts
	dir, id, home  string
	changed        time.Time // the newest file
	agents         []*agent
	owner          *process
	how            string // how that is known
	doubt          string // why it is not known whether a process has it
	served         bool   // by `kimi web`
	hidden, unsure bool   // something could not be read
	spent          *kit.Account
	paths          []string
}

// agent is a sub-agent of a session.
type agent struct {
	facts
	*file
}

// begin starts a question: it reads the processes, and finds the homes.
func (a *Adapter) begin(ctx context.Context, q adapters.Query) *discovery {
	d := &discovery{Adapter: a, Look: skeleton.Begin(ctx, a.Base, q, "sessions"), prompts: map[string][]string{}}
	for _, p := range finder.Find(d.Look) {
		d.processes = append(d.processes, d.inspect(p))
	}
	return d
}

// list lists the files of all homes.
func (d *discovery) list() {
	for _, home := range d.Homes.Paths {
		if len(d.processes) > 0 {
			d.findServers(home)
		}
	}
	d.Stores(func(ctx context.Context, home, dir string) {
		if strings.HasPrefix(filepath.Base(dir), ".") {
			return
		}
		d.workspace = append(d.workspace, dir)
		entries, err := agentfile.Entries(ctx, dir)
		d.Hidden = d.Report.Failed(dir, err) || d.Hidden
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), sessionPrefix) && agentfile.MayBeFolder(dir, e) {
				d.listFiles(ctx, &session{dir: filepath.Join(dir, e.Name()), id: e.Name(), home: home})
			}
		}
	})
}

// listFiles lists the files of a session.
func (d *discovery) listFiles(ctx context.Context, s *session) {
	if len(d.Query.IDs) > 0 && len(d.processes) == 0 && !slices.ContainsFunc(d.Query.IDs, func(id string) bool { return mainID(id) == s.id }) {
		return
	}
	d.folders = append(d.folders, s)
	add := func(to *[]*file, path, agent string) {
		chat, ok, hidden := d.Report.Stat(s.home, path)
		s.hidden = s.hidden || hidden
		if ok {
			*to = append(*to, &file{Chat: chat, of: s, agent: agent})
			s.changed = kit.Latest(s.changed, chat.Info.ModTime())
		}
	}
	add(&d.states, filepath.Join(s.dir, "state.json"), "")
	dir := filepath.Join(s.dir, "agents")
	entries, err := agentfile.Entries(ctx, dir)
	s.hidden = d.Report.Failed(dir, err) || s.hidden
	for _, e := range entries {
		if e.Name() == mainAgent || agentfile.MayBeFolder(dir, e) {
			add(&d.files, filepath.Join(dir, e.Name(), wireName), e.Name())
		}
	}
}

// mainID returns the id of the session of a sub-agent, or of itself.
func mainID(id string) string {
	id, _, _ = strings.Cut(id, "/")
	return id
}

// read reads the files that the query asks for, and all that a live process may have.
func (d *discovery) read() {
	for _, list := range []*[]*file{&d.states, &d.files} {
		*list = slices.DeleteFunc(*list, func(f *file) bool { return !d.wants(f.of) })
		skeleton.Read(d.Look, d.transcripts, *list, func(f *file, read facts) bool {
			if read.known {
				f.of.take(f, read)
			}
			return read.known
		}, func(f *file) { f.of.hidden = true })
	}
	for _, s := range d.folders {
		late := d.Ctx.Err() != nil && !s.known && !s.state.known // it was not read for want of time, which is said
		d.Hidden = d.Hidden || late
		if (s.known || s.state.known || s.hidden) && !late {
			d.settleFiles(s)
			d.sessions = append(d.sessions, s)
		}
	}
}

// wants reports whether a session has to be read: the query asks for it, or a live process can have it.
func (d *discovery) wants(s *session) bool {
	isLive := slices.ContainsFunc(d.processes, func(p *process) bool {
		return p.Uses(s.home) && (p.isIn(filepath.Dir(s.dir)) && p.start != plain || p.Precedes(s.changed))
	})
	if isLive || len(d.Query.IDs) == 0 {
		return isLive || d.IsRecent(s.changed)
	}
	return slices.ContainsFunc(d.Query.IDs, func(id string) bool { return mainID(id) == s.id })
}

// isIn reports whether a folder of sessions is that of the process's working folder, of which its name has a hash (2.1.0).
func (p *process) isIn(workspace string) bool {
	return strings.HasSuffix(workspace, fmt.Sprintf("_%.6x", sha256.Sum256([]byte(p.Folder()))))
}

// take adds the facts of a file.
func (s *session) take(f *file, read facts) {
	s.unsure = s.unsure || read.lost != ""
	switch f.agent {
	case "":
		s.state = read
	case mainAgent:
		s.facts = read
		s.paths = append([]string{f.Path}, s.paths...)
	default:
		s.agents = append(s.agents, &agent{read, f})
		s.paths = append(s.paths, f.Path)
	}
}

// settleFiles joins what the files of a session say.
func (d *discovery) settleFiles(s *session) {
	slices.SortFunc(s.agents, func(a, b *agent) int { return strings.Compare(a.agent, b.agent) })
	s.cwd = cmp.Or(s.cwd, s.state.cwd)
	if !s.state.at.IsZero() {
		s.at = s.state.at
	}
	switch {
	case !s.known && s.state.LastPrompt != "":
		d.Report.Skip("session without its records", 1)
		s.lost, s.turn = "its records are missing", turn{state: lost}
		s.hidden = true
	case s.lost == "" && s.state.lost != "":
		s.lost, s.turn = s.state.lost, turn{state: lost}
	case s.lost == "" && !isReadable(s.protocol) && s.known:
		s.lost, s.turn = "records of version "+cmp.Or(kit.PlainWord(strings.ReplaceAll(s.protocol, ".", "-")), "unknown"), turn{state: lost}
	}
}

// isReadable reports whether the records of a version have a known form.
func isReadable(version string) bool {
	major, minor, _ := strings.Cut(version, ".")
	return major == "1" && (len(minor) > 1 || minor >= "5")
}

// isHeadless reports whether `kimi -p` made the session: it has no title, and no last prompt (2.1.0).
func (s *session) isHeadless() bool {
	return s.state.known && s.state.LastPrompt == "" && s.state.Title == "" && s.mode == "auto" && s.turn.state != noTurn
}

// mayGoOn reports whether a process has or may have a session. One that was opened without a prompt is of no process yet, and goes on in its own folder.
func (d *discovery) mayGoOn(s *session) bool {
	return s.owner != nil || s.doubt != "" || slices.ContainsFunc(d.processes, func(p *process) bool {
		return p.Uses(s.home) && (s.changed.IsZero() || p.Precedes(s.changed)) && (p.Hosts || p.isIn(filepath.Dir(s.dir)))
	})
}

// watchPaths returns the folders in which sessions are written.
func (d *discovery) watchPaths() []string {
	watch := d.Watched()
	for _, dir := range d.workspace {
		if slices.ContainsFunc(d.processes, func(p *process) bool { return p.Hosts || p.isIn(dir) }) {
			watch = kit.AppendNew(watch, dir)
		}
	}
	for _, s := range d.folders {
		if !d.mayGoOn(s) {
			continue
		}
		watch = kit.AppendNew(watch, s.dir, filepath.Join(s.dir, "agents"), filepath.Join(s.dir, "agents", mainAgent))
		for _, a := range s.agents {
			watch = kit.AppendNew(watch, filepath.Dir(a.Path))
		}
	}
	return watch
}
