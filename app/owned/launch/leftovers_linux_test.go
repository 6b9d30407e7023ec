package launch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/app/owned/cleanup"
	"rollcall/app/store"
	"rollcall/internal/must"
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
	if _, _, err := s.End(t.Context(), over.ID, nil, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := s.locks.HandOver(t.Context(), dead, over.Process, ""); err != nil { // one that leaked
		t.Fatal(err)
	}
	damaged := s.records.File("l-bad") + ".damaged-1"
	must.Do(t, os.WriteFile(damaged, []byte("{"), 0o600))
	c := &cleanup.Cleaner{Home: t.TempDir(), Sources: []cleanup.Source{Leftovers{s.Launches}}}
	items := must.Get(c.Scan(t.Context()))(t)
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

// TestLeftoversOfDeadLaunches: the end of these launches was not recorded, as no keeper ran.
func TestLeftoversOfDeadLaunches(t *testing.T) {
	s := newStage(t, &fake{})
	dead := func(hooks ...Hook) Record {
		t.Helper()
		s.dir = t.TempDir()
		r := s.start(nil).Record
		if _, err := s.update(t.Context(), r.ID, func(r *Record) bool { r.Hooks = hooks; return true }); err != nil {
			t.Fatal(err)
		}
		s.signal(r.Process, proc.Kill)
		s.until("its end", func() bool { return !s.table.Alive(r.Process) })
		return r
	}
	ran := Hook{When: OnCreate, Command: "true", RanAt: s.now(), FinishedAt: s.now(), Result: "exit 0"}
	offered := []Record{dead(), dead(ran), dead(Hook{When: OnComplete, Command: "true", RanAt: s.now(), Runner: proc.Identity{PID: 1, Start: 1}})}
	kept := []Record{
		dead(ran, Hook{When: OnComplete, Command: "true"}),
		dead(Hook{When: OnComplete, Command: "true", RanAt: s.now(), Runner: proc.Self()}),
		dead(Hook{When: OnComplete, Command: "true", Again: true, RanAt: s.now(), Runner: proc.Identity{PID: 1, Start: 1}}),
	}
	ended := dead(Hook{When: OnComplete, Command: "true"})
	if _, _, err := s.End(t.Context(), ended.ID, nil, ""); err != nil {
		t.Fatal(err)
	}
	kept = append(kept, ended)

	c := &cleanup.Cleaner{Home: t.TempDir(), Sources: []cleanup.Source{Leftovers{s.Launches}}}
	items := must.Get(c.Scan(t.Context()))(t)
	paths := map[string]bool{}
	for _, it := range items {
		paths[it.Path] = true
	}
	for i, r := range offered {
		if !paths[s.records.File(r.ID)] || !paths[s.logFile(r.ID)] {
			t.Errorf("dead launch %d is not offered: %+v", i, items)
		}
	}
	for i, r := range kept {
		if paths[s.records.File(r.ID)] || paths[s.logFile(r.ID)] {
			t.Errorf("launch %d is offered although a hook is due", i)
		}
	}
	for _, r := range c.Remove(t.Context(), items) {
		if r.Err != nil {
			t.Errorf("%s: %v", r.Path, r.Err)
		}
	}
	if list, err := s.List(); err != nil || len(list) != len(kept) {
		t.Errorf("%d records are left, want %d (%v)", len(list), len(kept), err)
	}
}

// TestAbandonedElsewhere: what a launch on another machine or container left is offered once nothing was heard of it for 30 days, also with a
// hook that only its keeper could run.
func TestAbandonedElsewhere(t *testing.T) {
	s := newStage(t, &fake{})
	elsewhere := func(age, heard time.Duration) Record {
		t.Helper()
		s.dir = t.TempDir()
		r := s.start(nil).Record
		s.signal(r.Process, proc.Kill)
		for s.table.Alive(r.Process) { // it prints to its log
			time.Sleep(5 * time.Millisecond)
		}
		locked := lockOf(&r)
		r = must.Get(s.update(t.Context(), r.ID, func(r *Record) bool {
			r.Host = "gone"
			r.Space = "another boot"
			r.LaunchedAt = s.now().Add(-age)
			r.Hooks = []Hook{{When: OnComplete, Command: "true"}}
			return true
		}))(t)
		name := store.NameOf(locked.Path) + "-" + r.ID
		locked.Host = "gone"
		locked.Space = "another boot"
		locked.Since = s.now().Add(-age)
		must.Do(t, store.In(s.locks.Folder()).Write(name, &locked))
		when := s.now().Add(-heard)
		for _, path := range []string{s.records.File(r.ID), s.logFile(r.ID)} {
			must.Do(t, os.Chtimes(path, when, when))
		}
		return r
	}
	const day = 24 * time.Hour
	gone := elsewhere(40*day, 31*day)
	quiet := elsewhere(40*day, 29*day)
	fresh := elsewhere(day, 40*day)
	c := &cleanup.Cleaner{Home: t.TempDir(), Sources: []cleanup.Source{Leftovers{s.Launches}}}
	items := must.Get(c.Scan(t.Context()))(t)
	var kinds []string
	for _, it := range items {
		kinds = append(kinds, it.Kind)
		if strings.Contains(it.Path, quiet.ID) || strings.Contains(it.Path, fresh.ID) {
			t.Errorf("offered too early: %s", it.Path)
		}
		if !strings.Contains(it.Why, "its launch has written nothing for 30 days; it ran on gone") {
			t.Errorf("%s: %s", it.Path, it.Why)
		}
	}
	slices.Sort(kinds)
	if want := []string{"launch record", "lock", "log"}; !slices.Equal(kinds, want) {
		t.Fatalf("offered %q, want %q", kinds, want)
	}
	for _, r := range c.Remove(t.Context(), items) {
		if r.Err != nil {
			t.Errorf("%s: %v", r.Path, r.Err)
		}
	}
	if _, err := os.Lstat(s.records.File(gone.ID)); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if locks, err := os.ReadDir(s.locks.Folder()); err != nil || countJSON(locks) != 2 {
		t.Errorf("%v, %v", locks, err)
	}
}

func countJSON(list []os.DirEntry) (n int) {
	for _, e := range list {
		if strings.HasSuffix(e.Name(), ".json") {
			n++
		}
	}
	return n
}
