package opencode

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/must"
	"rollcall/proc"
)

// nobody is a process table without processes.
type nobody struct{ proc.Lister }

func (nobody) List(context.Context) ([]proc.Process, error) { return make([]proc.Process, 0), nil }

func alone(s *store) *Adapter {
	return New(adapters.Config{Home: s.home, Env: func(string) string { return "" }, Table: nobody{}})
}

func asked(t *testing.T, a *Adapter, q adapters.Query) (map[string]adapters.Session, adapters.Roll, error) {
	t.Helper()
	roll, err := a.Discover(t.Context(), q)
	sessions := map[string]adapters.Session{}
	for _, s := range roll.Sessions {
		for _, wrong := range adaptertest.Invalid(&s) {
			t.Errorf("%s %s", s.ID, wrong)
		}
		sessions[s.ID] = s
	}
	return sessions, roll, err
}

func nowMillis() int64 { return time.Now().UnixMilli() }

// What lies in a database's place is named, or passed over, and the JSON store
// beside it is read all the same.
func TestBadDatabases(t *testing.T) {
	old := func(path string) {
		past := time.Now().Add(-time.Hour)
		must.Do(t, os.Chtimes(path, past, past))
	}
	tests := map[string]struct {
		make func(s *store)
		kind error // nil: no problem
	}{
		"empty":           {func(s *store) { s.write("opencode.db", "") }, nil},
		"no database":     {func(s *store) { s.write("opencode.db", strings.Repeat("hello \x00\x1b[31m", 1000)) }, adapters.ErrFormat},
		"half a database": {func(s *store) { s.write("opencode.db", "SQLite format 3\x00"+strings.Repeat("\xff", 5000)) }, adapters.ErrFormat},
		"another program's": {func(s *store) {
			other := newStore(s, "CREATE TABLE cats (name text)")
			other.exec("PRAGMA journal_mode=DELETE")
			other.db.Close()
			text, err := os.ReadFile(filepath.Join(other.data, "opencode.db"))
			must.Do(s, err)
			old(s.write("opencode.db", string(text)))
		}, adapters.ErrFormat},
		"a folder":         {func(s *store) { s.write("opencode.db/x", "") }, adapters.ErrFormat},
		"a link to itself": {func(s *store) { _ = os.Symlink("opencode.db", filepath.Join(s.data, "opencode.db")) }, adapters.ErrUnreadable},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newHome(t)
			test.make(s)
			other := newStore(s, tables)
			id := other.session(nowMillis())
			other.exec("PRAGMA journal_mode=DELETE")
			other.db.Close()
			must.Do(t, os.Rename(filepath.Join(other.data, "opencode.db"), filepath.Join(s.data, "opencode-dev.db")))
			adaptertest.Untouched(t, s.home)
			sessions, _, err := asked(t, alone(s), adapters.Query{})
			if sessions[id].Status != adapters.Stopped {
				t.Errorf("the other store gave %v", sessions)
			}
			if (err == nil) != (test.kind == nil) || test.kind != nil && !errors.Is(err, test.kind) {
				t.Errorf("%v, want %v", err, test.kind)
			}
			if err != nil && (!strings.Contains(err.Error(), "opencode.db") || strings.Contains(err.Error(), "\x1b")) {
				t.Errorf("%q", err)
			}
		})
	}
}

// While OpenCode makes its tables there is nothing to tell, and no problem.
func TestTablesNotMadeYet(t *testing.T) {
	s := newStore(t, "CREATE TABLE migration (id text)")
	if sessions, _, err := asked(t, alone(s), adapters.Query{}); err != nil || len(sessions) != 0 {
		t.Errorf("%v, %v", sessions, err)
	}
	s.exec(tables)
	id := s.session(nowMillis())
	if sessions, _, err := asked(t, alone(s), adapters.Query{}); err != nil || len(sessions) != 1 || sessions[id].Tokens == nil {
		t.Errorf("%v, %v", sessions, err)
	}
}

// Columns that a version lacks are made up for: tokens and cost are summed, the
// model is that of the messages.
func TestOldColumns(t *testing.T) {
	s := newStore(t, oldTables)
	id := s.session(nowMillis())
	for n := range int64(3) {
		s.message(id, nowMillis()+2*n, userData, textPart)
		s.message(id, nowMillis()+2*n+1, doneData)
	}
	a := alone(s)
	sessions, _, err := asked(t, a, adapters.Query{})
	got := sessions[id]
	if err != nil || got.Tokens == nil || *got.Tokens != (adapters.Tokens{Input: 60, Output: 90, CacheRead: 300}) || got.CostUSD != 1.5 ||
		got.Model != "mock/mock-1" || got.Context.Used != 150 || got.Title != "" || got.FirstPrompt != "do it" {
		t.Errorf("%+v, %v", got, err)
	}
	sessions, _, _ = asked(t, a, adapters.Query{})
	if tokens := sessions[id].Tokens; tokens == nil || *tokens != *got.Tokens {
		t.Errorf("asked again: %v", tokens)
	}
}

