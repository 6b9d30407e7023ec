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
	"time"
	"unicode/utf16"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// file is a transcript file as the folder shows it.
type file struct {
	id, path, dir string
	info          fs.FileInfo
}

// projectFolders lists the folders below projects, which may be links. Nothing
// deeper is listed, so loops of links don't matter.
func projectFolders(ctx context.Context, root string) (dirs []string, problem error) {
	projects := filepath.Join(root, "projects")
	entries, err := agentfile.Entries(ctx, projects)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		problem = adapters.AsProblem(projects, err)
	}
	for _, e := range entries {
		if e.IsDir() || e.Type()&fs.ModeSymlink != 0 {
			dirs = append(dirs, filepath.Join(projects, e.Name()))
		}
	}
	return dirs, problem
}

// transcripts finds the transcripts below root. It examines only the files of those sessions that the
// answer can have: those that are known already, also when the time for listing is over, and then others.
func (d *discovery) transcripts(root string) {
	known := make(map[string]bool)
	for id := range d.sessions {
		known[id] = true
	}
	for _, id := range d.query.IDs {
		known[id] = true
	}
	all := len(d.query.IDs) == 0 && !d.liveOnly()
	ctx, cancel := kit.Part(d.ctx, 3)
	defer cancel()
	examining, end := kit.Part(d.ctx, 2) // a folder whose names took all the time for listing has some rows, too
	defer end()
	dirs, problem := projectFolders(ctx, root)
	d.answer.Problem(problem)
	d.dirs = append(d.dirs, dirs...)
	found := make([]listing, len(dirs))
	agentfile.Parallel(len(dirs), func(i int) {
		found[i] = d.adapter.listProject(ctx, examining, dirs[i], func(id string) bool { return all || known[id] }, known)
	})
	unlisted := 0
	for i := range found {
		l := &found[i]
		d.answer.Skip("file that is not a transcript", l.unexpected)
		if adapters.IsOutOfTime(l.err) {
			unlisted++
		} else {
			d.answer.Problem(l.err)
		}
		d.late += l.late
		if l.late > 0 {
			d.projects = filepath.Join(root, "projects")
		}
		for j := range l.files {
			if f := &l.files[j]; known[f.id] {
				d.twin(d.session(f.id).setFile(f))
			} else if !f.info.ModTime().Before(d.query.Since) {
				d.others = append(d.others, f)
			}
		}
	}
	d.answer.Problem(kit.NotListed(filepath.Join(root, "projects"), unlisted, len(dirs)))
}

// liveOnly reports whether the query selects only live sessions: its Since is so recent that no
// stopped session can be younger.
func (d *discovery) liveOnly() bool {
	return !d.query.Since.IsZero() && !d.query.Since.Before(d.now.Add(-time.Second))
}

// setFile sets the session's transcript: of several files, the one that was written
// last. It returns the other one, if there is one.
func (s *session) setFile(f *file) (other *file) {
	if s.file != nil && !f.info.ModTime().After(s.file.info.ModTime()) {
		return f
	}
	other, s.file = s.file, f
	return other
}

// twin notes a further transcript of a session.
func (d *discovery) twin(f *file) {
	if f == nil {
		return
	}
	if d.twins == nil {
		d.twins = map[string][]*file{}
	}
	d.twins[f.id] = append(d.twins[f.id], f)
}

// listing holds the transcripts that were found in a project folder.
type listing struct {
	files      []file
	late       int // transcripts that were not examined in time
	unexpected int
	err        error // the folder, or a transcript, could not be read
}

// listProject lists the transcripts <session id>.jsonl in a project folder, of the sessions that which accepts. They may be
// symbolic links. A file that vanishes meanwhile is left out. Names are read until ctx ends; after examining has ended, only the files of known sessions are
// examined.
func (a *Adapter) listProject(ctx, examining context.Context, dir string, which func(id string) bool, known map[string]bool) (l listing) {
	names, err := a.namesIn(ctx, dir)
	l.err = err
	for _, name := range names {
		id, ok := strings.CutSuffix(name, ".jsonl")
		if !ok || strings.HasPrefix(id, "agent-") || !which(id) { // sub-agents and warm-ups of 2.0.x
			continue
		}
		if !known[id] && agentfile.Ended(examining) != nil {
			l.late++
			continue
		}
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err == nil && kit.Is(id) {
			err = agentfile.CheckRegular(info)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			l.err = adapters.Unreadable(path, err)
		case info.IsDir():
		case !kit.Is(id):
			l.unexpected++
		default:
			l.files = append(l.files, file{id: id, path: path, dir: dir, info: info})
		}
	}
	return l
}

