package cleanup

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"rollcall/adapters"
	"rollcall/app/store"
)

// agentFolders returns the agents' own folders in the home folder. Nothing in them is ever removed, except in a subfolder
// "agentctl".
func agentFolders() []string {
	folders := []string{".slate"} // of an agent that only agentctl knows
	for _, d := range adapters.Described() {
		folders = append(folders, d.Folders...)
	}
	return folders
}

// foreign is the subfolder of an agent's folder that belongs to agentctl.
const foreign = "agentctl"

// guard returns the source that owns the path. It returns ErrRefused for every other path, for a path with "..", a link
// or a hard link, and for a path in an agent's own folder, before and after symbolic links are resolved.
func (c *Cleaner) guard(path string) (Source, error) {
	refuse := func(why string) (Source, error) { return nil, fmt.Errorf("%w: %s", ErrRefused, why) }
	if !filepath.IsAbs(path) || filepath.Clean(path) != path || strings.ContainsRune(path, 0) {
		return refuse("not a plain absolute path")
	}
	source, anchor := c.owner(path)
	if source == nil {
		return refuse("it is not a file that Rollcall cleans up")
	}
	if why, err := checkSteps(anchor, path); err != nil {
		return nil, err
	} else if why != "" {
		return refuse(why)
	}
	place, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	for _, folder := range agentFolders() {
		folder = filepath.Join(c.Home, filepath.FromSlash(folder))
		if belongs(path, folder) {
			return refuse("it belongs to an agent")
		}
		if folder, err := filepath.EvalSymlinks(folder); err == nil && belongs(place, folder) {
			return refuse("its real path belongs to an agent")
		}
	}
	return source, nil
}

func (c *Cleaner) owner(path string) (Source, string) {
	for _, s := range c.Sources {
		if anchor, ok := s.Owns(path); ok {
			return s, anchor
		}
	}
	return nil, ""
}

// checkSteps returns why a path must not be removed: a part of it below anchor is not a folder, or the file is not a
// regular file or has several hard links. It returns an empty string if neither is the case.
func checkSteps(anchor, path string) (why string, err error) {
	rel, err := filepath.Rel(anchor, path)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return "it is not below " + anchor, nil
	}
	at := anchor
	steps := strings.Split(rel, string(filepath.Separator))
	for i, step := range steps {
		at = filepath.Join(at, step)
		info, err := os.Lstat(at)
		last := i == len(steps)-1
		switch {
		case err != nil:
			return "", err
		case !last && !info.IsDir():
			return at + " is a link or not a folder", nil
		case last && !info.Mode().IsRegular():
			return "it is a link or not a regular file", nil
		case last && store.HardLinks(at, info) > 1:
			return "it has another name (a hard link)", nil
		}
	}
	return "", nil
}

// belongs reports whether path is in an agent's folder and not in the subfolder of agentctl.
func belongs(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	first, _, below := strings.Cut(rel, string(filepath.Separator))
	return !below || first != foreign
}
