package all

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
	"rollcall/proc"
)

// players play every agent whose sessions have processes.
var players = []func(*scene.Environment) scene.Agent{scene.ClaudeCode, scene.Codex, scene.OpenCode, scene.Kilo, scene.Pi, scene.PiRust, scene.Copilot, scene.Cline,
	scene.Gemini, scene.Qwen, scene.Grok, scene.Kimi, scene.Omp}

// slowly starts processes as a busy machine does for a program that starts an agent: the process begins after a moment, seems to
// have begun up to a clock tick later than it did, and its environment names the folder of the program, not its own.
type slowly struct{ *scene.Environment }

func (s slowly) Start(spec scene.Spec) proc.Identity {
	<-time.After(50 * time.Millisecond) // longer than the precision with which the start of a process is known
	spec.Started = time.Now().Add(9 * time.Millisecond)
	return elsewhere{s}.Start(spec)
}

func (s slowly) Open(pid int, path string)         { s.Procs.Open(pid, path) }
func (s slowly) Connect(int)                       {}
func (s slowly) End(pid int)                       { s.Procs.End(pid) }
func (s slowly) Suspend(pid int)                   { s.Procs.Suspend(pid) }
func (s slowly) Continue(pid int)                  { s.Procs.Continue(pid) }
func (s slowly) Append(_ int, path, line string)   { s.Environment.Append(path, line) }
func (s slowly) Write(_ int, path, content string) { s.Environment.Write(path, content) }

// elsewhere starts processes as a program that starts an agent: the environment names the folder of the program.
type elsewhere struct{ slowly }

func (s elsewhere) Start(spec scene.Spec) proc.Identity {
	spec.Env = append(spec.Env, "PWD=/")
	return s.Procs.Start(spec)
}

// TestStartedSlowly: the session of a process that a program started on a busy machine is working, as its stand-in plays it, and none is "open" beside it. After
// its folder was renamed, of which nothing shows the former name, it is working still or unknown: it is not over.
func TestStartedSlowly(t *testing.T) {
	for _, begin := range players {
		w := scene.New(t)
		machine := scene.On(t, w.Home, slowly{w})
		machine.Table = w.Table
		played := begin(machine)
		t.Run(string(played.Name()), func(t *testing.T) {
			dir := w.Path("src", "proj")
			must.Do(t, os.MkdirAll(dir, 0o755))
			s := played.Start(dir, "hello")
			rows := rowsOf(t, w, played.Name())
			if len(rows) != 1 || rows[0].ID != s.ID || rows[0].Status != adapters.Working {
				t.Errorf("%s", shown(rows))
			}
			w.Procs.Move(dir, dir+"-renamed")
			rows = rowsOf(t, w, played.Name())
			for _, row := range rows {
				if row.ID == s.ID && row.Status != adapters.Working && row.Status != adapters.Unknown || row.ID != s.ID && row.Status != adapters.Unknown {
					t.Errorf("renamed: %s", shown(rows))
				}
			}
		})
	}
}

// tellsApart are the agents whose sessions are known by their beginnings, although their folders were renamed.
var tellsApart = map[adapters.Name]bool{"gemini": true, "kimi": true}

