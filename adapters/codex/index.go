package codex

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/jsonl"
	"rollcall/proc"
)

// names are the threads' names out of session_index.jsonl: append-only, the last
// one counts. The file is read on from where it was left.
type names struct {
	mu    sync.Mutex
	files map[string]*indexFile
}

type indexFile struct {
	id    proc.FileID
	size  int64
	mtime time.Time
	next  int64
	names map[string]string
}

// of returns the names in a root's index; the map is not to be changed.
func (n *names) of(ctx context.Context, root string) (map[string]string, error) {
	path := filepath.Join(root, "session_index.jsonl")
	f, fi, err := openRollout(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, adapters.Unreadable(path, err)
	}
	defer f.Close()
	n.mu.Lock()
	defer n.mu.Unlock()
	was := n.files[path]
	if was != nil && was.id == fileID(fi) && was.size == fi.Size() && was.mtime.Equal(fi.ModTime()) {
		return was.names, nil
	}
	now := &indexFile{id: fileID(fi), size: fi.Size(), mtime: fi.ModTime(), names: map[string]string{}}
	if was != nil && was.id == now.id && was.size < now.size {
		now.next = was.next
		for id, name := range was.names {
			now.names[id] = name
		}
	}
	now.next, _, err = jsonl.Forward(ctx, f, now.next, headLine, func(line []byte, _ int64) error {
		if id, name := indexEntry(line); id != "" {
			now.names[id] = name
		}
		return nil
	})
	if err != nil {
		return now.names, adapters.Unreadable(path, err)
	}
	if n.files == nil {
		n.files = map[string]*indexFile{}
	}
	n.files[path] = now
	return now.names, nil
}

// indexEntry reads one line; a line that says nothing gives no id.
func indexEntry(line []byte) (id, name string) {
	err := jsonl.Top(line, func(key, raw []byte) bool {
		switch string(key) {
		case "id":
			id = jsonl.String(raw)
		case "thread_name":
			name, _ = jsonl.Head(raw, textLimit)
		}
		return true
	})
	if name = strings.TrimSpace(name); err != nil || name == "" || !isUUID(id) {
		return "", ""
	}
	return id, name
}
