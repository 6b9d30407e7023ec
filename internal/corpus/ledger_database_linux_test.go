package corpus_test

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/all"
	"rollcall/internal/agentname"
)

// TestLedgerOfDatabase is TestLedger for OpenCode's database. A fork of OpenCode (1.18.33) has the messages of its parent with new ids and their times, and its
// row counts them as well.
func TestLedgerOfDatabase(t *testing.T) {
	steps, seed := cacheSteps(12), cacheSeed()
	t.Logf("seed %d", seed)
	d := openDatabase(t, seed)
	d.exec("DELETE FROM session WHERE id NOT IN (SELECT id FROM session ORDER BY id LIMIT 12)")
	d.exec("DELETE FROM message WHERE session_id NOT IN (SELECT id FROM session)")
	d.exec("UPDATE session SET time_created = (SELECT min(time_created) FROM message WHERE session_id = session.id)")
	d.recount()
	facts := factsIn(t, d.facts)
	facts.SaveAlways()
	copies := 0
	for i := range steps {
		did := d.changeHistories()
		want, copied := d.count()
		copies += copied
		for n, f := range []*adapters.FactsCache{nil, facts} {
			if got := d.counted(f); !maps.Equal(got, want) {
				t.Fatalf("step %d, adapter %d: %s: %v, want %v\nrepeat with ROLLCALL_CACHE_SEED=%d ROLLCALL_CACHE_STEPS=%d", i, n, did, got, want, seed, i+1)
			}
		}
	}
	if t.Logf("%d steps, %d copies", steps, copies); copies == 0 && steps >= 20 {
		t.Error("nothing was copied")
	}
}

// changeHistories makes one change and returns what it did.
func (d *databaseChanges) changeHistories() string {
	var id string
	var sessions int
	ctx := context.Background()
	d.must(d.db.QueryRowContext(ctx, "SELECT id, (SELECT count(*) FROM session) FROM session ORDER BY id LIMIT 1 OFFSET ? % (SELECT count(*) FROM session)", d.rng.IntN(1000)).Scan(&id, &sessions))
	d.ids++
	now := time.Now().UnixMilli() + int64(d.ids)*1000
	defer d.recount()
	switch kind := d.rng.IntN(6); {
	case kind == 0 && sessions > 4 || sessions > 30:
		d.exec("DELETE FROM message WHERE session_id = ?", id)
		d.exec("DELETE FROM session WHERE id = ?", id)
		return "delete " + id
	case kind <= 2:
		fork := fmt.Sprintf("ses_fork%018d", d.ids)
		d.exec("CREATE TEMP TABLE one AS SELECT * FROM session WHERE id = ?", id)
		d.exec("UPDATE one SET id = ?, time_created = ?, time_updated = ?", fork, now, now)
		d.exec("INSERT INTO session SELECT * FROM one")
		d.exec("DROP TABLE one")
		d.exec("CREATE TEMP TABLE some AS SELECT * FROM message WHERE session_id = ? ORDER BY time_created, id LIMIT ?", id, 1+d.rng.IntN(6))
		d.exec("UPDATE some SET id = 'msg_f' || ? || substr(id, 5), session_id = ?", d.ids, fork)
		d.exec("INSERT INTO message SELECT * FROM some")
		d.exec("DROP TABLE some")
		return "fork " + id
	}
	d.exec(`INSERT INTO message SELECT 'msg_x' || ?, session_id, ?, ?, json_set(data, '$.time.created', ?, '$.time.completed', ?, '$.tokens.input', ?, '$.modelID', ?) FROM message
		WHERE session_id = ? AND json_extract(data, '$.role') = 'assistant' ORDER BY time_created LIMIT 1`, now, now, now, now, now+7, 1+d.rng.IntN(5000), []string{"m1", "m2"}[d.rng.IntN(2)], id)
	d.exec("UPDATE session SET time_updated = ? WHERE id = ?", now, id)
	return "grow " + id
}

// recount sets what the rows of the sessions state to the sums of their messages.
func (d *databaseChanges) recount() {
	for column, path := range map[string]string{"tokens_input": "input", "tokens_output": "output", "tokens_reasoning": "reasoning", "tokens_cache_read": "cache.read",
		"tokens_cache_write": "cache.write"} {
		d.exec("UPDATE session SET " + column + " = coalesce((SELECT sum(json_extract(data, '$.tokens." + path + "')) FROM message WHERE session_id = session.id), 0)")
	}
	d.exec("UPDATE session SET cost = coalesce((SELECT sum(json_extract(data, '$.cost')) FROM message WHERE session_id = session.id), 0)")
}

// count reads all messages and returns the input by model, each answer once.
func (d *databaseChanges) count() (input map[string]int64, copied int) {
	rows, err := d.db.QueryContext(context.Background(), `SELECT m.data ->> '$.time.created' < s.time_created, m.data ->> '$.time.created' || ' ' || coalesce(m.data ->> '$.time.completed', 0) || (m.data ->> '$.tokens'),
		m.data ->> '$.modelID', m.data ->> '$.tokens.input' FROM message m JOIN session s ON s.id = m.session_id WHERE m.data ->> '$.tokens.input' > 0`)
	d.must(err)
	defer rows.Close()
	own, others := map[string]bool{}, map[string][]any{}
	input = map[string]int64{}
	for rows.Next() {
		var isCopy bool
		var key, model string
		var n int64
		d.must(rows.Scan(&isCopy, &key, &model, &n))
		if isCopy {
			others[key] = []any{model, n}
			copied++
			continue
		}
		own[key] = true
		input[model] += n
	}
	d.must(rows.Err())
	for key, m := range others {
		if !own[key] {
			input[m[0].(string)] += m[1].(int64)
		}
	}
	return input, copied
}

// counted returns what a new adapter counts.
func (d *databaseChanges) counted(facts *adapters.FactsCache) map[string]int64 {
	input := map[string]int64{}
	for _, a := range all.New(d.table, all.Config{Home: d.home, Facts: facts}) {
		if a.Name() != agentname.OpenCode {
			continue
		}
		roll, err := a.Discover(context.Background(), adapters.Query{Totals: true, Usage: true, Once: true})
		d.must(err)
		for i := range roll.Sessions {
			for _, u := range roll.Sessions[i].Usage {
				if u.Tokens.Input != 0 {
					input[u.Model[len("mock/"):]] += u.Tokens.Input
				}
			}
		}
	}
	return input
}
