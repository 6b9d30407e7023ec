package proc

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

// rows is a table whose processes the test sets.
type rows struct {
	Lister
	list []Process
	err  error
}

func (r *rows) List(context.Context) ([]Process, error) { return r.list, r.err }

func old(pid int, comm string) Process {
	return Process{Identity: Identity{PID: pid, Start: uint64(pid)}, Comm: comm, Started: time.Now().Add(-time.Hour)}
}

// TestScanByList: a table of any kind is compared by its rows.
func TestScanByList(t *testing.T) {
	reused := old(2, "b")
	reused.Start = 99
	young := old(4, "sh")
	young.Started = time.Now().Add(-5 * time.Second)
	execed := young
	execed.Comm = "claude"
	newborn := old(5, "node")
	newborn.Started = time.Now()
	stopped := old(1, "a")
	stopped.Suspended = true
	table := &rows{}
	s := NewScanner(table)
	for _, step := range []struct {
		name      string
		list      []Process
		err       error
		new, gone []Identity
		fails     bool
	}{
		{name: "first look", list: []Process{old(1, "a"), old(2, "b")}, new: []Identity{old(1, "").Identity, old(2, "").Identity}},
		{name: "the same", list: []Process{old(2, "b"), old(1, "a")}},
		{name: "an old one renames itself", list: []Process{old(1, "a"), old(2, "renamed")}},
		{name: "reused pid", list: []Process{old(1, "a"), reused}, new: []Identity{reused.Identity}, gone: []Identity{old(2, "").Identity}},
		{name: "one ends", list: []Process{old(1, "a")}, gone: []Identity{reused.Identity}},
		{name: "a part cannot be read", list: []Process{old(3, "c")}, err: errors.New("a part"), new: []Identity{old(3, "").Identity}},
		{name: "nothing can be read", err: errors.New("all"), fails: true},
		{name: "all is readable", list: []Process{stopped, old(3, "c")}},
		{name: "young", list: []Process{stopped, young}, new: []Identity{young.Identity}, gone: []Identity{old(3, "").Identity}},
		{name: "young, exec", list: []Process{stopped, execed}, new: []Identity{young.Identity}},
		{name: "in its first second", list: []Process{stopped, execed, newborn}, new: []Identity{newborn.Identity}},
		{name: "once more", list: []Process{stopped, execed, newborn}, new: []Identity{newborn.Identity}},
		{name: "not a third time", list: []Process{stopped, execed, newborn}},
	} {
		table.list, table.err = step.list, step.err
		c, err := s.Scan(t.Context())
		if (err != nil) != step.fails {
			t.Errorf("%s: error %v", step.name, err)
		}
		var got []Identity
		for _, p := range c.New {
			got = append(got, p.Identity)
		}
		if !slices.Equal(got, step.new) || !slices.Equal(c.Gone, step.gone) {
			t.Errorf("%s: new %v, gone %v; want %v, %v", step.name, got, c.Gone, step.new, step.gone)
		}
	}
	if p, err := s.Find(stopped.Identity); err != nil || !p.Suspended {
		t.Errorf("found %+v, %v", p, err)
	}
	if _, err := s.Find(reused.Identity); !errors.Is(err, ErrGone) {
		t.Errorf("found a process that is gone: %v", err)
	}
}
