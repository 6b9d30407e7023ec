package pistore

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
)

// benchmarkStore has 1,000 sessions of about 150 KB in 100 folders, and one live
// process.
func benchmarkStore(b *testing.B) *Store {
	w := newFixture(b)
	at := time.Now().Add(-time.Hour)
	path := filepath.Join(b.TempDir(), "s.jsonl")
	text := build(b, path, 70, func(s *script) { s.answer(3*second, "stop") }).text()
	text = strings.ReplaceAll(text, "2026-11-21T05:00", stamp(at)[:16])
	b.SetBytes(int64(1000 * len(text)))
	for i := range 1000 {
		id := fmt.Sprintf("01a1fc98-aaaa-7000-8000-%012d", i)
		dir := filepath.Join(w.home, ".pi", "agent", "sessions", fmt.Sprintf("--x%d--", i%100))
		w.check(os.MkdirAll(dir, 0o755))
		path := filepath.Join(dir, "2026-11-21T05-00-00-000Z_"+id+".jsonl")
		w.check(os.WriteFile(path, []byte(strings.Replace(text, idA, id, 1)), 0o600))
		w.check(os.Chtimes(path, at, at))
	}
	p, _ := w.start(agentname.Pi, w.cwd())
	w.put(newScript(idC, w.cwd(), p.Started.Add(second)).begin().sys(second).prompt(second, "x"))
	return w.store(agentname.Pi)
}

func BenchmarkDiscover(b *testing.B) {
	first := benchmarkStore(b)
	run := func(name string, q adapters.Query, fresh bool) {
		b.Run(name, func(b *testing.B) {
			s := first
			for b.Loop() {
				if fresh {
					s = newStore(agentname.Pi, adapters.Config{Home: first.Home, Env: first.Env, Table: first.Table})
				}
				if roll, err := s.Discover(b.Context(), q); err != nil || len(roll.Sessions) == 0 {
					b.Fatal(len(roll.Sessions), err)
				}
			}
		})
	}
	run("first", adapters.Query{}, true)
	run("again", adapters.Query{}, false)
	run("live", adapters.Query{Since: time.Now()}, false)
	run("one", adapters.Query{IDs: []string{"01a1fc98-aaaa-7000-8000-000000000007"}}, true)
}
