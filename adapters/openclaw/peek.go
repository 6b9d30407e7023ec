package openclaw

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strconv"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// maxHistory is the largest number of messages that chat.history returns.
const maxHistory = 1000

// Peek implements adapters.Peeker with chat.history, which needs operator.read only.
// Texts that the gateway leaves out (it shortens long messages) are missing.
func (a *Adapter) Peek(ctx context.Context, s adapters.Session, n int) ([]adapters.Message, error) {
	if n <= 0 {
		return nil, nil
	}
	t, key, err := a.locate(ctx, s)
	if err != nil {
		return nil, err
	}
	h, err := a.history(ctx, t, key, n)
	messages := h.messages(n)
	for i := range messages {
		messages[i].Text = t.auth.redact(messages[i].Text)
	}
	return messages, err
}

// history returns the last n messages of a conversation, or more; with n 0 all that the gateway gives, as of a gateway that does not run. What it
// returns with an error is right, and not complete.
func (a *Adapter) history(ctx context.Context, t *target, key string, n int) (h history, err error) {
	limited, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	err = a.over(ctx, limited, t, func(c *client) error {
		h = history{}
		return h.read(limited, c, key, n)
	})
	switch {
	case isRefusedDial(err):
		return a.storedHistory(ctx, t, key)
	case err != nil:
		return h, t.problem(err)
	}
	return h, nil
}

// read reads the conversation from the end, page by page. The gateway lists a result as a separate message; here it is part of its call.
func (h *history) read(ctx context.Context, c *client, key string, n int) error {
	limit := maxHistory
	if n > 0 {
		limit = min(2*n+2, maxHistory)
	}
	for offset := 0; ; limit = maxHistory {
		params := map[string]any{"sessionKey": key, "limit": limit}
		if offset > 0 {
			params["offset"] = offset
		}
		var older history
		if err := c.call(ctx, "chat.history", params, &older); err != nil {
			return err
		}
		h.prepend(&older)
		if older.Total == 0 && len(older.Messages) >= limit {
			h.More = true // 2026.6.1 states neither a total nor offsets
		}
		next := int(older.Next.count())
		switch {
		case !h.More || n > 0 && len(h.messages(n)) >= n:
			return nil
		case next > offset:
			offset = next
		case offset == 0 && limit < maxHistory:
			*h = history{}
		default:
			return nil
		}
	}
}

// history is the answer to chat.history (2026.9.6). The offsets count all records of the conversation, of which Messages are those that are shown.
type history struct {
	Messages []json.RawMessage `json:"messages"`
	Total    number            `json:"totalMessages"`
	More     bool              `json:"hasMore"`
	Next     number            `json:"nextOffset"`
}

// prepend adds a page of earlier messages. A page that ends within a record has the rest of it again.
func (h *history) prepend(older *history) {
	again := map[string]bool{"": false}
	for _, e := range older.entries() {
		again[e.Meta.ID] = e.Meta.ID != ""
	}
	rest := 0
	for _, e := range h.entries() {
		if !again[e.Meta.ID] {
			break
		}
		rest++
	}
	h.Messages = append(older.Messages, h.Messages[rest:]...)
	h.Total = older.Total
	h.More = older.More
	h.Next = older.Next
}

// entry is a message of a conversation, in 2026.9.6 and 2026.2.26.
type entry struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	Timestamp  number          `json:"timestamp"`
	CallID     string          `json:"toolCallId"`
	Tool       string          `json:"toolName"`
	IsError    bool            `json:"isError"`
	StopReason string          `json:"stopReason"`
	Error      string          `json:"errorMessage"`
	Meta       struct {
		ID string `json:"id"`
	} `json:"__openclaw"`
}

// part is a piece of a message.
type part struct {
	Type      string         `json:"type"`
	Text      string         `json:"text"`
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
}

// entries yields the entries of the history, each with its key.
func (h *history) entries() iter.Seq2[string, *entry] {
	from := max(0, int(h.Total.count())-len(h.Messages))
	return func(yield func(string, *entry) bool) {
		for i, raw := range h.Messages {
			var e entry
			_ = json.Unmarshal(raw, &e) // members of another type are zero
			if !yield(cmp.Or(e.Meta.ID, strconv.Itoa(from+i)), &e) {
				return
			}
		}
	}
}

