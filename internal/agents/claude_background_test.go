//go:build agents && linux

package agents

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// backgroundRow is a session as `claude agents --json` prints it.
type backgroundRow struct {
	PID       int    `json:"pid"`
	SessionID string `json:"sessionId"`
}

// claudeAgents asks Claude Code itself which sessions it has. ok is false while its daemon does not answer.
func (s *Sandbox) claudeAgents(r Release) (list []backgroundRow, ok bool) {
	output, err := s.run(r, "agents", "--json").Output()
	if err != nil {
		return nil, false
	}
	return list, json.Unmarshal(output, &list) == nil
}

// watchForPhantoms compares what Rollcall lists as live with what Claude Code lists, until the returned function is called. A process that ends or starts
// between the two questions is given time: what Rollcall lists must be in Claude Code's listing before or after it, by its id, or, before a session has
// written its registry entry, by its process. While Claude Code lists a session without a process, which is about to start, a process must be listed later.
func (s *Sandbox) watchForPhantoms(r Release) (stop func()) {
	end, done := make(chan struct{}), make(chan struct{})
	compared := 0
	early := map[int]string{} // what is wrong with a process that Claude Code does not list until the end
	starts := func(l backgroundRow) bool { return l.PID == 0 }
	go func() {
		defer close(done)
		before, known := s.claudeAgents(r)
		for {
			roll, err := s.List()
			after, ok := s.claudeAgents(r)
			if err == nil && ok && known {
				compared++
				for _, row := range roll.Sessions {
					is := func(l backgroundRow) bool { return l.PID == row.PID || l.PID == 0 && l.SessionID == row.ID }
					if slices.ContainsFunc(before, is) || slices.ContainsFunc(after, is) {
						continue
					}
					problem := fmt.Sprintf("Claude Code does not list %v; it lists %+v, and then %+v", row, before, after)
					if row.PID == 0 || !slices.ContainsFunc(before, starts) && !slices.ContainsFunc(after, starts) {
						s.t.Error(problem)
						continue
					}
					early[row.PID] = problem
				}
			}
			for _, l := range after {
				delete(early, l.PID)
			}
			before, known = after, ok
			select {
			case <-end:
				return
			default:
			}
		}
	}()
	return func() {
		close(end)
		<-done
		for _, problem := range early {
			s.t.Error(problem)
		}
		if compared < 3 {
			s.t.Errorf("the listings were compared %d times", compared)
		}
	}
}

// Background sessions, and what their daemon keeps for them: hosts of terminals, and spare processes that become sessions. At no time is one of these a
// row, and stopping what is idle ends none of them. Claude Code's own listing says what a session is.
func TestClaudeBackground(t *testing.T) {
	each(t, []Release{ClaudeNewest}, func(t *testing.T, s *Sandbox, r Release) {
		stop := s.watchForPhantoms(r)
		start := func(prompt string) time.Time {
			t.Helper()
			output, err := s.run(r, "--bg", "--permission-mode", "default", prompt).CombinedOutput()
			if err != nil {
				t.Fatalf("claude --bg: %v: %s", err, output)
			}
			return s.Asked(prompt)
		}
		short := start("short one [[delay 2]]")
		s.Becomes(byPrompt("short one"), short, soon, "working", "idle/completed")
		long := start("long one [[delay 600]]")
		working := s.Becomes(byPrompt("long one"), long, soon, "working")
		idle := s.Becomes(byPrompt("short one"), time.Now(), soon, "idle/completed")
		spares := func() (list []Process) {
			for _, p := range s.Processes() {
				if strings.Contains(strings.Join(p.Args, " "), "--bg-spare") {
					list = append(list, p)
				}
			}
			return list
		}
		if err := poll(soon, func() bool { return len(spares()) > 0 }); err != nil {
			t.Errorf("no spare process: %v; %v", err, s.Processes())
		}
		helpers := s.Processes()

		output, err := s.Command(headlessBinary, "stop", "--idle", "--yes").CombinedOutput()
		t.Logf("stop --idle: %v\n%s", err, output) // it names those that it can't stop
		s.Stays(byID(working.ID), 2*time.Second, "working")
		if s.left("long one") {
			t.Error("the turn of the session that works was ended")
		}
		for _, p := range helpers {
			if line := strings.Join(p.Args, " "); strings.Contains(line, "--bg-") && !p.isAlive() && p.PID != idle.PID {
				t.Errorf("%v was ended", p)
			}
		}

		for _, session := range []Session{working, idle} {
			if output, err := s.run(r, "stop", session.ID[:8]).CombinedOutput(); err != nil {
				t.Errorf("claude stop: %v: %s", err, output)
			}
		}
		s.Becomes(byID(working.ID), time.Now(), soon, "stopped/interrupted", "stopped/died", "stopped")
		s.Becomes(byID(idle.ID), time.Now(), soon, "stopped/completed", "stopped")
		s.Stays(byID(idle.ID), 5*time.Second, "stopped/completed", "stopped")
		stop()
		daemonGone := func() bool { // it ends by itself some time after its last job
			return !slices.ContainsFunc(s.Processes(), func(p Process) bool {
				return slices.Contains(p.Args, "daemon") || strings.Contains(strings.Join(p.Args, " "), "--bg-")
			})
		}
		if err := poll(time.Minute, func() bool {
			roll, err := s.List()
			if err == nil && len(roll.Sessions) > 0 {
				t.Errorf("rows without a session: %v", roll)
			}
			return daemonGone()
		}); err != nil {
			t.Logf("the daemon still runs: %v", s.Processes())
		}
	})
}

// A command that Claude Code keeps in the background is no conversation, although Claude Code lists it as one that works: neither it nor what hosts its
// terminal is a row.
func TestClaudeBackgroundCommand(t *testing.T) {
	each(t, []Release{ClaudeNewest}, func(t *testing.T, s *Sandbox, r Release) {
		output, err := s.run(r, "--bg", "--exec", "sleep 600").CombinedOutput()
		if err != nil {
			t.Fatalf("claude --bg --exec: %v: %s", err, output)
		}
		runs := func(p Process) bool { return slices.Equal(p.Args, []string{"sleep", "600"}) }
		if err := poll(soon, func() bool {
			list, ok := s.claudeAgents(r)
			return ok && len(list) == 1 && slices.ContainsFunc(s.Processes(), runs)
		}); err != nil {
			t.Fatalf("the command does not run: %v; %v", err, s.Processes())
		}
		for range 5 {
			roll, err := s.List("--all")
			if err != nil || len(roll.Sessions) > 0 {
				t.Errorf("%v: %v; %v", err, roll, s.Processes())
			}
		}
	})
}
