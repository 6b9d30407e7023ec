package opencode

import (
	"maps"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
)

// What is skipped depends on the session as it is, not on whether its parts were read while its process ran.
func TestSkippedAfterExit(t *testing.T) {
	w := scene.New(t)
	x := scene.OpenCode(w).Start(w.Path("work"), "prompt")
	x.Strange()
	x.Answer("answer")
	look := func() adapters.Config { return adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table} }
	skipped := func(a *Adapter) map[string]int {
		t.Helper()
		roll, err := a.Discover(t.Context(), adapters.Query{})
		must.Do(t, err)
		return roll.Skipped
	}
	old := New(look())
	if n := skipped(old); len(n) != 1 {
		t.Errorf("while it runs: skipped %v", n)
	}
	x.Kill()
	if n, fresh := skipped(old), skipped(New(look())); !maps.Equal(n, fresh) {
		t.Errorf("after its end: skipped %v, an adapter that begins now %v", n, fresh)
	}
}
