package sqlitero

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"rollcall/internal/must"
)

// A log that SQLite would end early, or take for an empty one, is damage as long
// as its index says how much there must be.
func TestDamagedLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=wal_autocheckpoint(0)")
	must.Do(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	must.Get(db.Exec("CREATE TABLE account (id INTEGER PRIMARY KEY, money INTEGER, filler TEXT)"))(t)
	for range 200 {
		must.Get(db.Exec("INSERT INTO account (money) VALUES (1)"))(t)
	}
	good, err := os.ReadFile(path + "-wal")
	must.Do(t, err)
	noise := make([]byte, len(good))
	for i := range noise {
		noise[i] = byte(i*7 + 3)
	}
	hole := append([]byte(nil), good...)
	clear(hole[len(hole)/3 : len(hole)*2/3])
	for name, damaged := range map[string][]byte{"noise": noise, "half of it": good[:len(good)/2], "a hole": hole} {
		must.Do(t, os.WriteFile(path+"-wal", damaged, 0o600))
		if _, _, err := count(t.Context(), path); !errors.Is(err, ErrNotDatabase) {
			t.Errorf("%s: %v, want ErrNotDatabase", name, err)
		}
	}
	must.Do(t, os.WriteFile(path+"-wal", good, 0o600))
	if n, _, err := count(t.Context(), path); n != 200 || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
}
