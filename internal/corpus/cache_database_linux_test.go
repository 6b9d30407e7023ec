package corpus_test

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/corpus"
	"rollcall/proc"
)

// TestCacheChangesNothingOfDatabase is TestCacheChangesNothing for OpenCode's database. The rows change as OpenCode
// changes them: each change of a session or a message sets its time of the update.
func TestCacheChangesNothingOfDatabase(t *testing.T) {
	steps, seed := cacheSteps(12), cacheSeed()
	t.Logf("seed %d", seed)
	d := openDatabase(t, seed)
	c := d.cacheCheck
	for i := range steps {
		did := d.changeRows()
		if c.ask(); t.Failed() {
			t.Fatalf("step %d: %s\nrepeat with ROLLCALL_CACHE_SEED=%d ROLLCALL_CACHE_STEPS=%d", i, did, seed, i+1)
		}
	}
	t.Logf("%d answers with %d sessions on average", steps, c.sessions/steps)
	if c.sessions == 0 {
		t.Error("no answer had a session")
	}
}

// openDatabase returns the changes of a database in a new corpus, which is closed when the test ends.
func openDatabase(t *testing.T, seed uint64) *databaseChanges {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "corpus")
	if _, err := corpus.Write(dir, corpus.Options{Sessions: 150, Live: 2, Seed: 11, Now: time.Now(), Scale: 0.01}); err != nil {
		t.Fatal(err)
	}
	c := &cacheCheck{T: t, name: agentname.OpenCode, home: filepath.Join(dir, "home"), table: proc.OpenAt(filepath.Join(dir, "proc"), filepath.Join(dir, "etc")),
		facts: filepath.Join(t.TempDir(), "facts"), rng: rand.New(rand.NewPCG(seed, 1)), began: time.Now()}
	everyAdapter(t, c.table, c.home) // clears the environment
	d := &databaseChanges{cacheCheck: c, path: filepath.Join(c.home, ".local/share/opencode/opencode.db")}
	d.open()
	t.Cleanup(func() { c.must(d.db.Close()) })
	return d
}

// TestUsageOfDatabaseIsCached: the usage of a session that has not changed is read once, also by another process. That it comes from the
// cache shows in a change that OpenCode never makes: of a message before the last one, without a new time.
func TestUsageOfDatabaseIsCached(t *testing.T) {
	d := openDatabase(t, 1)
	q := adapters.Query{Totals: true, Usage: true, Once: true}
	usage := func(facts *adapters.FactsCache) string { return d.answer(facts, q, d.began) }
	facts := factsIn(t, d.facts)
	facts.SaveAlways()
	before := usage(facts)
	d.exec("UPDATE message SET data = json_set(data, '$.tokens.input', 7000000) WHERE json_extract(data, '$.tokens.input') > 0 AND id NOT IN (SELECT max(id) FROM message GROUP BY session_id)")
	if usage(nil) == before {
		t.Fatal("the change changes nothing")
	}
	if after := usage(factsIn(t, d.facts)); after != before {
		t.Errorf("read again:\n%.2000s\nbefore:\n%.2000s", after, before)
	}
}

// databaseChanges changes OpenCode's database.
type databaseChanges struct {
	*cacheCheck
	path string
	db   *sql.DB
	ids  int
}

func (d *databaseChanges) open() {
	var err error
	d.db, err = sql.Open("sqlite", "file:"+d.path+"?_pragma=journal_mode(wal)&_pragma=synchronous(off)")
	d.must(err)
}

func (d *databaseChanges) exec(query string, args ...any) {
	d.Helper()
	_, err := d.db.ExecContext(context.Background(), query, args...)
	d.must(err)
}

// changeRows makes one change and returns what it did.
func (d *databaseChanges) changeRows() string {
	var id string
	d.must(d.db.QueryRowContext(context.Background(), "SELECT id FROM session ORDER BY id LIMIT 1 OFFSET ? % (SELECT count(*) FROM session)", d.rng.IntN(1000)).Scan(&id))
	d.ids++
	now := time.Now().UnixMilli() + int64(d.ids) // no two updates have the same time
	const last = "(SELECT id FROM message WHERE session_id = ? ORDER BY time_created DESC, id DESC LIMIT 1)"
	const digit = "replace(data, '\"input\":2', '\"input\":' || ?)"
	touch := func() { d.exec("UPDATE session SET time_updated = ? WHERE id = ?", now, id) }
	what := ""
	switch d.rng.IntN(8) {
	case 0:
		what = "insert a prompt"
		const first = "(SELECT id FROM message WHERE session_id = ? ORDER BY time_created, id LIMIT 1)"
		d.exec("INSERT INTO part SELECT 'prt_x' || ?, 'msg_x' || ?, session_id, ?, ?, replace(data, 'task ', 'task ' || ?) FROM part WHERE json_extract(data, '$.type') = 'text' AND message_id = "+first,
			now, now, now, now, d.ids, id)
		d.exec("INSERT INTO message SELECT 'msg_x' || ?, session_id, ?, ?, data FROM message WHERE id = "+first, now, now, now, id)
		touch()
	case 1:
		what = "insert an answer"
		d.exec("INSERT INTO message SELECT 'msg_x' || ?, session_id, ?, ?, data FROM message WHERE id = "+last, now, now, now, id)
		touch()
	case 2:
		what = "update the last message"
		d.exec("UPDATE message SET time_updated = ?, data = "+digit+" WHERE id = "+last, now, 1+d.rng.IntN(9), id)
		touch()
	case 3:
		what = "rename the session"
		d.exec("UPDATE session SET title = ?, tokens_input = tokens_input + 1 WHERE id = ?", time.UnixMilli(now).String(), id)
		touch()
	case 4:
		what = "delete the last message"
		d.exec("DELETE FROM message WHERE id = "+last+" AND (SELECT count(*) FROM message WHERE session_id = ?) > 2", id, id)
		touch()
	case 5:
		var left int
		d.must(d.db.QueryRowContext(context.Background(), "SELECT count(*) FROM session").Scan(&left))
		what = "leave, since few sessions are left"
		if left > 8 && d.rng.IntN(10) == 0 {
			what = "delete the session"
			d.exec("DELETE FROM session WHERE id = ?", id)
		}
	case 6:
		what = "checkpoint"
		d.exec("PRAGMA wal_checkpoint(TRUNCATE)")
	case 7:
		what = "replace the database by a copy"
		d.exec("VACUUM INTO ?", d.path+".new")
		d.must(d.db.Close())
		err := errors.Join(os.RemoveAll(d.path+"-wal"), os.RemoveAll(d.path+"-shm"), os.Rename(d.path+".new", d.path))
		d.must(err)
		d.open()
	}
	return what + " " + id
}
