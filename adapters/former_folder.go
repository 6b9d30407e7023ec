package adapters

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rollcall/bounded"
	"rollcall/proc"
)

// FormerFolders returns the names that the folder of a process had when the process was started, if it was renamed since: the process's environment has
// such a name (PWD, as shells and tmux set it), and there is nothing now, or a folder that was made since. The agent in the process goes on to use the
// name, since programs of Node.js and Bun ask for their folder once. cwd is the folder in which the process is now. It returns nil where nothing shows that
// the folder was renamed.
func FormerFolders(env []string, cwd string, started time.Time) []string {
	pwd := ""
	for _, set := range env {
		if value, ok := strings.CutPrefix(set, "PWD="); ok {
			pwd = value
		}
	}
	if cwd == "" || !filepath.IsAbs(pwd) {
		return nil
	}
	pwd = filepath.Clean(pwd)
	if pwd == filepath.Clean(cwd) || !isReplaced(pwd, cwd, started) {
		return nil
	}
	names := []string{pwd}
	parent, err := filepath.EvalSymlinks(filepath.Dir(pwd))
	if resolved := filepath.Join(parent, filepath.Base(pwd)); err == nil && resolved != pwd {
		names = append(names, resolved)
	}
	return names
}

// isReplaced reports whether a path leads nowhere, or to another folder than cwd that was made since a time. It returns false where that is not known.
func isReplaced(path, cwd string, since time.Time) bool {
	if !bounded.Answers(path) || !bounded.Answers(cwd) {
		return false
	}
	there, err := os.Stat(path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	here, err := os.Stat(cwd)
	return err == nil && !os.SameFile(there, here) && proc.Created(path).After(since)
}
