package gemini

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/bounded"
)

const (
	folderName   = ".gemini"
	homeVariable = "GEMINI_CLI_HOME"
)

// discovery holds the state of one call of Discover.
type discovery struct {
	adapter *Adapter
	ctx     context.Context
	query   adapters.Query
	now     time.Time
	answer  *kit.Answer
	logs    sync.Mutex // guards the logs of projects

	processes    []*process
	noTable      bool // the process table could not be read
	homes        []string
	unresponsive []string // homes whose file systems do not answer
	projects     []*project
	slugs        map[string]map[string]string // by home and name of a project
	files        []*file
	sessions     []*session // main ones
	byID         map[string]*session
	subs         []*session
	late         int // files that were not read in time
	lateIn       string
	partial      bool // files that a live process may have were not read
}

// project is the folder of one working folder, tmp/<slug>, or before slugs tmp/<SHA-256 of the working folder>.
type project struct {
	dir, home string
	cwd       string // empty: not known
	logged    []logged
	logLost   bool // what was typed is not known
	hidden    bool // something in it could not be read
}

// file is a session's file as the folder shows it.
type file struct {
	path    string
	project *project
	label   string // the id in its name: the first 8 characters, or all of a sub-agent's
	parent  string // the session whose sub-agent it is
	info    fs.FileInfo
}

// session is one conversation. 0.61.0 can have two files of one.
type session struct {
	facts
	*file
	more   []*session // the other files of it
	owner  *process
	how    string // how that is known
	doubt  string // why it is not known whether a process has it
	maybe  []*process
	parent *session
	spent  *kit.Account
	paths  []string
}

var sessionName = regexp.MustCompile(`^session-(\d{4}-\d\d-\d\dT\d\d-\d\d)-(.{1,64})\.jsonl?$`)

// findHomes finds the folders to look in: the user's own, those that the user named, and those of live processes.
func (d *discovery) findHomes() {
	d.addHome(filepath.Join(cmp.Or(d.adapter.env(homeVariable), d.adapter.home), folderName))
	for _, dir := range d.adapter.named() {
		d.addHome(dir)
	}
	var used []string
	for _, p := range d.processes {
		if p.find() {
			d.answers(p.home)
		} else if p.known && !slices.Contains(d.homes, p.home) {
			used = append(used, p.home)
		}
	}
	for _, dir := range d.adapter.homes.Use(used, d.now) {
		if !d.answers(dir) {
			continue
		}
		if info, err := os.Stat(dir); err == nil && info.IsDir() && (agentfile.OwnedByUser(info) || os.Geteuid() == 0) {
			d.addHome(dir)
		}
	}
	d.adapter.current.Set(d.homes)
	d.processes = slices.DeleteFunc(d.processes, func(p *process) bool { // those that use other homes
		return p.known && !slices.Contains(d.homes, p.home) && !slices.Contains(d.unresponsive, p.home)
	})
}

func (d *discovery) answers(path string) bool {
	if bounded.Answers(path) {
		return true
	}
	if !slices.Contains(d.unresponsive, path) {
		d.answer.Problem(adapters.Unresponsive(path))
		d.unresponsive = append(d.unresponsive, path)
	}
	return false
}

func (d *discovery) addHome(path string) {
	d.answer.LookedIn(filepath.Join(path, "tmp"))
	if d.answers(path) {
		d.homes = kit.AppendNew(d.homes, agentproc.RealPath(path))
	}
}

// absent reports whether nothing shows that the agent is installed.
func (d *discovery) absent() bool {
	if len(d.processes) > 0 || len(d.unresponsive) > 0 || d.noTable {
		return false
	}
	return !slices.ContainsFunc(d.homes, func(home string) bool {
		_, err := os.Stat(home)
		return !errors.Is(err, fs.ErrNotExist)
	})
}

