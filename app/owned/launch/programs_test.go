package launch

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

// shortPath sets an empty home folder and the PATH of a desktop session. It returns the home folder.
func shortPath(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs scripts with an interpreter line")
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("PATH", "/usr/bin:/bin")
	for _, name := range []string{"BUN_INSTALL", "HOMEBREW_PREFIX", "MISE_DATA_DIR", "ASDF_DATA_DIR", "NVM_DIR", "VOLTA_HOME", "XDG_DATA_HOME",
		"PNPM_HOME", "FNM_DIR", "N_PREFIX", "NODENV_ROOT"} {
		t.Setenv(name, "")
	}
	return home
}

func writeScript(t *testing.T, path, text string) string {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.Do(t, os.WriteFile(path, []byte(text), 0o700))
	return path
}

func TestLookPathBeyondThePATH(t *testing.T) {
	const name = "rollcall-test-agent"
	for _, dir := range []string{".local/bin", ".npm-global/bin", ".bun/bin", ".local/share/mise/shims", ".asdf/shims", ".volta/bin",
		".opencode/bin", ".local/share/pnpm", ".local/share/fnm/aliases/default/bin", ".local/share/fnm/node-versions/v22.1.0/installation/bin",
		".fnm/aliases/default/bin", "n/bin", ".nodenv/shims", ".nix-profile/bin", ".nvm/versions/node/v22.1.0/bin"} {
		t.Run(dir, func(t *testing.T) {
			want := writeScript(t, filepath.Join(shortPath(t), dir, name), "#!/bin/sh\n")
			if path, err := LookPath(name); path != want || err != nil {
				t.Errorf("%q, %v", path, err)
			}
		})
	}
	for variable, dir := range map[string]string{"BUN_INSTALL": "bin", "HOMEBREW_PREFIX": "bin", "MISE_DATA_DIR": "shims", "ASDF_DATA_DIR": "shims", "VOLTA_HOME": "bin",
		"PNPM_HOME": ".", "FNM_DIR": "aliases/default/bin", "N_PREFIX": "bin", "NODENV_ROOT": "shims"} {
		t.Run(variable, func(t *testing.T) {
			shortPath(t)
			root := t.TempDir()
			want := writeScript(t, filepath.Join(root, dir, name), "#!/bin/sh\n")
			t.Setenv(variable, root)
			if path, err := LookPath(name); path != want || err != nil {
				t.Errorf("%q, %v", path, err)
			}
		})
	}
	t.Run("the PATH comes first", func(t *testing.T) {
		writeScript(t, filepath.Join(shortPath(t), ".local/bin/sh"), "#!/bin/sh\n")
		if path, err := LookPath("sh"); err != nil || filepath.Dir(path) == filepath.Join(os.Getenv("HOME"), ".local/bin") {
			t.Errorf("%q, %v", path, err)
		}
	})
	t.Run("nowhere, not executable", func(t *testing.T) {
		path := writeScript(t, filepath.Join(shortPath(t), ".local/bin", name), "#!/bin/sh\n")
		must.Do(t, os.Chmod(path, 0o600))
		if path, err := LookPath(name); err == nil {
			t.Errorf("found %q", path)
		}
	})
}

func TestNvmDefault(t *testing.T) {
	for name, c := range map[string]struct {
		aliases map[string]string
		want    string
	}{
		"a version":          {map[string]string{"default": "v20.1.0"}, "v20.1.0"},
		"without the v":      {map[string]string{"default": "20.1.0\n"}, "v20.1.0"},
		"the newest of one":  {map[string]string{"default": "20"}, "v20.11.1"},
		"node":               {map[string]string{"default": "node"}, "v22.9.0"},
		"an alias":           {map[string]string{"default": "lts/*", "lts/*": "lts/iron", "lts/iron": "v20.9.0"}, "v20.9.0"},
		"not installed":      {map[string]string{"default": "18"}, "v22.9.0"},
		"the system's":       {map[string]string{"default": "system"}, "v22.9.0"},
		"no alias":           {nil, "v22.9.0"},
		"an alias of itself": {map[string]string{"default": "default"}, "v22.9.0"},
		"a path":             {map[string]string{"default": "../../v20.1.0"}, "v22.9.0"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(shortPath(t), ".nvm")
			for _, v := range []string{"v20.1.0", "v20.9.0", "v20.11.1", "v22.9.0", "v2.0.0"} {
				writeScript(t, filepath.Join(dir, "versions/node", v, "bin/rollcall-test-agent"), "#!/bin/sh\n")
			}
			for alias, text := range c.aliases {
				writeScript(t, filepath.Join(dir, "alias", alias), text)
			}
			want := ""
			if c.want != "" {
				want = filepath.Join(dir, "versions/node", c.want, "bin/rollcall-test-agent")
			}
			if path, _ := LookPath("rollcall-test-agent"); path != want {
				t.Errorf("%q, want %q", path, want)
			}
		})
	}
}

