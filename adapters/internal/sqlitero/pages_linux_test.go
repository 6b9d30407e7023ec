package sqlitero

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/internal/must"
	"rollcall/textmatch"
)

// splitTexts has what is searched for by how it is written; what begins with "bumble" is in no row, though one half of it is.
var splitTexts = map[string][]string{
	"needleinthestack and bumble or worsts": {"needleinthestack", "Needleinthe", "bumbleworst", "bumbleworsts"},
	`needle\u0069nthestack`:                 {"needleinthestack", "Needleinthe", "bumbleworst"},
	`\u006eeedleinthestack`:                 {"needleinthestack", "Needleinthe", "bumbleworst"},
	`needleinthest\u0061\u0063k`:            {"needleinthestack", "Needleinthe", "bumbleworst"},
	`\u00e9t`:                               {"ét", "é"},
	`t\ud83d\ude00`:                         {"t😀", "😀"},
	"\\u00e9\\u00e8":                        {"éè"},
}

// A text that SQLite splits over pages at any of its bytes is never missed, in the database and in its log, in small pages and with escapes; a text that is in
// no row is known to be in none. What SQLite itself finds is the truth.
func TestPages(t *testing.T) {
	for written, texts := range splitTexts {
		for _, mode := range []string{"DELETE", "WAL"} {
			path := filepath.Join(t.TempDir(), "x.db")
			db, err := sql.Open("sqlite", "file:"+path+"?_pragma=page_size(512)&_pragma=journal_mode("+mode+")&_pragma=secure_delete(1)&_pragma=wal_autocheckpoint(0)&_pragma=synchronous(0)")
			must.Do(t, err)
			db.SetMaxOpenConns(1)
			_, err = db.Exec("CREATE TABLE part (data TEXT)")
			must.Do(t, err)
			for pad := range 560 {
				_, err = db.Exec("DELETE FROM part")
				must.Do(t, err)
				if mode == "WAL" {
					_, err = db.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
					must.Do(t, err)
				}
				_, err = db.Exec("INSERT INTO part VALUES (?)", `{"text":"`+strings.Repeat("x", pad)+written+strings.Repeat("y", 700)+`"}`)
				must.Do(t, err)
				for _, text := range texts {
					p, err := textmatch.Text(text)
					must.Do(t, err)
					pages := Pages{}
					want := !strings.HasPrefix(text, "bumble")
					if got := pages.MayContain(t.Context(), path, p); got != want {
						t.Fatalf("%s after %d bytes, %s: %q: %v", written, pad, mode, text, got)
					}
				}
			}
			must.Do(t, db.Close())
		}
	}
}

// What can't be read, or has texts that are not UTF-8, may contain everything.
func TestPagesUnknown(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.db")
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=encoding('UTF-16')")
	must.Do(t, err)
	_, err = db.Exec("CREATE TABLE part (data TEXT)")
	must.Do(t, err)
	must.Do(t, db.Close())
	p, err := textmatch.Text("needle")
	must.Do(t, err)
	unfinished := filepath.Join(dir, "y.db")
	db, err = sql.Open("sqlite", "file:"+unfinished)
	must.Do(t, err)
	_, err = db.Exec("CREATE TABLE part (data TEXT)")
	must.Do(t, err)
	must.Do(t, db.Close())
	must.Do(t, os.WriteFile(unfinished+"-journal", []byte("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7 and what follows"), 0o600))
	for _, path := range []string{unfinished, path, filepath.Join(dir, "none.db"), dir} {
		if !new(Pages).MayContain(t.Context(), path, p) {
			t.Errorf("%s is said to be without it", path)
		}
	}
}
