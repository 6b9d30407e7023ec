package opencode

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// bigData is the size in bytes above which a message's JSON is read without its large
// members: summaries that contain whole files.
const bigData = 64 << 10

// dataOf selects the JSON of the message m.
var dataOf = fmt.Sprintf(`CASE WHEN length(m.data) <= %d THEN m.data
	WHEN json_valid(m.data) THEN json_remove(m.data, '$.summary', '$.system', '$.tools') ELSE '' END`, bigData)

// list reads the rows of the sessions, each with its last message, by one statement over the
// index of messages by session and time.
func (r *reading) list(ctx context.Context) error {
	if !r.hasV1() {
		return nil
	}
	where, args := r.where()
	updated := "m.time_created"
	if r.message["time_updated"] {
		updated = "m.time_updated"
	}
	query := `SELECT x.*, coalesce(m.id, ''), coalesce(` + updated + `, 0), coalesce(m.time_created, 0), coalesce(` + dataOf + `, '')
	FROM (SELECT ` + sessionColumns(r.session) + `, substr(` + columnOf(r.session, "permission", "''") + `, 1, 4096),
	(SELECT l.rowid FROM message l WHERE l.session_id = s.id ORDER BY l.time_created DESC, l.id DESC LIMIT 1) AS latest
	FROM session s WHERE ` + where + `) x LEFT JOIN message m ON m.rowid = x.latest`
	return r.db.Each(ctx, query, args, func(scan func(...any) error) error {
		f, err := scanSession(scan)
		if err == nil {
			r.sessions[f.id] = f
		}
		return err
	})
}

// sessionColumns selects what sessionRow reads of a session s, from a table with these columns. The input tokens are -1 in a version that keeps no sums.
func sessionColumns(columns map[string]bool) string {
	column := func(name, otherwise string) string { return columnOf(columns, name, otherwise) }
	return strings.Join([]string{"s.id", column("parent_id", "''"), column("directory", "''"), "substr(" + column("title", "''") + ", 1, 4096)",
		column("version", "''"), column("time_created", "0"), column("time_updated", "0"), column("model", "''"), column("cost", "0"),
		column("tokens_input", "-1"), column("tokens_output", "0"), column("tokens_reasoning", "0"), column("tokens_cache_read", "0"),
		column("tokens_cache_write", "0"), column("time_archived", "0") + " > 0"}, ", ")
}

// sessionRow reads the row of a session, with more columns after those of sessionColumns.
func (f *facts) sessionRow(scan func(...any) error, more ...any) error {
	var model string
	var t adapters.Tokens
	err := scan(append([]any{&f.id, &f.parent, &f.directory, &f.title, &f.version, &f.created, &f.updated,
		&model, &f.cost, &t.Input, &t.Output, &t.Reasoning, &t.CacheRead, &t.CacheWrite, &f.archived}, more...)...)
	f.title, f.model = ownTitle(f.title), rowModel(model)
	if t.Input >= 0 {
		f.tokens = &t
	}
	return err
}

func scanSession(scan func(...any) error) (*facts, error) {
	f := &facts{partsUnread: true}
	var permission, lastID, data string
	var latest sql.NullInt64
	var updated, created millis
	if err := f.sessionRow(scan, &permission, &latest, &lastID, &updated, &created, &data); err != nil {
		return nil, err
	}
	f.byRun = madeByRun(permission)
	if lastID != "" {
		f.setLast(lastID, data, updated, created)
	}
	return f, nil
}

// setLast adds the last message to the facts.
func (f *facts) setLast(id, data string, updated, created millis) {
	var m message
	if json.Unmarshal([]byte(data), &m) != nil || m.Role != "user" && m.Role != "assistant" {
		f.skip("message in an unknown form")
		m = message{}
	}
	m.ID = id
	m.updated = updated
	m.Time.Created = cmp.Or(m.Time.Created, created)
	f.last = m
	if m.Role == "assistant" {
		f.assistant = m
	}
}