func allSessions(string) bool { return true }

// listAll lists the transcripts in all project folders of a root.
func (a *Adapter) listAll(ctx context.Context, answer *kit.Answer, root string) (files []*file) {
	dirs, problem := projectFolders(ctx, root)
	answer.Problem(problem)
	found := make([]listing, len(dirs))
	agentfile.Parallel(len(dirs), func(i int) { found[i] = a.listProject(ctx, ctx, dirs[i], allSessions, nil) })
	for i := range found {
		answer.Problem(found[i].err)
		for j := range found[i].files {
			files = append(files, &found[i].files[j])
		}
	}
	return files
}

// folderNames are the names in a folder, as of a stamp of it. They are not changed.
type folderNames struct {
	stamp agentfile.Stamp
	names []string
}

// namesIn does what readNames does. It reads only a folder that has changed since it was read: a file that is created, removed or renamed changes
// its folder.
func (a *Adapter) namesIn(ctx context.Context, dir string) ([]string, error) {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return readNames(ctx, dir)
	}
	stamp := agentfile.StampOf(dir, info)
	if was, ok := a.folders.Get(dir); ok && was.stamp.Unchanged(stamp) {
		return was.names, nil
	}
	names, err := readNames(ctx, dir)
	if err == nil {
		a.folders.Put(dir, folderNames{stamp, names})
	}
	return names, err
}

// readNames returns the names in a folder, sorted. It returns none for a path that does not exist or is not a folder, as a link in the
// folder of projects may lead to a file.
func readNames(ctx context.Context, dir string) (names []string, problem error) {
	entries, err := agentfile.Entries(ctx, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, agentfile.ErrNotFolder) {
		problem = adapters.AsProblem(dir, err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, problem
}

// projectName returns the name of the folder in which Claude Code keeps the transcripts of a working directory. The name can't
// be decoded: many paths have the same one. It is only a prefix, with isPrefix set, for a path that is too long: a hash
// follows, which isn't known.
func projectName(cwd string) (name string, isPrefix bool) {
	const limit = 200
	units := utf16.Encode([]rune(cwd))
	out := make([]byte, len(units))
	for i, u := range units {
		out[i] = '-'
		if u < 0x80 && (u >= '0' && u <= '9' || u >= 'A' && u <= 'Z' || u >= 'a' && u <= 'z') {
			out[i] = byte(u)
		}
	}
	if len(out) > limit {
		return string(out[:limit]) + "-", true
	}
	return string(out), false
}

// projectsOf returns the folders in which a process with a working folder creates its sessions.
func projectsOf(ctx context.Context, root, cwd string) (dirs []string) {
	name, isPrefix := projectName(cwd)
	if !isPrefix {
		return []string{filepath.Join(root, "projects", name)}
	}
	all, _ := projectFolders(ctx, root)
	return slices.DeleteFunc(all, func(dir string) bool { return !strings.HasPrefix(filepath.Base(dir), name) })
}

// Named implements adapters.Namer: by the names of the transcripts and the
// entries of the registry.
func (a *Adapter) Named(ctx context.Context, prefix string) ([]string, error) {
	answer := kit.NewAnswer()
	var mu sync.Mutex
	found := map[string]bool{}
	add := func(id string) {
		mu.Lock()
		defer mu.Unlock()
		if strings.HasPrefix(id, prefix) {
			found[id] = true
		}
	}
	t, homes := a.homes(ctx, answer)
	for _, root := range homes.Paths {
		entries, _, _, problem := readRegistry(ctx, root, t.pids)
		answer.Problem(problem)
		for i := range entries {
			add(entries[i].id)
		}
		dirs, problem := projectFolders(ctx, root)
		answer.Problem(problem)
		agentfile.Parallel(len(dirs), func(i int) {
			names, err := readNames(ctx, dirs[i])
			answer.Problem(err)
			for _, name := range names {
				if id, ok := strings.CutSuffix(name, ".jsonl"); ok && kit.Is(id) {
					add(id)
				}
			}
		})
	}
	return slices.Collect(maps.Keys(found)), errors.Join(answer.Problems()...)
}
