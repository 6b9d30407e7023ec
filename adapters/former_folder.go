package adapters

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

// MayHaveLeft reports whether a process that is in cwd now can have begun in a folder of another name, which was renamed since, although its environment does
// not tell that name: a program that starts another one in a folder of its choice leaves its own PWD there. The name leads nowhere now, or to a folder that
// was made since, and the folder that it was in has changed since the process started. isGone reports that it leads nowhere, and cwd does not: without more that shows it, a young
// folder is another one.
func MayHaveLeft(folder string, env []string, cwd string, started time.Time) (may, isGone bool) {
	if !filepath.IsAbs(folder) || !bounded.Answers(folder) || !bounded.Answers(cwd) {
		return false, false
	}
	here, hereErr := os.Stat(cwd)
	if hereErr == nil && isWhereStarted(env, here) || len(FormerFolders(env, cwd, started.Add(clockSlack))) > 0 {
		return false, false
	}
	_, err := os.Stat(folder)
	may = len(FormerFolders([]string{"PWD=" + folder}, cwd, started)) > 0 && lostSince(folder, started.Add(-clockSlack))
	return may, may && hereErr == nil && errors.Is(err, fs.ErrNotExist)
}

// clockSlack is the largest error of a comparison between the start of a process and the time of a file: the kernel keeps the boot time in seconds.
const clockSlack = 1500 * time.Millisecond

// isWhereStarted reports whether an environment names the folder in which its process is: it was not renamed since.
func isWhereStarted(env []string, here os.FileInfo) bool {
	i := slices.IndexFunc(env, func(set string) bool { return strings.HasPrefix(set, "PWD=/") })
	if i < 0 {
		return false
	}
	pwd := strings.TrimPrefix(env[i], "PWD=")
	if !bounded.Answers(pwd) {
		return false
	}
	there, err := os.Stat(pwd)
	return err == nil && os.SameFile(there, here)
}

// lostSince reports whether the folder that path was in has changed since a time, as it does when something in it is renamed or removed.
func lostSince(path string, since time.Time) bool {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err == nil {
			return !info.ModTime().Before(since)
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}
