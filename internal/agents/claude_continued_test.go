//go:build agents && linux

package agents

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"rollcall/app"
	"rollcall/internal/must"
)

// listedByClaude returns the ids that Claude Code's own list has, and the states that it shows for them.
func listedByClaude(s *Sandbox, r Release) map[string]string {
	s.t.Helper()
	var list []struct{ SessionID, Status, State string }
	output, err := s.Command(s.Program(r), "agents", "--json").Output()
	if err == nil {
		err = json.Unmarshal(output, &list)
	}
	if err != nil {
		s.t.Fatalf("claude agents --json: %v: %s", err, output)
	}
	found := map[string]string{}
	for _, l := range list {
		found[l.SessionID] = l.Status + l.State
	}
	return found
}

// TestClaudeToBackground is a session that /bg moves to the background in mid-turn: it goes on under another id, as the agent's own list says, and no end is
// told.
func TestClaudeToBackground(t *testing.T) {
	each(t, []Release{ClaudeNewest}, func(t *testing.T, s *Sandbox, r Release) {
		f := follow(s)
		id := uuid(t)
		terminal, agent := openClaude(s, r, id)
		asked := terminal.Prompt("the first")
		s.Becomes(byID(id), asked, soon, "idle/completed")
		asked = terminal.Prompt("goes on [[delay 20]]")
		s.Becomes(byID(id), asked, soon, "working")
		terminal.Enter("/bg")
		s.Gone(agent)
		goesOn := s.shows(func(session Session) bool {
			return session.ID != id && session.PID != 0 && session.state() == "working"
		}, time.Now(), time.Minute,
			"the session that goes on", func(Session) bool { return true })
		if own := listedByClaude(s, r); own[goesOn.ID] == "" || own[id] != "" {
			t.Errorf("Claude Code lists %v, and not %s", own, goesOn.ID)
		}
		roll := must.Get(s.List("--all"))(t)
		ids := []string{}
		for _, session := range roll.Sessions {
			if session.Agent == "claude-code" && session.Evidence != "" && session.ID[:4] != "proc" {
				ids = append(ids, session.ID)
			}
		}
		if !slices.Equal(ids, []string{goesOn.ID}) {
			t.Errorf("sessions %v, want %s alone", ids, goesOn.ID)
		}
		s.Becomes(byID(goesOn.ID), time.Now(), time.Minute, "idle/completed")
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, e := range f.told {
			if e.Kind == app.Ended && (e.Session.ID == id || e.Session.ID == goesOn.ID) {
				t.Errorf("an end is told: %s %s", e.Session.ID, e.Session.Evidence)
			}
		}
	})
}

// TestClaudeTakenBack is a prompt that the user takes back before the first word, which nothing records: what is told follows as soon as it is certain.
func TestClaudeTakenBack(t *testing.T) {
	each(t, []Release{ClaudeNewest}, func(t *testing.T, s *Sandbox, r Release) {
		f := follow(s)
		id := uuid(t)
		terminal, _ := openClaude(s, r, id)
		asked := terminal.Prompt("the first")
		s.Becomes(byID(id), asked, soon, "idle/completed")
		asked = terminal.Prompt("taken back [[delay 300]]")
		s.Becomes(byID(id), asked, soon, "working")
		if err := poll(soon, func() bool { return f.shown(id) == "working" }); err != nil {
			t.Fatalf("shown as %s, want working: %v", f.shown(id), err)
		}
		terminal.Press("Escape")
		if err := poll(30*time.Second, func() bool { return f.shown(id) == "idle/interrupted" }); err != nil {
			t.Errorf("shown as %s, want idle/interrupted: %v\n%s", f.shown(id), err, terminal.Screen())
		}
		if last := f.last(id); last != "idle/interrupted" {
			t.Errorf("told last: %s", last)
		}
		s.Becomes(byID(id), time.Now(), soon, "idle/interrupted")
	})
}

// shown returns the state in which the core shows a session, without asking; empty: it does not.
func (f *follower) shown(id string) string {
	for _, x := range f.core.Snapshot().Sessions() {
		if x.ID == id {
			return Session{Status: string(x.Status), WaitingFor: string(x.WaitingFor), Outcome: string(x.Outcome)}.state()
		}
	}
	return ""
}

// last returns the state of a session in the last event of it.
func (f *follower) last(id string) (state string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.told {
		if x := &e.Session; x.ID == id {
			state = Session{Status: string(x.Status), WaitingFor: string(x.WaitingFor), Outcome: string(x.Outcome)}.state()
		}
	}
	return state
}
