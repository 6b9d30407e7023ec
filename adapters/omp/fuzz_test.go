package omp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/skeleton"
	"rollcall/internal/must"
)

// Whatever the file says, a session can be listed and shown, and the same whether it is read whole or in two parts.
func FuzzRecords(f *testing.F) {
	paths, _ := filepath.Glob("testdata/recordings/*/home/.omp/agent/sessions/*/*.jsonl")
	for _, path := range paths {
		if data, err := os.ReadFile(path); err == nil {
			f.Add(data, len(data)/2)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, at int) {
		path := filepath.Join(t.TempDir(), "x.jsonl")
		read := func(tr *kit.Transcripts[facts, *facts], data []byte) facts {
			must.Do(t, os.WriteFile(path, data, 0o600))
			info, err := os.Stat(path)
			must.Do(t, err)
			got, err := tr.Read(t.Context(), path, info, false)
			must.Do(t, err)
			return got
		}
		whole := read(kit.NewTranscripts[facts](nil, Name, factsFormat), data)
		grown := kit.NewTranscripts[facts](nil, Name, factsFormat)
		read(grown, data[:min(max(at, 0), len(data))])
		d := &discovery{Look: &skeleton.Look{Now: time.Now()}}
		row := func(f facts) adapters.Session {
			s := &session{facts: f, file: &file{Chat: kit.Chat{Path: path}}}
			return d.row(s, d.decide(s))
		}
		a, b := row(whole), row(read(grown, data))
		ja, _ := json.Marshal(a)
		if jb, _ := json.Marshal(b); string(ja) != string(jb) {
			t.Errorf("in two parts:\n%s\nwhole:\n%s", jb, ja)
		}
		if _, err := New(adapters.Config{}).Peek(t.Context(), a, 5); err != nil {
			t.Error(err)
		}
	})
}
