package agentproc

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/bounded"
	"rollcall/proc"
)

// variables lists the environment variables that name a place in which an agent keeps its
// files.
var variables = []string{"HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME",
	"CLAUDE_CONFIG_DIR", "CODEX_HOME", "CODEX_SQLITE_HOME", "OPENCODE_DB", "KILO_DB",
	"PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR", "PI_SESSIONS_DIR", "PI_SESSION_FILE"}

// stores lists the agents' folders in a home. A container whose home contains one of the user's
// own folders works with that folder, whatever name it has in the container.
var stores = []string{".claude", ".codex", ".pi/agent", ".local/share/opencode", ".local/share/kilo"}

// Own are an agent's own places, which Table knows beside those of the variables and stores above.
type Own struct {
	Variable string // of the environment, that names a place in which the agent keeps its files; may be empty
	Store    string // folder in a home; may be empty
}

// Table returns the table with the paths of contained processes as this machine names them:
// those of the environment that name an agent's home, those of open files, and that of the
// program. The working folder stays as the container names it, because the agents write that
// name into their sessions. A process whose home is ours, mounted into the container, is left
// as it is.
func Table(table proc.Lister, home string, own ...Own) proc.Lister {
	t := &translated{Lister: table, home: home, variables: variables, stores: stores}
	for _, o := range own {
		t.variables = append(slices.Clip(t.variables), o.Variable)
		if o.Store != "" {
			t.stores = append(slices.Clip(t.stores), o.Store)
		}
	}
	return t
}

type translated struct {
	proc.Lister
	home              string
	variables, stores []string
}

// rootOf returns the root folder of a contained process with a separate home; empty for
// any other.
func (t *translated) rootOf(id proc.Identity) string {
	root, err := t.Root(id)
	if err != nil || root == "" {
		return ""
	}
	env, err := t.Lister.Env(id)
	if err != nil {
		return ""
	}
	for _, entry := range env {
		if home, is := strings.CutPrefix(entry, "HOME="); is && home != "" && !t.isOurs(root, home) {
			return root
		}
	}
	return ""
}

// isOurs reports whether the home of a contained process is the user's own, or has
// one of its stores.
func (t *translated) isOurs(root, home string) bool {
	if same(root, home, t.home) {
		return true
	}
	return slices.ContainsFunc(t.stores, func(store string) bool {
		return same(root, filepath.Join(home, store), filepath.Join(t.home, store))
	})
}

// same reports whether a path inside of a root names the same file as one here. It does not, as far as is known, where a file system does not answer.
func same(root, inside, here string) bool {
	path := root + filepath.Clean("/"+inside)
	one, err1 := bounded.Look(path, func() (os.FileInfo, error) {
		resolved, err := evalSymlinks(path)
		if err != nil {
			return nil, err
		}
		return os.Stat(resolved)
	})
	if err1 != nil {
		return false
	}
	other, err2 := bounded.Look(here, func() (os.FileInfo, error) { return os.Stat(here) })
	return err2 == nil && os.SameFile(one, other)
}

// Env implements proc.Details.
func (t *translated) Env(id proc.Identity) ([]string, error) {
	return within(t, id, t.Lister.Env, func(root string, env []string) []string {
		env = slices.Clone(env)
		for i, entry := range env {
			name, value, _ := strings.Cut(entry, "=")
			if slices.Contains(t.variables, name) && filepath.IsAbs(value) {
				env[i] = name + "=" + root + filepath.Clean(value)
			}
		}
		return env
	})
}

// OpenFiles implements proc.Details.
func (t *translated) OpenFiles(id proc.Identity) ([]string, error) {
	return within(t, id, t.Lister.OpenFiles, func(root string, files []string) []string {
		files = slices.Clone(files)
		for i, path := range files {
			files[i] = root + inside(root, path)
		}
		return files
	})
}

// RemovedFiles implements proc.Details.
func (t *translated) RemovedFiles(id proc.Identity) (map[string]string, error) {
	return within(t, id, t.Lister.RemovedFiles, func(root string, files map[string]string) map[string]string {
		out := make(map[string]string, len(files))
		for path, descriptor := range files {
			out[root+inside(root, path)] = descriptor
		}
		return out
	})
}

