package kit

import (
	"context"
	"slices"

	"rollcall/adapters"
)

// Item is a message in a record of a conversation, or the result of a call that is in an earlier record. What an agent shows and what is searched are views
// of the items of its records, which one function for each agent reads.
type Item struct {
	adapters.Message               // without a role: none
	Call             string        // the id of the call that the item is, or whose result it is
	IsResult         bool          // it is the result of a call, with its state, or a part of it without one; without a key, it has that of the call
	Ends             bool          // calls in earlier items run no longer
	Texts            func() string // what a search of tools looks in; nil: Text
}

// Reader reads the items of a line, in their order.
type Reader func(line []byte, limit Limit) []Item

// LastItems collects the last n messages of a session, from the last to the first.
type LastItems struct {
	Messages []adapters.Message

	session   *adapters.Session
	n         int
	results   map[string]adapters.ToolState // by the id of the call
	continued bool                          // a later item ends the calls
}

// NewLastItems returns the view of the last n messages of a session.
func NewLastItems(s *adapters.Session, n int) *LastItems {
	return &LastItems{session: s, n: n, results: map[string]adapters.ToolState{}}
}

// IsFull reports whether no more messages are needed.
func (l *LastItems) IsFull() bool { return len(l.Messages) >= l.n }

// Add adds the items of a record, from the last record on.
func (l *LastItems) Add(items []Item) {
	for _, p := range slices.Backward(items) {
		state, over := l.results[p.Call]
		switch {
		case p.IsResult && p.State == "": // a part of it
		case p.IsResult:
			l.results[p.Call] = p.State
		case p.Role == adapters.FromTool && over:
			p.State = state
		case p.State == adapters.ToolRunning:
			p.State = StateWithoutResult(l.session, &p.Message, l.continued)
		}
		if p.Role != "" && !p.IsResult && !l.IsFull() {
			l.Messages = append(l.Messages, p.Message)
		}
		l.continued = l.continued || p.Ends
	}
}

// PeekLines returns the last n messages of a session's file of lines.
func PeekLines(ctx context.Context, s *adapters.Session, n int, read Reader) ([]adapters.Message, error) {
	return Peek(ctx, s, n, func(path string) ([]adapters.Message, error) {
		last := NewLastItems(s, n)
		err := LinesFromEnd(ctx, path, func(line []byte) bool {
			last.Add(read(line, Shown))
			return !last.IsFull()
		})
		return last.Messages, err
	})
}

// AddItems reports those of a record's items that have the pattern.
func (f *Finder) AddItems(items []Item) error {
	if f.calls == nil {
		f.calls = map[string]adapters.Message{}
	}
	for i := range items {
		p := &items[i]
		m := p.Message
		call, known := f.calls[p.Call]
		switch {
		case p.Role == "", p.Role == adapters.FromTool && !f.Query.Tools:
			continue
		case p.IsResult && p.Key == "" && !known:
			continue
		case p.IsResult && p.Key == "":
			m = call
		case p.Role == adapters.FromTool && !p.IsResult:
			f.calls[p.Call] = m
		}
		if p.Texts != nil {
			m.Text = p.Texts()
		}
		if _, err := f.Add(&m); err != nil {
			return err
		}
	}
	return nil
}
