package gemini

import (
	"cmp"
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
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
	logs sync.Mutex // guards the logs of projects

	processes []*process
	projects  []*project
	files     []*file
	sessions  []*session // main ones
	byID      map[string]*session
	subs      []*session
}

// process is a live process of Gemini CLI.
type process struct {
	*skeleton.Process
	session  *session
	sessions int       // that it has
	since    time.Time // it began, or its user left its session
	left     bool      // its user left its session for another one
	chooses  bool      // which can be an old one
	logID    string    // the session under which what is typed in it is logged
}

// project is the folder of one working folder, tmp/<slug>.
type project struct {
	dir, home string
	cwd       string   // empty: not known
	newest    kit.Chat // the one that was written last
	logged    []logged
	logLost   bool // what was typed is not known
	hidden    bool // something in it could not be read
}

// file is a session's file as the folder shows it.
type file struct {
	kit.Chat
	project *project
	label   string // the id in its name: the first 8 characters, or all of a sub-agent's
	parent  string // the session whose sub-agent it is
}

// session is one conversation. 0.61.0 can have two files of one.
type session struct {
	facts
	*file
	ledgers []*kit.Ledger // of all its files
	unsure  bool          // the ledgers lack answers
	resumes bool          // Gemini CLI resumes one of its files, or that is not known
	owner   *process
	how     string // how that is known
	doubt   string // why it is not known whether a process has it
	parent  *session
	spent   *kit.Account
	paths   []string
}

var sessionName = regexp.MustCompile(`^session-\d{4}-\d\d-\d\dT\d\d-\d\d-(.{1,64})\.jsonl?$`)

// begin starts a question: it reads the processes, and finds the homes.
func (a *Adapter) begin(ctx context.Context, q adapters.Query) *discovery {
	d := &discovery{Adapter: a, Look: skeleton.Begin(ctx, a.Base, q, "tmp"), byID: map[string]*session{}}
	for _, p := range finder.Find(d.Look) {
		d.processes = append(d.processes, &process{Process: p})
	}
	return d
}

// list lists the files of all homes.
func (d *discovery) list() {
	registered := map[string]string{} // by the folder of the project
	for _, home := range d.Homes.Paths {
		data, _, _ := agentfile.ReadSmall(filepath.Join(home, "projects.json"), 4<<20) // what can't be read says nothing
		_ = agentfile.Top(agentfile.Get(data, "projects"), func(cwd, name []byte) bool {
			registered[filepath.Join(home, "tmp", kit.Short(name))] = string(cwd)
			return true
		})
	}
	d.Stores(func(ctx context.Context, home, dir string) {
		p := &project{dir: dir, home: home, cwd: registered[dir]}
		d.projects = append(d.projects, p)
		d.findCWD(p)
		d.listChats(ctx, p, filepath.Join(dir, "chats"), "")
	})
}

// listChats lists the files in a folder of chats, or in the one of a session's sub-agents.
func (d *discovery) listChats(ctx context.Context, p *project, dir, parent string) {
	entries, err := agentfile.Entries(ctx, dir)
	p.hidden = d.Report.Failed(dir, err) || p.hidden
	for _, e := range entries {
		f := &file{Chat: kit.Chat{Path: filepath.Join(dir, e.Name())}, project: p, parent: parent}
		switch m := sessionName.FindStringSubmatch(e.Name()); {
		case parent != "":
			f.label = subLabel(e.Name())
		case m != nil:
			f.label = m[1]
		case e.IsDir():
			d.listChats(ctx, p, f.Path, e.Name())
		}
		if f.label == "" {
			continue
		}
		chat, ok, hidden := d.Report.Stat(p.home, f.Path)
		p.hidden = p.hidden || hidden
		if ok {
			f.Chat = chat
			d.files = append(d.files, f)
			if newest := p.newest.Info; parent == "" && (newest == nil || chat.Info.ModTime().After(newest.ModTime())) {
				p.newest = chat
			}
		}
	}
}

// subLabel returns the id in the name of a sub-agent's file, which is a line for each record or, in versions of March and April 2026, one object; empty for
// another file.
func subLabel(name string) string {
	label, ok := strings.CutSuffix(name, ".jsonl")
	if !ok {
		label, ok = strings.CutSuffix(name, ".json")
	}
	if !ok {
		return ""
	}
	return label
}

// findCWD finds the working folder of a project, which a file in it names, and projects.json. It is not known if they differ.
func (d *discovery) findCWD(p *project) {
	path := filepath.Join(p.dir, ".project_root")
	data, _, err := agentfile.ReadSmall(path, 32<<10)
	p.hidden = d.Report.Failed(path, err) || p.hidden
	cwd := strings.TrimRight(string(data), "\r\n")
	if cwd != "" && p.cwd != "" && cwd != p.cwd {
		d.Report.Skip("working folder named in two ways", 1)
		p.cwd, p.hidden = "", true
		return
	}
	p.cwd = cmp.Or(cwd, p.cwd)
}

