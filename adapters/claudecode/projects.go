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

// transcripts adds the sessions whose transcripts are below root. It examines only the files of those sessions that the
// answer can have.
func (d *discovery) transcripts(root string) {
	ids := make(map[string]bool)
	for id := range d.sessions {
		ids[id] = true
	}
	for _, id := range d.query.IDs {
		ids[id] = true
	}
	which := func(id string) bool { return ids[id] }
	if len(d.query.IDs) == 0 && !d.liveOnly() {
		which = func(string) bool { return true }
	}
	began := time.Now()
	dirs, problems := projectFolders(root)
	d.answer.Problem(problems...)
	found := make([][]file, len(dirs))
	agentfile.Parallel(len(dirs), func(i int) {
		var unexpected int
		var err error
		found[i], unexpected, err = listProject(dirs[i], which)
		d.answer.Skip("file that is not a transcript", unexpected)
		d.answer.Problem(err)
	})
	written := make([]time.Time, 0, len(found))
	for _, files := range found {
		for i := range files {
			if f := &files[i]; ids[f.id] {
				d.session(f.id).setFile(f)
			} else if !f.info.ModTime().Before(d.query.Since) {
				written = append(written, f.info.ModTime())
			}
		}
	}
	since, late := kit.Newest(d.ctx, written, time.Since(began))
	if late > 0 {
		d.leftOut, d.projects = d.leftOut+late, filepath.Join(root, "projects")
	}
	for _, files := range found {
		for i := range files {
			if f := &files[i]; !ids[f.id] && !f.info.ModTime().Before(d.query.Since) && !f.info.ModTime().Before(since) {
				d.session(f.id).setFile(f)
			}
		}
	}
}

// liveOnly reports whether the query selects only live sessions: its Since is so recent that no
// stopped session can be younger.
func (d *discovery) liveOnly() bool {
	return !d.query.Since.IsZero() && !d.query.Since.Before(d.now.Add(-time.Second))
}

// setFile sets the session's transcript: of several files, the one that was written
// last.
func (s *session) setFile(f *file) {
	if s.file == nil || f.info.ModTime().After(s.file.info.ModTime()) {
		s.file = f
	}
}

// listProject returns the transcripts <session id>.jsonl in a project folder, of the sessions that which accepts. They may be
// symbolic links. A file that vanishes meanwhile is left out.
func listProject(dir string, which func(id string) bool) (files []file, unexpected int, err error) {
	names, err := readNames(dir)
	for _, name := range names {
		id, ok := strings.CutSuffix(name, ".jsonl")
		if !ok || strings.HasPrefix(id, "agent-") || !which(id) { // sub-agents and warm-ups of 2.0.x
			continue
		}
		path := filepath.Join(dir, name)
		info, statErr := os.Stat(path)
		switch {
		case errors.Is(statErr, fs.ErrNotExist):
		case statErr != nil:
			err = adapters.Unreadable(path, statErr)
		case info.IsDir():
		case !kit.Is(id) || !info.Mode().IsRegular():
			unexpected++
		default:
			files = append(files, file{id: id, path: path, dir: dir, info: info})
		}
	}
	return files, unexpected, err
}

// readNames returns the names in a folder, sorted. It returns none for a path that does not exist or is not a folder.
func readNames(dir string) (names []string, problem error) {
	f, err := agentfile.Open(dir)
	if err == nil {
		defer f.Close()
		names, err = f.Readdirnames(-1)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		problem = adapters.Unreadable(dir, err)
	}
	slices.Sort(names)
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
func projectsOf(root, cwd string) (dirs []string) {
	name, isPrefix := projectName(cwd)
	if !isPrefix {
		return []string{filepath.Join(root, "projects", name)}
	}
	all, _ := projectFolders(root)
	return slices.DeleteFunc(all, func(dir string) bool { return !strings.HasPrefix(filepath.Base(dir), name) })
}

// Named implements adapters.Namer: by the names of the transcripts and the
// entries of the registry.
func (a *Adapter) Named(ctx context.Context, prefix string) ([]string, error) {
	t, _ := a.readTable(ctx)
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
				if id, ok := strings.CutSuffix(name, ".jsonl"); ok && kit.Is(id) {
					add(id)
				}
			}
		})
	}
	return slices.Collect(maps.Keys(found)), errors.Join(answer.Problems()...)
}
