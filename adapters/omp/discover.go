package omp

import (
	"cmp"
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/pane"
	"rollcall/adapters/internal/skeleton"
	"rollcall/proc"
)

// discovery holds the state of one call of Discover.
type discovery struct {
	*Adapter
	*skeleton.Look
	processes []*process
	files     []*file
	sessions  []*session // main ones
	subs      []*session
	titles    map[proc.Identity]pane.Title
}

// file is a session's file as the folder shows it.
type file struct {
	kit.Chat
	parent string // the file of the session whose sub-agent it is
}

// session is one conversation.
type session struct {
	facts
	*file
	owner *process
	how   string   // how that is known
	doubt string   // why it is not known whether a process has it
	above *session // whose sub-agent it is
	spent *kit.Account
}

// begin starts a question: it reads the processes, and finds the homes: the folders that have the sessions.
func (a *Adapter) begin(ctx context.Context, q adapters.Query) *discovery {
	d := &discovery{Adapter: a, Look: skeleton.Begin(ctx, a.Base, q, "sessions")}
	var more []string
	profiles := filepath.Join(a.Home, ".omp", "profiles")
	if a.Home != "" && d.Homes.Answers(profiles) {
		entries, _ := agentfile.Entries(ctx, profiles) // without profiles there is no folder
		for _, e := range entries {
			more = append(more, filepath.Join(profiles, e.Name(), "agent"))
		}
	}
	for _, p := range finder.Find(d.Look, more...) {
		d.processes = append(d.processes, d.inspect(p))
	}
	return d
}

// list lists the files of all homes, and those that are named elsewhere: by the file of a terminal, or because a process was started with --session-dir or
// --session (18.2.3).
func (d *discovery) list() {
	d.Stores(func(ctx context.Context, home, dir string) { d.listFolder(ctx, home, dir, "", 0) })
	for _, p := range d.processes {
		d.addElsewhere(p.Home, p.names)
	}
	own, state := placesOf(d.Env, d.Home, "")
	folder := filepath.Join(state, "custom-session-files")
	if !d.Homes.Answers(folder) {
		return
	}
	entries, err := agentfile.Entries(d.Ctx, folder)
	d.Report.Failed(folder, err)
	for _, e := range entries {
		path, _, _ := agentfile.ReadSmall(filepath.Join(folder, e.Name()), maxSmall) // what can't be read names nothing
		d.addElsewhere(own, strings.TrimSpace(string(path)))
	}
}

// addElsewhere adds a session's file that something names, unless it is known.
func (d *discovery) addElsewhere(home, path string) {
	known := slices.ContainsFunc(d.files, func(f *file) bool { return filepath.Base(f.Path) == filepath.Base(path) })
	if !known && filepath.IsAbs(path) && strings.HasSuffix(path, ".jsonl") && d.Homes.Answers(path) {
		d.addFile(home, agentproc.RealPath(path), "")
	}
}

// addFile adds a session's file, if there is one.
func (d *discovery) addFile(home, path, parent string) {
	chat, ok, hidden := d.Report.Stat(home, path)
	d.Hidden = d.Hidden || hidden
	if ok {
		d.files = append(d.files, &file{Chat: chat, parent: parent})
	}
}

// maxDepth is how deep the folders of sub-agents are nested.
const maxDepth = 8

// listFolder lists the sessions in a folder. Those of the sub-agents of one are in a folder with its name, also those of its sub-agents (18.2.3). parent is the
// file of the session to which they all belong.
func (d *discovery) listFolder(ctx context.Context, home, dir, parent string, depth int) {
	entries, err := agentfile.Entries(ctx, dir)
	d.Hidden = d.Report.Failed(dir, err) || d.Hidden
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		isAgents := e.IsDir() && depth < maxDepth && slices.ContainsFunc(entries, func(o fs.DirEntry) bool { return o.Name() == e.Name()+".jsonl" })
		switch {
		case isAgents:
			d.listFolder(ctx, home, path, cmp.Or(parent, path+".jsonl"), depth+1)
		case strings.HasSuffix(e.Name(), ".jsonl"):
			d.addFile(home, path, parent)
		}
	}
}

// read reads the files that the query asks for, and all that a live process may have.
func (d *discovery) read() {
	d.files = slices.DeleteFunc(d.files, func(f *file) bool { return !d.wants(f) })
	skeleton.Read(d.Look, d.transcripts, d.files, func(f *file, read facts) bool {
		if !read.known {
			return false
		}
		list := &d.sessions
		if f.parent != "" {
			list = &d.subs
		}
		*list = append(*list, &session{file: f, facts: read})
		return true
	}, func(*file) { d.Hidden = true })
}

// wants reports whether a file has to be read: the query asks for it, or a live process may have it, because the process names the session, or it was
// written since the process started.
func (d *discovery) wants(f *file) bool {
	live := slices.ContainsFunc(d.processes, func(p *process) bool {
		return p.Uses(f.Home) && (p.claims(f) || p.Precedes(f.Info.ModTime()))
	})
	if live || len(d.Query.IDs) == 0 {
		return live || d.IsRecent(f.Info.ModTime())
	}
	return slices.ContainsFunc(d.Query.IDs, func(id string) bool { return strings.Contains(f.Path, id) })
}

// watchPaths returns the folders in which sessions, and the files of terminals, are written.
func (d *discovery) watchPaths() []string {
	watch := d.Watched()
	for _, p := range d.processes {
		watch = kit.AppendNew(watch, filepath.Join(p.state, "terminal-sessions"))
		if p.names != "" {
			watch = kit.AppendNew(watch, filepath.Dir(p.names))
		}
		for _, s := range p.sessions {
			watch = kit.AppendNew(watch, filepath.Dir(s.Path), strings.TrimSuffix(s.Path, ".jsonl"))
		}
	}
	return watch
}
