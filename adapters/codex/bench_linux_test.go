package codex

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/internal/adaptertest"
)

// benchmarkHome has 1,000 rollouts of about 140 KB in 100 folders, with names in a
// state database. No process has one open.
func benchmarkHome(b *testing.B) *Adapter {
	home := home(b)
	r := adaptertest.Replay(b, filepath.Join(recordings, "codex-0.142.5-oneshot"))
	db := stateDB(b, filepath.Join(home, ".codex", "state_5.sqlite"), threadColumns, `CREATE INDEX i ON threads (id)`)
	result := strings.Repeat("some output of a tool\n", 100)
	s := newScript(threadA, "0.169.0", `"base_instructions":{"text":"`+strings.Repeat("x", 22000)+`"}`)
	for n := range 5 {
		s.start(fmt.Sprint("t", n)).context("gpt-5.5").prompt("do it")
		for c := range 10 {
			id := fmt.Sprint(n, c)
			s.call(id, `{"cmd":"make"}`).result(id, result).tokens(1000, 500, 100)
		}
		s.answer("done").done(fmt.Sprint("t", n))
	}
	text := s.text()
	for i := range 1000 {
		id := fmt.Sprintf("01a1fc98-aaaa-7000-8000-%012d", i)
		path := filepath.Join(home, ".codex", "sessions", "2026", fmt.Sprintf("%02d", 1+i%10), fmt.Sprintf("%02d", 1+i/10%10),
			"rollout-2026-11-21T05-00-00-"+id+".jsonl")
		write(b, path, strings.Replace(text, threadA, id, 1))
		if _, err := db.Exec(insert(id, "t", "'Name'")); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(1000 * len(text)))
	return New(adapters.Config{Home: home, Env: func(string) string { return "" }, Table: r.Table})
}

func discover(b *testing.B, a *Adapter, q adapters.Query, want int) {
	roll, err := a.Discover(context.Background(), q)
	if err != nil || len(roll.Sessions) != want {
		b.Fatalf("%d sessions, want %d: %v", len(roll.Sessions), want, err)
	}
}

// The first look of a process, all sessions.
func BenchmarkFirstLook(b *testing.B) {
	a := benchmarkHome(b)
	for b.Loop() {
		fresh := New(adapters.Config{Home: a.Home, Env: a.Env, Table: a.Table})
		discover(b, fresh, adapters.Query{}, 1000)
	}
}

// The first look for what lives.
func BenchmarkFirstLookLive(b *testing.B) {
	a := benchmarkHome(b)
	for b.Loop() {
		fresh := New(adapters.Config{Home: a.Home, Env: a.Env, Table: a.Table})
		discover(b, fresh, adapters.Query{Since: time.Now().Add(time.Hour)}, 0)
	}
}

// Every further look, all sessions, nothing changed.
func BenchmarkNextLook(b *testing.B) {
	a := benchmarkHome(b)
	time.Sleep(agentfile.Settled) // else the folders are too young for their names to be kept
	discover(b, a, adapters.Query{}, 1000)
	for b.Loop() {
		discover(b, a, adapters.Query{}, 1000)
	}
}
