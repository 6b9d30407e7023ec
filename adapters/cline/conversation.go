package cline

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// conversation holds what was read of a conversation. Copies share the ledger, to which nothing is added any more.
type conversation struct {
	updated                 time.Time
	firstPrompt, lastPrompt string
	prompted                time.Time // when the last prompt was given
	model                   string
	context                 int64
	last                    last
	ledger                  kit.Ledger
	skipped                 map[string]int
}

// last describes the last message of a conversation.
type last struct {
	kind           kind
	at             time.Time
	text           string // the reply, or the prompt; cut
	tool, argument string // of the first call of an answer
	calls, asks    int    // how many calls an answer has, and how many of them ask the user a question
	aborted        bool   // a tool's result says that the call was aborted
}

// kind is the kind of a message.
type kind uint8

const (
	noMessage kind = iota
	prompt         // of the user
	answer         // of the model, without calls
	calling        // of the model, with calls that have no result yet
	results        // of tools
	failure        // an error that Cline shows to the user
)

// questionTool is the tool with which the model asks the user.
const questionTool = "ask_question"

// parseConversation reads a conversation. There is an error for a file that is being written.
func parseConversation(data []byte) (c conversation, err error) {
	c.updated = agentfile.Time(agentfile.Get(data, "updated_at"))
	return c, eachMessage(data, c.take)
}

// eachMessage calls do with the messages of a conversation, the oldest first.
func eachMessage(data []byte, do func(*message)) error {
	list := agentfile.Get(data, "messages")
	if list == nil {
		return errors.New("it has no messages, or is not complete")
	}
	return agentfile.Each(list, func(raw []byte) bool {
		do(readMessage(raw))
		return true
	})
}

// message has the members of a message.
type message struct {
	id, role, model  string // the role is "error" for one that Cline shows to the user, and "note" for one that the user did not write
	at               time.Time
	content, metrics []byte
}

func readMessage(raw []byte) *message {
	var m message
	var id, role, ts, model, metadata []byte
	_ = agentfile.Members(raw, agentfile.Into("id", &id), agentfile.Into("role", &role), agentfile.Into("ts", &ts), agentfile.Into("modelInfo", &model),
		agentfile.Into("metadata", &metadata), agentfile.Into("content", &m.content), agentfile.Into("metrics", &m.metrics))
	m.id, m.role, m.model, m.at = agentfile.String(id), kit.Short(role), kit.Short(agentfile.Get(model, "id")), millis(ts)
	switch shown := kit.Short(agentfile.Get(metadata, "displayRole")); {
	case shown == "error":
		m.role = shown
	case m.role == "user" && shown != "" && shown != m.role:
		m.role = "note"
	}
	return &m
}

// blocks calls do with each block of a message's content: its type, and the JSON string with its text. A text alone is one block.
func (m *message) blocks(do func(kind string, block, text []byte)) {
	if len(m.content) > 0 && m.content[0] == '"' {
		do("text", nil, m.content)
		return
	}
	kit.Each(m.content, func(block []byte) { do(kit.Short(agentfile.Get(block, "type")), block, agentfile.Get(block, "text")) })
}

// silent lists the kinds of blocks that say nothing of the session.
var silent = []string{"thinking", "redacted_thinking", "reasoning", "image", "file", "document"}

// take adds a message.
func (c *conversation) take(m *message) {
	found := last{kind: map[string]kind{"error": failure, "assistant": answer}[m.role], at: m.at}
	if m.role == "note" {
		return
	} else if found.kind == noMessage && m.role != "user" {
		c.skipped = kit.CountSkipped(c.skipped, "unknown role "+kit.PlainWord(m.role))
		return
	}
	m.blocks(func(kind string, block, text []byte) {
		switch said, _ := agentfile.Head(text, adapters.MaxDoing); {
		case kind == "text" && m.role == "user":
			if found.kind == noMessage {
				found.kind, found.text = prompt, promptText(text)
			}
		case kind == "text":
			found.text = cmp.Or(strings.TrimSpace(said), found.text)
		case kind == "tool_result": // of an interrupted call: {"error": "Command failed: Command was aborted"}
			found.kind = results
			kit.Each(agentfile.Get(block, "content"), func(part []byte) {
				found.aborted = found.aborted || strings.Contains(kit.Short(agentfile.Get(part, "error")), "aborted")
			})
		case kind == "tool_use":
			found.call(kit.Short(agentfile.Get(block, "name")), agentfile.Get(block, "input"))
		case !slices.Contains(silent, kind):
			c.skipped = kit.CountSkipped(c.skipped, "unknown content "+kit.PlainWord(kind))
		}
	})
	switch found.kind {
	case noMessage:
		return
	case prompt:
		c.firstPrompt = cmp.Or(c.firstPrompt, found.text)
		c.lastPrompt, c.prompted = found.text, m.at
		c.ledger.Prompt()
	case answer, calling:
		c.answered(m)
	}
	c.last = found
}

// call adds a call to an answer.
func (l *last) call(tool string, input []byte) {
	if l.calls == 0 {
		l.tool, l.argument = tool, argument(input)
	}
	l.kind = calling
	if l.calls++; tool == questionTool {
		l.asks++
	}
}

// answered adds what an answer of the model used.
func (c *conversation) answered(m *message) {
	c.model = cmp.Or(m.model, c.model)
	e := kit.Entry{At: m.at, Model: m.model, Tokens: tokens(m.metrics)}
	if m.id != "" && !m.at.IsZero() {
		e.ID = xxhash.Sum64String(fmt.Sprint(m.id, m.at.UnixMilli())) | 1
	}
	e.CostUSD, _ = agentfile.Float(agentfile.Get(m.metrics, "cost"))
	if t := e.Tokens; t != (adapters.Tokens{}) {
		c.context = t.Input + t.CacheRead + t.CacheWrite + t.Output
	}
	c.ledger.Answer(e)
}

// argument returns the most descriptive argument of a call, at most adapters.MaxText bytes of it.
func argument(input []byte) string {
	if list := agentfile.Get(input, "commands"); list != nil {
		return adapters.Cut(kit.Strings(list))
	}
	return cmp.Or(kit.Argument(input, []string{"command", "question", "path", "file_path", "task", "pattern", "query", "url"}, kit.Shown.Text), kit.AnyArgument(input))
}

// doing returns what a session does, and since when.
func (c *conversation) doing() (text string, since time.Time) {
	switch l := &c.last; l.kind {
	case calling:
		return adapters.Calling(l.tool, l.argument, l.tool == "run_commands"), l.at
	case answer:
		return adapters.CutTo(l.text, adapters.MaxDoing), l.at
	}
	return "", time.Time{}
}
