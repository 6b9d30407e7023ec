package pistore

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/must"
)

func TestProgram(t *testing.T) {
	dir := t.TempDir()
	script, native := filepath.Join(dir, "script"), filepath.Join(dir, "native")
	for path, text := range map[string]string{script: "#!/usr/bin/env node\n", native: "\x7fELF\x02\x01"} {
		must.Do(t, os.WriteFile(path, []byte(text), 0o755))
	}
	has := func(names map[string]string) func(string) (string, error) {
		return func(name string) (string, error) {
			if path, ok := names[name]; ok {
				return path, nil
			}
			return "", errors.New("not found")
		}
	}
	for name, c := range map[string]struct {
		names    map[string]string
		pi, rust string
	}{
		"neither":  {nil, "", ""},
		"Pi alone": {map[string]string{"pi": script}, script, ""},
		"pi-rust":  {map[string]string{"pi": native}, "", native},
		"both":     {map[string]string{"pi": native, "legacy-pi": script}, script, native},
	} {
		if got, err := Program(false, has(c.names), "legacy-pi", "pi"); got != c.pi || (err == nil) != (c.pi != "") {
			t.Errorf("%s: Pi is %q, %v; want %q", name, got, err, c.pi)
		}
		if got, err := Program(true, has(c.names), "pi"); got != c.rust || (err == nil) != (c.rust != "") {
			t.Errorf("%s: pi_agent_rust is %q, %v; want %q", name, got, err, c.rust)
		}
	}
}

func TestLaunch(t *testing.T) {
	for name, c := range map[string]struct {
		task  adapters.Task
		args  []string
		stdin string
	}{
		"background": {adapters.Task{Prompt: "-x"}, []string{"-p", "--mode", "json"}, "-x"},
		"resume":     {adapters.Task{Prompt: "go on", Resume: "abc", Model: "m"}, []string{"-p", "--mode", "json", "--session", "abc", "--model", "m"}, "go on"},
		"terminal":   {adapters.Task{Prompt: "@file", Terminal: true}, []string{" @file"}, ""},
		"no prompt":  {adapters.Task{Terminal: true}, nil, ""},
	} {
		got, err := newStore(Pi, adapters.Config{Home: "/home/dev", Env: func(string) string { return "" }}).Command("/bin/pi", c.task)
		if err != nil || !slices.Equal(got.Args, c.args) || got.Stdin != c.stdin || got.Session != c.task.Resume {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// oh-my-pi 18.2.3 has Pi's script in a package of its own, and has the name of Bun at its start, on macOS for good.
func TestOhMyPiIsNotPi(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "omp")
	for script, want := range map[string]adapters.Name{
		"/usr/lib/node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js":         Pi,
		"/usr/lib/node_modules/@mariozechner/pi-coding-agent/dist/cli.js":                  Pi,
		"/home/dev/.bun/install/global/node_modules/@oh-my-pi/pi-coding-agent/dist/cli.js": "",
		bin: "",
	} {
		if got := agentOf("bun", "/usr/bin/bun", "/home/dev", []string{"bun", script}); got != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
}
