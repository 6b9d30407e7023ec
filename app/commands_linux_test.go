package app

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
)

// TestCommandsInBackground: of the processes below an idle session's own, those are commands that name the session, but for a shell that waits for one. The
// processes are real ones.
func TestCommandsInBackground(t *testing.T) {
	const below = 7
	pipe := filepath.Join(t.TempDir(), "pipe")
	agent := startShell(t, `
		mkfifo '`+pipe+`' && exec 3<>'`+pipe+`'
		CODEX_THREAD_ID=s bash --norc --noprofile <&3 &
		CODEX_THREAD_ID=s bash -lc 'sleep 1000; :' &
		CODEX_THREAD_ID=s bash --norc --noprofile -c 'sleep 1001; :' &
		COPILOT_AGENT_SESSION_ID=co bash -c 'sleep 1005; :' &
		COPILOT_AGENT_SESSION_ID=co bash --norc --noprofile -c 'sleep 1006; :' &
		CODEX_THREAD_ID=other bash -c 'sleep 1002; :' &
		bash -c 'sleep 1003; :' &
		CODEX_THREAD_ID=s sleep 1004 &
		wait`)
	table := proc.Open()
	eventually.True(t, "the processes", func() bool {
		list := must.Get(table.List(t.Context()))(t)
		n := 0
		for _, p := range proc.Descendants(list, agent) {
			if p.Comm == "sleep" {
				n++
			}
		}
		return n == below
	})
	after := time.Now().Add(time.Second) // the times of processes have hundredths
	shown := func(change func(*adapters.Session)) Session {
		s := adapters.Session{
			ID: "s", Agent: agentname.Codex,
			State: adapters.State{Status: adapters.Idle, Evidence: "its turn is over"},
			Owner: adapters.Owner{Process: agent},
			Times: adapters.Times{LastActivityAt: after},
		}
		change(&s)
		snap := Ask(t.Context(), Config{Adapters: []adapters.Adapter{&quietAgent{s}}, Table: table}, Once{})
		return snap.Sessions()[0]
	}
	s := shown(func(*adapters.Session) {})
	var commands []string
	for _, b := range s.Background {
		commands = append(commands, b.What)
	}
	slices.Sort(commands)
	if !slices.Equal(commands, []string{"sleep 1000; :", "sleep 1001; :", "sleep 1004"}) || s.Background[0].Since.IsZero() || s.Background[0].TurnFollows ||
		!strings.Contains(s.Evidence, "its turn is over; it runs 3 in the background, the first since ") || s.AskAgain.IsZero() {
		t.Errorf("%+v; %s", s.Background, s.Evidence)
	}
	if s := shown(func(s *adapters.Session) { s.Agent, s.ID = agentname.Copilot, "co" }); len(s.Background) != 1 || s.Background[0].What != "sleep 1006; :" {
		t.Errorf("beside an MCP server: %+v", s.Background)
	}
	if s := shown(func(s *adapters.Session) { s.Agent = agentname.Copilot }); len(s.Background) > 0 {
		t.Errorf("another agent's variable: %+v", s.Background)
	}
	for name, change := range map[string]func(*adapters.Session){
		"it works":               func(s *adapters.Session) { s.Status = adapters.Working },
		"it waits":               func(s *adapters.Session) { s.Status = adapters.Waiting },
		"they began after it":    func(s *adapters.Session) { s.LastActivityAt = after.Add(-time.Hour) },
		"another session":        func(s *adapters.Session) { s.ID = "x" },
		"an agent without marks": func(s *adapters.Session) { s.Agent = agentname.Gemini },
	} {
		if s := shown(change); len(s.Background) > 0 {
			t.Errorf("%s: %+v", name, s.Background)
		}
	}
}
