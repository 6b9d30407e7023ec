package codex

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/must"
	"rollcall/proc"
)

// askedTable is the table of a system like Windows: it lists no open files and no locks, and says who has a file open.
type askedTable struct {
	proc.Lister
	refuses bool
	other   proc.Identity // a program that is no Codex and has every file open
}

func (askedTable) OpenFiles(proc.Identity) ([]string, error) { return nil, proc.ErrUnsupported }
func (askedTable) FileLocks() (map[proc.FileID]int, error)   { return nil, proc.ErrUnsupported }
func (t askedTable) Holders(path string) ([]proc.Identity, error) {
	if t.refuses {
		return nil, errors.New("refused")
	}
	rows, err := t.List(context.Background())
	var ids []proc.Identity
	if !t.other.IsZero() {
		ids = append(ids, t.other)
	}
	for _, p := range rows {
		if files, err := t.Lister.OpenFiles(p.Identity); err == nil && slices.Contains(files, path) {
			ids = append(ids, proc.Identity{PID: p.PID, Start: p.Start})
		}
	}
	return ids, err
}

// What is asked file by file gives the same answer as the lists of open files and locks.
func TestHolders(t *testing.T) {
	dirs, err := filepath.Glob(recordings + "/codex-*")
	must.Do(t, err)
	for _, dir := range dirs {
		r := adaptertest.Replay(t, dir)
		for name, table := range map[string]askedTable{"asked": {Lister: r.Table}, "refused": {Lister: r.Table, refuses: true}, "another program": {Lister: r.Table, other: proc.Identity{PID: 1 << 20, Start: 1}}} {
			cfg := r.Config()
			cfg.Table = table
			sessions := adaptertest.Discover(t, New(cfg), adapters.Query{}).Sessions
			if name == "asked" {
				adaptertest.Check(t, sessions, r.Expect)
				continue
			}
			for _, s := range sessions {
				i := slices.IndexFunc(r.Expect.Sessions, func(e adaptertest.Expected) bool { return e.ID == s.ID })
				if i >= 0 && s.Status != adapters.Unknown && string(s.Status) != r.Expect.Sessions[i].Status {
					t.Errorf("%s, %s: session %s is %s, want %s or unknown; evidence: %s", dir, name, s.ID, s.Status, r.Expect.Sessions[i].Status, s.Evidence)
				}
			}
		}
	}
}