// list lists the files of one home.
func (d *discovery) list(home string) {
	ctx, cancel := kit.Part(d.ctx, 2)
	defer cancel()
	d.readSlugs(home)
	root := filepath.Join(home, "tmp")
	entries, err := agentfile.Entries(ctx, root)
	d.failed(nil, root, err)
	unlisted := 0
	for _, e := range entries {
		if !e.IsDir() && e.Type()&fs.ModeSymlink == 0 {
			continue
		}
		p := &project{dir: filepath.Join(root, e.Name()), home: home}
		if agentfile.Ended(ctx) != nil {
			unlisted++
			continue
		}
		d.listProject(ctx, p)
	}
	d.answer.Problem(kit.NotListed(root, unlisted, len(entries)))
	d.partial = d.partial || unlisted > 0
}

// failed notes that something could not be read; p may be nil.
func (d *discovery) failed(p *project, path string, err error) {
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, agentfile.ErrNotRegular) {
		return
	}
	if info, cause := os.Stat(path); p != nil && cause == nil && filepath.Ext(path) == "" && !info.IsDir() {
		return // a file in the place of a folder
	}
	d.answer.Problem(adapters.AsProblem(path, err))
	if d.partial = d.partial || p == nil; p != nil {
		p.hidden = true
	}
}

// listProject lists the chats of one working folder, and those of their sub-agents.
func (d *discovery) listProject(ctx context.Context, p *project) {
	chats := filepath.Join(p.dir, "chats")
	entries, err := agentfile.Entries(ctx, chats)
	d.failed(p, chats, err)
	p.cwd = d.cwdOf(p)
	d.projects = append(d.projects, p)
	for _, e := range entries {
		name := e.Name()
		switch m := sessionName.FindStringSubmatch(name); {
		case m != nil:
			d.stat(&file{path: filepath.Join(chats, name), project: p, label: m[2]})
		case e.IsDir() && kit.Is(name):
			d.listSubs(ctx, p, filepath.Join(chats, name), name)
		}
	}
}

func (d *discovery) listSubs(ctx context.Context, p *project, dir, parent string) {
	entries, err := agentfile.Entries(ctx, dir)
	d.failed(p, dir, err)
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".jsonl"); ok {
			d.stat(&file{path: filepath.Join(dir, e.Name()), project: p, label: id, parent: parent})
		}
	}
}

func (d *discovery) stat(f *file) {
	var err error
	f.info, err = os.Stat(f.path)
	switch {
	case err != nil:
		d.failed(f.project, f.path, err)
	case !f.info.Mode().IsRegular():
		d.answer.Skip("no regular file", 1)
	default:
		d.files = append(d.files, f)
	}
}

// cwdOf returns the working folder of a project, which a file in it names, and projects.json (0.61.0). Before slugs, its name is the hash of
// the working folder. It is empty if the two files differ.
func (d *discovery) cwdOf(p *project) string {
	name, path := filepath.Base(p.dir), filepath.Join(p.dir, ".project_root")
	data, _, err := agentfile.ReadSmall(path, 32<<10)
	d.failed(p, path, err)
	cwd, registered := strings.TrimRight(string(data), "\r\n"), d.slugs[p.home][name]
	switch {
	case cwd != "" && registered != "" && cwd != registered:
		d.answer.Skip("working folder named in two ways", 1)
		p.hidden = true
		return ""
	case cwd != "" || registered != "":
		return cmp.Or(cwd, registered)
	}
	for _, one := range d.processes {
		if sum := sha256.Sum256([]byte(one.cwd)); hex.EncodeToString(sum[:]) == name {
			return one.cwd
		}
	}
	return ""
}

// readSlugs reads which folder of a home belongs to which working folder. A file that can't be read says nothing.
func (d *discovery) readSlugs(home string) {
	slugs := map[string]string{}
	data, _, _ := agentfile.ReadSmall(filepath.Join(home, "projects.json"), 4<<20)
	_ = agentfile.Top(agentfile.Get(data, "projects"), func(cwd, slug []byte) bool {
		slugs[short(slug)] = string(cwd)
		return true
	})
	d.slugs[home] = slugs
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
		s := &session{file: d.files[i], paths: []string{d.files[i].path}}
		s.facts, errs[i] = d.adapter.transcript(s.path, d.query.Once).read(ctx, s.info)
		read[i] = s
	})
	recognised, strange := 0, ""
	for i, s := range read {
		switch err := errs[i]; {
		case adapters.IsOutOfTime(err):
			d.late, d.lateIn, d.partial = d.late+1, s.project.home, true
		case err != nil:
			d.failed(s.project, s.path, err)
			d.answer.LeaveOut(kit.NotReadable, 1)
		case !s.known && s.info.Size() > 0:
			if len(s.skipped) == 0 {
				d.answer.Skip("file without a session header", 1)
			}
			d.answer.SkipAll(s.skipped)
			d.answer.LeaveOut(kit.NotRecognised, 1)
			strange, s.project.hidden = s.path, true
		case s.known:
			recognised++
			d.answer.SkipAll(s.skipped)
			d.take(s)
		}
	}
	if strange != "" && recognised == 0 && len(d.query.IDs) == 0 {
		d.answer.Problem(adapters.Unrecognised(strange, "it does not begin as a session does"))
	}
}

