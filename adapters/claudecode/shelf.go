package claudecode

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/pulse"
)

// shelf is what the project folders of a root held when they were looked at
// last. A value isn't changed once it is kept.
//
// Thousands of transcripts are not looked at one by one at every question. A
// transcript that is made, removed or replaced shows in its folder's
// modification time. One that is appended to doesn't, but whoever appends is a
// process that the registry names, or one without an entry, for which everything
// is looked at; or it lived or wrote a moment ago, or it came and went since, and then left a
// trace in the root: an entry made and removed in sessions, or, of versions
// without a registry, a file in todos, debug or statsig. A look at everything is
// never older than sweepAfter.
type shelf struct {
	swept   time.Time // when every transcript was looked at last
	pulse   pulse.Pulse
	folders map[string]folder
}

// folder is a project folder.
type folder struct {
	info    fs.FileInfo // nil: it can't be told by its time whether it changed
	files   []file
	odd     int
	problem error
}

const (
	hotTime    = 15 * time.Minute // after its session lived or it was written to, a transcript is looked at every time
	sweepAfter = time.Minute
	sweepPause = 2 * time.Second // while something goes on all the time
	settled    = 2 * time.Second // within a tick of the file system's clock two changes look as one
)

// stocktake returns what the project folders of a root hold now. When all is
// false, what is known of a transcript that nothing can have written to counts.
func (c *call) stocktake(root string, all bool) (*shelf, []error) {
	c.Adapter.mu.Lock()
	before := c.shelves[root]
	hot := maps.Clone(c.lived)
	c.Adapter.mu.Unlock()
	for id := range c.sessions { // in the registry
		hot[id] = time.Time{}
	}
	now := &shelf{swept: time.Now(), pulse: pulse.Take(root, root+".json"), folders: make(map[string]folder)}
	if before == nil {
		before, all = &shelf{}, true
	}
	if age := now.swept.Sub(before.swept); !all && age >= 0 && age < sweepAfter && (age < sweepPause || now.pulse.Still(before.pulse)) {
		now.swept, now.pulse = before.swept, before.pulse
	} else {
		all = true
	}
	dirs, problems := projectFolders(root)
	found := make([]folder, len(dirs))
	parallel(len(dirs), func(i int) { found[i] = look(dirs[i], before.folders[dirs[i]], hot, all) })
	for i, f := range found {
		if now.folders[dirs[i]] = f; f.problem != nil {
			problems = append(problems, f.problem)
		}
	}
	c.Adapter.mu.Lock()
	defer c.Adapter.mu.Unlock()
	if c.shelves == nil {
		c.shelves = make(map[string]*shelf)
	}
	if newest := c.shelves[root]; newest == nil || !newest.swept.After(now.swept) {
		c.shelves[root] = now
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

// look returns what a project folder holds, given what it held before. Of the
// transcripts that were there, it looks at those that are hot, or at all.
func look(dir string, before folder, hot map[string]time.Time, all bool) folder {
	at := time.Now()
	info, err := os.Stat(dir)
	if err != nil || before.info == nil || !os.SameFile(info, before.info) || !info.ModTime().Equal(before.info.ModTime()) {
		f := folder{}
		links := false
		f.files, f.odd, links, f.problem = listProject(dir)
		if err == nil && f.problem == nil && f.odd == 0 && !links && at.Sub(info.ModTime()).Abs() > settled {
			f.info = info
		}
		return f
	}
	now, copied := before, false
	for i := range before.files {
		was := &before.files[i]
		if !all && at.Sub(was.info.ModTime()).Abs() > hotTime {
			if _, is := hot[was.id]; !is {
				continue
			}
		}
		info, err := os.Stat(was.path)
		switch {
		case err != nil || !info.Mode().IsRegular(): // removed at this moment
			return look(dir, folder{}, nil, true)
		case info.Size() == was.info.Size() && info.ModTime().Equal(was.info.ModTime()) && os.SameFile(info, was.info):
			continue
		case !copied:
			now.files, copied = slices.Clone(before.files), true
		}
		now.files[i].info = info
	}
	return now
}

// transcripts adds the sessions whose transcripts lie in a root: all of them
// when they are searched or asked for, or else those that the answer is about.
func (c *call) transcripts(root string, search bool) {
	if !search && c.liveOnly() {
		c.namedTranscripts(root)
		return
	}
	shelf, problems := c.stocktake(root, search)
	all := search || c.q.Since.IsZero() || len(c.q.IDs) > 0
	for _, p := range problems {
		c.problem(p)
	}
	odd := 0
	for _, f := range shelf.folders {
		odd += f.odd
		for i := range f.files {
			file := &f.files[i]
			s := c.sessions[file.id]
			if s == nil && !all && file.info.ModTime().Before(c.q.Since) {
				continue
			}
			if s == nil {
				s = c.session(file.id)
			}
			s.take(file)
		}
	}
	c.skip("file that is no transcript", odd)
}

// liveOnly says whether only live sessions are asked for: nothing is younger than
// a question that was asked just now.
func (c *call) liveOnly() bool {
	return len(c.q.IDs) == 0 && !c.q.Since.IsZero() && !c.q.Since.Before(c.at.Add(-time.Second))
}

// namedTranscripts adds the transcripts of the sessions that the registry names,
// and looks at no other.
func (c *call) namedTranscripts(root string) {
	dirs, problems := projectFolders(root)
	for _, p := range problems {
		c.problem(p)
	}
	found := make([][]file, len(dirs))
	parallel(len(dirs), func(i int) {
		names, err := readNames(dirs[i])
		if err != nil {
			c.problem(adapters.Unreadable(dirs[i], err))
		}
		for _, name := range names {
			id, ok := strings.CutSuffix(name, ".jsonl")
			if !ok || c.sessions[id] == nil {
				continue
			}
			path := filepath.Join(dirs[i], name)
			switch info, err := os.Stat(path); {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				c.problem(adapters.Unreadable(path, err))
			case info.Mode().IsRegular():
				found[i] = append(found[i], file{id: id, path: path, dir: dirs[i], info: info})
			}
		}
	})
	for _, files := range found {
		for i := range files {
			c.sessions[files[i].id].take(&files[i])
		}
	}
}

// readNames lists a folder; one that isn't there, or is none, is empty.
func readNames(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if errors.Is(err, errNotDir) {
		return nil, nil
	}
	return names, err
}

// take gives the session its transcript: of several files the one written last.
func (s *session) take(f *file) {
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
	for _, shelf := range a.shelves {
		for _, f := range shelf.folders {
			for i := range f.files {
				if f.files[i].id == id {
					return f.files[i].path
				}
			}
		}
	}
	return ""
}

// outlive notes which sessions live.
func (a *Adapter) outlive(sessions map[string]*session) {
	now := time.Now()
	maps.DeleteFunc(a.lived, func(_ string, at time.Time) bool { return now.Sub(at) > hotTime })
	for id, s := range sessions {
		if s.maybeLive() {
			a.lived[id] = now
		}
	}
}
