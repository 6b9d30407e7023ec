package cline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
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
	kind        kind
	at          time.Time
	text        string // the reply or its first call, the prompt, or the error; cut
	calls, asks int    // how many calls an answer has, and how many of them ask the user a question
	aborted     bool   // a tool's result says that the call was aborted
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
	p := &chat{calls: map[string]int{}}
	err = eachMessage(data, func(m *message) {
		p.add(m)
		c.take(m, p)
		p.messages = p.messages[:0]
		clear(p.calls)
	})
	c.skipped = p.skipped
	return c, err
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
	m.id = agentfile.String(id)
	m.role = kit.Short(role)
	m.model = kit.Short(agentfile.Get(model, "id"))
	m.at = millis(ts)
	if shown := kit.Short(agentfile.Get(metadata, "displayRole")); shown == "error" {
		m.role = shown
	} else if m.role == "user" && shown != "" && shown != m.role {
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

// take adds a message, of which p has the parts.
func (c *conversation) take(m *message, p *chat) {
	found := last{kind: map[string]kind{"error": failure, "assistant": answer}[m.role], at: m.at, aborted: p.aborted}
	if p.results {
		found.kind = results
	}
	for _, part := range p.messages {
		switch {
		case part.Role == adapters.FromTool:
			found.kind = calling
			if found.calls == 0 {
				found.text = adapters.Calling(part.Tool, part.Text, part.Tool == "run_commands")
			}
			if found.calls++; part.Tool == questionTool {
				found.asks++
			}
		case part.Role == adapters.FromUser && found.kind == noMessage:
			found.kind, found.text = prompt, adapters.CutTo(part.Text, textLimit)
		case part.Role != adapters.FromUser && found.calls == 0:
			found.text = adapters.CutTo(part.Text, adapters.MaxDoing)
		}
	}
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
	if l := &c.last; l.kind == calling || l.kind == answer {
		return l.text, l.at
	}
	return "", time.Time{}
}

// Peek implements adapters.Peeker. The whole conversation is read: Cline keeps it in one JSON value.
func (a *Adapter) Peek(ctx context.Context, s adapters.Session, n int) ([]adapters.Message, error) {
	return kit.Peek(ctx, &s, n, func(path string) ([]adapters.Message, error) {
		var messages []adapters.Message
		data, err := kit.ReadWhole(ctx, path)
		if err == nil {
			messages, err = (&chat{session: &s}).read(data)
		}
		messages = messages[max(0, len(messages)-n):]
		slices.Reverse(messages)
		return messages, err
	})
}

// Conversations implements adapters.Searcher. A hit has the folder that the manifest names.
func (a *Adapter) Conversations(ctx context.Context, since time.Time) ([]adapters.Conversation, error) {
	d := a.begin(ctx, adapters.Query{Since: since})
	if d.Homes.Absent() {
		return nil, adapters.ErrAbsent
	}
	d.list()
	var list []adapters.Conversation
	for _, s := range d.sessions {
		changed := kit.Latest(s.started, s.ended, s.modified)
		if changed.Before(since) {
			continue
		}
		list = append(list, kit.FileSearch(s.conversationFile(), changed, func(_ context.Context, f *kit.Finder) ([][]byte, func([]byte) error) {
			f.Hit.Session, f.Hit.CWD = s.id, s.cwd
			return nil, func(data []byte) error { return search(data, f) }
		}))
	}
	_, err := d.Report.Result(ctx, description.Title)
	return list, err
}

// search reports the messages of a conversation that have the pattern.
func search(data []byte, f *kit.Finder) error {
	messages, err := (&chat{limit: kit.Whole, tools: f.Query.Tools}).read(data)
	for i := 0; i < len(messages) && err == nil; i++ {
		_, err = f.Add(&messages[i])
	}
	return err
}

// chat collects the messages of a conversation.
type chat struct {
	session  *adapters.Session // nil: of the calls in the last message it is not asked whether they run
	limit    kit.Limit
	tools    bool // the texts of calls and results are wanted as a whole; else those of calls, shortened
	messages []adapters.Message
	calls    map[string]int // the places of the calls, by key
	last     int            // the place of the first part of the last message
	results  bool           // that message has results of tools
	aborted  bool           // and one of them was aborted
	skipped  map[string]int
}

// silent lists the kinds of blocks that are no text, call or result.
var silent = []string{"thinking", "redacted_thinking", "reasoning", "image", "file", "document"}

// read returns the messages of a conversation, the oldest first. A call before the last message runs no longer.
func (p *chat) read(data []byte) ([]adapters.Message, error) {
	p.messages = nil
	p.calls = map[string]int{}
	p.last = 0
	err := eachMessage(data, p.add)
	for i := range p.messages {
		if m := &p.messages[i]; m.State == adapters.ToolRunning && (i < p.last || p.session != nil) {
			m.State = kit.StateWithoutResult(p.session, m, i < p.last)
		}
	}
	return slices.Clip(p.messages), err
}

// add adds a message.
func (p *chat) add(m *message) {
	p.last = len(p.messages)
	p.results = false
	p.aborted = false
	role := map[string]adapters.Role{"user": adapters.FromUser, "assistant": adapters.FromAgent, "error": adapters.FromNote}[m.role]
	if role == "" {
		if m.role != "note" {
			p.skipped = kit.CountSkipped(p.skipped, "unknown role "+kit.PlainWord(m.role))
		}
		return
	}
	m.blocks(func(kind string, block, text []byte) {
		out := adapters.Message{Key: cmp.Or(m.id, m.at.Format(time.RFC3339Nano)), Role: role, At: m.at}
		if part := len(p.messages) - p.last; part > 0 {
			out.Key += "/" + strconv.Itoa(part)
		}
		shown := false
		switch kind {
		case "text":
			out.Text = strings.TrimSpace(p.limit.Text(text))
			if role == adapters.FromUser {
				out.Text = unwrapped(out.Text)
			}
			shown = out.Text != ""
		case "tool_use":
			p.call(&out, block)
			shown = true
		case "tool_result":
			p.result(&out, block)
			shown = p.tools
		default:
			if !slices.Contains(silent, kind) {
				p.skipped = kit.CountSkipped(p.skipped, "unknown content "+kit.PlainWord(kind))
			}
		}
		if shown {
			out.Text = p.limit.Cut(out.Text)
			p.messages = append(p.messages, out)
		}
	})
}

// call reads a call of a tool.
func (p *chat) call(out *adapters.Message, block []byte) {
	input := agentfile.Get(block, "input")
	out.Key = "call/" + kit.Short(agentfile.Get(block, "id"))
	out.Role = adapters.FromTool
	out.State = adapters.ToolRunning
	out.Tool = cmp.Or(kit.Short(agentfile.Get(block, "name")), "tool")
	out.Text = argument(input)
	if p.tools {
		out.Text = kit.Strings(input)
	}
	p.calls[out.Key] = len(p.messages)
}

// result reads the result of a call, and notes that the call is over.
func (p *chat) result(out *adapters.Message, block []byte) {
	out.Key = "call/" + kit.Short(agentfile.Get(block, "tool_use_id"))
	out.Role = adapters.FromTool
	out.Tool = kit.Short(agentfile.Get(block, "name"))
	out.State = p.stateOf(block)
	if i, known := p.calls[out.Key]; known {
		p.messages[i].State = out.State
	}
	if p.tools {
		out.Text = kit.Strings(agentfile.Get(block, "content"))
	}
}

// stateOf returns the state of a call that has a result. An interrupted one says {"error": "Command failed: Command was aborted"}.
func (p *chat) stateOf(block []byte) adapters.ToolState {
	failed := agentfile.True(agentfile.Get(block, "is_error"))
	kit.Each(agentfile.Get(block, "content"), func(part []byte) {
		failed = failed || string(agentfile.Get(part, "success")) == "false"
		p.aborted = p.aborted || strings.Contains(kit.Short(agentfile.Get(part, "error")), "aborted")
	})
	p.results = true
	if failed {
		return adapters.ToolFailed
	}
	return adapters.ToolDone
}
