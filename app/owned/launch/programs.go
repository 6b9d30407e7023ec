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
	"strings"

	"golang.org/x/mod/semver"

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

// LookBeside returns LookPath and, for a program that it does not find, the place of one with this name that runs: the path of its executable, or of the
// script that its interpreter runs. So an agent that runs counts as installed, and can be launched. running are processes of this machine.
func LookBeside(table proc.Details, running []proc.Identity) func(name string) (string, error) {
	return func(name string) (string, error) {
		path, err := LookPath(name)
		if err == nil || filepath.Base(name) != name {
			return path, err
		}
		for _, id := range running {
			args, _ := table.Args(id)
			exe, _ := table.Exe(id)
			for _, program := range append([]string{exe}, args[:min(len(args), 2)]...) {
				if !filepath.IsAbs(program) || strings.TrimSuffix(filepath.Base(program), ".exe") != name {
					continue
				}
				if found, lookErr := lookIn(filepath.Dir(program), filepath.Base(program)); lookErr == nil {
					return found, nil
				}
			}
		}
		return "", err
	}
}

func lookIn(dir, name string) (string, error) {
	return bounded.In(dir, bounded.ReadLimit, func(context.Context) (string, error) { return exec.LookPath(filepath.Join(dir, name)) })
}

// programFolders returns the absolute paths of the folders beyond the PATH in which LookPath searches, in this order: where
// installers put programs, and where the managers of Node.js and of packages do. Of several versions of Node.js the one that
// its manager uses comes first, then the newest.
func programFolders(goos string) []string {
	home, _ := os.UserHomeDir()
	below := func(variable, standard string, parts ...string) string {
		return filepath.Join(append([]string{cmp.Or(os.Getenv(variable), standard)}, parts...)...)
	}
	inHome := func(parts ...string) string { return filepath.Join(append([]string{home}, parts...)...) }
	list := []string{
		inHome(".local", "bin"),
		inHome(".npm-global", "bin"),
		below("BUN_INSTALL", inHome(".bun"), "bin"),
		inHome(".opencode", "bin"),
	}
	if goos == "windows" {
		local := below("LocalAppData", inHome("AppData", "Local"))
		roaming := below("AppData", inHome("AppData", "Roaming"))
		return absolute(append(list,
			filepath.Join(roaming, "npm"),
			below("VOLTA_HOME", filepath.Join(local, "Volta"), "bin"),
			below("PNPM_HOME", filepath.Join(local, "pnpm")),
			below("FNM_DIR", filepath.Join(roaming, "fnm"), "aliases", "default")))
	}
	data := below("XDG_DATA_HOME", inHome(".local", "share"))
	store := data // of pnpm and fnm
	if goos == "darwin" {
		store = inHome("Library")
	}
	if prefix := os.Getenv("HOMEBREW_PREFIX"); prefix != "" {
		list = append(list, filepath.Join(prefix, "bin"))
	}
	list = append(list, "/opt/homebrew/bin", "/usr/local/bin", "/home/linuxbrew/.linuxbrew/bin",
		below("MISE_DATA_DIR", filepath.Join(data, "mise"), "shims"),
		below("ASDF_DATA_DIR", inHome(".asdf"), "shims"),
		below("VOLTA_HOME", inHome(".volta"), "bin"),
		below("PNPM_HOME", filepath.Join(store, "pnpm")),
		below("N_PREFIX", inHome("n"), "bin"),
		below("NODENV_ROOT", inHome(".nodenv"), "shims"),
		inHome(".nix-profile", "bin"), "/nix/var/nix/profiles/default/bin", "/run/current-system/sw/bin")
	list = append(list, nvmFolders(below("NVM_DIR", inHome(".nvm")))...)
	for _, dir := range []string{below("FNM_DIR", filepath.Join(data, "fnm")), inHome("Library", "Application Support", "fnm"), inHome(".fnm")} {
		list = append(list, filepath.Join(dir, "aliases", "default", "bin"))
		for _, v := range nodeVersions(filepath.Join(dir, "node-versions")) {
			list = append(list, filepath.Join(dir, "node-versions", v, "installation", "bin"))
		}
	}
	return absolute(list)
}

// absolute leaves out the paths that are not absolute, such as those of a variable or home folder that is not set.
func absolute(paths []string) []string {
	return slices.DeleteFunc(paths, func(p string) bool { return !filepath.IsAbs(p) })
}

// nodeVersions returns the names of the versions ("v22.1.0") in a folder, the newest first.
func nodeVersions(dir string) []string {
	versions, _ := bounded.In(dir, bounded.ReadLimit, func(context.Context) (names []string, err error) {
		entries, err := os.ReadDir(dir)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names, err
	})
	slices.SortFunc(versions, func(a, b string) int { return semver.Compare(b, a) })
	return versions
}

// nvmFolders returns the folders with the programs of nvm's versions: the one of the default alias, then the newest first.
func nvmFolders(dir string) []string {
	versions := nodeVersions(filepath.Join(dir, "versions", "node"))
	wanted := "default"
	for range 5 { // an alias may name another
		text, err := readAlias(filepath.Join(dir, "alias"), wanted)
		if err != nil {
			break
		}
		wanted = text
	}
	if at := slices.IndexFunc(versions, func(v string) bool { return isVersion(v, wanted) }); at >= 0 {
		versions = slices.Concat(versions[at:at+1], versions[:at], versions[at+1:])
	}
	for i, v := range versions {
		versions[i] = filepath.Join(dir, "versions", "node", v, "bin")
	}
	return versions
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

// isVersion reports whether wanted describes a version ("v22.1.0"): that version ("v22.1.0", "22.1.0"), its beginning
// ("22"), or "node" or "stable" for any.
func isVersion(version, wanted string) bool {
	prefix := "v" + strings.TrimPrefix(wanted, "v")
	return version == prefix || strings.HasPrefix(version, prefix+".") || wanted == "node" || wanted == "stable"
}

// withHelpers returns the environment of a program with a PATH on which its helpers are found: the interpreter of a script
// that begins with "#!/usr/bin/env", and the manager behind a shim. It adds folders at the end of the PATH, and only if
// the PATH lacks a helper.
func withHelpers(env []string, program string) []string {
	path := Getenv(env, "PATH")
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
	if path == Getenv(env, "PATH") {
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

// Getenv returns the value of an environment variable. On Windows the letter case of the name is ignored.
func Getenv(env []string, name string) string {
	value := ""
	for _, e := range env {
		if n, v, ok := strings.Cut(e, "="); ok && (n == name || runtime.GOOS == "windows" && strings.EqualFold(n, name)) {
			value = v
		}
	}
	return value
}