// messages returns the last n messages of the history, each call of a tool together with its result.
func (h *history) messages(n int) []adapters.Message {
	last := kit.NewLastItems(&adapters.Session{}, n) // a call without a result may run in a session without a run
	last.Add(h.items())
	slices.Reverse(last.Messages)
	return last.Messages
}

// items returns the items of the history, in their order.
func (h *history) items() (list []kit.Item) {
	keys := map[string]string{} // of calls, by their ids
	for key, e := range h.entries() {
		for _, item := range e.items(key) {
			if item.IsResult {
				item.Key = cmp.Or(keys[item.Call], key)
			} else if item.Call != "" {
				keys[item.Call] = item.Key
			}
			list = append(list, item)
		}
	}
	return list
}

// items returns what an entry has: its text, and each call, or the result of a call.
func (e *entry) items(key string) []kit.Item {
	if e.Role == "toolResult" {
		return []kit.Item{e.result()}
	}
	role, ok := map[string]adapters.Role{"user": adapters.FromUser, "assistant": adapters.FromAgent,
		"system": adapters.FromNote}[e.Role]
	if !ok {
		return nil
	}
	var list []kit.Item
	of := kit.Item{Message: adapters.Message{Key: key, Role: role, At: e.Timestamp.time()}}
	spoken := e.text("text")
	if role == adapters.FromUser {
		spoken = userText(spoken)
	}
	if spoken != "" {
		of.Text = adapters.Cut(spoken)
		list = append(list, of)
	}
	for _, p := range e.parts() {
		switch p.Type {
		case "toolCall", "toolUse", "tool_use":
			list = append(list, p.call(of))
		}
	}
	if e.StopReason == "error" || e.StopReason == "aborted" {
		of.Key += "/end"
		of.Role = adapters.FromNote
		of.Text = adapters.Cut(cmp.Or(e.Error, e.StopReason))
		list = append(list, of)
	}
	return list
}

// call returns a call. of has what it has in common with its entry.
func (p *part) call(of kit.Item) kit.Item {
	of.Key += "/" + p.ID
	of.Role = adapters.FromTool
	of.Tool = p.Name
	of.Text = adapters.Cut(p.argument())
	of.State = adapters.ToolRunning
	of.Call = p.ID
	of.Texts = func() string {
		arguments, _ := json.Marshal(p.Arguments) // it was JSON
		return kit.Strings(arguments)
	}
	return of
}

// result returns the result of a call, without its key.
func (e *entry) result() kit.Item {
	state := adapters.ToolDone
	if e.failed() {
		state = adapters.ToolFailed
	}
	return kit.Item{Message: adapters.Message{Role: adapters.FromTool, Tool: e.Tool, State: state, At: e.Timestamp.time()},
		Call: e.CallID, IsResult: true, Texts: func() string { return e.text("") }}
}

// text joins the texts of an entry's parts of a type; "" stands for any type.
func (e *entry) text(of string) string {
	var words []string
	for _, p := range e.parts() {
		if of == "" || p.Type == of {
			words = append(words, p.Text)
		}
	}
	return strings.Join(words, "\n")
}

// parts returns the pieces of an entry, whose content is a text or a list.
func (e *entry) parts() []part {
	if bytes.HasPrefix(bytes.TrimSpace(e.Content), []byte("[")) {
		var raw []json.RawMessage
		_ = json.Unmarshal(e.Content, &raw)
		list := make([]part, len(raw))
		for i, b := range raw {
			_ = json.Unmarshal(b, &list[i])
		}
		return list
	}
	var words string
	if json.Unmarshal(e.Content, &words) != nil {
		return nil
	}
	return []part{{Type: "text", Text: words}}
}

// argument returns the most descriptive argument of a call.
func (p *part) argument() string {
	for _, name := range []string{"command", "cmd", "path", "file_path", "url", "query", "pattern", "task", "message"} {
		if s, ok := p.Arguments[name].(string); ok && s != "" {
			return s
		}
	}
	b, err := json.Marshal(p.Arguments)
	if err != nil || p.Arguments == nil {
		return ""
	}
	return string(b)
}

// failed reports whether a result is that of a failure. exec reports its own failures
// in the text.
func (e *entry) failed() bool {
	if e.IsError {
		return true
	}
	for _, p := range e.parts() {
		var r struct {
			Status string `json:"status"`
		}
		if json.Unmarshal([]byte(p.Text), &r) == nil && (r.Status == "error" || r.Status == "failed") {
			return true
		}
	}
	return false
}