func (f *facts) skip(reason string) { f.skipped = kit.CountSkipped(f.skipped, reason) }

func (f *facts) skipPart(reason string) { f.skippedParts = kit.CountSkipped(f.skippedParts, reason) }

// isText selects the text parts p that the user wrote.
const isText = `CASE WHEN json_valid(p.data) THEN json_extract(p.data, '$.type') = 'text'
	AND coalesce(json_extract(p.data, '$.synthetic'), 0) = 0 ELSE 0 END`

// isUser selects the messages m of the user. Quotes within JSON strings are escaped, so
// the fast text comparison that comes first is exact.
const isUser = `CASE WHEN instr(m.data, '"role":"assistant"') > 0 THEN 0 WHEN json_valid(m.data) THEN json_extract(m.data, '$.role') = 'user' ELSE 0 END`

// prompts reads the first and the last prompt of each session whose last message has
// changed.
func (r *reading) prompts(ctx context.Context) error {
	var v1, next []string
	for id, f := range r.sessions {
		// 1.x stores the parts of a prompt after its message.
		if old := r.before(f); old != nil && old.firstPrompt != "" && (f.next != nil || f.last.Role != "user") {
			f.firstPrompt = old.firstPrompt
			f.lastPrompt = old.lastPrompt
			f.prompted = old.prompted
			continue
		}
		if f.last.ID != "" && r.hasV1() && (f.next == nil || !f.next.claims) {
			v1 = append(v1, id)
		}
		if f.next != nil {
			next = append(next, id)
		}
	}
	if err := r.promptsV1(ctx, v1); err != nil {
		return err
	}
	return r.promptsNext(ctx, next)
}

// promptsV1 reads the prompts of sessions of 1.x.
func (r *reading) promptsV1(ctx context.Context, ids []string) error {
	prompt := func(column, order string) string {
		return `(SELECT ` + column + ` FROM message m JOIN part p ON p.message_id = m.id
		WHERE m.session_id = s.value AND ` + isUser + ` AND ` + isText + `
		ORDER BY m.time_created ` + order + `, m.id ` + order + `, p.id LIMIT 1)`
	}
	const text = `substr(json_extract(p.data, '$.text'), 1, 4100)`
	return r.eachOf(ctx, ids, `SELECT s.value, coalesce(`+prompt(text, "ASC")+`, ''), coalesce(`+prompt(text, "DESC")+`, ''),
		coalesce(`+prompt("m.time_created", "DESC")+`, 0) FROM json_each(?) s`, func(scan func(...any) error) error {
		var id, first, last string
		var at millis
		if err := scan(&id, &first, &last, &at); err != nil {
			return err
		}
		f := r.sessions[id]
		f.firstPrompt = unquotePrompt(first)
		f.lastPrompt = unquotePrompt(last)
		f.prompted = at
		r.note(id)
		return nil
	})
}

// details reads the facts that are needed only for sessions that may be in a turn.
func (r *reading) details(ctx context.Context, f *facts) error {
	if f.last.Role == "user" && (f.hasOpenMessage() || r.want.mayRun(f.id, f.updated)) {
		if err := r.lastAssistant(ctx, f); err != nil {
			return err
		}
	}
	if f.assistant.ID != "" && (f.readsParts() || r.want.mayRun(f.id, f.updated)) {
		f.partsUnread = false
		if err := r.calls(ctx, f); err != nil {
			return err
		}
	}
	// A command that the user typed (!ls) is stored as an answer without tokens.
	if t := f.assistant.Tokens; f.last.ID != "" && (t == nil || t.used() == 0) {
		return r.lastContext(ctx, f)
	}
	return nil
}

