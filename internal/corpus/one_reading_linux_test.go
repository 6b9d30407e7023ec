package corpus_test

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/internal/corpus"
	"rollcall/internal/must"
	"rollcall/proc"
)

// countedTable counts the readings of a process table.
type countedTable struct {
	proc.Lister
	readings atomic.Int64
}

// List implements proc.Lister.
func (t *countedTable) List(ctx context.Context) ([]proc.Process, error) {
	t.readings.Add(1)
	return t.Lister.List(ctx)
}

// oneByOne is an adapter that is not asked at the same time as another one, as on a busy machine.
type oneByOne struct {
	adapters.Adapter
	turn *sync.Mutex
}

// Discover implements adapters.Adapter.
func (a oneByOne) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	a.turn.Lock()
	defer a.turn.Unlock()
	return a.Adapter.Discover(ctx, q)
}

// TestOneReading: one question to all agents reads the process table once, however long each takes to answer.
func TestOneReading(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "corpus")
	_, err := corpus.Write(dir, corpus.Options{Sessions: 60, Live: 10, Seed: 5, Now: time.Now(), Scale: 0.01})
	must.Do(t, err)
	table := &countedTable{Lister: proc.OpenAt(filepath.Join(dir, "proc"), filepath.Join(dir, "etc"))}
	list := everyAdapter(t, table, filepath.Join(dir, "home"))
	turn := &sync.Mutex{}
	for i, a := range list {
		list[i] = oneByOne{a, turn}
	}
	cfg := app.Config{Adapters: list, Table: table, Since: 7 * 24 * time.Hour, Limit: time.Minute}
	core := app.New(cfg)
	for name, ask := range map[string]func() *app.Snapshot{
		"list":    func() *app.Snapshot { return app.Ask(t.Context(), cfg, app.Once{}) },
		"refresh": func() *app.Snapshot { return core.Refresh(t.Context()) },
	} {
		before := table.readings.Load()
		live := 0
		for _, s := range ask().Sessions() {
			if s.Live() {
				live++
			}
		}
		if n := table.readings.Load() - before; n != 1 || live < 10 {
			t.Errorf("%s: %d readings for %d agents, %d live sessions", name, n, len(list), live)
		}
	}
}