// wants reports whether a file has to be read: the query asks for it, or a live process of its folder may have it.
func (d *discovery) wants(f *file) bool {
	if d.mayBeLive(f) {
		return true
	}
	if len(d.query.IDs) > 0 {
		return slices.ContainsFunc(d.query.IDs, func(id string) bool {
			return strings.HasPrefix(id, f.label) || f.parent != "" && id == f.parent
		})
	}
	return d.query.Since.IsZero() || !f.info.ModTime().Before(d.query.Since)
}

// mayBeLive reports whether a live process can have a file: it was written since the process began, or the process names it.
func (d *discovery) mayBeLive(f *file) bool {
	return slices.ContainsFunc(d.processes, func(p *process) bool {
		return p.mayUse(f.project) && (!f.info.ModTime().Before(p.Started.Add(-slack)) || p.named != "" && strings.HasPrefix(p.named, f.label))
	})
}

// mayUse reports whether a process keeps its sessions in a project.
func (p *process) mayUse(in *project) bool {
	return (!p.known || p.home == in.home) && (in.cwd == "" || p.cwd == in.cwd)
}

// take adds a session that was read. Several files of one session are one: that with the newest record counts.
func (d *discovery) take(s *session) {
	switch {
	case s.file.parent != "":
		d.subs = append(d.subs, s)
		return
	case s.id == "":
		if s.id = d.idOf(s); s.id == "" {
			d.answer.Skip("file without a session header", 1)
			return
		}
	}
	key := s.project.home + "\x00" + s.id
	if o := d.byID[key]; o != nil {
		if s.messages && !o.messages || s.messages == o.messages && s.last.After(o.last) {
			*o, *s = *s, *o
		}
		o.more, s.more = append(slices.Concat(o.more, s.more), s), nil
		o.opened = append(o.opened, s.opened...)
		if !s.at.IsZero() && (o.at.IsZero() || s.at.Before(o.at)) {
			o.at = s.at
		}
		o.firstPrompt = cmp.Or(o.firstPrompt, s.firstPrompt)
		o.paths = append(o.paths, s.path)
		return
	}
	d.byID[key] = s
	d.sessions = append(d.sessions, s)
}

// idOf returns the id of a session whose file has lost its header, as 0.61.0 leaves one after it removed the session's first
// files: the name has its first 8 characters, and the prompts of its terminal or its command line have all of it.
func (d *discovery) idOf(s *session) string {
	for _, p := range d.processes {
		if p.named != "" && strings.HasPrefix(p.named, s.label) && p.mayUse(s.project) {
			return p.named
		}
	}
	for _, l := range d.log(s.project) {
		if strings.HasPrefix(l.session, s.label) {
			return l.session
		}
	}
	return ""
}

func (d *discovery) watchPaths() []string {
	var watch []string
	for _, home := range d.homes {
		watch = kit.AppendNew(watch, filepath.Dir(home), home, filepath.Join(home, "tmp"))
	}
	for _, p := range d.projects {
		if slices.ContainsFunc(d.processes, func(one *process) bool { return one.mayUse(p) }) {
			watch = kit.AppendNew(watch, p.dir, filepath.Join(p.dir, "chats"))
		}
	}
	for _, s := range d.subs {
		if s.owner != nil {
			watch = kit.AppendNew(watch, filepath.Dir(s.path))
		}
	}
	return watch
}
