package opencode

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rollcall/adapters"
)

// OpenCode 2 keeps its sessions in the table session_v2, and their messages in session_message, one
// row for a message with its parts. It imports the sessions of 1.x once, with their ids, and leaves
// their tables. Its preview, and the paths below /api of 1.18, keep such messages for sessions of
// the table session. What 2.0 writes was read in its source; the preview was run (1.18.18).

// next holds what only OpenCode 2 stores about a session.
type next struct {
	claims  bool   // claims are stored: by 2.0, not by its preview
	claimed bool   // a process has begun a turn and not ended it
	idle    millis // when the last turn ended
	viewed  millis // when a terminal showed it last
	outcome string // how it ended, see nextOutcomes; "": it is not stored
}

// used returns when a session was last written or viewed.
func (f *facts) used() millis {
	if f.next == nil {
		return f.activity
	}
	return max(f.activity, f.next.viewed)
}

// turn reports whether the session's turn is over as far as the claim shows it. ok is false where
// only the messages show it, as for an imported session.
func (n *next) turn(last millis) (state turnState, ok bool) {
	switch {
	case n.claimed:
		return inTurn, true
	case n.outcome != "" && n.idle >= last:
		return over, true
	}
	return noMessages, false
}

// nextOutcomes has the outcomes of turns as OpenCode 2 stores them.
var nextOutcomes = map[string]adapters.Outcome{"succeeded": adapters.Completed, "completed": adapters.Completed, "failed": adapters.Failed,
	"interrupted": adapters.Interrupted}

// nextTypes lists the types of rows in session_message (2.0.12 and the preview).
var nextTypes = map[string]bool{"user": true, "assistant": true, "synthetic": true, "system": true, "shell": true, "compaction": true,
	"skill": true, "agent-switched": true, "model-switched": true, "location-switched": true, "idle": true, "": true}

// nextData selects the JSON of a row m without its parts and texts.
const nextData = `CASE WHEN json_valid(m.data) THEN json_remove(m.data, '$.content', '$.text', '$.snapshot', '$.files', '$.summary', '$.recent') ELSE '' END`

// listNext reads the sessions of OpenCode 2 from a table, each with its last message.
func (r *reading) listNext(ctx context.Context, table string, columns map[string]bool) error {
	column := func(name, otherwise string) string { return columnOf(columns, name, otherwise) }
	where, args := r.whereNext(columns)
	const latest = `(SELECT l.%s FROM session_message l WHERE l.session_id = s.id%s ORDER BY l.seq DESC LIMIT 1)`
	query := `SELECT x.*, coalesce(m.id, ''), coalesce(m.type, ''), coalesce(m.time_updated, 0), coalesce(m.time_created, 0), coalesce(` + nextData + `, '')
	FROM (SELECT ` + strings.Join([]string{sessionColumns(columns),
		column("time_suspended", "0"), column("time_idle", "0"), column("time_viewed", "0"), column("idle_outcome", "''"),
		"coalesce(" + fmt.Sprintf(latest, "type", "") + ", '')",
		fmt.Sprintf(latest, "rowid", " AND l.type IN ('user', 'assistant', 'compaction')") + " AS latest",
	}, ", ") + ` FROM ` + table + ` s WHERE ` + where + `) x LEFT JOIN session_message m ON m.rowid = x.latest`
	return r.db.Each(ctx, query, args, func(scan func(...any) error) error {
		f, err := scanNext(scan)
		if err != nil {
			return err
		}
		f.next.claims = columns["time_suspended"]
		old := r.sessions[f.id]
		if table == "session" && old != nil && old.last.Time.Created > f.last.Time.Created {
			return nil // 1.x has continued it
		}
		r.sessions[f.id] = f
		return nil
	})
}

func scanNext(scan func(...any) error) (*facts, error) {
	n := &next{}
	f := &facts{next: n}
	var lastType, id, kind, data string
	var latest sql.NullInt64
	var suspended, updated, created millis
	if err := f.sessionRow(scan, &suspended, &n.idle, &n.viewed, &n.outcome, &lastType, &latest, &id, &kind, &updated, &created, &data); err != nil {
		return nil, err
	}
	n.claimed = suspended > 0
	if f.tokens == nil {
		f.tokens = &adapters.Tokens{}
	}
	if !nextTypes[lastType] {
		f.skip("message of an unknown type")
	}
	if id != "" {
		f.setLastNext(id, kind, data, updated, created)
	}
	return f, nil
}

