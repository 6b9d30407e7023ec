package qwen

import (
	"cmp"
	"context"
	"errors"
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

const (
	folderName   = ".qwen"
	homeVariable = "QWEN_HOME"
)

// discovery holds the state of one call of Discover.
type discovery struct {
	adapter *Adapter
	ctx     context.Context
	query   adapters.Query
	now     time.Time
	answer  *kit.Answer

	processes []*process
	noTable   bool // the process table could not be read
	roots     kit.Roots
	folders   []string // with chats
	files     []*file
	sessions  []*session // main ones
	subs      []*session
	late      int // files that were not read in time
	lateIn    string
	hidden    bool // something that a live process may have was not read
}

// file is a session's file as the folder shows it.
type file struct {
	path   string
	home   string
	folder string // the name of its project's folder
	id     string // in its name
	parent string // the session whose sub-agent it is
	info   fs.FileInfo
}

// session is one conversation.
type session struct {
	facts
	*file
	owner  *process
	how    string // how that is known
	doubt  string // why it is not known whether a process has it
	parent *session
	meta   meta
	spent  *kit.Account
}

// findHomes finds the folders to look in, and drops the processes that use other ones.
func (d *discovery) findHomes() {
	var used []string
	for _, p := range d.processes {
		if p.home, p.known = d.roots.OfProcess(p.home); p.known {
			used = append(used, p.home)
		}
	}
	d.roots.Find(d.adapter.Base, cmp.Or(d.adapter.Env(homeVariable), filepath.Join(d.adapter.Home, folderName)), used, d.now)
	d.processes = slices.DeleteFunc(d.processes, func(p *process) bool { return p.known && !slices.Contains(d.roots.Paths, p.home) })
}

// absent reports whether nothing shows that the agent is installed.
func (d *discovery) absent() bool { return len(d.processes) == 0 && !d.noTable && d.roots.Absent() }

func (d *discovery) listAll() {
	for _, home := range d.roots.Paths {
		d.list(home)
	}
}

// list lists the files of one home.
func (d *discovery) list(home string) {
	ctx, cancel := kit.Part(d.ctx, 2)
	defer cancel()
	root := filepath.Join(home, "projects")
	entries, err := agentfile.Entries(ctx, root)
	d.failed(root, err)
	unlisted := 0
	for _, e := range entries {
		switch {
		case !e.IsDir() && e.Type()&fs.ModeSymlink == 0:
		case agentfile.Ended(ctx) != nil:
			unlisted++
		default:
			d.listFolder(ctx, home, e.Name())
		}
	}
	d.answer.Problem(kit.NotListed(root, unlisted, len(entries)))
	d.hidden = d.hidden || unlisted > 0
}

// listFolder lists the chats of one working folder, and those of their sub-agents.
func (d *discovery) listFolder(ctx context.Context, home, folder string) {
	dir := filepath.Join(home, "projects", folder)
	chats := filepath.Join(dir, "chats")
	entries, err := agentfile.Entries(ctx, chats)
	d.failed(chats, err)
	d.folders = append(d.folders, chats)
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".jsonl"); ok && kit.Is(id) {
			d.stat(&file{path: filepath.Join(chats, e.Name()), home: home, folder: folder, id: id})
		}
	}
	parents, err := agentfile.Entries(ctx, filepath.Join(dir, "subagents"))
	d.failed(filepath.Join(dir, "subagents"), err)
	for _, parent := range parents {
		if !kit.Is(parent.Name()) {
			continue
		}
		below := filepath.Join(dir, "subagents", parent.Name())
		agents, err := agentfile.Entries(ctx, below)
		d.failed(below, err)
		for _, e := range agents {
			name, isChat := strings.CutSuffix(e.Name(), ".jsonl")
			if id, ok := strings.CutPrefix(name, "agent-"); ok && isChat {
				d.stat(&file{path: filepath.Join(below, e.Name()), home: home, folder: folder, id: id, parent: parent.Name()})
			}
		}
	}
}

// failed notes that something could not be read. What is gone, or no folder, hides nothing.
func (d *discovery) failed(path string, err error) {
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, agentfile.ErrNotRegular) {
		return
	}
	if info, cause := os.Stat(path); cause == nil && filepath.Ext(path) == "" && !info.IsDir() {
		return // a file in the place of a folder
	}
	d.answer.Problem(adapters.AsProblem(path, err))
	d.hidden = true
}

