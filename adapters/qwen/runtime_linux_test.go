package qwen

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
	"rollcall/proc"
)

// runtimeID returns the id of the session with a letter.
func runtimeID(letter string) string {
	return strings.Repeat(letter, 8) + "-0000-4000-8000-000000000000"
}

// runtimeChat writes a session with an open prompt into a folder for run-time data, as 0.24.4 writes it.
func runtimeChat(w *scene.Environment, dir, letter string) {
	w.Append(filepath.Join(dir, "projects", "-home-dev-proj", "chats", runtimeID(letter)+".jsonl"),
		fmt.Sprintf(`{"uuid":"u%s","sessionId":%q,"timestamp":%q,"type":"user","cwd":"/home/dev/proj","version":"0.24.4","message":{"role":"user","parts":[{"text":"go"}]}}`,
			letter, runtimeID(letter), time.Now().UTC().Format(time.RFC3339Nano)))
}

// runtimeTerminal starts a terminal with variables, whose session the registry in a home names.
func runtimeTerminal(w *scene.Environment, home, letter string, variables ...string) proc.Identity {
	p := w.Procs.Start(scene.Spec{Comm: "MainThread", Exe: scene.NodeProgram, CWD: "/home/dev/proj", Started: time.Now().Add(-time.Second),
		Args: []string{"node", "/opt/qwen/node_modules/@qwen-code/qwen-code/cli.js"}, Env: append(variables, "HOME="+w.Home, node.Inner+"=true")})
	w.Write(filepath.Join(home, "sessions", fmt.Sprint(p.PID)+".json"), fmt.Sprintf(`{"schemaVersion":1,"pid":%d,"procStart":"%s:%d","sessionId":%q,"startedAt":%d}`,
		p.PID, p.Boot, p.Start, runtimeID(letter), time.Now().UnixMilli()))
	return p
}

// QWEN_RUNTIME_DIR moves the sessions of a process, and leaves the registry where QWEN_HOME has it (run with 0.24.4).
func TestRuntimeFolderOfProcess(t *testing.T) {
	w := scene.New(t)
	run := w.Path("run")
	home := w.Path("home")
	both := w.Path("run of home")
	runtimeChat(w, run, "a")
	runtimeChat(w, run, "b") // without the registry it would not be known which of the two
	runtimeChat(w, both, "c")
	runtimeChat(w, both, "d")
	want := map[string]proc.Identity{
		"a": runtimeTerminal(w, w.Path(".qwen"), "a", runtimeVariable+"="+run),
		"b": runtimeTerminal(w, w.Path(".qwen"), "b", runtimeVariable+"=run"), // where that is was not asked
		"c": runtimeTerminal(w, home, "c", runtimeVariable+"="+both, homeVariable+"="+home),
		"d": {},
	}
	for _, s := range adaptertest.Discover(t, New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table}), adapters.Query{}).Sessions {
		letter := s.ID[:1]
		if p, known := want[letter]; !known || s.Process != p || s.Home != map[bool]string{true: run, false: both}[letter < "c"] {
			t.Errorf("%s: %v in %s, %s", s.ID, s.Process, s.Home, s.Evidence)
		}
		delete(want, letter)
	}
	if len(want) > 0 {
		t.Errorf("not listed: %v", want)
	}
}

// The folder that the environment of Rollcall names is read, beside the sessions from before it was named, and a session is continued where it is.
func TestRuntimeFolderOfRollcall(t *testing.T) {
	w := scene.New(t)
	run, other := w.Path("run"), w.Path("other")
	runtimeChat(w, run, "a")
	runtimeChat(w, w.Path(".qwen"), "b")
	w.Write(filepath.Join(other, "installation_id"), "x")
	a := New(adapters.Config{Home: w.Home, Table: w.Table, Env: func(name string) string { return map[string]string{runtimeVariable: run}[name] }})
	var found []string
	for _, s := range adaptertest.Discover(t, a, adapters.Query{}).Sessions {
		found = append(found, s.ID[:1]+" "+string(s.Status))
	}
	if slices.Sort(found); !slices.Equal(found, []string{"a stopped", "b stopped"}) {
		t.Errorf("%q", found)
	}
	for home, want := range map[string][]string{
		"": nil, run: nil,
		w.Path(".qwen"): {runtimeVariable + "=" + w.Path(".qwen")},
		other:           {runtimeVariable + "=" + other, homeVariable + "=" + other},
	} {
		if c, err := a.Command("qwen", adapters.Task{Resume: runtimeID("a"), Terminal: true, Home: home}); err != nil || !slices.Equal(c.Set, want) {
			t.Errorf("%s: %v, %q, want %q", home, err, c.Set, want)
		}
	}
	plain := New(adapters.Config{Home: w.Home, Table: w.Table, Env: w.Env})
	if c, err := plain.Command("qwen", adapters.Task{Resume: runtimeID("a"), Terminal: true, Home: run}); err != nil || !slices.Equal(c.Set, []string{runtimeVariable + "=" + run}) {
		t.Errorf("%v, %q", err, c.Set)
	}
}