// Exe implements proc.Details.
func (t *translated) Exe(id proc.Identity) (string, error) {
	return within(t, id, t.Lister.Exe, func(root, exe string) string { return root + inside(root, exe) })
}

// CWD implements proc.Details.
func (t *translated) CWD(id proc.Identity) (string, error) {
	return within(t, id, t.Lister.CWD, inside)
}

// within returns the result of read for a process. For a contained process with a separate
// home, it returns the result of translate instead.
func within[T any](t *translated, id proc.Identity, read func(proc.Identity) (T, error),
	translate func(root string, value T) T) (T, error) {
	value, err := read(id)
	if err != nil {
		return value, err
	}
	if root := t.rootOf(id); root != "" {
		value = translate(root, value)
	}
	return value, nil
}

// inside returns the name that a path has in a container. The system names it
// from the root of the mount namespace, which need not be that of the process.
func inside(root, path string) string {
	if top, err := os.Readlink(root); err == nil && top != "/" {
		if rest, ok := strings.CutPrefix(path, top+"/"); ok {
			return "/" + rest
		}
	}
	return path
}

// rooted is a path below the root of a process.
var rooted = regexp.MustCompile(`^(.*/(\d+)/root)(/.*)?$`)

// Contains reports whether a path is one in a container.
func Contains(path string) bool {
	root, _ := split(path)
	return root != ""
}

// split splits the path of a file of a container. root is empty for any other path.
func split(path string) (root, rest string) {
	if !strings.Contains(path, "/root") {
		return "", ""
	}
	m := rooted.FindStringSubmatch(path)
	if m == nil {
		return "", ""
	}
	if _, err := os.Lstat(filepath.Join(filepath.Dir(m[1]), "ns", "mnt")); err != nil { // a folder whose name only looks like that of a process
		return "", ""
	}
	return m[1], m[3]
}

// maxLinks is the number of symbolic links that EvalSymlinks follows before it fails, as on
// Linux.
const maxLinks = 40

// EvalSymlinks does the same as filepath.EvalSymlinks, also for a path in a container:
// links in the container lead to files of the container, and the root itself is not
// followed as a link. It does not wait for a file system of the container that does not answer: only it knows where the links
// there lead, so that nothing else can ask before.
func EvalSymlinks(path string) (string, error) {
	if !Contains(filepath.Clean(path)) {
		return filepath.EvalSymlinks(path)
	}
	return bounded.Look(path, func() (string, error) { return evalSymlinks(path) })
}

func evalSymlinks(path string) (string, error) {
	root, rest := split(filepath.Clean(path))
	if root == "" {
		return filepath.EvalSymlinks(path)
	}
	todo := strings.Split(rest, "/")
	at, links := "/", 0
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		info, err := os.Lstat(root + next)
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "evalsymlinks", Path: path, Err: errors.New("too many links")}
		}
		target, err := os.Readlink(root + next)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	return strings.TrimSuffix(root+at, "/"), nil
}

// Mark sets Container of the sessions that run in containers, since the paths in these sessions
// also look like paths of this machine.
func Mark(table proc.Lister, sessions []adapters.Session) {
	for i := range sessions {
		s := &sessions[i]
		root := ""
		if len(s.Files) > 0 {
			root, _ = split(s.Files[0])
		} else if t, ok := table.(*translated); ok && !s.Process.IsZero() {
			root = t.rootOf(s.Process)
		}
		if root == "" || s.Remote != "" {
			continue
		}
		var kind string
		kind, s.Container = nameOf(root)
		s.Evidence += "; in a container (" + kind + " " + s.Container + ")"
	}
}

// nameOf returns the name of a process's container: its mount namespace or, if the
// process shares that of Rollcall, its root folder.
func nameOf(root string) (kind, name string) {
	theirs, err := os.Readlink(filepath.Join(filepath.Dir(root), "ns", "mnt"))
	ours, _ := os.Readlink("/proc/self/ns/mnt")
	if top, rootErr := os.Readlink(root); err == nil && theirs == ours && rootErr == nil {
		return "root folder", top
	}
	if err != nil { // the process has ended meanwhile
		return "process", filepath.Base(filepath.Dir(root))
	}
	return "mount namespace", strings.Trim(strings.TrimPrefix(theirs, "mnt:"), "[]")
}
