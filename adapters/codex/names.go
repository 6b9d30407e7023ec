package codex

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"
	"sync"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// names keeps the names of threads in session_index.jsonl, to which Codex only
// appends: the last name of a thread counts.
type names struct {
	mu    sync.Mutex
	files agentfile.Cache[*indexFile]
}

type indexFile struct {
	agentfile.File
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
	n.mu.Lock()
	defer n.mu.Unlock()
	index := n.files.Get(path, func(path string) *indexFile { return &indexFile{File: agentfile.NewFile(path)} })
	if index.Begin(file, info); index.IsOpenedCurrent() {
		return index.names, nil
	}
	found := map[string]string{}
	if index.HasGrown(file) {
		maps.Copy(found, index.names)
	} else {
		index.Reset()
	}
	next, _, err := agentfile.Forward(ctx, file, index.Next, headLine, func(line []byte, _ int64) error {
		if id, name := indexEntry(line); id != "" {
			found[id] = name
		}
		return nil
	})
	if err == nil {
		index.names, index.Next = found, next
		_, err = index.Finish(file, info, 0)
	}
	if err != nil {
		index.Reset()
		return found, adapters.Unreadable(path, err)
	}
	return found, nil
}

// indexEntry reads one line. It returns no id for a line without one.
func indexEntry(line []byte) (id, name string) {
	err := agentfile.Top(line, func(key, raw []byte) bool {
		switch string(key) {
		case "id":
			id = agentfile.String(raw)
		case "thread_name":
			name, _ = agentfile.Head(raw, textLimit)
		}
		return true
	})
	if name = strings.TrimSpace(name); err != nil || name == "" || !kit.Is(id) {
		return "", ""
	}
	return id, name
}
