package copilot

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// Conversations implements adapters.Searcher. What sub-agents said is not searched.
func (a *Adapter) Conversations(ctx context.Context, since time.Time) ([]adapters.Conversation, error) {
	d := a.begin(ctx, adapters.Query{Since: since})
	if d.absent() {
		return nil, adapters.ErrAbsent
	}
	d.list()
	var list []adapters.Conversation
	for _, at := range d.all {
		info, err := at.stat()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			d.answer.Problem(adapters.Unreadable(at.events(), err))
		}
		if err == nil && !info.ModTime().Before(since) {
			list = append(list, conversation(at, info.ModTime()))
		}
	}
	_, err := d.answer.Result(ctx, description.Title)
	return list, err
}

func conversation(at place, changed time.Time) adapters.Conversation {
	return kit.FileSearch(at.events(), changed, func(_ context.Context, n *kit.Finder) ([][]byte, func([]byte) error) {
		space, _ := readWorkspace(filepath.Join(at.dir(), "workspace.yaml")) // a hit is one without its folder, too
		n.Hit.Session, n.Hit.CWD = at.id, space.cwd
		return marks(n.Query), func(line []byte) error { return n.AddItems(items(line, kit.Whole)) }
	})
}

// marks returns what the lines have that are needed beside those with the pattern: a tool's result names its call alone.
func marks(q *adapters.SearchQuery) [][]byte {
	if !q.Tools {
		return nil
	}
	return [][]byte{[]byte(`"tool.execution_start"`)}
}
