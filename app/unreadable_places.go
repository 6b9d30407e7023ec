package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"rollcall/adapters"
	"rollcall/bounded"
)

// unreadablePlaces contains the files and folders that sources could not read, with the
// result of the last try to open each.
type unreadablePlaces map[*source]map[string]access

// access is the result of a try to open a place.
type access int

const (
	notTried   access = iota
	unanswered        // the file system did not answer
	opened
	denied
	failed // the place can't be opened for another reason
)

// maxUnreadable is the largest number of unreadable places of a source that are tried.
const maxUnreadable = 100

// noteUnreadable records the places that an answer could not read. The caller holds
// Core.mu.
func (s *source) noteUnreadable(q question, err error) {
	if q.ids == nil {
		s.unreadable = nil
	}
	for _, one := range adapters.Problems(err) {
		var p *adapters.Problem
		if len(s.unreadable) == maxUnreadable || !errors.As(one, &p) || !errors.Is(p.Kind, adapters.ErrUnreadable) && !errors.Is(p.Kind, adapters.ErrTimeout) || !filepath.IsAbs(p.Path) {
			continue
		}
		if !slices.ContainsFunc(s.unreadable, func(have *adapters.Problem) bool { return have.Path == p.Path }) {
			s.unreadable = append(s.unreadable, p)
		}
	}
}

// unreadablePlaces returns the places that can't be read now. A place that is in before
// keeps its result, so that a source is not refreshed repeatedly if its problem remains
// although the place can be opened.
func (c *Core) unreadablePlaces(before unreadablePlaces) unreadablePlaces {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := unreadablePlaces{}
	for _, s := range c.sources {
		for _, p := range s.unreadable {
			was, known := before[s][p.Path]
			if !known && errors.Is(p, fs.ErrPermission) {
				was = denied
			}
			if !known && errors.Is(p.Kind, adapters.ErrTimeout) {
				was = unanswered
			}
			if out[s] == nil {
				out[s] = map[string]access{}
			}
			out[s][p.Path] = was
		}
	}
	return out
}

// retry tries to open each place, and adds to changed the sources of the places whose
// result has changed. A place that does not answer keeps its result.
func (p unreadablePlaces) retry(changed map[*source]bool, calls *bounded.Calls) unreadablePlaces {
	for s, places := range p {
		for path, was := range places {
			now, answered := bounded.Call(calls, path, func() access { return tryToOpen(path) })
			if !answered {
				continue
			}
			if was != notTried && now != was {
				changed[s] = true
			}
			places[path] = now
		}
	}
	return p
}

// tryToOpen opens a file or folder and closes it. It opens nothing else: opening a pipe
// would wait for the other end.
func tryToOpen(path string) access {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return failed
	}
	var f *os.File
	if err == nil {
		f, err = os.Open(path)
	}
	if err == nil {
		_ = f.Close()
	}
	switch {
	case err == nil && info.IsDir() && !canEnter(path):
		return denied
	case err == nil:
		return opened
	case errors.Is(err, fs.ErrPermission):
		return denied
	}
	return failed
}

// canEnter reports whether the files of a folder can be opened. This may be denied
// although the files of the folder can be listed.
func canEnter(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, "no such file"))
	return !errors.Is(err, fs.ErrPermission)
}
