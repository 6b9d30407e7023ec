package adaptertest

import (
	"context"
	"sync/atomic"

	"rollcall/adapters"
	"rollcall/proc"
)

// cutShort: a question whose context ends at any call of the process table says nothing wrong, whether
// the adapter remembers what was before or not: not even of a turn that began since.
func cutShort(c *check) {
	all := c.cast()
	table := &endingTable{Lister: c.environment.Table}
	c.environment.Table = table
	remembers := c.subject.New(c.environment)
	_, _ = remembers.Discover(c.Context(), adapters.Query{})
	all[1].Prompt("since then")
	table.left.Store(1 << 40)
	_, _ = c.subject.New(c.environment).Discover(c.Context(), adapters.Query{})
	calls := 1<<40 - table.left.Load()
	step := max(1, calls/60)
	for n := int64(0); n <= calls; n += step {
		for _, a := range []adapters.Adapter{c.subject.New(c.environment), remembers} {
			ctx, cancel := context.WithCancel(c.Context())
			table.end.Store(&cancel)
			table.left.Store(n)
			roll, err := a.Discover(ctx, adapters.Query{Totals: n%2 == 0})
			cancel()
			c.truthful(roll, err, all)
		}
		if n == 0 { // what is remembered of before is not used up by the first question
			remembers = c.subject.New(c.environment)
			table.left.Store(1 << 40)
			_, _ = remembers.Discover(c.Context(), adapters.Query{})
			all[1].Answer("fine")
			all[1].Prompt("and again")
		}
	}
}

// endingTable is a process table that ends the context of a question at a call.
type endingTable struct {
	proc.Lister
	left atomic.Int64
	end  atomic.Pointer[context.CancelFunc]
}

func (t *endingTable) count() {
	if end := t.end.Load(); t.left.Add(-1) == -1 && end != nil {
		(*end)()
	}
}

func (t *endingTable) List(ctx context.Context) ([]proc.Process, error) {
	rows, err := t.Lister.List(ctx)
	t.count()
	return rows, err
}

func (t *endingTable) Find(pid int) (proc.Process, error) {
	t.count()
	return t.Lister.Find(pid)
}

func (t *endingTable) Args(id proc.Identity) ([]string, error) {
	t.count()
	return t.Lister.Args(id)
}

func (t *endingTable) Env(id proc.Identity) ([]string, error) {
	t.count()
	return t.Lister.Env(id)
}

func (t *endingTable) CWD(id proc.Identity) (string, error) {
	t.count()
	return t.Lister.CWD(id)
}

func (t *endingTable) OpenFiles(id proc.Identity) ([]string, error) {
	t.count()
	return t.Lister.OpenFiles(id)
}
