// Package corpus writes homes full of coding agents' sessions for benchmarks
// and completeness tests: seeded, so that the same numbers give the same files,
// and with a manifest of the truth. The form of every record is that of the
// recordings of the real programs; sizes follow what users have (median 136 KB,
// p95 2.4 MB a transcript).
package corpus

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rollcall/adapters"
)

// Options say what to write.
type Options struct {
	Sessions int       // in all; 60 % Claude Code, 40 % Codex
	Live     int       // how many of them belong to a live process
	Seed     uint64    // the same seed gives the same corpus
	Now      time.Time // modification times spread over the 90 days before it, 90 % older than a week
	Scale    float64   // of the transcripts' sizes; 0: 1
}

// Truth is what a correct monitor must say of one session.
type Truth struct {
	ID     string           `json:"id"`
	Agent  adapters.Name    `json:"agent"`
	Status adapters.Status  `json:"status"`
	PID    int              `json:"pid,omitempty"`
	CWD    string           `json:"cwd"`
	Branch string           `json:"branch"`
	Model  string           `json:"model"`
	Prompt string           `json:"first_prompt"`
	Tokens *adapters.Tokens `json:"tokens"`
}

// Manifest is the truth of a whole corpus.
type Manifest struct {
	Sessions []Truth `json:"sessions"`
	Bytes    int64   `json:"bytes"`
}

type writer struct {
	Options
	rng   *rand.Rand
	home  string
	procs []process
	man   Manifest
}

// Write writes a corpus below dir: dir/home is the HOME, dir/proc and dir/etc
// are a process table and machine for HOST_PROC and HOST_ETC,
// dir/manifest.json is the truth. dir must not exist or be empty.
func Write(dir string, o Options) (Manifest, error) {
	if o.Scale == 0 {
		o.Scale = 1
	}
	w := &writer{Options: o, rng: rand.New(rand.NewPCG(o.Seed, 1)), home: filepath.Join(dir, "home")}
	for i := range o.Sessions {
		live := i < o.Live // of both agents, working and idle
		one := w.claude
		if i%5 >= 3 {
			one = w.codex
		}
		if err := one(i, live); err != nil {
			return Manifest{}, fmt.Errorf("session %d: %w", i, err)
		}
	}
	if err := w.writeProc(dir); err != nil {
		return Manifest{}, err
	}
	data, err := json.MarshalIndent(w.man, "", " ")
	if err != nil {
		return Manifest{}, err
	}
	return w.man, os.WriteFile(filepath.Join(dir, "manifest.json"), data, 0o600)
}

// common draws what both agents' sessions have.
func (w *writer) common(i int, live bool, agent adapters.Name) (Truth, time.Time, int) {
	age := time.Duration(w.rng.Float64() * float64(83*24*time.Hour))
	if age += 7 * 24 * time.Hour; w.rng.IntN(10) == 0 {
		age = time.Duration(w.rng.Float64() * float64(7*24*time.Hour))
	}
	t := Truth{Agent: agent, Status: adapters.Stopped, CWD: fmt.Sprintf("/home/dev/proj%d", i%97),
		Branch: []string{"main", "feature/x", "fix/flaky"}[i%3], Prompt: fmt.Sprintf("task %d: make the build green", i),
		Tokens: &adapters.Tokens{}}
	if live {
		age, t.Status = time.Duration(i%50+2)*time.Second, []adapters.Status{adapters.Working, adapters.Idle}[i%2]
		t.PID = 20000 + i
	}
	size := int(136e3 * math.Exp(w.rng.NormFloat64()*1.745) * w.Scale)
	return t, w.Now.Add(-age).Truncate(time.Millisecond), min(max(size, 4096), 55<<20)
}

func (w *writer) uuid(v7 time.Time) string {
	a, b := w.rng.Uint64(), w.rng.Uint64()
	if !v7.IsZero() {
		a = uint64(v7.UnixMilli())<<16 | 0x7000 | a&0xfff
	}
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", a>>32, a>>16&0xffff, a&0xffff, b>>48&0x3fff|0x8000, b&0xffffffffffff)
}

// filler is text of n bytes that costs a parser what real text does: words, a
// quote and an escape now and then.
func filler(n int) string {
	const words = `the tests fail because \"cache\" was stale;\nso read it again and compare the sizes of both files — `
	return strings.Repeat(words, max(1, n/len(words)))
}

// transcript writes lines until size is reached, then sets the file's time.
func (w *writer) transcript(path string, at time.Time, write func(put func(format string, args ...any), written func() int)) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	b := bufio.NewWriterSize(f, 1<<20)
	n := 0
	write(func(format string, args ...any) {
		m, _ := fmt.Fprintf(b, format+"\n", args...) // bufio keeps the error for Flush
		n += m
	}, func() int { return n })
	if err := b.Flush(); err != nil {
		return err
	}
	w.man.Bytes += int64(n)
	return os.Chtimes(path, at, at)
}
