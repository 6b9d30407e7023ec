package kit

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"rollcall/adapters/internal/factcache"
	"rollcall/internal/must"
)

// plainFolder is a folder of the cache without any checks.
type plainFolder string

func (f plainFolder) at(name string) string { return filepath.Join(string(f), name) }
func (f plainFolder) Path() string          { return string(f) }
func (f plainFolder) Close()                {}

func (f plainFolder) Open(name string) (*os.File, fs.FileInfo, error) {
	file, err := os.Open(f.at(name))
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	return file, info, err
}

func (f plainFolder) Create(name string) (*os.File, error)   { return os.Create(f.at(name)) }
func (f plainFolder) Rename(from, to string) error           { return os.Rename(f.at(from), f.at(to)) }
func (f plainFolder) Remove(name string) error               { return os.Remove(f.at(name)) }
func (f plainFolder) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(f.at(name)) }
func (f plainFolder) Names() (names []string, err error)     { return nil, nil }
func (f plainFolder) open(bool) (factcache.Folder, error)    { return f, nil }
func (f plainFolder) saved(log *slog.Logger) *Saved[factsWithLedger] {
	cache := factcache.New(f.open, "test", log)
	cache.SaveAlways()
	return NewSaved[factsWithLedger](cache, "agent", 1)
}

type factsWithLedger struct {
	state  int
	ledger SavedLedger
}

// store saves facts of a state with a ledger of as many answers.
func (f plainFolder) store(state int) {
	x := factsWithLedger{state: state}
	for range state {
		x.ledger.Answer(Entry{At: noon, Tokens: in(1)})
	}
	s := f.saved(nil)
	s.Store("path", &x, &x.ledger, 1)
	s.Flush(true)
}

// load returns the facts, and what their ledger holds; fetched is false if it is not kept.
func (f plainFolder) load(t *testing.T) (state int, used int64, fetched bool) {
	t.Helper()
	s := f.saved(nil)
	defer s.Flush(true)
	x, ok := s.Load("path")
	if !ok {
		t.Fatal("no facts")
	}
	if x.ledger.Tokens() != in(0) {
		t.Error("the facts were loaded with their ledger")
	}
	fetched = s.Fetch("path", &x.ledger)
	return x.state, x.ledger.Tokens().Input, fetched
}

// A ledger is that of the same state of the file as the facts, or it is missing.
func TestSavedLedger(t *testing.T) {
	dir := plainFolder(t.TempDir())
	if dir.store(3); !isState(dir.load(t))(3, 3, true) {
		t.Error(dir.load(t))
	}
	ledgers := dir.at("agent-usage")
	old, err := os.ReadFile(ledgers)
	dir.store(4)
	now, err2 := os.ReadFile(ledgers)
	must.Do(t, errors.Join(err, err2, os.WriteFile(ledgers, old, 0o600)))
	if !isState(dir.load(t))(4, 0, false) {
		t.Error(dir.load(t))
	}
	if err := os.WriteFile(ledgers, now, 0o600); err != nil || !isState(dir.load(t))(4, 4, true) {
		t.Error(dir.load(t))
	}
	if err := os.WriteFile(ledgers, now[:len(now)-1], 0o600); err != nil || !isState(dir.load(t))(4, 0, false) {
		t.Error(dir.load(t))
	}
	_ = os.Remove(ledgers)
	if !isState(dir.load(t))(4, 0, false) {
		t.Error(dir.load(t))
	}
}

func isState(state int, used int64, fetched bool) func(int, int64, bool) bool {
	return func(s int, u int64, f bool) bool { return s == state && u == used && f == fetched }
}

// Facts that are stored again without their ledger having been loaded keep it.
func TestLedgerOutlivesFacts(t *testing.T) {
	dir := plainFolder(t.TempDir())
	dir.store(3)
	s := dir.saved(nil)
	x, _ := s.Load("path")
	x.state = 5
	s.Store("path", &x, &x.ledger, 1)
	s.Flush(true)
	if !isState(dir.load(t))(5, 3, true) {
		t.Error(dir.load(t))
	}
}

// Without a cache a ledger stays where it is.
func TestNothingSaved(t *testing.T) {
	s := NewSaved[factsWithLedger](nil, "agent", 1)
	var x factsWithLedger
	x.ledger.Answer(Entry{At: noon, Tokens: in(1)})
	s.Store("path", &x, &x.ledger, 1)
	if s.Flush(true); !s.Fetch("path", &x.ledger) || x.ledger.Tokens() != in(1) {
		t.Errorf("%+v", x)
	}
	if _, ok := s.Load("path"); ok {
		t.Error("facts without a cache")
	}
}
