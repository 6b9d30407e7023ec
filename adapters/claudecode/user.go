package claudecode

import (
	"bytes"
	"strings"

	"rollcall/adapters/internal/jsonl"
	"rollcall/adapters/internal/uuid"
)

// interruptMark begins the record that Claude Code writes when the user stops a turn;
// the record continues with "]" or " for tool use]".
const interruptMark = "[Request interrupted by user"

// abandonedMark begins the record that is written when a turn ended without an action
// of the user.
const abandonedMark = "[Request interrupted:"

// user reads a record of type user: a prompt, tool results, or one of the many
// other things that are written as if the user had said them.
func (rec *record) user(r *raws) {
	if jsonl.True(r.compact) { // the summary with which a compacted conversation continues
		return
	}
	content := jsonl.Get(r.message, "content")
	var said string
	var other bool // something other than text, such as an image
	if t, ok := stringOf(content); ok {
		said = t
	} else {
		_ = jsonl.Each(content, func(block []byte) bool {
			t, wasOther := rec.userBlock(block)
			other = other || wasOther
			if said == "" || wrapped(said) == opensTurn && t != "" {
				said = t
			}
			return true
		})
	}
	if strings.HasPrefix(said, planMark) {
		rec.planned = planOf(content)
	}
	switch {
	case strings.HasPrefix(said, interruptMark):
		rec.kind = interrupted
	case strings.HasPrefix(said, abandonedMark):
		rec.kind = abandoned
	case len(rec.results) > 0:
		rec.kind = toolResult
	case jsonl.True(r.meta):
		rec.meta(said)
	case said != "":
		rec.kind, rec.human = meaning(said, r.origin)
		if rec.text = said; rec.kind == commanded {
			rec.text = command(said)
		}
	case other:
		rec.kind = prompted
	}
}

// userBlock reads one block of a user record's content. other reports that the block is
// neither text nor a tool's result.
func (rec *record) userBlock(block []byte) (said string, other bool) {
	switch string(jsonl.Text(jsonl.Get(block, "type"))) {
	case "tool_result":
		if id := hash(jsonl.Get(block, "tool_use_id")); len(rec.results) < maxPending {
			rec.results = append(rec.results, id)
		}
		return "", false
	case "text":
		said, _ = stringOf(jsonl.Get(block, "text"))
		return said, false
	}
	return "", true
}

// queue reads a queue operation. A run with -p writes its prompt through the queue.
// Versions 2.0.x write nothing else about that run until the answer begins.
func (rec *record) queue(r *raws) {
	switch string(jsonl.Text(r.operation)) {
	case "enqueue":
		rec.kind = enqueued
		said, _ := stringOf(r.content)
		if kind, human := meaning(said, nil); kind == prompted && said != "" && said[0] != '/' {
			rec.text, rec.human = said, human
		}
	case "dequeue":
		rec.kind = dequeued
	case "remove", "popAll":
		rec.kind = unqueued
	}
}

// The text that Claude Code sends to the model when the user accepts a plan and clears
// the context: 2.1.100 continues with the plan in a new session.
const (
	planMark   = "Implement the following plan:"
	planSource = "read the full transcript at: "
)

// planOf returns the session that a plan was made in.
func planOf(content []byte) string {
	const idLen = 36
	if i := bytes.LastIndex(content, []byte(planSource)); i >= 0 {
		path, _, found := bytes.Cut(content[i+len(planSource):], []byte(".jsonl"))
		if id := string(path[max(0, len(path)-idLen):]); found && uuid.Is(id) {
			return id
		}
	}
	return ""
}

func stringOf(raw []byte) (string, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	return text(raw), true
}

// meta reads a record that Claude Code added by itself. Most such records belong to the
// turn around them. Kind commanded here is the expanded text of a slash command, which
// opens a turn if it follows that command.
func (rec *record) meta(said string) {
	switch {
	case strings.HasPrefix(said, "Stop hook feedback"):
		rec.kind = prompted
	case wrapped(said) == opensNothing:
	default:
		rec.kind, rec.synthetic = commanded, true
	}
}

// meaning returns the meaning of a user record with that text for the turn. human
// reports whether a person wrote the text.
func meaning(said string, origin []byte) (kind, bool) {
	switch wrapped(said) {
	case opensNothing:
		return irrelevant, false
	case opensTurn:
		return prompted, false
	case isCommand:
		return commanded, false
	}
	if name, _, _ := strings.Cut(said, " "); name == "/compact" { // 2.1.225 writes it as it was typed, too
		return commanded, false
	}
	from := jsonl.Text(jsonl.Get(origin, "kind"))
	return prompted, len(from) == 0 || string(from) == "human"
}

// command returns what the user typed, given the record of a slash command.
func command(said string) string {
	return strings.TrimSpace(tagged(said, "command-name") + " " + tagged(said, "command-args"))
}

func tagged(text, tag string) string {
	_, rest, ok := strings.Cut(text, "<"+tag+">")
	inner, _, closed := strings.Cut(rest, "</"+tag+">")
	if !ok || !closed {
		return ""
	}
	return strings.TrimSpace(inner)
}

type wrapping uint8

const (
	plain        wrapping = iota // a text that a person wrote
	opensNothing                 // of a command that ran without the model
	opensTurn                    // sent to the model by the program
	isCommand
)

// wrappers lists the prefixes by which Claude Code marks text that no person typed.
var wrappers = []struct {
	mark string
	is   wrapping
}{
	{"<command-", isCommand},
	{"<local-command-", opensNothing},
	{"<bash-", opensNothing},
	{"<user-memory-input>", opensNothing},
	{"Caveat: The messages below were generated by the user while running local commands", opensNothing},
	{"Continue from where you left off.", opensNothing},
	{"<task-notification", opensTurn},
	{"<teammate-message", opensTurn},
	{"<cross-session-message", opensTurn},
	{"<channel", opensTurn},
	{"<system-reminder>", opensTurn},
	{"<ide_", opensTurn},
	{"<user-prompt-submit-hook>", opensTurn},
	{"<tick>", opensTurn},
	{"<artifact-room-event", opensTurn},
	{"<skill-watcher-idle-wake", opensTurn},
	{"<webhook-payload", opensTurn},
	{"<system-note", opensTurn},
}

func wrapped(said string) wrapping {
	for _, w := range wrappers {
		if strings.HasPrefix(said, w.mark) {
			return w.is
		}
	}
	return plain
}
