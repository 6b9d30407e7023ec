//go:build agents && linux

package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/internal/must"
)

// A terminal interface is listed before it has a session, and while it shows an
// old one that its command line does not name; a session takes the row's place.
func TestOpenCodeWithoutSession(t *testing.T) {
	nightly(t)
	each(t, openCodes, func(t *testing.T, s *Sandbox, r Release) {
		first, firstAgent := openOpenCode(s, r)
		row := s.Becomes(byPID(firstAgent.PID), time.Now(), soon, "idle")
		if !strings.HasPrefix(row.ID, "process-") || row.CWD != s.Project {
			t.Errorf("before the first prompt: %v in %s", row, row.CWD)
		}
		asked := first.Prompt("an old one")
		session := s.shows(byPID(firstAgent.PID), asked, soon, "a session", func(session Session) bool {
			return strings.HasPrefix(session.ID, "ses_")
		})
		first.Shows("Mock answer to: an old one")
		s.Becomes(byID(session.ID), time.Now(), soon, "idle", "idle/completed")
		first.Leave("/exit", firstAgent)
		s.Becomes(byID(session.ID), time.Now(), soon, "stopped/completed")

		second, secondAgent := openOpenCode(s, r)
		second.Enter("/sessions")
		second.Answer("Enter", "Mock answer to: an old one")
		row = s.Becomes(byPID(secondAgent.PID), time.Now(), soon, "idle")
		if !strings.HasPrefix(row.ID, "process-") {
			t.Errorf("showing an old session: %v", row)
		}
		asked = second.Prompt("goes on [[delay 4]]")
		s.shows(byPID(secondAgent.PID), asked, soon, "the session at work", func(now Session) bool {
			return now.ID == session.ID && now.state() == "working"
		})
		second.Shows("Mock answer to: goes on")
		s.Becomes(byID(session.ID), time.Now(), soon, "idle", "idle/completed")
	})
}

// A store in another place is found through the environment of its process.
func TestOpenCodeStoreElsewhere(t *testing.T) {
	nightly(t)
	each(t, openCodes, func(t *testing.T, s *Sandbox, r Release) {
		data := filepath.Join(s.dir, "data")
		must.Do(t, os.Mkdir(data, 0o755))
		terminal := s.Open(append([]string{"env", "XDG_DATA_HOME=" + data}, s.Argv(r)...)...)
		terminal.Shows("Ask anything")
		agent := s.Descendant(terminal.PID(), "opencode")
		row := s.Becomes(byPID(agent.PID), time.Now(), soon, "idle")
		if !strings.HasPrefix(row.ID, "process-") {
			t.Errorf("before the first prompt: %v", row)
		}
		terminal.PromptUntil("elsewhere [[bash touch asked.txt]]", "Permission required")
		waiting := s.Becomes(byPrompt("elsewhere"), time.Now(), soon, "waiting/permission")
		if waiting.PID != agent.PID {
			t.Errorf("pid %d, want %d", waiting.PID, agent.PID)
		}
		terminal.Answer("Enter", "Done.")
		s.Becomes(byPrompt("elsewhere"), time.Now(), soon, "idle", "idle/completed")
		s.Kill(agent)
	})
}
