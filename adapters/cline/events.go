package cline

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/sqlitero"
)

// eventsName is the database in which the hub keeps its events (3.0.65).
const eventsName = "hub-events-hub-production.db"

// decision selects the last of a session's events that is the start of a turn, or about the question how to go on after several mistakes. The hub puts it to the
// terminal when as many calls in a row failed or were denied (three), while the turn goes on, and ends no turn before its answer. The names in the text are not
// escaped, as they would be in what a user or a model wrote.
const decision = `SELECT event, CASE WHEN length(envelope_json) < 100000 THEN envelope_json ELSE '' END FROM hub_events WHERE session_id = ? AND (event = 'run.started'
	OR event IN ('capability.requested', 'capability.resolved') AND instr(envelope_json, '"capabilityName":"mistake_limit.decide"') > 0)
	ORDER BY sequence DESC LIMIT 1`

// mistakes is the question how a turn goes on.
type mistakes struct {
	count   int64
	details string
	asked   time.Time // zero: it is not asked
	unread  bool      // the hub's events could not be read
}

// readMistakes finds out whether a session that the hub hosts waits for the user's decision after mistakes, which is in no other file.
func (d *discovery) readMistakes(s *session) {
	if s.owner == nil || !s.owner.hub || s.status != "running" {
		return
	}
	path := filepath.Join(s.root.databases, eventsName)
	_, err := sqlitero.Read(d.ctx, path, func(ctx context.Context, db *sqlitero.DB) error {
		s.mistakes = mistakes{}
		if columns, err := db.Columns(ctx, "hub_events"); err != nil || !columns["envelope_json"] {
			return err
		}
		return db.Each(ctx, decision, []any{s.id}, func(scan func(...any) error) error {
			var event string
			var envelope sql.RawBytes
			if err := scan(&event, &envelope); err != nil || event != "capability.requested" {
				return err
			}
			about := agentfile.Get(envelope, "payload", "payload", "context")
			s.mistakes = mistakes{kit.Count(about, "consecutiveMistakes"), kit.Short(agentfile.Get(about, "details")), millis(agentfile.Get(envelope, "timestamp")), false}
			return nil
		})
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.mistakes.unread = true
	}
}

// question returns what the terminal asks.
func (m *mistakes) question() string {
	return adapters.CutTo(fmt.Sprintf("How should Cline continue after %d mistakes in a row? The last: %s", m.count, m.details), adapters.MaxDoing)
}
