package corpus

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"rollcall/adapters"
)

// Of returns what an adapter says of a session, to be compared with the truth.
func Of(s *adapters.Session) Truth {
	return Truth{ID: s.ID, Agent: s.Agent, Status: s.Status, WaitingFor: s.WaitingFor, Outcome: s.Outcome, PID: s.Process.PID,
		CWD: s.CWD, Branch: s.Branch, Model: s.Model, Title: s.Title, Prompt: s.FirstPrompt, Parent: s.Parent, Tokens: s.Tokens}
}

// ReadList reads what `rollcall list --json` prints.
func ReadList(r io.Reader) ([]Truth, error) {
	var doc struct {
		Schema   int     `json:"schema"`
		Sessions []Truth `json:"sessions"`
	}
	if err := json.NewDecoder(r).Decode(&doc); err != nil {
		return nil, fmt.Errorf("no list of sessions: %w", err)
	}
	if doc.Schema != 1 {
		return nil, fmt.Errorf("schema %d of the list is not known", doc.Schema)
	}
	return doc.Sessions, nil
}

// Compare returns what is wrong with a list of sessions, one line each: sessions
// that are missing, that are listed twice, that do not exist, and what is not
// true of the others.
func Compare(want, got []Truth) []string {
	var wrong []string
	listed := make(map[string]*Truth, len(got))
	for i := range got {
		if listed[got[i].ID] != nil {
			wrong = append(wrong, fmt.Sprintf("%s %s: listed twice", got[i].Agent, got[i].ID))
		}
		listed[got[i].ID] = &got[i]
	}
	for i := range want {
		is := listed[want[i].ID]
		if is == nil {
			wrong = append(wrong, fmt.Sprintf("%s %s: missing", want[i].Agent, want[i].ID))
			continue
		}
		delete(listed, want[i].ID)
		wrong = append(wrong, differences(&want[i], is)...)
	}
	for id, is := range listed {
		wrong = append(wrong, fmt.Sprintf("%s %s: does not exist", is.Agent, id))
	}
	slices.Sort(wrong)
	return wrong
}

func differences(want, got *Truth) []string {
	var wrong []string
	field := func(name string, want, is any) {
		if want != is {
			wrong = append(wrong, fmt.Sprintf("%s %s: %s is %v, should be %v", got.Agent, got.ID, name, is, want))
		}
	}
	field("agent", want.Agent, got.Agent)
	field("status", want.Status, got.Status)
	field("waiting_for", want.WaitingFor, got.WaitingFor)
	field("outcome", want.Outcome, got.Outcome)
	field("pid", want.PID, got.PID)
	field("cwd", want.CWD, got.CWD)
	field("branch", want.Branch, got.Branch)
	field("model", want.Model, got.Model)
	field("title", want.Title, got.Title)
	field("first_prompt", want.Prompt, got.Prompt)
	field("parent", want.Parent, got.Parent)
	field("tokens", tokens(want.Tokens), tokens(got.Tokens))
	return wrong
}

func tokens(t *adapters.Tokens) string {
	if t == nil {
		return "not known"
	}
	return fmt.Sprintf("%+v", *t)
}