func (d *discovery) stat(f *file) {
	var err error
	f.info, err = os.Stat(f.path)
	switch {
	case err != nil:
		d.failed(f.path, err)
	case !f.info.Mode().IsRegular():
		d.answer.Skip("no regular file", 1)
	default:
		d.files = append(d.files, f)
	}
}

// read reads the files that the query asks for, and all that a live process may have.
func (d *discovery) read() {
	slices.SortFunc(d.files, func(a, b *file) int {
		return cmp.Or(b.info.ModTime().Compare(a.info.ModTime()), strings.Compare(b.path, a.path))
	})
	d.files = slices.DeleteFunc(d.files, func(f *file) bool { return !d.wants(f) })
	ctx, cancel := kit.ReadingTime(d.ctx, len(d.files))
	defer cancel()
	read := make([]*session, len(d.files))
	errs := make([]error, len(d.files))
	agentfile.Parallel(len(d.files), func(i int) {
		s := &session{file: d.files[i]}
		if s.facts, errs[i] = d.adapter.transcripts.Read(ctx, s.path, s.info, d.query.Once); s.file.parent != "" && errs[i] == nil {
			s.meta = readMeta(strings.TrimSuffix(s.path, ".jsonl") + ".meta.json")
		}
		read[i] = s
	})
	recognised, strange := 0, ""
	for i, s := range read {
		switch err := errs[i]; {
		case adapters.IsOutOfTime(err):
			d.late, d.lateIn, d.hidden = d.late+1, s.home, true
		case err != nil:
			d.failed(s.path, err)
			d.answer.LeaveOut(kit.NotReadable, 1)
		case s.facts.id == "" && s.longLine == "":
			if s.info.Size() > 0 {
				d.answer.SkipAll(s.skipped)
				d.answer.LeaveOut(kit.NotRecognised, 1)
				strange, d.hidden = s.path, true
			}
		default:
			recognised++
			d.answer.SkipAll(s.skipped)
			d.answer.CountVersion(s.version)
			if s.file.parent != "" {
				d.subs = append(d.subs, s)
			} else {
				d.sessions = append(d.sessions, s)
			}
		}
	}
	if strange != "" && recognised == 0 && len(d.query.IDs) == 0 {
		d.answer.Problem(adapters.Unrecognised(strange, "it does not begin as a session does"))
	}
}

// wants reports whether a file has to be read: the query asks for it, or a live process may have it.
func (d *discovery) wants(f *file) bool {
	if d.mayBeLive(f) {
		return true
	}
	if len(d.query.IDs) > 0 {
		return slices.Contains(d.query.IDs, f.id) || f.parent != "" && slices.Contains(d.query.IDs, f.parent)
	}
	return d.query.Since.IsZero() || !f.info.ModTime().Before(d.query.Since)
}

// mayBeLive reports whether a live process can have a file: it or what it shows names the session, or it was written in the folder of the process since.
func (d *discovery) mayBeLive(f *file) bool {
	return slices.ContainsFunc(d.processes, func(p *process) bool {
		if p.known && p.home != f.home {
			return false
		}
		return p.names(cmp.Or(f.parent, f.id)) || f.folder == slug(p.cwd) && !f.info.ModTime().Before(p.Started.Add(-slack))
	})
}

// slug returns the name of the folder in which the sessions of a working folder are (0.15.6, 0.24.4).
func slug(cwd string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, cwd)
}

func (d *discovery) watchPaths() []string {
	var watch []string
	for _, home := range d.roots.Paths {
		watch = kit.AppendNew(watch, filepath.Dir(home), home, filepath.Join(home, "projects"), filepath.Join(home, "sessions"))
	}
	for _, dir := range d.folders {
		name := filepath.Base(filepath.Dir(dir))
		if slices.ContainsFunc(d.processes, func(p *process) bool { return slug(p.cwd) == name }) {
			watch = kit.AppendNew(watch, filepath.Dir(dir), dir)
		}
	}
	for _, s := range d.subs {
		if s.parent != nil && s.parent.owner != nil {
			watch = kit.AppendNew(watch, filepath.Dir(s.path))
		}
	}
	return watch
}
