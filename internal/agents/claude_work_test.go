//go:build agents && linux

package agents

import (
	"strings"
	"testing"
	"time"
)

// Work that goes on after the turn: a shell and a monitor of the agent's, and a turn that it is to begin by itself. The agent's own screen says what runs, its
// answer to the model when it wakes up, and the process table when the shell has ended, also when it was killed.
func TestClaudeWorkInBackground(t *testing.T) {
	each(t, []Release{ClaudeNewest}, func(t *testing.T, s *Sandbox, r Release) {
		id := uuid(t)
		terminal := s.Open(s.Program(r), "--session-id", id, "--permission-mode", "default", "--allowedTools", "Bash,Monitor,ScheduleWakeup")
		terminal.Shows("? for shortcuts")
		const wait = `perl -e 'select(undef,undef,undef,600)'; echo over`
		terminal.Prompt(`one [[call Bash {"command":"` + wait + `","description":"wait","run_in_background":true}]]`)
		runs := func(n int, commands ...string) func(Session) bool {
			return func(x Session) bool {
				found := 0
				for _, b := range x.Background {
					for _, command := range commands {
						if b.Kind == "command" && b.What == command && b.Since != "" {
							found++
						}
					}
				}
				return x.state() == "idle/completed" && len(x.Background) == n && found == len(commands)
			}
		}
		terminal.Shows("1 shell")
		s.shows(byID(id), time.Now(), soon, "one command runs", runs(1, wait))
		table, err := s.Command(headlessBinary, "list").CombinedOutput()
		if err != nil || !strings.Contains(string(table), "idle · 1 command runs") {
			t.Errorf("the table: %v\n%s", err, table)
		}
		shell := s.Descendant(terminal.PID(), "perl")
		terminal.Prompt(`two [[call Monitor {"command":"perl -e 'select(undef,undef,undef,700)'","description":"watch","timeout_ms":600000,"persistent":false}]]`)
		terminal.Shows("1 shell, 1 monitor")
		s.shows(byID(id), time.Now(), soon, "two commands run", runs(2, wait, "perl -e 'select(undef,undef,undef,700)'"))
		terminal.Prompt(`three [[call ScheduleWakeup {"delaySeconds":1800,"reason":"check the build","prompt":"go on"}]]`)
		wakes := s.shows(byID(id), time.Now(), soon, "it wakes up", runs(3, wait))
		last := wakes.Background[len(wakes.Background)-1]
		at, err := time.Parse(time.RFC3339, last.At)
		if err != nil || last.Kind != "wake-up" || !strings.Contains(transcript(s, id), "Next wakeup scheduled for "+at.Local().Format("15:04:05")) {
			t.Errorf("wakes up: %+v, %v", last, err)
		}
		shell.kill()
		s.Gone(shell)
		s.shows(byID(id), time.Now(), soon, "the monitor alone runs", runs(1, "perl -e 'select(undef,undef,undef,700)'")) // the end of the shell began a turn
	})
}
