package claudecode

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/dirstate"
	"rollcall/adapters/internal/report"
	"rollcall/adapters/internal/uuid"
)

// projectIndex holds the contents of the project folders of a root when they were read last. A
// value is not changed after it was stored.
//
// Examining thousands of transcripts one by one at every call would take too long. Creating,
// removing or replacing a transcript changes its folder's modification time, but appending to a
// transcript does not. A transcript in an unchanged folder is examined in these cases: its
// process has a registry entry; its session was live, or was written to, a moment ago. Every
// transcript is examined if a process has no registry entry, or if a process began and ended
// since the last call and left a trace in the root: an entry made and removed in sessions, or,
// for versions without a registry, a file in todos, debug or statsig. Every transcript is also
// examined once in dirstate.SweepAfter.
type projectIndex struct {
	swept   dirstate.Sweep
	folders map[string]folder
}

// folder is a project folder.
type folder struct {
	info       fs.FileInfo // nil: its time doesn't show whether it has changed
	files      []file
	unexpected int
	problem    error
}

// indexProjects returns the present contents of the project folders of a root. When all
// is false, it uses the cached state of every transcript that no process can have
// written to.
func (d *discovery) indexProjects(root string, all bool) (*projectIndex, []error) {
	d.adapter.mu.Lock()
	before := d.adapter.indexes[root]
	recent := maps.Clone(d.adapter.lastLive)
	d.adapter.mu.Unlock()
	for id := range d.sessions { // in the registry
		recent[id] = time.Time{}
	}
	now := &projectIndex{swept: dirstate.Begin(root, root+".json"), folders: make(map[string]folder)}
	if before == nil {
		before, all = &projectIndex{}, true
	}
	if !all && before.swept.IsEnough(now.swept) {
		now.swept = before.swept
	} else {
		all = true
	}
	dirs, problems := projectFolders(root)
	found := make([]folder, len(dirs))
	agentfile.Parallel(len(dirs), func(i int) { found[i] = scanFolder(dirs[i], before.folders[dirs[i]], recent, all) })
	for i, f := range found {
		if now.folders[dirs[i]] = f; f.problem != nil {
			problems = append(problems, f.problem)
		}
	}
	d.adapter.mu.Lock()
	defer d.adapter.mu.Unlock()
	if newest := d.adapter.indexes[root]; newest == nil || !newest.swept.At.After(now.swept.At) {
		d.adapter.indexes[root] = now
	}
	return now, problems
}

// projectFolders lists the folders below projects, which may be links. Nothing
// deeper is listed, so loops of links don't matter.
func projectFolders(root string) (dirs []string, problems []error) {
	projects := filepath.Join(root, "projects")
	entries, err := os.ReadDir(projects)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		problems = append(problems, adapters.Unreadable(projects, err))
	}
	for _, e := range entries {
		if e.IsDir() || e.Type()&fs.ModeSymlink != 0 {
			dirs = append(dirs, filepath.Join(projects, e.Name()))
		}
	}
	return dirs, problems
}

// scanFolder returns the contents of a project folder, given its earlier contents. It examines
// those known transcripts that are in recent. With all, it examines every known transcript.
func scanFolder(dir string, before folder, recent map[string]time.Time, all bool) folder {
	at := time.Now()
	info, err := os.Stat(dir)
	if err != nil || before.info == nil || !os.SameFile(info, before.info) || !info.ModTime().Equal(before.info.ModTime()) {
		f := folder{}
		links := false
		f.files, f.unexpected, links, f.problem = listProject(dir)
		if err == nil && f.problem == nil && f.unexpected == 0 && !links && at.Sub(info.ModTime()).Abs() > dirstate.Settled {
			f.info = info
		}
		return f
	}
	now, copied := before, false
	for i := range before.files {
		was := &before.files[i]
		if !all && at.Sub(was.info.ModTime()).Abs() > dirstate.RecentTime {
			if _, is := recent[was.id]; !is {
				continue
			}
		}
		info, err := os.Stat(was.path)
		switch {
		case err != nil || !info.Mode().IsRegular(): // removed at this moment
			return scanFolder(dir, folder{}, nil, true)
		case info.Size() == was.info.Size() && info.ModTime().Equal(was.info.ModTime()) && os.SameFile(info, was.info):
			continue
		case !copied:
			now.files, copied = slices.Clone(before.files), true
		}
		now.files[i].info = info
	}
	return now
}

// transcripts adds the sessions whose transcripts are below root: all of them if
// search is set, or else only those that the query can return.
func (d *discovery) transcripts(root string, search bool) {
	if !search && d.liveOnly() {
		d.namedTranscripts(root)
		return
	}
	index, problems := d.indexProjects(root, search)
	all := search || d.query.Since.IsZero() || len(d.query.IDs) > 0
	d.answer.Problem(problems...)
	unexpected := 0
	for _, f := range index.folders {
		unexpected += f.unexpected
		for i := range f.files {
			file := &f.files[i]
			if d.sessions[file.id] != nil || all || !file.info.ModTime().Before(d.query.Since) {
				d.session(file.id).setFile(file)
			}
		}
	}
	d.answer.Skip("file that is not a transcript", unexpected)
}

