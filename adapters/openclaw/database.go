package openclaw

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/klauspost/compress/zstd"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/sqlitero"
)

// databases caches what was read of the agents' databases, by path, until they change.
type databases struct {
	kit.Memo[string, databaseRead]
}

type databaseRead struct {
	stamp   sqlitero.Stamp
	totals  bool
	rows    []storedRow
	version string
	skipped int
}

const (
	// withoutID is how sessions are counted that can't be listed.
	withoutID = "session in openclaw-agent.sqlite without an id"
	again     = "it is read again next time"
	broken    = "if OpenClaw can't open it either, move it away"
)

// readDatabase reads the sessions in the database of an agent, and the version of OpenClaw that wrote it.
func (a *Adapter) readDatabase(ctx context.Context, s agentStore, totals bool, skipped map[string]int) ([]storedRow, string, error) {
	stamp, err := sqlitero.Look(s.database)
	was, ok := a.databases.Get(s.database)
	if err == nil && ok && was.stamp == stamp && (was.totals || !totals) {
		skipped[withoutID] += was.skipped
		return was.rows, was.version, nil
	}
	now := databaseRead{totals: totals}
	now.stamp, err = sqlitero.Read(ctx, s.database, func(ctx context.Context, db *sqlitero.DB) error {
		now.rows, now.skipped = nil, 0
		err := now.read(ctx, db, s)
		if err == nil && totals {
			err = now.sum(ctx, db)
		}
		return err
	})
	if err != nil {
		return nil, "", sqlitero.Problem(ctx, s.database, err, again, broken)
	}
	a.databases.Put(s.database, now)
	if now.skipped > 0 {
		skipped[withoutID] += now.skipped
	}
	return now.rows, now.version, nil
}

// isPrompt selects the text of a user's message in a record e, without those that the gateway wrote.
const (
	promptText = `coalesce(json_extract(e.event_json, '$.message.content[0].text'), json_extract(e.event_json, '$.message.content'), '')`
	isPrompt   = `e.session_id = n.current_session_id AND CASE WHEN json_valid(e.event_json) THEN json_extract(e.event_json, '$.message.role') = 'user'
		AND substr(` + promptText + `, 1, 9) <> '[System] ' AND substr(` + promptText + `, 1, 19) <> '[OpenClaw heartbeat' ELSE 0 END`
)

// read reads the newest sessions with the ends of their transcripts.
func (d *databaseRead) read(ctx context.Context, db *sqlitero.DB, s agentStore) error {
	for table, needed := range map[string][]string{"session_nodes": {"session_key", "current_session_id", "entry_json", "updated_at", "archived_at"},
		"transcript_events": {"session_id", "seq", "event_json", "event_zstd"}} {
		columns, err := db.Columns(ctx, table)
		if err != nil {
			return err
		}
		for _, name := range needed {
			if !columns[name] {
				return sqlitero.ErrTables
			}
		}
	}
	_ = db.Each(ctx, "SELECT coalesce(app_version, '') FROM schema_meta LIMIT 1", nil, func(scan func(...any) error) error { return scan(&d.version) })
	const event = `coalesce((SELECT e.event_json FROM transcript_events e WHERE `
	return db.Each(ctx, `SELECT n.session_key, CASE WHEN json_valid(n.entry_json) THEN json_remove(n.entry_json, '$.skillsSnapshot', '$.systemPromptReport') ELSE '' END,
		coalesce(n.archived_at, 0) > 0, `+event+`e.session_id = n.current_session_id AND e.seq = 0), ''), `+event+isPrompt+` ORDER BY e.seq LIMIT 1), ''), `+
		event+isPrompt+` ORDER BY e.seq DESC LIMIT 1), '') FROM session_nodes n ORDER BY n.updated_at DESC LIMIT ?`, []any{maxRows}, func(scan func(...any) error) error {
		r := storedRow{file: s.database}
		var key, entry, head, first, last string
		if err := scan(&key, &entry, &r.archive, &head, &first, &last); err != nil {
			return err
		}
		var ok bool
		r.row, ok = storedEntry(key, []byte(entry))
		if !ok {
			d.skipped++
			return nil
		}
		var begins struct {
			CWD string `json:"cwd"`
		}
		_ = json.Unmarshal([]byte(head), &begins)
		r.AgentID = s.agent
		r.began = opening{begins.CWD, promptOf([]byte(first))}
		r.last = promptOf([]byte(last))
		d.rows = append(d.rows, r)
		return nil
	})
}

// sum adds what the answers of each session used. A transcript with a compressed record is left out: its sum would be too small.
func (d *databaseRead) sum(ctx context.Context, db *sqlitero.DB) error {
	type total struct {
		tokens adapters.Tokens
		cost   float64
	}
	sums := map[string]total{}
	const of = `CAST(total(json_extract(event_json, '$.message.usage.`
	err := db.Each(ctx, `SELECT session_id, `+of+`input')) AS INTEGER), `+of+`output')) AS INTEGER), `+of+`cacheRead')) AS INTEGER), `+of+`cacheWrite')) AS INTEGER),
		total(json_extract(event_json, '$.message.usage.cost.total')) FROM transcript_events WHERE json_valid(coalesce(event_json, '{}'))
		GROUP BY session_id HAVING count(event_zstd) = 0`, nil, func(scan func(...any) error) error {
		var id string
		var t total
		err := scan(&id, &t.tokens.Input, &t.tokens.Output, &t.tokens.CacheRead, &t.tokens.CacheWrite, &t.cost)
		sums[id] = t
		return err
	})
	for i := range d.rows {
		if t, ok := sums[d.rows[i].SessionID]; ok {
			d.rows[i].tokens, d.rows[i].cost = &t.tokens, t.cost
		}
	}
	return err
}

// databaseHistory adds the records of a session's transcript to a history.
func (s *agentStore) databaseHistory(ctx context.Context, key string, h *history) (found bool, err error) {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(longEvent))
	if err != nil {
		return false, err
	}
	defer decoder.Close()
	_, err = sqlitero.Read(ctx, s.database, func(ctx context.Context, db *sqlitero.DB) error {
		*h, found = history{}, false
		err := db.Each(ctx, "SELECT 1 FROM session_nodes WHERE session_key = ?", []any{key}, func(func(...any) error) error {
			found = true
			return nil
		})
		if err != nil || !found {
			return err
		}
		return db.Each(ctx, `SELECT e.event_json, e.event_zstd FROM session_nodes n JOIN transcript_events e ON e.session_id = n.current_session_id
			WHERE n.session_key = ? ORDER BY e.seq`, []any{key}, func(scan func(...any) error) error {
			var plain sql.NullString
			var packed []byte
			if err := scan(&plain, &packed); err != nil {
				return err
			}
			record := []byte(plain.String)
			if !plain.Valid {
				record, _ = decoder.DecodeAll(packed, nil) // a damaged record is no message
			}
			h.add(record)
			return nil
		})
	})
	if err != nil {
		return false, sqlitero.Problem(ctx, s.database, err, again, broken)
	}
	return found, nil
}
