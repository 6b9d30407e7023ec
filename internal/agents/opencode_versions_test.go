//go:build agents && linux

package agents

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// twoOpenCodes opens the newest and the older version in one folder of one home
// at once, has the newest work and the older one answer, and returns which
// process is whose.
func twoOpenCodes(s *Sandbox) (newest, older Process) {
	s.t.Helper()
	first, second := s.Open(s.Argv(OpenCodeNewest)...), s.Open(s.Argv(OpenCodeOlder)...)
	first.Shows("Ask anything")
	second.Shows("Ask anything")
	newest, older = s.Descendant(first.PID(), "opencode"), s.Descendant(second.PID(), "opencode")
	for _, agent := range []Process{newest, older} {
		if row := s.Becomes(byPID(agent.PID), time.Now(), soon, "idle"); !strings.HasPrefix(row.ID, "process-") {
			s.t.Errorf("before the first prompt: %v", row)
		}
	}
	asked := second.Prompt("older one")
	second.Shows("Mock answer to: older one")
	s.shows(byPID(older.PID), asked, soon, "the older one's session", isIdle("older one"))
	asked = first.Prompt("newest one [[delay 600]]")
	s.shows(byPID(newest.PID), asked, soon, "the newest one's session", isWorking("newest one"))
	s.shows(byPID(older.PID), time.Now(), soon, "the older one's session", isIdle("older one"))
	return newest, older
}

// isIdle is for the session of a prompt whose turn is over, isWorking for one at
// work.
func isIdle(prompt string) func(Session) bool {
	return func(s Session) bool {
		return byPrompt(prompt)(s) && (s.state() == "idle" || s.state() == "idle/completed")
	}
}

func isWorking(prompt string) func(Session) bool {
	return func(s Session) bool { return byPrompt(prompt)(s) && s.state() == "working" }
}

// Two versions in one home keep different logs and stores: the end of one gives
// its session to no process, and takes none from the other's.
func TestOpenCodeVersionsInOneHome(t *testing.T) {
	inOneHome := func(name string, play func(s *Sandbox, newest, older Process)) {
		t.Run(name, func(t *testing.T) {
			Need(t)
			built(t, headlessBinary)
			s := NewSandbox(t)
			newest, older := twoOpenCodes(s)
			play(s, newest, older)
		})
	}
	inOneHome("the older one is killed", func(s *Sandbox, newest, older Process) {
		s.Signal(older, unix.SIGKILL)
		s.Gone(older)
		s.Becomes(byPrompt("older one"), time.Now(), soon, "stopped/completed")
		s.shows(byPID(newest.PID), time.Now(), soon, "the newest one's session", isWorking("newest one"))
		s.Stays(byPrompt("newest one"), 3*time.Second, "working")
		s.Signal(newest, unix.SIGKILL)
		s.Gone(newest)
		s.Becomes(byPrompt("newest one"), time.Now(), soon, "stopped/died")
	})
	inOneHome("the newest one is killed", func(s *Sandbox, newest, older Process) {
		s.Signal(newest, unix.SIGKILL)
		s.Gone(newest)
		s.Becomes(byPrompt("newest one"), time.Now(), soon, "stopped/died")
		s.shows(byPID(older.PID), time.Now(), soon, "the older one's session", isIdle("older one"))
		s.Stays(byPrompt("older one"), 3*time.Second, "idle", "idle/completed")
		again := s.Open(s.Argv(OpenCodeNewest)...)
		again.Shows("Ask anything")
		row := s.Becomes(byPID(s.Descendant(again.PID(), "opencode").PID), time.Now(), soon, "idle")
		if !strings.HasPrefix(row.ID, "process-") {
			s.t.Errorf("begun again: %v", row)
		}
		s.Becomes(byPrompt("newest one"), time.Now(), soon, "stopped/died")
	})
}