// read reads the files that the query asks for, and all that a live process may have.
func (d *discovery) read() {
	d.files = slices.DeleteFunc(d.files, func(f *file) bool { return !d.wants(f) })
	skeleton.Read(d.Look, d.transcripts, d.files, func(f *file, read facts) bool {
		if read.known {
			s := &session{file: f, facts: read, paths: []string{f.Path}, unsure: read.lost != "", resumes: read.lost != "" || read.id != "" && read.kept != ""}
			s.ledgers = []*kit.Ledger{&s.ledger}
			d.take(s)
		}
		return read.known
	}, func(f *file) {
		// What belongs to no session, such as the files of the service that extracts skills (chats/skill-extraction-XXXXXXXX), no process has.
		f.project.hidden = f.project.hidden || f.parent == "" || kit.Is(f.parent)
	})
}

// wants reports whether a file has to be read: the query asks for it, or a live process can have it, because it was written since the process
// began, or the process names it.
func (d *discovery) wants(f *file) bool {
	live := slices.ContainsFunc(d.processes, func(p *process) bool {
		if !p.Precedes(f.Info.ModTime()) {
			return p.mayUse(f.project) && p.Named != "" && strings.HasPrefix(p.Named, f.label)
		}
		return p.mayUse(f.project) || p.Uses(f.project.home) && p.CanHaveLeft(f.project.cwd)
	})
	if live || len(d.Query.IDs) == 0 {
		return live || d.IsRecent(f.Info.ModTime())
	}
	return slices.ContainsFunc(d.Query.IDs, func(id string) bool {
		return strings.HasPrefix(id, f.label) || f.parent != "" && id == f.parent
	})
}

// mayUse reports whether a process keeps its sessions in a project. One that hosts is given the folders of its sessions.
func (p *process) mayUse(in *project) bool {
	return p.Uses(in.home) && (in.cwd == "" || p.At(in.cwd) || p.Hosts)
}

// take adds a session that was read. Several files of one session are one: that with the newest record counts.
func (d *discovery) take(s *session) {
	if s.file.parent != "" {
		d.subs = append(d.subs, s)
		return
	}
	s.id = cmp.Or(s.id, d.idOf(s.file))
	if s.id == "" {
		d.Report.Skip("file without a session header", 1)
		return
	}
	key := s.project.home + "\x00" + s.id
	o := d.byID[key]
	if o == nil {
		d.byID[key] = s
		d.sessions = append(d.sessions, s)
		return
	}
	if s.messages && !o.messages || s.messages == o.messages && s.last.After(o.last) {
		*o, *s = *s, *o
	}
	o.ledgers, o.unsure = slices.Concat(o.ledgers, s.ledgers), o.unsure || s.unsure
	o.resumes = o.resumes || s.resumes
	o.opened = slices.Concat(o.opened, s.opened)
	if !s.at.IsZero() && (o.at.IsZero() || s.at.Before(o.at)) {
		o.at, o.FirstPrompt = s.at, cmp.Or(s.FirstPrompt, o.FirstPrompt)
	}
	o.FirstPrompt, o.paths = cmp.Or(o.FirstPrompt, s.FirstPrompt), append(o.paths, s.Path)
}

// idOf returns the id of a session whose file has lost its header, as 0.61.0 leaves one after it removed the session's first
// files: the name has its first 8 characters, and the prompts of its terminal or its command line have all of it.
func (d *discovery) idOf(f *file) string {
	for _, p := range d.processes {
		if p.Named != "" && strings.HasPrefix(p.Named, f.label) && p.mayUse(f.project) {
			return p.Named
		}
	}
	for _, l := range d.log(f.project) {
		if strings.HasPrefix(l.session, f.label) {
			return l.session
		}
	}
	return ""
}

// watchPaths returns the folders in which sessions and prompts are written.
func (d *discovery) watchPaths() []string {
	watch := d.Watched()
	for _, p := range d.projects {
		isRecent := func(one *process) bool { return p.newest.Info != nil && !p.newest.Info.ModTime().Before(one.Started) }
		if slices.ContainsFunc(d.processes, func(one *process) bool { return one.mayUse(p) && (!one.Hosts || one.At(p.cwd) || isRecent(one)) }) {
			watch = kit.AppendNew(watch, p.dir, filepath.Join(p.dir, "chats"))
		}
	}
	for _, s := range d.subs {
		if s.owner != nil {
			watch = kit.AppendNew(watch, filepath.Dir(s.Path))
		}
	}
	return watch
}