// Other channels and OPENCODE_DB name databases of their own.
func TestSeveralStores(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a database that is open can't be renamed there")
	}
	s := newStore(t, tables)
	id := s.session(nowMillis())
	s.message(id, nowMillis(), doneData)
	other := newStore(t, tables)
	other.n = 1000
	dev := other.session(nowMillis())
	must.Do(t, os.Rename(filepath.Join(other.data, "opencode.db"), filepath.Join(s.data, "opencode-dev.db")))
	must.Do(t, os.Rename(filepath.Join(other.data, "opencode.db-wal"), filepath.Join(s.data, "opencode-dev.db-wal")))
	third := newStore(t, tables)
	third.n = 2000
	named := third.session(nowMillis())
	a := New(adapters.Config{Home: s.home, Table: nobody{}, Env: func(key string) string {
		if key == "OPENCODE_DB" {
			return filepath.Join(third.data, "opencode.db")
		}
		return ""
	}})
	sessions, _, err := asked(t, a, adapters.Query{})
	if err != nil || len(sessions) != 3 || sessions[id].CWD != "/home/dev/p" || sessions[dev].ID == "" || sessions[named].ID == "" {
		t.Errorf("%v, %v", sessions, err)
	}
	if one, _, err := asked(t, a, adapters.Query{IDs: []string{dev}}); err != nil || len(one) != 1 {
		t.Errorf("%v, %v", one, err)
	}
}

// Only what is asked for is answered.
func TestSince(t *testing.T) {
	s := newStore(t, tables)
	old, recent := s.session(nowMillis()-3_600_000), s.session(nowMillis())
	a := alone(s)
	for range 2 {
		if sessions, _, _ := asked(t, a, adapters.Query{Since: time.Now().Add(-time.Minute)}); len(sessions) != 1 || sessions[recent].ID == "" {
			t.Errorf("%v", sessions)
		}
		if sessions, _, _ := asked(t, a, adapters.Query{IDs: []string{old}}); len(sessions) != 1 || sessions[old].ID == "" {
			t.Errorf("%v", sessions)
		}
		if sessions, _, _ := asked(t, a, adapters.Query{}); len(sessions) != 2 {
			t.Errorf("%v", sessions)
		}
	}
}

// Records in another form are counted, and spoil no others.
func TestStrangeRecords(t *testing.T) {
	s := newStore(t, tables)
	good, bad := s.session(nowMillis()), s.session(nowMillis())
	s.message(good, nowMillis(), doneData, textPart)
	s.message(bad, nowMillis(), `{"role":"user","time":`, `{"type":`)
	s.message(bad, nowMillis()+1, openData, `not JSON`, `{"type":"moonshine"}`, `{"type":"tool","tool":7}`)
	s.exec("UPDATE session SET title = ?, model = 'x', permission = '{' WHERE id = ?", strings.Repeat("é\x1b", 9000), bad)
	sessions, roll, err := asked(t, alone(s), adapters.Query{Totals: true})
	if err != nil || sessions[good].Outcome != adapters.Completed || sessions[bad].Status != adapters.Stopped {
		t.Errorf("%v, %v", sessions, err)
	}
	if roll.Skipped["part of an unknown type"] != 1 || roll.Skipped["part in an unknown form"] != 2 {
		t.Errorf("skipped %v", roll.Skipped)
	}
}

// How a turn ended that only the parts tell is known to who looks for the first
// time as well.
func TestEndsInParts(t *testing.T) {
	s := newStore(t, tables)
	step := strings.Replace(doneData, `"stop"`, `"tool-calls"`, 1)
	refused := s.session(nowMillis())
	between := s.session(nowMillis())
	cancelled := s.session(nowMillis())
	s.message(refused, nowMillis(), step, `{"type":"tool","tool":"bash","state":{"status":"error","error":"The user rejected permission to use this specific tool call."}}`)
	s.message(between, nowMillis(), step, `{"type":"tool","tool":"bash","state":{"status":"completed"}}`)
	s.message(cancelled, nowMillis(), strings.Replace(doneData, `,"finish":"stop"`, "", 1))
	sessions, _, err := asked(t, alone(s), adapters.Query{})
	for id, want := range map[string]adapters.Outcome{refused: adapters.Interrupted, between: adapters.Died, cancelled: adapters.Interrupted} {
		if got := sessions[id]; err != nil || got.Status != adapters.Stopped || got.Outcome != want {
			t.Errorf("%s (%s), %v, want %s", got.Outcome, got.Evidence, err, want)
		}
	}
}

// A command of the user's own (!sleep 7) is an answer of OpenCode's without a word of
// the model: how full the context was before it still counts.
func TestShellMode(t *testing.T) {
	s := newStore(t, tables)
	id := s.session(nowMillis())
	s.message(id, nowMillis(), userData, textPart)
	s.message(id, nowMillis()+1, doneData)
	s.message(id, nowMillis()+2, userData, `{"type":"text","text":"The following tool was executed by the user","synthetic":true}`)
	s.message(id, nowMillis()+3, `{"role":"assistant","mode":"build","cost":0,"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}},`+
		`"modelID":"mock-1","providerID":"mock","time":{"created":%d,"completed":%d}}`,
		`{"type":"tool","tool":"bash","state":{"status":"completed","input":{"command":"sleep 7"},"output":"hi","title":"","metadata":{"output":"hi"}}}`)
	sessions, _, err := asked(t, alone(s), adapters.Query{})
	if got := sessions[id]; err != nil || got.Outcome != adapters.Completed || got.Context.Used != 150 || got.LastPrompt != "do it" {
		t.Errorf("%+v, %v", got, err)
	}
}
