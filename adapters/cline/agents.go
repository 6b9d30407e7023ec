package cline

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/sqlitero"
)

// database holds the sub-agents that a database has.
type database struct {
	stamp  sqlitero.Stamp
	agents []manifest
}

// addAgents adds the sub-agents of a root's sessions, which only the database has.
func (d *discovery) addAgents(r *root) {
	path := filepath.Join(r.databases, "sessions.db")
	agents, err := d.readDatabase(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.answer.Problem(sqlitero.Problem(d.ctx, path, err, "Cline is writing it: try again", "sub-agents are missing; Cline makes it again from its other files"))
		return
	}
	byID := map[string]*session{}
	for _, s := range d.sessions {
		if s.root == r {
			byID[s.id] = s
		}
	}
	for _, m := range agents {
		if up := byID[m.parent]; up != nil {
			byID[m.id] = &session{manifest: m, root: r, folder: up.folder, above: up}
			d.sessions = append(d.sessions, byID[m.id])
		}
	}
}

// agentRows gives the sub-agents, the oldest first.
const agentRows = `SELECT session_id, parent_session_id, agent_id, status, started_at, coalesce(ended_at, ''), updated_at, model, cwd,
	substr(coalesce(prompt, ''), 1, 4096), substr(coalesce(metadata_json, ''), 1, 1000000) FROM sessions
	WHERE is_subagent = 1 AND parent_session_id IS NOT NULL AND agent_id IS NOT NULL ORDER BY started_at`

// readDatabase returns the sub-agents in a database. It is read again only if it has changed.
func (d *discovery) readDatabase(path string) ([]manifest, error) {
	stamp, err := sqlitero.Look(path)
	if err != nil {
		return nil, err
	}
	if known, ok := d.databases.Get(path); ok && known.stamp == stamp {
		return known.agents, nil
	}
	var found database
	found.stamp, err = sqlitero.Read(d.ctx, path, func(ctx context.Context, db *sqlitero.DB) error {
		found.agents = nil
		if columns, err := db.Columns(ctx, "sessions"); err != nil || !columns["is_subagent"] {
			return errors.Join(err, sqlitero.ErrTables)
		}
		return db.Each(ctx, agentRows, nil, func(scan func(...any) error) error {
			var m manifest
			var started, ended, updated, text, metadata string
			if err := scan(&m.id, &m.parent, &m.agent, &m.status, &started, &ended, &updated, &m.model, &m.cwd, &text, &metadata); err != nil {
				return err
			}
			quoted := func(text string) []byte { return []byte(`"` + text + `"`) }
			m.started, m.ended, m.modified = agentfile.Time(quoted(started)), agentfile.Time(quoted(ended)), agentfile.Time(quoted(updated))
			m.prompt = unwrapped(text)
			m.describe([]byte(metadata))
			if strings.HasPrefix(m.agent, "agent_") && !strings.ContainsAny(m.agent, `/\`) && len(m.agent) < 200 { // it can be the name of a file
				found.agents = append(found.agents, m)
			}
			return nil
		})
	})
	if err == nil {
		d.databases.Put(path, found)
	}
	return found.agents, err
}
