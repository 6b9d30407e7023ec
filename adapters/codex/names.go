package codex

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// names keeps the names of threads in session_index.jsonl, by its path, until the file changes. The last name of a thread counts.
type names struct{ kit.Memo[string, index] }

type index struct {
	stamp agentfile.Stamp
	names map[string]string
}

// of returns the names in a root's index. The map must not be changed.
func (n *names) of(ctx context.Context, root string) (map[string]string, error) {
	path := filepath.Join(root, "session_index.jsonl")
	file, info, err := agentfile.OpenRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, adapters.Unreadable(path, err)
	}
	defer file.Close()
	now := index{stamp: agentfile.StampOfOpen(file, info), names: map[string]string{}}
	if was, _ := n.Get(path); was.stamp.Unchanged(now.stamp) {
		return was.names, nil
	}
	_, _, err = agentfile.Forward(ctx, file, 0, headLine, func(line []byte, _ int64) error {
		if id, name := indexEntry(line); id != "" {
			now.names[id] = name
		}
		return nil
	})
	if err != nil {
		return now.names, adapters.Unreadable(path, err)
	}
	n.Put(path, now)
	return now.names, nil
}

// indexEntry reads one line. It returns no id for a line without one.
func indexEntry(line []byte) (id, name string) {
	var rawID, rawName []byte
	err := agentfile.Members(line, agentfile.Into("id", &rawID), agentfile.Into("thread_name", &rawName))
	id = agentfile.String(rawID)
	name, _ = agentfile.Head(rawName, textLimit)
	name = strings.TrimSpace(name)
	if err != nil || name == "" || !kit.Is(id) {
		return "", ""
	}
	return id, name
}
