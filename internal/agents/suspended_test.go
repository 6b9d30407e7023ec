//go:build agents && linux

package agents

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestSuspendedInMidTurn: an agent that is suspended works on nothing, and its turn
// has no outcome; it works on once it continues, and dies if it is killed.
func TestSuspendedInMidTurn(t *testing.T) {
	each(t, []Release{ClaudeNewest}, func(t *testing.T, s *Sandbox, r Release) {
		id := uuid(t)
		_, agent, asked := detachClaude(s, r, id, "long job [[delay 30]]")
		s.Becomes(byID(id), asked, soon, "working")
		suspended := func(session Session) bool {
			return session.state() == "idle" && session.PID == agent.PID &&
				strings.Contains(session.Evidence, "is suspended (Ctrl-Z or SIGSTOP)")
		}
		s.Signal(agent, unix.SIGSTOP)
		s.shows(byID(id), time.Now(), soon, "suspended", suspended)
		s.Signal(agent, unix.SIGCONT)
		s.Becomes(byID(id), time.Now(), soon, "working")
		s.Signal(agent, unix.SIGSTOP)
		s.shows(byID(id), time.Now(), soon, "suspended", suspended)
		s.Kill(agent)
		s.Becomes(byID(id), time.Now(), soon, "stopped/died")
	})
}
