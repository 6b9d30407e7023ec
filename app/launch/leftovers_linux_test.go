package launch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rollcall/app/cleanup"
	"rollcall/proc"
)

// What dead launches left is offered and removed; what belongs to living ones is
// not, also when somebody asks for it by name.
func TestLeftovers(t *testing.T) {
	s := newStage(t, &fake{})
	lives := s.start(nil).Record
	s.dir = t.TempDir()
	over := s.start(nil).Record
	s.signal(over.Process, proc.Kill)
	s.until("its end", func() bool { return !s.table.Alive(over.Process) })
	dead := lockOf(&over)
	if _, _, err := s.End(t.Context(), over.ID, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.locks.HandOver(t.Context(), dead, over.Process, ""); err != nil { // one that leaked
		t.Fatal(err)
	}
	damaged := s.records.File("l-bad") + ".damaged-1"
	if err := os.WriteFile(damaged, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &cleanup.Cleaner{Home: t.TempDir(), Sources: []cleanup.Source{Leftovers{s.Launches}}}
	items, err := c.Scan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, it := range items {
		kinds = append(kinds, it.Kind)
		if strings.Contains(it.Path, lives.ID) {
			t.Errorf("a living launch's file is offered: %s", it.Path)
		}
	}
	slices.Sort(kinds)
	if want := []string{"damaged file", "launch record", "lock", "log"}; !slices.Equal(kinds, want) {
		t.Errorf("offered %v, want %v: %+v", kinds, want, items)
	}
	for _, r := range c.Remove(t.Context(), items) {
		if r.Err != nil {
			t.Errorf("%s: %v", r.Path, r.Err)
		}
	}
	if again, err := c.Scan(t.Context()); err != nil || len(again) > 0 {
		t.Errorf("left %+v, %v", again, err)
	}
	if s.only().ID != lives.ID {
		t.Error("the wrong one was removed")
	}
	for _, path := range []string{s.records.File(lives.ID), s.logFile(lives.ID), filepath.Join(s.state, "config"), filepath.Join(s.logs, "other.log")} {
		info, err := os.Lstat(path)
		if err != nil {
			info, _ = os.Lstat(s.records.File(lives.ID))
		}
		r := c.Remove(context.Background(), []cleanup.Item{cleanup.NewItem(path, "x", "x", info)})
		if len(r) != 1 || r[0].Err == nil || !errors.Is(r[0].Err, cleanup.ErrKept) && !errors.Is(r[0].Err, cleanup.ErrRefused) {
			t.Errorf("%s: %+v", path, r)
		}
	}
}
