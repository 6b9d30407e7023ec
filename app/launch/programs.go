package launch

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"rollcall/bounded"
	"rollcall/proc"
)

// LookPath returns the path of a program, as exec.LookPath does. If the PATH lacks the program, LookPath searches the
// folders in which agents and their managers install programs: a tray that was started by the desktop has a short PATH.
// It does not wait for a file system that does not answer.
func LookPath(name string) (string, error) {
	path, err := bounded.In(os.Getenv("PATH"), bounded.ReadLimit, func(context.Context) (string, error) { return exec.LookPath(name) })
	if err == nil || filepath.Base(name) != name {
		return path, err
	}
	for _, dir := range programFolders(runtime.GOOS) {
		if found, lookErr := lookIn(dir, name); lookErr == nil {
			return found, nil
		}
	}
	return "", err
}

func lookIn(dir, name string) (string, error) {
	return bounded.In(dir, bounded.ReadLimit, func(context.Context) (string, error) { return exec.LookPath(filepath.Join(dir, name)) })
}

// programFolders returns the absolute paths of the folders beyond the PATH in which LookPath searches, in this order.
func programFolders(goos string) []string {
	home, _ := os.UserHomeDir()
	below := func(variable, standard string, parts ...string) string {
		return filepath.Join(append([]string{cmp.Or(os.Getenv(variable), standard)}, parts...)...)
	}
	data := below("XDG_DATA_HOME", filepath.Join(home, ".local", "share"))
	list := []string{
		filepath.Join(home, ".local", "bin"),
		filepath.Join(home, ".npm-global", "bin"),
		below("BUN_INSTALL", filepath.Join(home, ".bun"), "bin"),
	}
	if goos == "windows" {
		return absolute(append(list,
			below("AppData", filepath.Join(home, "AppData", "Roaming"), "npm"),
			below("VOLTA_HOME", below("LocalAppData", filepath.Join(home, "AppData", "Local"), "Volta"), "bin")))
	}
	if prefix := os.Getenv("HOMEBREW_PREFIX"); prefix != "" {
		list = append(list, filepath.Join(prefix, "bin"))
	}
	list = append(list, "/opt/homebrew/bin", "/usr/local/bin", "/home/linuxbrew/.linuxbrew/bin",
		below("MISE_DATA_DIR", filepath.Join(data, "mise"), "shims"),
		below("ASDF_DATA_DIR", filepath.Join(home, ".asdf"), "shims"))
	if dir := nvmDefault(below("NVM_DIR", filepath.Join(home, ".nvm"))); dir != "" {
		list = append(list, dir)
	}
	return absolute(append(list, below("VOLTA_HOME", filepath.Join(home, ".volta"), "bin")))
}

// absolute leaves out the paths that are not absolute, such as those of a variable or home folder that is not set.
func absolute(paths []string) []string {
	return slices.DeleteFunc(paths, func(p string) bool { return !filepath.IsAbs(p) })
}

// nvmDefault returns the folder with the programs of nvm's default alias, or an empty string if there is none.
func nvmDefault(dir string) string {
	versions, err := bounded.In(dir, bounded.ReadLimit, func(context.Context) ([]string, error) {
		entries, err := os.ReadDir(filepath.Join(dir, "versions", "node"))
		names := make([]string, 0, len(entries))
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names, err
	})
	if err != nil {
		return ""
	}
	wanted := "default"
	for range 5 { // an alias may name another
		text, err := readAlias(filepath.Join(dir, "alias"), wanted)
		if err != nil {
			break
		}
		wanted = text
	}
	if v := newestVersion(versions, wanted); v != "" {
		return filepath.Join(dir, "versions", "node", v, "bin")
	}
	return ""
}

// readAlias returns the contents of one of nvm's alias files: a version, a part of one, or the name of another alias.
func readAlias(dir, name string) (string, error) {
	if !filepath.IsLocal(name) {
		return "", fs.ErrNotExist
	}
	return bounded.In(dir, bounded.ReadLimit, func(context.Context) (string, error) {
		f, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return "", err
		}
		defer func() { _ = f.Close() }()
		text, err := io.ReadAll(io.LimitReader(f, 100))
		return strings.TrimSpace(string(text)), err
	})
}

// newestVersion returns the newest of the versions ("v22.1.0") that wanted describes: a version ("v22.1.0", "22.1.0"), its
// beginning ("22"), or "node" or "stable" for any. It returns an empty string if there is none.
func newestVersion(versions []string, wanted string) string {
	prefix := "v" + strings.TrimPrefix(wanted, "v")
	var fitting []string
	for _, v := range versions {
		if v == prefix || strings.HasPrefix(v, prefix+".") || wanted == "node" || wanted == "stable" {
			fitting = append(fitting, v)
		}
	}
	if len(fitting) == 0 {
		return ""
	}
	return slices.MaxFunc(fitting, func(a, b string) int { return slices.Compare(numbers(a), numbers(b)) })
}

func numbers(version string) []int {
	var out []int
	for part := range strings.SplitSeq(strings.TrimPrefix(version, "v"), ".") {
		n, _ := strconv.Atoi(part)
		out = append(out, n)
	}
	return out
}

// withHelpers returns the environment of a program with a PATH on which its helpers are found: the interpreter of a script
// that begins with "#!/usr/bin/env", and the manager behind a shim. It adds folders at the end of the PATH, and only if
// the PATH lacks a helper.
func withHelpers(env []string, program string) []string {
	path := variable(env, "PATH")
	for _, helper := range helpersOf(program) {
		if isOnPath(path, helper) {
			continue
		}
		found, err := lookIn(filepath.Dir(program), helper)
		if err != nil {
			found, err = LookPath(helper)
		}
		if err == nil {
			path = strings.TrimPrefix(path+string(filepath.ListSeparator)+filepath.Dir(found), string(filepath.ListSeparator))
		}
	}
	if path == variable(env, "PATH") {
		return env
	}
	return proc.ChildEnv(env, nil, map[string]string{"PATH": path})
}

// helpersOf returns the names of the programs that a script needs on the PATH. It returns none for other programs.
func helpersOf(program string) []string {
	if ext := strings.ToLower(filepath.Ext(program)); ext == ".cmd" || ext == ".ps1" {
		return []string{"node"} // npm's shims
	}
	head, err := bounded.In(program, bounded.ReadLimit, func(context.Context) (string, error) {
		f, err := os.Open(program)
		if err != nil {
			return "", err
		}
		defer func() { _ = f.Close() }()
		return bufio.NewReader(io.LimitReader(f, 256)).ReadString('\n')
	})
	words := strings.Fields(strings.TrimPrefix(head, "#!"))
	if err != nil || !strings.HasPrefix(head, "#!") || len(words) < 2 || filepath.Base(words[0]) != "env" {
		return nil
	}
	var helpers []string
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") {
			helpers = append(helpers, w)
			break
		}
	}
	if dir := filepath.Dir(program); filepath.Base(dir) == "shims" && strings.Contains(dir, "asdf") {
		helpers = append(helpers, "asdf")
	}
	return helpers
}

func isOnPath(path, program string) bool {
	return slices.ContainsFunc(filepath.SplitList(path), func(dir string) bool {
		_, err := lookIn(dir, program)
		return err == nil && filepath.IsAbs(dir)
	})
}

// variable returns the value of an environment variable. On Windows the letter case of the name is ignored.
func variable(env []string, name string) string {
	value := ""
	for _, e := range env {
		if n, v, ok := strings.Cut(e, "="); ok && (n == name || runtime.GOOS == "windows" && strings.EqualFold(n, name)) {
			value = v
		}
	}
	return value
}
