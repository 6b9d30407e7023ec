package copilot

import (
	"context"
	"path/filepath"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/skeleton"
)

// Conversations implements adapters.Searcher. What sub-agents said is not searched.
func (a *Adapter) Conversations(ctx context.Context, since time.Time) ([]adapters.Conversation, error) {
	d := a.begin(ctx, adapters.Query{Since: since})
	return skeleton.Conversations(d.Look, d.searched, conversation)
}

// searched returns the files that are searched.
func (d *discovery) searched() (list []*session) {
	d.list()
	for _, at := range d.all {
		if chat, ok, _ := d.Report.Stat(at.root, at.events()); ok {
			list = append(list, &session{Chat: chat, place: at})
		}
	}
	return list
}

func conversation(s *session) adapters.Conversation {
	return kit.FileSearch(s.Path, s.Info.ModTime(), func(_ context.Context, n *kit.Finder) ([][]byte, func([]byte) error) {
		space, _ := readWorkspace(filepath.Join(s.dir(), "workspace.yaml")) // a hit is one without its folder, too
		n.Hit.Session, n.Hit.CWD = s.id, space.cwd
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
