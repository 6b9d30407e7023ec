package qwen

import (
	"cmp"
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/pane"
	"rollcall/proc"
)

// discovery holds the state of one call of Discover.
type discovery struct {
	*Adapter
	ctx    context.Context
	query  adapters.Query
	now    time.Time
	answer *kit.Answer

	processes []*process
	roots     kit.Roots
	files     []*file
	sessions  []*session // main ones
	subs      []*session
	hidden    bool // something that a live process may have was not read
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
	d := &discovery{Adapter: a, ctx: ctx, query: q, now: a.Now(), answer: kit.NewAnswer()}
	d.roots = kit.Roots{Answer: d.answer, Store: "projects"}
	own, _ := homesOf(a.Env, a.Home)
	for _, p := range program.Find(ctx, &d.roots, a.Base, own, d.now) {
		d.processes = append(d.processes, d.inspect(p))
	}
	return d
}

// list lists the files of all homes.
func (d *discovery) list() {
	for _, home := range d.roots.Paths {
		all := d.answer.Folders(d.ctx, filepath.Join(home, "projects"), func(ctx context.Context, name string) { d.listFolder(ctx, home, name) })
		d.hidden = d.hidden || !all
	}
}

// listFolder lists the chats of one working folder, and those of their sub-agents.
func (d *discovery) listFolder(ctx context.Context, home, folder string) {
	dir := filepath.Join(home, "projects", folder)
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
		chat, ok, hidden := d.answer.Stat(f.Home, filepath.Join(dir, e.Name()))
		d.hidden = d.hidden || hidden
		if ok {
			d.files = append(d.files, &file{Chat: chat, folder: f.folder, id: f.id, parent: f.parent, inTerminal: beside[name]})
		}
	}
}

// entries lists a folder.
func (d *discovery) entries(ctx context.Context, dir string) []fs.DirEntry {
	list, err := agentfile.Entries(ctx, dir)
	d.hidden = d.answer.Failed(dir, err) || d.hidden
	return list
}

// read reads the files that the query asks for, and all that a live process may have.
func (d *discovery) read() {
	d.files = slices.DeleteFunc(d.files, func(f *file) bool { return !d.wants(f) })
	kit.ReadAll(d.ctx, d.answer, d.transcripts, d.query, d.files, func(f *file, read facts) bool {
		d.answer.SkipAll(read.skipped)
		if !read.known && read.longLine == "" {
			return false
		}
		d.answer.CountVersion(read.version)
		list := &d.sessions
		if f.parent != "" {
			list = &d.subs
		}
		*list = append(*list, &session{file: f, facts: read})
		return true
	}, func(*file) { d.hidden = true })
}

// wants reports whether a file has to be read: the query asks for it, or a live process may have it, because the process or what it shows
// names the session, or it was written in the folder of the process since.
func (d *discovery) wants(f *file) bool {
	live := slices.ContainsFunc(d.processes, func(p *process) bool {
		return p.Uses(f.Home) && (slices.ContainsFunc(p.named(), func(c claim) bool { return c.session == cmp.Or(f.parent, f.id) }) || f.folder == p.folder && !f.Info.ModTime().Before(p.Started.Add(-kit.StartSlack)))
	})
	if live || len(d.query.IDs) == 0 {
		return live || d.query.Since.IsZero() || !f.Info.ModTime().Before(d.query.Since)
	}
	return slices.Contains(d.query.IDs, f.id) || f.parent != "" && slices.Contains(d.query.IDs, f.parent)
}

// watchPaths returns the folders in which sessions and entries of the registry are written.
func (d *discovery) watchPaths() []string {
	var watch []string
	for _, home := range d.roots.Paths {
		watch = kit.AppendNew(watch, filepath.Dir(home), home, filepath.Join(home, "projects"), filepath.Join(home, "sessions"))
	}
	for _, p := range d.processes {
		watch = kit.AppendNew(watch, p.registry...)
		for _, home := range d.roots.Paths {
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
