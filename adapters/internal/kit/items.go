package kit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
)

// Item is a message in a record of a conversation, or the result of a call that is in an earlier record. What an agent shows and what is searched are views
// of the items of its records, which one function for each agent reads.
type Item struct {
	adapters.Message               // without a role: none
	Call             string        // the id of the call that the item is, or whose result it is
	IsResult         bool          // it is the result of a call, with its state, or a part of it without one; without a key, it has that of the call
	Ends             bool          // calls in earlier items run no longer
	Of               string        // the answer that the item is a part of: calls of other answers before it run no longer
	Joins            bool          // it is one message with the one before it, if that has the same role, and the same text or topic
	Topic            string        // of messages whose texts differ
	Texts            func() string // what a search of tools looks in; nil: Text
}

// Reader reads the items of a line, in their order.
type Reader func(line []byte, limit Limit) []Item

// LastItems collects the last n messages of a session, from the last to the first.
type LastItems struct {
	Messages []adapters.Message
	Once     bool // a message whose key was there is left out, as of records that were copied

	last      Item // of the messages
	of        string
	seen      map[string]bool
	session   *adapters.Session
	n         int
	results   map[string]adapters.ToolState // by the id of the call
	continued bool                          // a later item ends the calls
}

// NewLastItems returns the view of the last n messages of a session.
func NewLastItems(s *adapters.Session, n int) *LastItems {
	return &LastItems{session: s, n: n, results: map[string]adapters.ToolState{}, seen: map[string]bool{}}
}

// IsFull reports whether no more messages are needed.
func (l *LastItems) IsFull() bool { return len(l.Messages) >= l.n }

// Add adds the items of a record, from the last record on.
func (l *LastItems) Add(items []Item) {
	for _, p := range slices.Backward(items) {
		l.continued = l.continued || p.Of != "" && l.of != "" && l.of != p.Of
		l.of = cmp.Or(p.Of, l.of)
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
		if p.Role != "" && !p.IsResult {
			l.message(p)
		}
		l.continued = l.continued || p.Ends
	}
}

// message adds a message that comes before those that were added.
func (l *LastItems) message(p Item) {
	again := l.Once && l.seen[p.Key]
	l.seen[p.Key] = true
	switch {
	case again:
	case l.last.Joins && p.Role == l.last.Role && cmp.Or(p.Topic, p.Text) == cmp.Or(l.last.Topic, l.last.Text):
		first := &l.Messages[len(l.Messages)-1]
		first.Key, first.At = p.Key, p.At
		l.last = p
	case !l.IsFull():
		l.Messages = append(l.Messages, p.Message)
		l.last = p
	}
}

// peekWindow is the number of bytes from the end of a file in which messages are searched for.
const peekWindow = 512 << 20

// ReadLines adds the items of the lines of r from the last to the first, until there are enough or read returns false. offset is that of the line.
func (l *LastItems) ReadLines(ctx context.Context, r io.ReaderAt, size int64, read func(line []byte, offset int64) (items []Item, more bool)) error {
	b := agentfile.Backward(r, size, 0).WithContext(ctx)
	defer b.Close()
	for more := true; more && !l.IsFull(); {
		line, offset, err := b.Prev()
		var long *agentfile.LongLine
		var items []Item
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &long):
		case err != nil:
			return err
		default:
			items, more = read(line, offset)
			l.Add(items)
		}
		if size-offset > peekWindow || long != nil && long.Endless {
			l.cut(size - offset)
			return nil
		}
	}
	return nil
}

// cut adds a note that there are earlier messages, which are not read.
func (l *LastItems) cut(distance int64) {
	l.message(Item{Message: adapters.Message{Key: "cut", Role: adapters.FromNote,
		Text: fmt.Sprintf("Messages more than %d MB before the end are not shown.", distance>>20)}})
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
		if f.last.Role == m.Role && f.last.Joins != p.Joins && f.last.Text == m.Text {
			f.last = Item{}
			continue
		}
		has, err := f.Add(&m)
		if err != nil {
			return err
		}
		if has {
			f.last = *p
		}
	}
	return nil
}
