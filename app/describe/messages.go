package describe

import (
	"errors"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

// Messages is the result of reading a conversation.
type Messages struct {
	List      []Message
	Problem   string // the reason why messages are missing; empty: none is missing
	Supported bool   // the agent's conversations can be read
	Asked     int    // how many messages were requested
}

// Message is a message with the texts that the window shows.
type Message struct {
	Key     string
	Role    adapters.Role
	Speaker string
	Tool    string
	Plan    bool // the call presents a plan: its text is Markdown
	State   adapters.ToolState
	Text    string
	Rest    string // the rest of a long text, shown on demand
	whole   string // what a tool was called with, to copy it
	At      time.Time
}

// Markdown returns the whole text of a message as it was written, or what a tool was called with.
func (m *Message) Markdown() string {
	if m.whole != "" {
		return present.Text(m.whole)
	}
	return m.Text + m.Rest
}

// NewMessages cleans messages for the screen. It must not be called on Fyne's goroutine.
func NewMessages(list []adapters.Message, err error, agent adapters.Name, n int) *Messages {
	out := &Messages{Supported: !errors.Is(err, app.ErrNoPeek), Problem: present.Error(err), Asked: n}
	newest := len(list) - 1 // the newest message of the agent is shown whole, unless that would take long to lay out
	for newest > 0 && list[newest].Role != adapters.FromAgent {
		newest--
	}
	for i, m := range list {
		t := Message{Key: m.Key, Role: m.Role, Speaker: present.Speaker(m, agent), At: m.At}
		if m.Role == adapters.FromTool {
			t.Tool = present.Cut(present.Tool(m), 32)
			t.State = m.State
			t.whole = m.Text
			t.Plan = m.Plan && strings.Contains(m.Text, "\n") && !present.IsUnbroken(m.Text)
			t.Text = present.Cut(present.Line(present.Begin(m.Text, present.FirstShown)), 300)
			if t.Plan {
				t.Text, t.Rest = present.Fold(present.Text(m.Text))
			}
		} else if t.Text = present.Text(m.Text); i != newest || m.Role != adapters.FromAgent || present.IsUnbroken(t.Text) {
			t.Text, t.Rest = present.Fold(t.Text)
		}
		out.List = append(out.List, t)
	}
	return out
}
