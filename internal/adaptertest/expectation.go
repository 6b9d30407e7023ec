package adaptertest

import (
	"encoding/json"
	"testing"
)

// Expectation is expect.json: what a correct monitor must say of a recording.
type Expectation struct {
	Note     string     `json:"note"`
	Sessions []Expected `json:"sessions"`

	starts map[int]uint64 // of the recorded processes, by pid
}

// Expected is one session of expect.json. What is nil is not asserted.
type Expected struct {
	ID           string           `json:"id"`
	Agent        string           `json:"agent"`
	Status       string           `json:"status"`
	AlsoAccepted []string         `json:"also_accepted"` // statuses, where files alone can't decide
	WaitingFor   *string          `json:"waiting_for"`
	Outcome      *string          `json:"outcome"`
	PID          json.RawMessage  `json:"pid"` // a number; null: no process; absent: not asserted
	CWD          *string          `json:"cwd"`
	Branch       *string          `json:"branch"`
	Model        *string          `json:"model"`
	Title        *string          `json:"title"`
	FirstPrompt  *string          `json:"first_prompt"`
	LastPrompt   *string          `json:"last_prompt"`
	Parent       *string          `json:"parent"`
	Tokens       map[string]int64 `json:"tokens"`
	Cost         *float64         `json:"cost"`
}

// Session returns the expectation of one session, to be changed by a test that
// changes the recording. It ends the test when there is none.
func (e *Expectation) Session(t testing.TB, id string) *Expected {
	t.Helper()
	for i := range e.Sessions {
		if e.Sessions[i].ID == id {
			return &e.Sessions[i]
		}
	}
	t.Fatalf("the recording expects no session %s", id)
	return nil
}
