//go:build agents && linux

package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/app"
	"rollcall/internal/must"
)

// A thread that is reopened right after its process was killed in mid-turn does not
// work: its last turn died. Closing it then changes nothing of that.
func TestCodexReopenedAtOnce(t *testing.T) {
	each(t, codexes, func(t *testing.T, s *Sandbox, r Release) {
		how := map[string][]string{"in its own process": nil}
		if r == CodexNewest {
			how = map[string][]string{"in its own process": {"--no-daemon"}, "by the daemon": nil}
		}
		for name, flags := range how {
			prompt := name + " [[delay 90]]"
			_, agent, asked := detachCodex(s, r, prompt)
			working := s.Becomes(byPrompt(name), asked, soon, "working")
			s.Kill(agent)
			terminal := s.Open(append(append([]string{s.Program(r), "resume"}, flags...), working.ID)...)
			s.shows(byID(working.ID), time.Now(), 30*time.Second, "open again", func(session Session) bool {
				return session.PID != 0 && session.PID != agent.PID
			})
			s.Stays(byID(working.ID), time.Second, "idle/died")
			terminal.Close()
			if len(flags) > 0 || r == CodexFloor {
				s.Becomes(byID(working.ID), time.Now(), soon, "stopped/died")
			}
		}
	})
}

// A terminal interface before its first prompt is a row of its own, until it has a
// session.
func TestCodexBeforeThePrompt(t *testing.T) {
	each(t, []Release{CodexNewest}, func(t *testing.T, s *Sandbox, r Release) {
		open := func(flags ...string) (*Terminal, Process) {
			terminal := s.Open(append([]string{s.Program(r)}, flags...)...)
			terminal.Shows("? for shortcuts")
			program := s.Descendant(terminal.PID(), "codex")
			row := s.Becomes(byPID(program.PID), time.Now(), soon, "idle")
			if row.CWD != s.Project || !strings.HasPrefix(row.ID, "process-") || !strings.Contains(row.Evidence, "no session yet") {
				t.Errorf("row of an open terminal: %v in %s", row, row.CWD)
			}
			return terminal, program
		}
		replaced := func(terminal *Terminal, prompt string, rows int) {
			t.Helper()
			asked := terminal.Prompt(prompt + " [[delay 1]]")
			s.shows(byPrompt(prompt), asked, soon, "a session", func(Session) bool { return true })
			terminal.Shows("Mock answer to: " + prompt)
			s.Becomes(byPrompt(prompt), time.Now(), soon, "idle", "idle/completed")
			roll := must.Get(s.List())(t)
			_, found := roll.find(func(x Session) bool { return strings.HasPrefix(x.ID, "process-") })
			if found != rows {
				t.Errorf("%d rows of processes beside sessions, want %d:%v", found, rows, roll)
			}
		}
		first, _ := open()
		replaced(first, "one", 0)
		second, program := open()
		alone, _ := open("--no-daemon")
		replaced(alone, "two", 1)
		replaced(second, "three", 0)
		s.Kill(program)
		s.Becomes(byPrompt("three"), time.Now(), soon, "idle", "idle/completed")
	})
}

// The daemon has the thread of a run with --remote, and goes on with it when the run is killed. A terminal beside it has no session yet.
func TestCodexRunOfTheDaemon(t *testing.T) {
	each(t, []Release{CodexNewest}, func(t *testing.T, s *Sandbox, r Release) {
		terminal := openCodex(s, r)
		fresh := s.Descendant(terminal.PID(), "codex")
		socket := filepath.Join(s.Home, ".codex", "app-server-control", "app-server-control.sock")
		if err := poll(30*time.Second, func() bool { _, err := os.Stat(socket); return err == nil }); err != nil {
			t.Fatalf("no socket of the daemon: %v", err)
		}
		wrapper := s.Detached(s.Program(r), "exec", "--remote", "unix://", "in the daemon [[delay 300]]")
		asked := s.Asked("in the daemon")
		working := s.Becomes(byPrompt("in the daemon"), asked, soon, "working")
		if daemon := host(s, r, terminal); working.PID != daemon.PID || working.Unattended {
			t.Errorf("working: %v, want pid %d; unattended %v", working, daemon.PID, working.Unattended)
		}
		s.Becomes(byPID(fresh.PID), time.Now(), soon, "idle")
		run := s.Descendant(wrapper.PID, "codex")
		s.Kill(run)
		s.Becomes(byID(working.ID), time.Now(), soon, "working")
		s.rollcall("interrupt", working.ID)
		s.Becomes(byID(working.ID), time.Now(), soon, "idle/interrupted")
		s.Becomes(byPID(fresh.PID), time.Now(), soon, "idle") // the daemon keeps the thread, and no terminal shows it
	})
}

// A run that stores nothing is listed from its process, and its end is told.
func TestCodexEphemeral(t *testing.T) {
	each(t, []Release{CodexNewest}, func(t *testing.T, s *Sandbox, r Release) {
		f := follow(s)
		wrapper := s.Detached(s.Program(r), "exec", "--ephemeral", "leaves nothing [[delay 5]]")
		asked := s.Asked("leaves nothing")
		agent := s.Descendant(wrapper.PID, "codex")
		row := s.Becomes(byPID(agent.PID), asked, soon, "working")
		if row.CWD != s.Project || !strings.Contains(row.Evidence, "stores nothing") {
			t.Errorf("%v in %s", row, row.CWD)
		}
		s.Gone(agent)
		if roll, err := s.List("--all"); err != nil || len(roll.Sessions) != 0 {
			t.Errorf("after its end: %v %v", roll, err)
		}
		if err := poll(soon, func() bool { return f.count(app.Ended, "") == 1 }); err != nil {
			t.Errorf("its end is told %d times", f.count(app.Ended, ""))
		}
	})
}

// A home of its own is found by the process, and something else in the place of the
// sessions is no empty list.
func TestCodexHomes(t *testing.T) {
	nightly(t)
	each(t, codexes, func(t *testing.T, s *Sandbox, r Release) {
		own, other := filepath.Join(s.Home, ".codex"), filepath.Join(s.Home, "profiles", "codex")
		config := must.Get(os.ReadFile(filepath.Join(own, "config.toml")))(t)
		must.Do(t, os.MkdirAll(other, 0o700))
		must.Do(t, os.WriteFile(filepath.Join(other, "config.toml"), config, 0o600))
		wrapper := s.Detached("env", "CODEX_HOME="+other, s.Program(r), "exec", "elsewhere [[delay 60]]")
		asked := s.Asked("elsewhere")
		agent := s.Descendant(wrapper.PID, "codex")
		if working := s.Becomes(byPrompt("elsewhere"), asked, soon, "working"); working.PID != agent.PID {
			t.Errorf("pid %d, want %d", working.PID, agent.PID)
		}
		_, here, asked := detachCodex(s, r, "here [[delay 1]]")
		s.shows(byPrompt("here"), asked, soon, "a session", func(Session) bool { return true })
		s.Gone(here)
		sessions := filepath.Join(own, "sessions")
		must.Do(t, os.RemoveAll(sessions))
		must.Do(t, os.WriteFile(sessions, []byte("not a folder"), 0o600))
		roll := must.Get(s.List("--all"))(t)
		if health := roll.health("codex"); health.State != "failed" || !strings.Contains(health.Error, "not a folder") {
			t.Errorf("a file in the place of the sessions: %+v", health)
		}
		s.Becomes(byPrompt("elsewhere"), time.Now(), soon, "working")
	})
}
