package qwen

import (
	"cmp"
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
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
	folder string // the name of its project's folder
	id     string // in its name

	inTerminal bool   // or over the Agent Client Protocol: a run for one prompt writes no runtime.json (0.24.4)
	parent     string // the session whose sub-agent it is
}

// session is one conversation.
type session struct {
	facts
	*file
	owner   *process
	how     string   // how that is known
	doubt   string   // why it is not known whether a process has it
	above   *session // whose sub-agent it is
	running bool     // of a sub-agent: the file beside it says so
	status  []byte   // what its server says of it; nil: not known
	spent   *kit.Account
}

// begin starts a question: it reads the processes, and finds the homes.
func (a *Adapter) begin(ctx context.Context, q adapters.Query) *discovery {
	d := &discovery{Adapter: a, Look: skeleton.Begin(ctx, a.Base, q, "projects")}
	for _, p := range finder.Find(d.Look) {
		d.processes = append(d.processes, d.inspect(p))
	}
	return d
}

// list lists the files of all homes.
func (d *discovery) list() { d.Stores(d.listFolder) }

// listFolder lists the chats of one working folder, and those of their sub-agents.
func (d *discovery) listFolder(ctx context.Context, home, dir string) {
	folder := filepath.Base(dir)
	d.listChats(ctx, filepath.Join(dir, "chats"), file{Chat: kit.Chat{Home: home}, folder: folder})
	agents := filepath.Join(dir, "subagents")
	for _, e := range d.entries(ctx, agents) {
		if kit.Is(e.Name()) {
			d.listChats(ctx, filepath.Join(agents, e.Name()), file{Chat: kit.Chat{Home: home}, folder: folder, parent: e.Name()})
		}
	}
}

// listChats lists the files of sessions in a folder, with what they have in common.
func (d *discovery) listChats(ctx context.Context, dir string, f file) {
	entries := d.entries(ctx, dir)
	beside := map[string]bool{}
	for _, e := range entries {
		name, is := strings.CutSuffix(e.Name(), ".runtime.json")
		beside[name] = is
	}
	for _, e := range entries {
		name, isChat := strings.CutSuffix(e.Name(), ".jsonl")
		f.id = strings.TrimPrefix(name, "agent-")
		if !isChat || f.parent == "" && !kit.Is(name) {
			continue
		}
		chat, ok, hidden := d.Report.Stat(f.Home, filepath.Join(dir, e.Name()))
		d.Hidden = d.Hidden || hidden
		if ok {
			d.files = append(d.files, &file{Chat: chat, folder: f.folder, id: f.id, parent: f.parent, inTerminal: beside[name]})
		}
	}
}

// entries lists a folder.
func (d *discovery) entries(ctx context.Context, dir string) []fs.DirEntry {
	list, err := agentfile.Entries(ctx, dir)
	d.Hidden = d.Report.Failed(dir, err) || d.Hidden
	return list
}

// read reads the files that the query asks for, and all that a live process may have.
func (d *discovery) read() {
	d.files = slices.DeleteFunc(d.files, func(f *file) bool { return !d.wants(f) })
	skeleton.Read(d.Look, d.transcripts, d.files, func(f *file, read facts) bool {
		if !read.known && read.longLine == "" {
			return false
		}
		d.Report.CountVersion(read.version)
		list := &d.sessions
		if f.parent != "" {
			list = &d.subs
		}
		*list = append(*list, &session{file: f, facts: read})
		return true
	}, func(*file) { d.Hidden = true })
}

// wants reports whether a file has to be read: the query asks for it, or a live process may have it, because the process or what it shows
// names the session, or it was written in the folder of the process since.
func (d *discovery) wants(f *file) bool {
	live := slices.ContainsFunc(d.processes, func(p *process) bool {
		return p.Uses(f.Home) && (slices.ContainsFunc(p.named(), func(c claim) bool { return c.session == cmp.Or(f.parent, f.id) }) || f.folder == p.folder && p.Precedes(f.Info.ModTime()))
	})
	if live || len(d.Query.IDs) == 0 {
		return live || d.IsRecent(f.Info.ModTime())
	}
	return slices.Contains(d.Query.IDs, f.id) || f.parent != "" && slices.Contains(d.Query.IDs, f.parent)
}

// watchPaths returns the folders in which sessions and entries of the registry are written.
func (d *discovery) watchPaths() []string {
	watch := d.Watched()
	for _, home := range d.Homes.Paths {
		watch = kit.AppendNew(watch, filepath.Join(home, "sessions"))
	}
	for _, p := range d.processes {
		watch = kit.AppendNew(watch, p.registry...)
		for _, home := range d.Homes.Paths {
			watch = kit.AppendNew(watch, filepath.Join(home, "projects", p.folder), filepath.Join(home, "projects", p.folder, "chats"))
		}
	}
	for _, s := range d.subs {
		if s.above != nil && s.above.owner != nil {
			watch = kit.AppendNew(watch, filepath.Dir(s.Path))
		}
	}
	return watch
}
