package all

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
)

// asComm returns what Linux keeps of the name of a program.
func asComm(name string) string { return name[:min(15, len(name))] }

// TestNamesOfPrograms: of each agent with a native program, the process is the agent's, and no other agent's, under each name that a way of installing it
// gives the program; a script that starts it, and a program with a similar name, are not.
func TestNamesOfPrograms(t *testing.T) {
	natives := map[adapters.Name]string{"claude-code": "claude", "codex": "codex", "opencode": "opencode", "kilo": "kilo", "cline": "cline", "grok": "grok"}
	forms := map[string]bool{
		"NAME": true, ".NAME": true, "NAME.exe": true, ".NAME-wrapped": true, ".NAME-wrapped_": true, ".NAME-wrapped__": true, "NAME-raw": true,
		"NAME-unwrapped": true, ".NAME-unwrapped-wrapped": true, "NAME-bin": true, "NAME.real": true,
		"NAME-backup": false, "NAMEd": false, "my-NAME": false, "NAME.js": false, "NAME-wrapper": false,
	}
	for agent, name := range natives {
		for form, want := range forms {
			file := strings.ReplaceAll(form, "NAME", name)
			owners(t, scene.Spec{Comm: asComm(file), Exe: "/nix/store/aaaa-" + name + "/bin/" + file, Args: []string{"/run/current-system/sw/bin/" + name}}, agent, want)
		}
		for _, exe := range []string{"/usr/bin/bash", "/usr/bin/dash", "/usr/bin/python3.11", "/usr/bin/perl", "/usr/bin/busybox"} {
			owners(t, scene.Spec{Comm: name, Exe: exe, Args: []string{exe, "/home/dev/bin/" + name}}, agent, false)
		}
		owners(t, scene.Spec{Comm: name, Exe: "/usr/bin/node", Args: []string{"node", "/opt/bin/" + name}}, agent, agent == "claude-code") // a script of Claude Code is the agent
		owners(t, scene.Spec{Comm: "bash", Exe: "/usr/bin/bash", Args: []string{name}}, agent, false)                                      // any process can say so
	}
	claude := func(exe string, args ...string) scene.Spec {
		return scene.Spec{Comm: asComm(filepath.Base(exe)), Exe: exe, Args: append([]string{"claude"}, args...)}
	}
	for _, c := range []struct {
		spec scene.Spec
		want bool
	}{
		{claude("/home/dev/.local/share/claude/versions/2.1.332"), true},
		{claude("/home/dev/.claude/remote/ccd-cli/2.1.332"), true},
		{claude("/home/dev/.claude/remote/ccd-cli/2.1.332", "-p", "stop"), false}, // a sub-command also behind an option
		{claude("/home/dev/tools/2.1.332"), false},
		{scene.Spec{Comm: "2.1.332", Exe: "/home/dev/.local/share/claude/versions/2.1.332 (deleted)", Args: []string{"claude"}}, true},
		{scene.Spec{Comm: "claude.exe", Exe: "/opt/claude.exe", Args: []string{"rg", "--files"}}, false},
		{scene.Spec{Comm: "claude", Exe: "/opt/my tools/claude", Args: []string{"/opt/my tools/claude", "--model", "mcp"}}, true},
		{scene.Spec{Comm: "claude", Exe: "/opt/claude", Args: []string{"/opt/claude bg-spare", "--bg-spare", "/tmp/x"}}, false},
		{scene.Spec{Comm: "claude", Exe: "/opt/claude", Args: []string{"claude", "--settings", "{}", "--bg-pty-host", "/tmp/x"}}, false},
		{scene.Spec{Comm: "claude", Exe: "/opt/claude", Args: []string{"claude", "--", "--bg-spare"}}, true}, // a prompt
		{scene.Spec{Comm: "claude", Exe: "/opt/claude", Args: []string{"claude", "--append-system-prompt", "daemon"}}, true},
		{scene.Spec{Comm: "claude", Exe: "/opt/claude", Args: []string{"claude", "--debug-file", "/tmp/log", "mcp", "serve"}}, false},
	} {
		owners(t, c.spec, "claude-code", c.want)
	}
	for exe, want := range map[string]bool{
		"/usr/local/lib/node_modules/@github/copilot-linux-x64/copilot": true, "/nix/store/aaaa-github-copilot-cli-1.0.102/bin/.copilot-wrapped": true,
		"/usr/bin/node": false, "/usr/local/bin/claude-desktop": false,
	} {
		owners(t, scene.Spec{Comm: "MainThread", Exe: exe, Args: []string{"copilot"}}, "copilot", want)
	}
}

// TestPlacesOfScripts: an agent that is a script of Node.js is known by the place of the script.
func TestPlacesOfScripts(t *testing.T) {
	for _, c := range []struct {
		agent          adapters.Name
		name, variable string
		script         string // in its package
		pkg            string
	}{
		{"gemini", "gemini", "GEMINI_CLI_NO_RELAUNCH=true", "bundle/gemini.js", "@google/gemini-cli"},
		{"qwen", "qwen", "QWEN_CODE_NO_RELAUNCH=true", "cli.js", "@qwen-code/qwen-code"},
		{"kimi", "kimi", "KIMI_DISABLE_TELEMETRY=1", "dist/main.mjs", "@moonshot-ai/kimi-code"},
	} {
		for _, way := range []struct {
			comm, script string
			want         bool
		}{
			{"MainThread", "/usr/lib/node_modules/" + c.pkg + "/" + c.script, true},
			{"node", "/home/dev/proj/node_modules/.bin/" + c.name, true},
			{"node", "/home/dev/.npm/_npx/0a1b/node_modules/.bin/" + c.name, true},
			{c.name, "/nix/store/aaaa-" + c.name + "/lib/node_modules/" + c.pkg + "/" + c.script, true}, // Node.js in its first line
			{asComm("." + c.name + "-wrapped"), "/nix/store/aaaa-x/bin/." + c.name + "-wrapped", true},
			{"MainThread", "/nix/store/aaaa-" + filepath.Base(c.pkg) + "-0.61.0/" + c.script, true},
			{"node", "/home/dev/" + c.name + ".js", false},
			{"node", "/home/dev/proj/server.js", false},
		} {
			spec := scene.Spec{Comm: way.comm, Exe: scene.NodeProgram, Args: []string{"node", "--import", "/opt/hook.mjs", way.script}, Env: []string{c.variable}}
			owners(t, spec, c.agent, way.want)
		}
	}
}

// owners starts a process and checks which agents own it: none but agent, and that one if want is set.
func owners(t *testing.T, spec scene.Spec, agent adapters.Name, want bool) {
	t.Helper()
	w := scene.New(t)
	spec.CWD, spec.Started = "/home/dev/p", time.Now().Add(-time.Minute)
	spec.Env = append(spec.Env, "HOME="+w.Home)
	id := w.Procs.Start(spec)
	p, err := w.Table.Find(id.PID)
	must.Do(t, err)
	for _, a := range New(w.Table, Config{Home: w.Home}) {
		owner, ok := a.(adapters.ProcessOwner)
		if !ok {
			continue
		}
		if got := owner.OwnsProcess(p); got != (want && a.Name() == agent) {
			t.Errorf("%s (%s) %q: owned by %s is %v", spec.Comm, spec.Exe, spec.Args, a.Name(), got)
		}
	}
}
