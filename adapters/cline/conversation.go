package cline

import (
	"fmt"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// conversationLimit is the size of the largest conversation that is read.
const conversationLimit = 64 << 20

// conversation holds what was read of a conversation. Copies share the ledger, to which nothing is added any more.
type conversation struct {
	updated                 time.Time
	agent, parent, version  string // of a sub-agent: its name and the session that spawned it
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
	kind    kind
	at      time.Time
	text    string // the reply, cut
	calls   []call // of an answer
	asks    int    // how many of the calls ask the user a question
	aborted bool   // a tool's result says that the call was aborted
}

// call is the call of a tool.
type call struct{ tool, argument string }

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

// parseConversation reads a conversation. The error is agentfile.ErrSyntax for a file that is being written.
func parseConversation(data []byte) (conversation, error) {
	var c conversation
	var messages []byte
	err := agentfile.Top(data, func(key, raw []byte) bool {
		switch string(key) {
		case "updated_at":
			c.updated = agentfile.Time(raw)
		case "origin":
			c.agent, _ = agentfile.Head(agentfile.Get(raw, "subagent"), textLimit)
			c.parent, _ = agentfile.Head(agentfile.Get(raw, "parentThreadId"), textLimit)
			c.version, _ = agentfile.Head(agentfile.Get(raw, "version"), 40)
		case "messages":
			messages = raw
		}
		return true
	})
	if err == nil && messages == nil {
		err = fmt.Errorf("it has no messages")
	}
	if err == nil {
		err = agentfile.Each(messages, func(raw []byte) bool { c.take(raw); return true })
	}
	return c, err
}

// message has the members of a message.
type message struct {
	id, role, shown, content []byte
	at                       time.Time
	model                    string
	metrics                  []byte
}

func readMessage(raw []byte) (m message) {
	_ = agentfile.Top(raw, func(key, value []byte) bool {
		switch string(key) {
		case "id":
			m.id = agentfile.Text(value)
		case "role":
			m.role = agentfile.Text(value)
		case "content":
			m.content = value
		case "ts":
			if n, ok := agentfile.Int(value); ok && n > 0 && n < 1<<50 {
				m.at = time.UnixMilli(n)
			}
		case "modelInfo":
			m.model, _ = agentfile.Head(agentfile.Get(value, "id"), textLimit)
		case "metrics":
			m.metrics = value
		case "metadata":
			m.shown = agentfile.Text(agentfile.Get(value, "displayRole"))
		}
		return true
	})
	return m
}

// blocks calls do with each block of a message's content: its type and its text. A text alone is one block.
func (m *message) blocks(do func(kind string, block []byte)) {
	if len(m.content) > 0 && m.content[0] == '"' {
		do("text", m.content)
		return
	}
	_ = agentfile.Each(m.content, func(block []byte) bool {
		do(string(agentfile.Text(agentfile.Get(block, "type"))), block)
		return true
	})
}

// blockText returns the JSON string with the text of a block.
func blockText(block []byte) []byte {
	if len(block) > 0 && block[0] == '"' {
		return block
	}
	return agentfile.Get(block, "text")
}

// take adds a message.
func (c *conversation) take(raw []byte) {
	m := readMessage(raw)
	switch {
	case string(m.shown) == "error":
		c.last = last{kind: failure, at: m.at, text: c.text(&m)}
	case string(m.role) == "user" && len(m.shown) > 0 && string(m.shown) != "user": // a note of Cline's
	case string(m.role) == "user":
		c.said(&m)
	case string(m.role) == "assistant":
		c.answered(&m)
	default:
		c.skipped = kit.CountSkipped(c.skipped, "unknown role "+kit.PlainWord(string(m.role)))
	}
}

// text returns the first text of a message, cut.
func (c *conversation) text(m *message) (text string) {
	m.blocks(func(kind string, block []byte) {
		if kind == "text" && text == "" {
			text, _ = agentfile.Head(blockText(block), textLimit)
		}
	})
	return text
}

// said adds a prompt, or the results of tools.
func (c *conversation) said(m *message) {
	found := last{at: m.at}
	m.blocks(func(kind string, block []byte) {
		switch kind {
		case "tool_result":
			found.kind = results
			found.aborted = found.aborted || isAborted(agentfile.Get(block, "content"))
		case "text":
			if found.kind == noMessage {
				found.kind, found.text = prompt, promptText(blockText(block))
			}
		}
	})
	if found.kind == prompt {
		if c.firstPrompt == "" {
			c.firstPrompt = found.text
		}
		c.lastPrompt, c.prompted = found.text, m.at
		c.ledger.Prompt()
	}
	if found.kind != noMessage {
		c.last = found
	}
}

// isAborted reports whether the result of a call says that the user interrupted it: {"error": "Command failed: Command was aborted"}.
func isAborted(content []byte) (is bool) {
	if len(content) == 0 || content[0] != '[' {
		return false
	}
	_ = agentfile.Each(content, func(result []byte) bool {
		text, _ := agentfile.Head(agentfile.Get(result, "error"), textLimit)
		is = is || strings.Contains(text, "aborted")
		return true
	})
	return is
}

// answered adds an answer of the model.
func (c *conversation) answered(m *message) {
	found := last{kind: answer, at: m.at}
	m.blocks(func(kind string, block []byte) {
		switch kind {
		case "text":
			if text, _ := agentfile.Head(blockText(block), adapters.MaxDoing); strings.TrimSpace(text) != "" {
				found.text = strings.TrimSpace(text)
			}
		case "tool_use":
			name, _ := agentfile.Head(agentfile.Get(block, "name"), textLimit)
			found.kind = calling
			found.calls = append(found.calls, call{name, argument(agentfile.Get(block, "input"))})
			if name == questionTool {
				found.asks++
			}
		case "thinking", "redacted_thinking", "reasoning", "image", "file", "document":
		default:
			c.skipped = kit.CountSkipped(c.skipped, "unknown content "+kit.PlainWord(kind))
		}
	})
	c.last = found
	if m.model != "" {
		c.model = m.model
	}
	e := kit.Entry{At: m.at, Model: m.model, Tokens: tokens(m.metrics)}
	if len(m.id) > 0 && !m.at.IsZero() {
		e.ID = xxhash.Sum64String(fmt.Sprint(string(m.id), m.at.UnixMilli())) | 1
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
		return joined(list)
	}
	text := kit.Argument(input, []string{"command", "question", "path", "file_path", "task", "pattern", "query", "url"}, kit.Shown.Text)
	if text == "" {
		text = kit.AnyArgument(input)
	}
	return text
}

// joined returns the texts of a list of commands, one per line.
func joined(list []byte) string {
	var texts []string
	size := 0
	_ = agentfile.Each(list, func(raw []byte) bool {
		text := kit.Shown.Text(raw)
		if text == "" {
			text = kit.Shown.Text(agentfile.Get(raw, "command"))
		}
		texts = append(texts, text)
		size += len(text)
		return size < adapters.MaxText
	})
	return adapters.Cut(strings.Join(texts, "\n"))
}

// doing returns what a session does, and since when.
func (c *conversation) doing() (text string, since time.Time) {
	l := &c.last
	switch l.kind {
	case calling:
		return adapters.Calling(l.calls[0].tool, l.calls[0].argument, l.calls[0].tool == "run_commands"), l.at
	case answer:
		return adapters.CutTo(l.text, adapters.MaxDoing), l.at
	}
	return "", time.Time{}
}