// liveOnly reports whether the query selects only live sessions: its Since is so recent that no
// stopped session can be younger.
func (d *discovery) liveOnly() bool {
	return len(d.query.IDs) == 0 && !d.query.Since.IsZero() && !d.query.Since.Before(d.now.Add(-time.Second))
}

// namedTranscripts adds the transcripts of the sessions in the registry, and looks at
// no other.
func (d *discovery) namedTranscripts(root string) {
	dirs, problems := projectFolders(root)
	d.answer.Problem(problems...)
	found := make([][]file, len(dirs))
	agentfile.Parallel(len(dirs), func(i int) {
		names, err := readNames(dirs[i])
		d.answer.Problem(err)
		for _, name := range names {
			id, ok := strings.CutSuffix(name, ".jsonl")
			if !ok || d.sessions[id] == nil {
				continue
			}
			path := filepath.Join(dirs[i], name)
			switch info, err := os.Stat(path); {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				d.answer.Problem(adapters.Unreadable(path, err))
			case info.Mode().IsRegular():
				found[i] = append(found[i], file{id: id, path: path, dir: dirs[i], info: info})
			}
		}
	})
	for _, files := range found {
		for i := range files {
			d.sessions[files[i].id].setFile(&files[i])
		}
	}
}

// readNames returns the names in a folder. It returns none for a path that does not exist or is not a folder.
func readNames(dir string) (names []string, problem error) {
	f, err := agentfile.Open(dir)
	if err == nil {
		defer f.Close()
		names, err = f.Readdirnames(-1)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		problem = adapters.Unreadable(dir, err)
	}
	return names, problem
}

// setFile sets the session's transcript: of several files, the one that was written
// last.
func (s *session) setFile(f *file) {
	if s.file == nil || f.info.ModTime().After(s.file.info.ModTime()) {
		s.file = f
	}
}

// whereIs returns where a session's transcript was seen last.
func (a *Adapter) whereIs(id string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if path := a.paths[id]; path != "" {
		return path
	}
	for _, index := range a.indexes {
		for _, f := range index.folders {
			for i := range f.files {
				if f.files[i].id == id {
					return f.files[i].path
				}
			}
		}
	}
	return ""
}

// noteLive records which sessions are live.
func (a *Adapter) noteLive(sessions map[string]*session) {
	now := time.Now()
	maps.DeleteFunc(a.lastLive, func(_ string, at time.Time) bool { return now.Sub(at) > dirstate.RecentTime })
	for id, s := range sessions {
		if s.maybeLive() {
			a.lastLive[id] = now
		}
	}
}

// file is a transcript file as the folder shows it.
type file struct {
	id, path, dir string
	info          fs.FileInfo
}

// listProject lists <session id>.jsonl in a project folder. Transcripts may be
// symbolic links; links reports whether any entry is one. A file that vanishes
// meanwhile is left out.
func listProject(dir string) (files []file, unexpected int, links bool, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, 0, false, nil
	}
	var problem error
	if err != nil {
		problem = adapters.Unreadable(dir, err)
	}
	for _, d := range entries {
		id, ok := strings.CutSuffix(d.Name(), ".jsonl")
		if !ok || d.IsDir() || strings.HasPrefix(id, "agent-") { // sub-agents and warm-ups of 2.0.x
			continue
		}
		if !uuid.Is(id) {
			unexpected++
			continue
		}
		path := filepath.Join(dir, d.Name())
		links = links || d.Type()&fs.ModeSymlink != 0
		info, err := d.Info()
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			info, err = os.Stat(path)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			problem = adapters.Unreadable(path, err)
		case !info.Mode().IsRegular():
			unexpected++
		default:
			files = append(files, file{id: id, path: path, dir: dir, info: info})
		}
	}
	return files, unexpected, links, problem
}

// Named implements adapters.Namer: by the names of the transcripts and the
// entries of the registry.
func (a *Adapter) Named(ctx context.Context, prefix string) ([]string, error) {
	t, _ := a.readTable(ctx)
	answer := report.NewAnswer()
	var mu sync.Mutex
	found := map[string]bool{}
	add := func(id string) {
		mu.Lock()
		defer mu.Unlock()
		if strings.HasPrefix(id, prefix) {
			found[id] = true
		}
	}
	_, roots, _ := a.homes(t, answer, a.now())
	for _, root := range roots {
		entries, _, problem := readRegistry(ctx, root)
		answer.Problem(problem)
		for i := range entries {
			add(entries[i].id)
		}
		dirs, problems := projectFolders(root)
		answer.Problem(problems...)
		agentfile.Parallel(len(dirs), func(i int) {
			names, err := readNames(dirs[i])
			answer.Problem(err)
			for _, name := range names {
				if id, ok := strings.CutSuffix(name, ".jsonl"); ok && uuid.Is(id) {
					add(id)
				}
			}
		})
	}
	return slices.Collect(maps.Keys(found)), errors.Join(answer.Problems()...)
}
