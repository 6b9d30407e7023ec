package pistore

import (
	"encoding/json"
	"errors"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
)

// NewTalk returns a conversation with a Pi in the mode rpc (1.5.2). Pi asks for nothing; questions of its extensions are
// not passed on.
func NewTalk() adapters.Talk { return &talk{replies: map[string]error{}} }

type talk struct {
	replies map[string]error // by the id of the command
	working bool
	turns   int
}

// Read implements adapters.Talk.
func (t *talk) Read(line []byte) {
	switch string(agentfile.Text(agentfile.Get(line, "type"))) {
	case "agent_start":
		t.working, t.turns = true, t.turns+1
	case "agent_settled":
		t.working = false
	case "response":
		var err error
		if !agentfile.True(agentfile.Get(line, "success")) {
			err = errors.New(agentfile.String(agentfile.Get(line, "error")))
		}
		t.replies[agentfile.String(agentfile.Get(line, "id"))] = err
	}
}

// Working implements adapters.Talk.
func (t *talk) Working() bool { return t.working }

// Turns implements adapters.Talk.
func (t *talk) Turns() int { return t.turns }

// Waiting implements adapters.Talk.
func (t *talk) Waiting() []adapters.Request { return nil }

// Withdrawn implements adapters.Talk.
func (t *talk) Withdrawn(string) bool { return false }

// Answer implements adapters.Talk.
func (t *talk) Answer(string, adapters.Decision) ([]byte, error) { return nil, adapters.ErrNotPending }

// Replied implements adapters.Talk.
func (t *talk) Replied(order string) (done bool, err error) {
	err, done = t.replies[order]
	return done, err
}

// Prompt implements adapters.Talk.
func (t *talk) Prompt(order, text string, queue bool) []byte { return promptLine(order, text, queue) }

// promptLine returns the line that sends a prompt. Pi refuses a prompt during a turn, unless the line says that it is to be queued.
func promptLine(order, text string, queue bool) []byte {
	prompt := map[string]string{"type": "prompt", "message": text}
	if order != "" {
		prompt["id"] = order
	}
	if queue {
		prompt["streamingBehavior"] = "followUp"
	}
	line, _ := json.Marshal(prompt) // a text can always be marshalled
	return line
}

// Interrupt implements adapters.Talk.
func (t *talk) Interrupt(order string) []byte {
	line, _ := json.Marshal(map[string]string{"id": order, "type": "abort"})
	return line
}
