package cleanup

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// agents are the folders, below the home, in which the agents keep what is
// theirs. Nothing in them is ever removed, except what agentctl put beside it in
// a folder of its own name.
var agents = []string{
	".claude", ".codex", ".pi", ".openclaw", ".clawdbot", ".moltbot", ".opencode", ".slate",
	".local/share/opencode", ".local/state/opencode", ".config/opencode", ".config/claude",
}

// foreign is the folder in an agent's folder that isn't the agent's.
const foreign = "agentctl"

// guard finds the source that owns the path, and refuses every other path, and
// every way around: links to a file or folder, a second name of a file, "..",
// and whatever lies in an agent's own folder, by its name or by its true place.
func (c *Cleaner) guard(path string) (Source, error) {
	refuse := func(why string) (Source, error) { return nil, fmt.Errorf("%w: %s", ErrRefused, why) }
	if !filepath.IsAbs(path) || filepath.Clean(path) != path || strings.ContainsRune(path, 0) {
		return refuse("not a plain absolute path")
	}
	source, anchor := c.owner(path)
	if source == nil {
		return refuse("no leftover that Rollcall knows has this name and place")
	}
	if why, err := straight(anchor, path); err != nil {
		return nil, err
	} else if why != "" {
		return refuse(why)
	}
	place, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	for _, folder := range agents {
		folder = filepath.Join(c.Home, filepath.FromSlash(folder))
		if belongs(path, folder) {
			return refuse("it belongs to an agent")
		}
		if folder, err := filepath.EvalSymlinks(folder); err == nil && belongs(place, folder) {
			return refuse("its true place belongs to an agent")
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

// straight says what is wrong with the way from anchor to the file: every step a
// true folder, the file a true file with no other name.
func straight(anchor, path string) (why string, err error) {
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
			return at + " is a link or no folder", nil
		case last && !info.Mode().IsRegular():
			return "it is a link or no regular file", nil
		case last && names(at, info) > 1:
			return "it is also known by another name (a hard link)", nil
		}
	}
	return "", nil
}

// belongs says whether path lies in an agent's folder and outside agentctl's.
func belongs(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	first, _, below := strings.Cut(rel, string(filepath.Separator))
	return !below || first != foreign
}