// setLastNext adds the last message to the facts.
func (f *facts) setLastNext(id, kind, data string, updated, created millis) {
	m, ok := nextMessage(kind, data, created)
	if !ok {
		f.skip("message in an unknown form")
	}
	m.ID, m.updated = id, updated
	f.last = m
	if kind == "assistant" && ok {
		f.assistant = m
	}
}

// nextMessage parses a row of session_message. A compaction counts as an answer.
func nextMessage(kind, data string, created millis) (m message, ok bool) {
	ok = json.Unmarshal([]byte(data), &m) == nil
	if !ok {
		m = message{}
	}
	m.Time.Created = cmp.Or(m.Time.Created, created)
	if m.Tokens != nil {
		m.Tokens.Total = m.Tokens.Input + m.Tokens.Output + m.Tokens.Cache.Read + m.Tokens.Cache.Write
	}
	if e := m.Error; e != nil {
		e.Name, e.Data.Message = cmp.Or(e.Name, e.Type), cmp.Or(e.Data.Message, e.Message)
		if strings.HasSuffix(e.Message, "turn interrupted") {
			e.Name = abortedError
		}
	}
	switch {
	case !ok:
	case kind == "compaction":
		m.Role = "assistant"
		if m.Status != "running" {
			m.Time.Completed = cmp.Or(m.Time.Completed, m.Time.Created)
		}
	default:
		m.Role = kind
	}
	return m, ok
}

// whereNext is where for sessions of OpenCode 2. Their rows don't show when a turn went on.
func (r *reading) whereNext(columns map[string]bool) (string, []any) {
	has, of := "1", ""
	if !columns["time_suspended"] {
		has = "EXISTS (SELECT 1 FROM session_message m WHERE m.session_id = s.id)"
	} else {
		of = " OR s.time_suspended IS NOT NULL"
	}
	if r.want.only != nil || r.want.since <= 0 {
		where, args := r.where()
		return where + " AND " + has, args
	}
	marks, args := idList(slices.Collect(maps.Keys(r.want.also)))
	since := int64(r.want.since)
	return "(s.id IN " + marks + " OR max(s.time_updated, " + columnOf(columns, "time_idle", "0") + ", " + columnOf(columns, "time_viewed", "0") + `,
		coalesce((SELECT m.time_updated FROM session_message m WHERE m.session_id = s.id ORDER BY m.seq DESC LIMIT 1), 0)) >= ?` + of + ") AND " + has,
		append(args, since)
}

// promptsNext reads the prompts of sessions of OpenCode 2.
func (r *reading) promptsNext(ctx context.Context, ids []string) error {
	prompt := func(column, order string) string {
		return `coalesce((SELECT ` + column + ` FROM session_message m WHERE m.session_id = s.value AND m.type = 'user' ORDER BY m.seq ` + order + ` LIMIT 1), '')`
	}
	const text = `substr(CASE WHEN json_valid(m.data) THEN m.data ->> '$.text' END, 1, 4100)`
	return r.eachOf(ctx, ids, `SELECT s.value, `+prompt(text, "ASC")+`, `+prompt(text, "DESC")+`, CAST(`+prompt("m.time_created", "DESC")+` AS INTEGER) FROM json_each(?) s`,
		func(scan func(...any) error) error {
			var id, first, last string
			var at millis
			if err := scan(&id, &first, &last, &at); err != nil {
				return err
			}
			f := r.sessions[id]
			f.firstPrompt = cmp.Or(f.firstPrompt, unquotePrompt(first))
			if last != "" {
				f.lastPrompt, f.prompted = unquotePrompt(last), at
			}
			r.note(id)
			return nil
		})
}

// eachOf runs a query with some of the ids at a time, as an array in JSON.
func (r *reading) eachOf(ctx context.Context, ids []string, query string, row func(scan func(...any) error) error) error {
	for some := range slices.Chunk(ids, listLimit) {
		list, err := json.Marshal(some)
		if err != nil {
			return err
		}
		if err := r.db.Each(ctx, query, []any{string(list)}, row); err != nil {
			return err
		}
	}
	return nil
}

