//go:build agents && linux

package agents

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/internal/must"
)

// mustCopy copies a file, and makes its folder.
func mustCopy(t *testing.T, from, to string) {
	t.Helper()
	must.Do(t, copyFile(from, to))
}

// An agent with a home elsewhere, also behind a symbolic link, is found through
// its process.
func TestClaudeHomeElsewhere(t *testing.T) {
	nightly(t)
	each(t, claudes, func(t *testing.T, s *Sandbox, r Release) {
		for _, linked := range []bool{false, true} {
			home := filepath.Join(s.dir, "config"+strconv.FormatBool(linked))
			mustCopy(t, filepath.Join(s.Home, ".claude.json"), filepath.Join(home, ".claude.json"))
			if linked {
				must.Do(t, os.Symlink(home, home+"-link"))
				home += "-link"
			}
			id := uuid(t)
			terminal := s.Open("env", "CLAUDE_CONFIG_DIR="+home, s.Program(r), "--session-id", id, "--permission-mode", "default")
			terminal.Shows("? for shortcuts")
			terminal.Works(byID(id), "elsewhere "+id[:8]+" [[delay 3]]")
			terminal.Shows("Mock answer to: elsewhere")
			s.Becomes(byID(id), time.Now(), soon, "idle/completed")
		}
	})
}

// The registry file of a session is deleted while it works: whether it works is not known any more, until its turn is over.
func TestClaudeEntryDeleted(t *testing.T) {
	each(t, claudes, func(t *testing.T, s *Sandbox, r Release) {
		id := uuid(t)
		terminal, agent := openClaude(s, r, id)
		terminal.Works(byID(id), "deleted [[delay 15]]")
		written(s, id, "deleted")
		must.Do(t, os.Remove(filepath.Join(s.Home, ".claude", "sessions", strconv.Itoa(agent.PID)+".json")))
		if unknown := s.Becomes(byID(id), time.Now(), soon, "unknown"); unknown.PID != agent.PID {
			t.Errorf("pid %d, want %d", unknown.PID, agent.PID)
		}
		terminal.Shows("Mock answer to: deleted")
		s.Becomes(byID(id), time.Now(), soon, "idle/completed")
		terminal.Leave("/exit", agent)
		s.Becomes(byID(id), time.Now(), soon, "stopped/completed")
	})
}

// Versions that do not record what they wait for: one row for the process, and for the one session of its folder that was written
// since its start "idle" or "unknown".
func TestClaudeOlder(t *testing.T) {
	nightly(t)
	each(t, []Release{ClaudeBelow}, func(t *testing.T, s *Sandbox, r Release) {
		id := uuid(t)
		terminal := s.Open(s.Program(r), "--session-id", id, "--permission-mode", "default")
		terminal.Shows("? for shortcuts")
		agent := s.Descendant(terminal.PID(), "claude")
		s.Becomes(byPID(agent.PID), time.Now(), soon, "idle")
		terminal.PromptUntil("need it [[bash touch asked.txt]]", "Do you want to proceed?")
		if waits := s.Becomes(byID(id), time.Now(), soon, "unknown"); waits.PID != agent.PID {
			t.Errorf("pid %d, want %d", waits.PID, agent.PID)
		}
		terminal.Answer("1", "Done.")
		s.Becomes(byID(id), time.Now(), soon, "idle/completed", "unknown") // they may write no stop reason
		s.Kill(agent)
		s.Becomes(byID(id), time.Now(), soon, "stopped", "stopped/completed")
	})
}

// An agent in a pid namespace of its own writes its inner pid into the registry.
func TestClaudeInPidNamespace(t *testing.T) {
	each(t, claudes, func(t *testing.T, s *Sandbox, r Release) {
		id := uuid(t)
		prompt := "inside " + id[:8] + " [[delay 90]]"
		wrapper := s.Detached("unshare", "--pid", "--fork", "--mount-proc", s.Program(r), "-p", "--session-id", id, prompt)
		asked := s.Asked(prompt)
		agent := s.Descendant(wrapper.PID, "claude")
		working := s.Becomes(byID(id), asked, soon, "working")
		if working.PID != agent.PID {
			t.Errorf("pid %d, want %d", working.PID, agent.PID)
		}
		written(s, id, "inside")
		s.Stays(byID(id), time.Second, "working")
		s.Signal(agent, unix.SIGTERM)
		s.Gone(agent)
		s.Becomes(byID(id), time.Now(), soon, "stopped/interrupted")
	})
}

// A Claude Code that has no session yet, because its user has not said that the
// folder is to be trusted, is a row of its own.
func TestClaudeBeforeItsSession(t *testing.T) {
	each(t, claudes, func(t *testing.T, s *Sandbox, r Release) {
		folder := filepath.Join(s.Home, "unknown")
		must.Do(t, os.Mkdir(folder, 0o755))
		id := uuid(t)
		terminal := s.Open("env", "-C", folder, s.Program(r), "--session-id", id, "--permission-mode", "default")
		terminal.Shows("trust")
		agent := s.Descendant(terminal.PID(), "claude")
		row := s.Becomes(byPID(agent.PID), time.Now(), soon, "idle")
		if !strings.HasPrefix(row.ID, "process-"+strconv.Itoa(agent.PID)+"-") || row.CWD != folder {
			t.Errorf("id %s in %s, want a process in %s", row.ID, row.CWD, folder)
		}
		terminal.Choose("Down", "❯ Yes")   // its first choice is to leave
		terminal.Dismiss("Enter", "trust") // the hint below the prompt does not always come behind it
		if working := terminal.Works(byID(id), "begin [[delay 90]]"); working.PID != agent.PID {
			t.Errorf("pid %d, want %d", working.PID, agent.PID)
		}
		roll := must.Get(s.List())(t)
		if _, count := roll.find(byPID(agent.PID)); count != 1 {
			t.Errorf("%d rows have pid %d:%v", count, agent.PID, roll)
		}
	})
}
