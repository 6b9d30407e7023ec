package opencode

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/sqlitero"
)

// nextRow is the data of a row of session_message, with its texts and parts.
type nextRow struct {
	Text  string     `json:"text"`
	Parts []nextPart `json:"content"`
}

// nextPart is a text or a call in an answer of OpenCode 2.
type nextPart struct {
	Type  string `json:"type"`
	ID    string `json:"id"`
	Text  string `json:"text"`
	Name  string `json:"name"`
	State struct {
		Status     string          `json:"status"`
		Input      json.RawMessage `json:"input"`
		Structured json.RawMessage `json:"structured"`
		Metadata   json.RawMessage `json:"metadata"`
		Content    json.RawMessage `json:"content"`
		Error      json.RawMessage `json:"error"`
	} `json:"state"`
	Time struct {
		Created millis `json:"created"`
		Ran     millis `json:"ran"`
	} `json:"time"`
}

// old returns the part as 1.x stores it.
func (p *nextPart) old() (out part) {
	out.ID = p.ID
	out.Type = p.Type
	out.Text = p.Text
	out.Tool = p.Name
	out.State.Status, out.State.Input = p.State.Status, p.State.Input
	out.State.Time.Start = cmp.Or(p.Time.Ran, p.Time.Created)
	for _, result := range []json.RawMessage{p.State.Content, p.State.Structured, p.State.Metadata} {
		out.State.Output = strings.TrimSpace(out.State.Output + "\n" + kit.Strings(result))
	}
	out.State.Error = kit.Strings(p.State.Error)
	return out
}

// nextRows reads rows of session_message that can be shown: their order is that of the query.
func nextRows(ctx context.Context, db *sqlitero.DB, from string, args []any, row func(session, id string, data []byte, m message) error) (long int, err error) {
	query := `SELECT m.session_id, m.id, m.type, m.time_created, CASE WHEN octet_length(m.data) <= ` + maxPart + ` THEN m.data END FROM session_message m WHERE m.type IN ('user', 'assistant', 'compaction') AND ` + from
	err = db.Each(ctx, query, args, func(scan func(...any) error) error {
		var session, id, kind string
		var created millis
		var data sql.RawBytes
		if err := scan(&session, &id, &kind, &created, &data); err != nil {
			return err
		}
		if data == nil {
			long++
			return nil
		}
		m := message{Role: kind}
		m.Time.Created = created
		m.ID = id
		return row(session, id, data, m)
	})
	return long, err
}

// peekNext adds messages of OpenCode 2, from the last on.
func peekNext(ctx context.Context, db *sqlitero.DB, session string, last *kit.LastItems) error {
	_, err := nextRows(ctx, db, "m.session_id = ? ORDER BY m.seq DESC", []any{session}, func(_, id string, data []byte, m message) error {
		if last.IsFull() {
			return errEnough
		}
		var row nextRow
		if json.Unmarshal(data, &row) != nil {
			return nil
		}
		if parsed, ok := nextMessage(m.Role, string(data), m.Time.Created); ok && m.Role == "assistant" {
			m = parsed
			m.ID = id
		}
		last.Add(m.errorItems())
		for _, p := range slices.Backward(row.parts(&m)) {
			last.Add(p.items(&m))
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// parts returns the parts of a row as 1.x stores them. Their ids name them within the session.
func (r *nextRow) parts(m *message) (list []part) {
	switch m.Role {
	case "user":
		return []part{{ID: m.ID, Type: "text", Text: r.Text}}
	case "compaction":
		return []part{{ID: m.ID, Type: "compaction"}}
	}
	for i := range r.Parts {
		p := r.Parts[i].old()
		p.ID = m.ID + "/" + cmp.Or(p.ID, strings.Repeat("+", i+1))
		list = append(list, p)
	}
	return list
}

// searchNext searches the messages of OpenCode 2, and counts those that are too long.
func searchNext(ctx context.Context, db *sqlitero.DB, q *adapters.SearchQuery, finders map[string]*conversationFinder) (int, error) {
	columns, err := db.Columns(ctx, "session_message")
	if err != nil || !has(columns, "session_id", "type", "seq", "data") {
		return 0, err
	}
	marks, args := idList(slices.Collect(maps.Keys(finders)))
	return nextRows(ctx, db, "m.session_id IN "+marks+" ORDER BY m.session_id, m.seq", args, func(session, _ string, data []byte, m message) error {
		var row nextRow
		if !q.Pattern.MayContain(data) || json.Unmarshal(data, &row) != nil {
			return nil
		}
		for _, p := range row.parts(&m) {
			if err := finders[session].AddItems(p.items(&m)); err != nil {
				return err
			}
		}
		return nil
	})
}
