package cline

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/sqlitero"
)

// addAgents adds the sub-agents of a root's sessions, which only the database has.
func (d *discovery) addAgents(r *root) {
	path := filepath.Join(r.databases, "sessions.db")
	agents, err := d.databases.Read(d.ctx, path, readAgents)
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

// agentRows gives the sub-agents in the form of manifests, the oldest first.
const agentRows = `SELECT json_object('session_id', session_id, 'parent', parent_session_id, 'agent', agent_id, 'status', status, 'started_at', started_at,
	'ended_at', ended_at, 'updated_at', updated_at, 'model', model, 'cwd', cwd, 'prompt', substr(prompt, 1, 4096),
	'metadata', CASE WHEN length(metadata_json) < 1000000 AND json_valid(metadata_json) THEN json(metadata_json) END) FROM sessions
	WHERE is_subagent = 1 AND parent_session_id IS NOT NULL AND agent_id IS NOT NULL ORDER BY started_at`

// readAgents returns the sub-agents in a database.
func readAgents(ctx context.Context, db *sqlitero.DB) (agents []manifest, err error) {
	if columns, err := db.Columns(ctx, "sessions"); err != nil || !columns["is_subagent"] {
		return nil, errors.Join(err, sqlitero.ErrTables)
	}
	err = db.Each(ctx, agentRows, nil, func(scan func(...any) error) error {
		var row []byte
		if err := scan(&row); err != nil {
			return err
		}
		m, err := parseManifest(row)
		m.parent, m.agent, m.modified = kit.Short(agentfile.Get(row, "parent")), kit.Short(agentfile.Get(row, "agent")), agentfile.Time(agentfile.Get(row, "updated_at"))
		if err == nil && strings.HasPrefix(m.agent, "agent_") && !strings.ContainsAny(m.agent, `/\`) && len(m.agent) < 200 { // it can be the name of a file
			agents = append(agents, m)
		}
		return nil
	})
	return agents, err
}
