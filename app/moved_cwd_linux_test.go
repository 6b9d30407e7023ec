package app

import (
	"os"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/cline"
	"rollcall/adapters/copilot"
	"rollcall/adapters/gemini"
	"rollcall/adapters/qwen"
	players "rollcall/internal/adaptertest/scene"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

// The folder of a live session is renamed, and another one takes its name: the session is in its own folder, by the word of the process, for every agent. A
// session that has ended stays where its agent recorded it.
func TestCWDMoved(t *testing.T) {
	agents := map[adapters.Name]struct {
		play func(*players.Environment) players.Agent
		read func(adapters.Config) adapters.Adapter
	}{
		agentname.Copilot: {players.Copilot, func(c adapters.Config) adapters.Adapter { return copilot.New(c) }},
		agentname.Qwen:    {players.Qwen, func(c adapters.Config) adapters.Adapter { return qwen.New(c) }},
		agentname.Cline:   {players.Cline, func(c adapters.Config) adapters.Adapter { return cline.New(c) }},
		agentname.Gemini:  {players.Gemini, func(c adapters.Config) adapters.Adapter { return gemini.New(c) }},
	}
	for name, a := range homedAgents {
		agents[name] = a
	}
	for name, a := range agents {
		t.Run(string(name), func(t *testing.T) {
			w := players.New(t)
			cwd, moved := w.Path("src", "project"), w.Path("src", "renamed")
			must.Do(t, os.MkdirAll(cwd, 0o755))
			agent := a.play(w)
			one := agent.Start(cwd, "begin")
			config := Config{Adapters: []adapters.Adapter{a.read(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table})}, Table: w.Table, Since: time.Hour}
			long := New(config)
			expect := func(what string, status adapters.Status, cwd, former string) {
				t.Helper()
				long.Refresh(t.Context())
				for who, snap := range map[string]*Snapshot{"a fresh reader": Ask(t.Context(), config, Once{}), "the same reader": long.Snapshot()} {
					list := snap.Sessions()
					if len(list) != 1 || list[0].ID != one.ID || list[0].Status != status || list[0].CWD != cwd || list[0].FormerCWD != former {
						t.Errorf("%s, %s: %+v, want %s in %s, formerly %q", what, who, list, status, cwd, former)
					}
				}
			}
			expect("begun", adapters.Working, cwd, "")
			w.Procs.Move(cwd, moved)
			expect("renamed", adapters.Working, moved, cwd)
			must.Do(t, os.Mkdir(cwd, 0o755))
			expect("its name is another folder's", adapters.Working, moved, cwd)
			must.Do(t, os.Remove(cwd))
			w.Procs.Move(moved, cwd)
			expect("renamed back", adapters.Working, cwd, "")
			w.Procs.Move(cwd, moved)
			one.Kill()
			expect("killed", adapters.Stopped, cwd, "")
		})
	}
}

// A process that is elsewhere because it changed its folder itself, or hosts several sessions, shows nothing of the folder of its session.
func TestCWDIsNotTheProcesses(t *testing.T) {
	w := players.New(t)
	agent := players.ClaudeCode(w)
	removed := w.Path("src", "removed")
	must.Do(t, os.MkdirAll(removed, 0o755))
	one := agent.Start(removed, "begin")
	spec := w.Procs.Spec(one.Process.PID)
	must.Do(t, os.Remove(removed))
	for what, change := range map[string]func(*players.Spec){
		"it left the folder that was removed for the one above": func(s *players.Spec) { s.CWD = w.Path("src") },
		"it was started elsewhere":                              func(s *players.Spec) { s.CWD, s.Env = w.Home, append(s.Env, "PWD="+w.Home) },
	} {
		x := spec
		change(&x)
		x.Env = append(x.Env[:len(x.Env):len(x.Env)], "HOME="+w.Home)
		id := w.Procs.Start(x)
		p := must.Get(w.Table.Find(id.PID))(t)
		row := Session{Session: adapters.Session{
			ID:    one.ID,
			State: adapters.State{Status: adapters.Working},
			Owner: adapters.Owner{Process: id},
			Place: adapters.Place{CWD: removed},
		}}
		(&liveness{table: w.Table}).showMovedCWD(&row, &p)
		if row.CWD != removed || row.FormerCWD != "" || row.Evidence != "" {
			t.Errorf("%s: %+v", what, row)
		}
	}
}
