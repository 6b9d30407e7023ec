package cline

import (
	"context"
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
	known, err := d.readDatabase(path)
	if err != nil && !isMissing(err) {
		d.answer.Problem(sqlitero.Problem(d.ctx, path, err, "Cline is writing it: try again", "sub-agents are missing; Cline makes it again from its other files"))
		return
	}
	byID := map[string]*session{}
	for _, s := range d.sessions {
		if s.root == r {
			byID[s.id] = s
		}
	}
	for _, m := range known.agents {
		if up := byID[m.parent]; up != nil {
			byID[m.id] = &session{manifest: m, root: r, folder: up.folder, above: up}
			d.sessions = append(d.sessions, byID[m.id])
		}
	}
}

// readDatabase returns the sub-agents in a database. It is read again only if it has changed.
func (d *discovery) readDatabase(path string) (database, error) {
	stamp, err := sqlitero.Look(path)
	if err != nil {
		return database{}, err
	}
	if known, ok := d.databases.Get(path); ok && known.stamp == stamp {
		return known, nil
	}
	var found database
	found.stamp, err = sqlitero.Read(d.ctx, path, func(ctx context.Context, db *sqlitero.DB) error {
		found.agents = nil
		columns, err := db.Columns(ctx, "sessions")
		if err != nil {
			return err
		}
		for _, name := range []string{"session_id", "parent_session_id", "agent_id", "is_subagent", "status", "started_at", "ended_at", "updated_at", "model", "cwd", "prompt", "metadata_json"} {
			if !columns[name] {
				return sqlitero.ErrTables
			}
		}
		const query = `SELECT session_id, parent_session_id, agent_id, status, started_at, coalesce(ended_at, ''), updated_at, model, cwd,
			substr(coalesce(prompt, ''), 1, 4096), substr(coalesce(metadata_json, ''), 1, 1000000) FROM sessions
			WHERE is_subagent = 1 AND parent_session_id IS NOT NULL AND agent_id IS NOT NULL ORDER BY started_at`
		return db.Each(ctx, query, nil, func(scan func(...any) error) error {
			m, err := agentRow(scan)
			if err == nil && isAgentName(m.agent) {
				found.agents = append(found.agents, m)
			}
			return err
		})
	})
	if err == nil {
		d.databases.Put(path, found)
	}
	return found, err
}

// agentRow reads the row of a sub-agent.
func agentRow(scan func(...any) error) (m manifest, err error) {
	var started, ended, updated, text, metadata string
	if err := scan(&m.id, &m.parent, &m.agent, &m.status, &started, &ended, &updated, &m.model, &m.cwd, &text, &metadata); err != nil {
		return m, err
	}
	quoted := func(text string) []byte { return []byte(`"` + text + `"`) }
	m.started, m.ended, m.modified = agentfile.Time(quoted(started)), agentfile.Time(quoted(ended)), agentfile.Time(quoted(updated))
	m.prompt = unwrapped(text)
	m.describe([]byte(metadata))
	return m, nil
}

// isAgentName reports whether a name can be that of a sub-agent's file.
func isAgentName(name string) bool {
	return strings.HasPrefix(name, "agent_") && !strings.ContainsAny(name, `/\`) && len(name) < 200
}