// TestSeveralRenamed: of several processes that a program started, and whose folders were renamed at once, each session is what it is, or unknown: none is over, and no row beside
// them is a session of its own that is known. They are two in one folder, two in a folder each, or one of each folder has answered.
func TestSeveralRenamed(t *testing.T) {
	for name, folders := range map[string][]string{"in one folder": {"a", "a"}, "in two": {"a", "b"}, "in two of three": {"a", "b", "a"}} {
		for _, begin := range players {
			w := scene.New(t)
			machine := scene.On(t, w.Home, slowly{w})
			machine.Table = w.Table
			played := begin(machine)
			t.Run(string(played.Name())+" "+name, func(t *testing.T) {
				var sessions []*scene.Session
				for i, name := range folders {
					dir := w.Path("src", name)
					must.Do(t, os.MkdirAll(dir, 0o755))
					s := played.Start(dir, "hello "+strconv.Itoa(i))
					if i == 1 {
						s.Answer("fine")
					}
					sessions = append(sessions, s)
				}
				for _, name := range slices.Compact(slices.Sorted(slices.Values(folders))) {
					w.Procs.Move(w.Path("src", name), w.Path("src", name+"-renamed"))
				}
				rows := rowsOf(t, w, played.Name())
				for _, s := range sessions {
					i := slices.IndexFunc(rows, func(row adapters.Session) bool { return row.ID == s.ID })
					isRight := i >= 0 && (rows[i].Status == adapters.Unknown && !tellsApart[played.Name()] || rows[i].Status == adapters.Working && played.Name() == "gemini" || rows[i].Status == s.Truth().Status)
					if !isRight || rows[i].Process.PID != 0 && rows[i].Process.PID != s.Process.PID {
						t.Errorf("%s is %s: %s", s.ID, s.Truth(), shown(rows))
					}
				}
				for _, row := range rows {
					isOne := slices.ContainsFunc(sessions, func(s *scene.Session) bool { return s.ID == row.ID })
					if !isOne && row.Status != adapters.Unknown {
						t.Errorf("%s: %s", row.ID, shown(rows))
					}
				}
			})
		}
	}
}

// TestYoungFolder: a session that ended in a folder that was made after another process began is over, and that process has its own session alone.
func TestYoungFolder(t *testing.T) {
	for _, begin := range players {
		w := scene.New(t)
		machine := scene.On(t, w.Home, slowly{w})
		machine.Table = w.Table
		played := begin(machine)
		t.Run(string(played.Name()), func(t *testing.T) {
			var sessions []*scene.Session
			for _, name := range []string{"older", "younger"} {
				dir := w.Path("src", name)
				must.Do(t, os.MkdirAll(dir, 0o755))
				sessions = append(sessions, played.Start(dir, "hello to "+name))
			}
			sessions[1].Kill()
			for _, s := range sessions {
				rows := rowsOf(t, w, played.Name())
				i := slices.IndexFunc(rows, func(row adapters.Session) bool { return row.ID == s.ID })
				if i < 0 || len(rows) != 2 || rows[i].Status != s.Truth().Status {
					t.Errorf("%s is %s: %s", s.ID, s.Truth(), shown(rows))
				}
			}
		})
	}
}

// TestYoungFolderBesideResumed: a session that began and ended in a new folder is over, although a process began at the same time: that process has the older session that it went
// on with, in its own folder.
func TestYoungFolderBesideResumed(t *testing.T) {
	for _, begin := range players {
		w := scene.New(t)
		machine := scene.On(t, w.Home, elsewhere{slowly{w}})
		machine.Table = w.Table
		played := begin(machine)
		t.Run(string(played.Name()), func(t *testing.T) {
			begins := func(name string) *scene.Session {
				dir := w.Path("src", name)
				must.Do(t, os.MkdirAll(dir, 0o755))
				return played.Start(dir, "hello to "+name)
			}
			older := begins("older")
			older.Answer("fine")
			older.Exit()
			older.Resume("more of it")
			younger := begins("younger")
			younger.Kill()
			for _, s := range []*scene.Session{older, younger} {
				rows := rowsOf(t, w, played.Name())
				i := slices.IndexFunc(rows, func(row adapters.Session) bool { return row.ID == s.ID })
				if i < 0 || len(rows) != 2 || rows[i].Status != s.Truth().Status {
					t.Errorf("%s is %s: %s", s.ID, s.Truth(), shown(rows))
				}
			}
		})
	}
}

// rowsOf returns the rows of one agent.
func rowsOf(t *testing.T, w *scene.Environment, agent adapters.Name) []adapters.Session {
	t.Helper()
	<-time.After(20 * time.Millisecond) // each process has begun by then also where it seems to have begun later: see slowly
	for _, a := range New(w.Table, Config{Home: w.Home}) {
		if a.Name() == agent {
			roll, err := a.Discover(t.Context(), adapters.Query{})
			must.Do(t, err)
			return roll.Sessions
		}
	}
	return nil
}

func shown(rows []adapters.Session) string {
	var list []string
	for i := range rows {
		list = append(list, rows[i].ID+" "+scene.TruthOf(&rows[i]).String()+": "+rows[i].Evidence)
	}
	return strings.Join(list, "\n   ")
}
