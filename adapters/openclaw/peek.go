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
	messages := h.messages()
	for i := range messages {
		messages[i].Text = t.auth.redact(messages[i].Text)
	}
	return messages[max(0, len(messages)-n):], err
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
		case !h.More || n > 0 && len(h.messages()) >= n:
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

// messages returns the messages of the history, each call of a tool together with its
// result.
func (h *history) messages() []adapters.Message {
	var list []adapters.Message
	calls := map[string]int{}
	for key, e := range h.entries() {
		if e.Role == "toolResult" {
			if j, ok := calls[e.CallID]; ok {
				list[j].State = adapters.ToolDone
				if e.failed() {
					list[j].State = adapters.ToolFailed
				}
			}
			continue
		}
		for _, m := range e.split(key) {
			if m.Role == adapters.FromTool {
				calls[strings.TrimPrefix(m.Key, key+"/")] = len(list)
			}
			list = append(list, m)
		}
	}
	return list
}

// split returns the messages of an entry: its text, and each call.
func (e *entry) split(key string) []adapters.Message {
	role, ok := map[string]adapters.Role{"user": adapters.FromUser, "assistant": adapters.FromAgent,
		"system": adapters.FromNote}[e.Role]
	if !ok {
		return nil
	}
	var list []adapters.Message
	var words []string
	at := e.Timestamp.time()
	for _, p := range e.parts() {
		switch p.Type {
		case "text":
			words = append(words, p.Text)
		case "toolCall", "toolUse", "tool_use":
			list = append(list, adapters.Message{Key: key + "/" + p.ID, Role: adapters.FromTool, Tool: p.Name,
				Text: adapters.Cut(p.argument()), State: adapters.ToolRunning, At: at})
		}
	}
	spoken := strings.Join(words, "\n")
	if role == adapters.FromUser {
		spoken = userText(spoken)
	}
	if spoken != "" {
		list = slices.Insert(list, 0, adapters.Message{Key: key, Role: role, Text: adapters.Cut(spoken), At: at})
	}
	if e.StopReason == "error" || e.StopReason == "aborted" {
		list = append(list, adapters.Message{Key: key + "/end", Role: adapters.FromNote,
			Text: adapters.Cut(cmp.Or(e.Error, e.StopReason)), At: at})
	}
	return list
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
