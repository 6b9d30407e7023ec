package kit

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
	"rollcall/bounded"
)

// Roots are the homes of an agent in which one question looks, each once, whatever symbolic links lead to it.
type Roots struct {
	Answer *Answer
	Store  string   // the folder in a home that has the sessions, which the answer names
	Paths  []string // of the homes that can be read, with links resolved
	Names  []string // the same, as they were named
	// NoTable reports that the process table could not be read, InUse that a live process or a file shows that the agent is installed.
	NoTable, InUse bool

	answers map[string]bool // whether the file system of a folder answers: once asked, the same for the whole question
}

// Find finds the homes to look in: the user's own, those that the user named, and those that processes have used within 24 hours. used are
// those of processes that live now.
func (r *Roots) Find(b *Base, own string, used []string, now time.Time) {
	for _, dir := range append([]string{own}, b.Named()...) {
		r.Add(dir)
	}
	r.FindUsed(b, used, now)
}

// FindUsed adds the homes that processes have used within 24 hours, of which used are those of processes that live now.
func (r *Roots) FindUsed(b *Base, used []string, now time.Time) {
	used = slices.DeleteFunc(used, func(dir string) bool { return dir == "" || slices.Contains(r.Paths, agentproc.RealPath(dir)) })
	for _, dir := range b.Recent.Use(used, now) {
		if !r.Answers(dir) {
			continue
		}
		if info, err := os.Stat(dir); err == nil && info.IsDir() && (agentfile.OwnedByUser(info) || os.Geteuid() == 0) {
			r.Add(dir)
		}
	}
	b.Current.Set(r.Paths)
}

// Add adds a home, if its file system answers.
func (r *Roots) Add(path string) {
	target := filepath.Clean(path)
	if r.Answers(path) {
		target = agentproc.RealPath(path)
		if slices.ContainsFunc(r.Paths, func(known string) bool { return known == target || isSame(known, target) }) {
			return
		}
		r.Paths = append(r.Paths, target)
		r.Names = append(r.Names, filepath.Clean(path))
	}
	r.Answer.LookedIn(filepath.Join(target, r.Store))
}

// isSame reports whether two paths lead to the same folder, as where a container names one that it shares below its own root.
func isSame(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// Answers reports whether the file system of a folder answers, and adds the problem when it does not. It says the same throughout a question: else
// a session would be read of a home whose processes were passed over.
func (r *Roots) Answers(path string) bool {
	answers, asked := r.answers[path]
	if asked {
		return answers
	}
	answers = bounded.Answers(path)
	if !answers {
		r.Answer.Problem(adapters.Unresponsive(path))
	}
	if r.answers == nil {
		r.answers = map[string]bool{}
	}
	r.answers[path] = answers
	return answers
}

// Folder returns the folder at a path, with its links resolved; empty if there is none that can be read. The answer names the path, and gets the problem.
func (r *Roots) Folder(path string) (target string, info fs.FileInfo) {
	r.Answer.LookedIn(path)
	if !r.Answers(path) {
		return "", nil
	}
	target, err := agentproc.EvalSymlinks(path)
	if err == nil && target != path && !r.Answers(target) {
		return "", nil
	}
	if err == nil {
		info, err = os.Stat(target)
	}
	if other := agentfile.CheckFolder(path); other != nil {
		err = other
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		r.Answer.Problem(adapters.Unreadable(path, err))
		return "", nil
	}
	return target, info
}

// Unresponsive reports whether the file system of a home did not answer.
func (r *Roots) Unresponsive(path string) bool {
	answers, asked := r.answers[path]
	return asked && !answers
}

// OfProcess returns the home that a process names, as this machine names it. known is false if it does not exist here, as that of a process
// of another mount namespace: its paths have no meaning here. Nor has a relative one.
func (r *Roots) OfProcess(path string) (home string, known bool) {
	if !filepath.IsAbs(path) || !r.Answers(path) {
		return path, false
	}
	if _, err := os.Stat(filepath.Dir(path)); os.IsNotExist(err) {
		return path, false
	}
	return agentproc.RealPath(path), true
}

// AreSilent reports whether the file system of one of the folders that were asked for does not answer.
func (r *Roots) AreSilent() bool {
	return slices.Contains(slices.Collect(maps.Values(r.answers)), false)
}

// Absent reports whether nothing shows that the agent is installed.
func (r *Roots) Absent() bool {
	return !r.NoTable && !r.InUse && !r.AreSilent() && !slices.ContainsFunc(r.Paths, MayExist)
}

// MayExist reports whether a path exists, or can't be examined.
func MayExist(path string) bool {
	_, err := os.Stat(path)
	return !os.IsNotExist(err)
}