// lastContext reads the used context at the last answer that states it.
func (r *reading) lastContext(ctx context.Context, f *facts) error {
	if old := r.before(f); old != nil && old.context > 0 && f.last.Role == "assistant" {
		f.context = old.context
		return nil
	}
	return r.db.Each(ctx, `SELECT json_extract(m.data, '$.tokens') FROM message m WHERE m.session_id = ?
		AND CASE WHEN json_valid(m.data) THEN coalesce(json_extract(m.data, '$.tokens.output'), 0) > 0 ELSE 0 END
		ORDER BY m.time_created DESC, m.id DESC LIMIT 1`, []any{f.id}, func(scan func(...any) error) error {
		var data string
		var t tokens
		if err := scan(&data); err != nil {
			return err
		}
		if json.Unmarshal([]byte(data), &t) == nil {
			f.context = t.used()
		}
		return nil
	})
}

// hasOpenMessage reports whether the last message has not ended.
func (f *facts) hasOpenMessage() bool { return f.last.ID != "" && !f.last.ended() }

// readsParts reports whether the parts of the last message are read, whoever asks.
func (f *facts) readsParts() bool { return f.hasOpenMessage() || f.needsParts() }

// needsParts reports whether only the parts of a finished message show how it ended.
func (f *facts) needsParts() bool {
	return f.last.Role == "assistant" && f.last.Error == nil && f.last.Time.Completed > 0 && (f.last.Finish == "" || f.betweenSteps())
}

// ended reports whether the assistant has finished a message.
func (m *message) ended() bool {
	return m.Role == "assistant" && (m.Time.Completed > 0 || m.Error != nil)
}

func (r *reading) lastAssistant(ctx context.Context, f *facts) error {
	return r.db.Each(ctx, `SELECT m.id, `+dataOf+` FROM message m WHERE m.session_id = ?
		AND CASE WHEN json_valid(m.data) THEN json_extract(m.data, '$.role') = 'assistant' ELSE 0 END
		ORDER BY m.time_created DESC, m.id DESC LIMIT 1`, []any{f.id}, func(scan func(...any) error) error {
		var id, data string
		if err := scan(&id, &data); err != nil {
			return err
		}
		if json.Unmarshal([]byte(data), &f.assistant) == nil {
			f.assistant.ID = id
		}
		return nil
	})
}

// calls reads the tool parts of the assistant's last message, without their outputs.
func (r *reading) calls(ctx context.Context, f *facts) error {
	updated := "0"
	if r.part["time_updated"] {
		updated = "coalesce(p.time_updated, 0)"
	}
	return r.db.Each(ctx, `SELECT `+updated+`, CASE WHEN NOT json_valid(p.data) THEN ''
		WHEN json_extract(p.data, '$.type') IS NOT 'tool' THEN json_object('type', json_extract(p.data, '$.type'))
		ELSE json_remove(p.data, '$.state.output', '$.state.input', '$.state.attachments', '$.state.metadata.output',
			'$.state.metadata.diff', '$.state.metadata.filediff', '$.state.metadata.preview', '$.state.raw')
		END, coalesce(length(json_extract(CASE WHEN json_valid(p.data) THEN p.data END, '$.state.metadata')), 0)
		FROM part p WHERE p.message_id = ? ORDER BY p.id`, []any{f.assistant.ID}, func(scan func(...any) error) error {
		var at millis
		var data string
		var metadata int
		if err := scan(&at, &data, &metadata); err != nil {
			return err
		}
		f.addPart(at, data, metadata > len("{}"))
		return nil
	})
}

// addPart adds a part of the assistant's last message to the facts.
func (f *facts) addPart(updated millis, data string, metadata bool) {
	var p part
	if json.Unmarshal([]byte(data), &p) != nil {
		f.skipPart("part in an unknown form")
		return
	}
	p.updated = updated
	if !f.assistant.ended() {
		f.activity = max(f.activity, updated)
	}
	f.add(&p, metadata)
}

// readCost is what finding the prompts, the sums or the usage of a session costs, in bytes of a large file.
const readCost = 64 << 10

// note adds that something was read of a session beyond its row.
func (r *reading) note(id string) {
	if r.costs == nil {
		r.costs = map[string]int64{}
	}
	r.costs[id] += readCost
}