// TestNewestVersion: without a default the newest version with the program is taken, by number.
func TestNewestVersion(t *testing.T) {
	home := shortPath(t)
	for _, v := range []string{"v9.9.0", "v22.3.0", "v22.10.0"} {
		writeScript(t, filepath.Join(home, ".nvm/versions/node", v, "bin/rollcall-test-agent"), "#!/bin/sh\n")
	}
	writeScript(t, filepath.Join(home, ".nvm/versions/node/v24.0.0/bin/other"), "#!/bin/sh\n")
	if path, err := LookPath("rollcall-test-agent"); filepath.Base(filepath.Dir(filepath.Dir(path))) != "v22.10.0" {
		t.Errorf("%q, %v", path, err)
	}
}

// found is an adapter whose program LookPath finds.
type found struct {
	adapters.Adapter
	program string
}

func (f found) Name() adapters.Name { return agentname.Codex }

func (f found) Modes() []adapters.Mode { return nil }

func (f found) Program(look func(string) (string, error)) (string, error) { return look(f.program) }

func (f found) Command(program string, _ adapters.Task) (adapters.Command, error) {
	return adapters.Command{Path: program}, nil
}

// TestInterpreterBeyondThePATH starts a script in one folder whose interpreter is in another. Both are beyond the PATH.
func TestInterpreterBeyondThePATH(t *testing.T) {
	home := shortPath(t)
	writeScript(t, filepath.Join(home, ".npm-global/bin/rollcall-test-agent"), "#!/usr/bin/env rollcall-test-node\n")
	writeScript(t, filepath.Join(home, ".nvm/alias/default"), "22")
	writeScript(t, filepath.Join(home, ".nvm/versions/node/v22.0.0/bin/rollcall-test-node"), "#!/bin/sh\necho interpreted \"$PATH\"\n")
	p, err := Prepare(found{program: "rollcall-test-agent"}, Request{Task: adapters.Task{Dir: home, Prompt: "x"}}, os.Environ())
	must.Do(t, err)
	cmd := exec.Command(p.Command.Path)
	cmd.Env = p.Env
	out, err := cmd.CombinedOutput()
	if want := "interpreted /usr/bin:/bin:" + filepath.Join(home, ".nvm/versions/node/v22.0.0/bin") + "\n"; err != nil || string(out) != want {
		t.Errorf("%s (%v), want %s", out, err, want)
	}
}

func TestHelpers(t *testing.T) {
	home := shortPath(t)
	for text, want := range map[string]string{
		"#!/usr/bin/env node\n":                   "node",
		"#!/usr/bin/env -S node --no-warnings\nx": "node",
		"#!/usr/bin/env -S A=b bun\n":             "bun",
		"#!/bin/sh\n":                             "",
		"\x7fELF\x02#!/usr/bin/env node\n":        "",
		"":                                        "",
		"#!/usr/bin/env\n":                        "",
		"#! /usr/bin/env python3\nprint('hello')\n'": "python3",
	} {
		got := ""
		for _, h := range helpersOf(writeScript(t, filepath.Join(home, "bin/agent"), text)) {
			got += h
		}
		if got != want {
			t.Errorf("%q needs %q, want %q", text, got, want)
		}
	}
	shim := writeScript(t, filepath.Join(home, ".asdf/shims/agent"), "#!/usr/bin/env bash\nexec asdf exec agent\n")
	if got := helpersOf(shim); len(got) != 2 || got[1] != "asdf" {
		t.Errorf("%q", got)
	}
	if env := withHelpers([]string{"PATH=/usr/bin:/bin", "A=b"}, writeScript(t, filepath.Join(home, "bin/agent"), "#!/usr/bin/env sh\n")); len(env) != 2 || env[0] != "PATH=/usr/bin:/bin" {
		t.Errorf("%q", env)
	}
}