// sums adds up what the messages used, for sessions whose rows do not state it: those of 1.x up to 1.14, and those of the preview
// of OpenCode 2, whose rows it leaves at zero.
func (r *reading) sums(ctx context.Context) error {
	var v1, preview []string
	for id, f := range r.sessions {
		old := r.before(f)
		switch {
		case f.next != nil && !f.next.claims:
			preview = append(preview, id)
		case f.tokens == nil && old != nil && old.tokens != nil:
			f.tokens, f.cost = old.tokens, old.cost
		case f.tokens == nil:
			f.tokens, f.cost = &adapters.Tokens{}, 0
			v1 = append(v1, id)
			r.note(id)
		}
	}
	if err := r.sumsOf(ctx, v1, "message", "data ->> '$.role'"); err != nil {
		return err
	}
	return r.sumsOf(ctx, preview, "session_message", "type")
}

// sumsOf adds up what the answers in a table used.
func (r *reading) sumsOf(ctx context.Context, ids []string, table, role string) error {
	return r.eachOf(ctx, ids, `SELECT session_id, CAST(total(data ->> '$.tokens.input') AS INTEGER), CAST(total(data ->> '$.tokens.output') AS INTEGER),
		CAST(total(data ->> '$.tokens.reasoning') AS INTEGER), CAST(total(data ->> '$.tokens.cache.read') AS INTEGER),
		CAST(total(data ->> '$.tokens.cache.write') AS INTEGER), total(data ->> '$.cost') FROM `+table+`
		WHERE session_id IN (SELECT value FROM json_each(?)) AND CASE WHEN json_valid(data) THEN `+role+` = 'assistant' END GROUP BY session_id`,
		func(scan func(...any) error) error {
			var id string
			var t adapters.Tokens
			var cost float64
			if err := scan(&id, &t.Input, &t.Output, &t.Reasoning, &t.CacheRead, &t.CacheWrite, &cost); err != nil {
				return err
			}
			f := r.sessions[id]
			f.tokens.Add(t)
			f.cost += cost
			return nil
		})
}

// detailsNext reads the last answer of a session of OpenCode 2, and the calls in it.
func (r *reading) detailsNext(ctx context.Context, f *facts) error {
	if f.last.ID == "" {
		return nil
	}
	if f.assistant.Tokens == nil {
		if err := r.answerNext(ctx, f); err != nil {
			return err
		}
	}
	if f.assistant.ID == "" || f.open() == over && !f.needsParts() {
		return nil
	}
	return r.db.Each(ctx, `SELECT coalesce(e.value ->> '$.name', ''), coalesce(e.value ->> '$.state.status', ''),
		coalesce(e.value ->> '$.time.ran', e.value ->> '$.time.created', 0),
		coalesce(e.value ->> '$.state.metadata.sessionID', e.value ->> '$.state.structured.sessionID', ''),
		coalesce(e.value ->> '$.state.error.message', '')
		FROM session_message m, json_each(CASE WHEN json_valid(m.data) THEN m.data ELSE '{}' END, '$.content') e
		WHERE m.id = ? AND e.value ->> '$.type' = 'tool'`, []any{f.assistant.ID}, func(scan func(...any) error) error {
		var c call
		var status, failed string
		if err := scan(&c.tool, &status, &c.since, &c.child, &failed); err != nil {
			return err
		}
		f.tools = true
		switch status {
		case "running", "streaming":
			c.pending = status == "streaming"
			f.calls = append(f.calls, c)
		case "error":
			f.refused = f.refused || refusal(failed) || failed == "Tool execution interrupted"
		}
		return nil
	})
}

// answerNext reads the last answer that states its tokens, and the last answer if the last message
// is none.
func (r *reading) answerNext(ctx context.Context, f *facts) error {
	return r.db.Each(ctx, `SELECT m.id, m.time_created, `+nextData+` FROM session_message m
		WHERE m.session_id = ? AND m.type = 'assistant' ORDER BY m.seq DESC LIMIT 20`, []any{f.id}, func(scan func(...any) error) error {
		var id, data string
		var created millis
		if err := scan(&id, &created, &data); err != nil {
			return err
		}
		m, ok := nextMessage("assistant", data, created)
		if !ok {
			return nil
		}
		m.ID = id
		if f.assistant.ID == "" {
			f.assistant = m
		}
		if f.context == 0 && m.Tokens != nil {
			f.context = m.Tokens.used()
		}
		return nil
	})
}
