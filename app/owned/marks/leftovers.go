package marks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rollcall/app"
	"rollcall/app/owned/cleanup"
	"rollcall/app/present"
)

// Leftovers offers the notes about sessions that their agents no longer list to a cleanup. All is a snapshot of the sessions of all time: the notes about sessions of
// an agent that did not answer in full, or is not installed, are kept.
type Leftovers struct {
	*Marks
	All *app.Snapshot
}

var _ cleanup.Source = Leftovers{}

// Any reports whether there are notes.
func (m *Marks) Any() bool {
	names, err := m.folder.Names()
	return err == nil && len(names) > 0
}

// Owns implements cleanup.Source.
func (l Leftovers) Owns(path string) (anchor string, ok bool) {
	dir, name := filepath.Split(path)
	return filepath.Dir(l.folder.Path()), filepath.Clean(dir) == l.folder.Path() && strings.HasSuffix(name, ".json")
}

// Scan implements cleanup.Source.
func (l Leftovers) Scan(ctx context.Context) (items []cleanup.Item, err error) {
	names, err := l.folder.Names()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, name := range names {
		item, failed := l.Check(ctx, l.folder.File(name))
		switch {
		case failed == nil:
			items = append(items, item)
		case !errors.Is(failed, cleanup.ErrKept) && !errors.Is(failed, fs.ErrNotExist):
			err = errors.Join(err, failed)
		}
	}
	return items, err
}

// Check implements cleanup.Source.
func (l Leftovers) Check(_ context.Context, path string) (cleanup.Item, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return cleanup.Item{}, err
	}
	var n note
	name := strings.TrimSuffix(filepath.Base(path), ".json")
	if err := l.folder.Read(name, &n); err != nil {
		return cleanup.Item{}, fmt.Errorf("names of sessions: %w", err)
	}
	if err := n.Check(name); err != nil {
		return cleanup.Item{}, fmt.Errorf("%s: %w", path, err)
	}
	if !l.isGone(&n) {
		return cleanup.Item{}, fmt.Errorf("%w: its session is listed, or not everything of %s could be read", cleanup.ErrKept, n.Agent)
	}
	return cleanup.NewItem(path, "note about a session", present.AgentName(n.Agent)+" no longer lists session "+n.Session, info), nil
}

// isGone reports whether the agent of a note answered in full and does not list its session.
func (l Leftovers) isGone(n *note) bool {
	for s := range l.All.Known() {
		if s.Agent == n.Agent && (s.ID == n.Session || s.Continues == n.Session) {
			return false
		}
	}
	return l.All.Health(n.Agent).State == app.OK
}
