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

// turnEvents selects what the hub said of a session's last turn: its prompt, which the conversation has with the first answer only, and the question how to go on
// after several mistakes. The hub puts that to the terminal when as many calls in a row failed or were denied (three), while the turn goes on, and ends no turn
// before its answer. The names in the text are not escaped, as they would be in what a user or a model wrote.
const turnEvents = `SELECT event, CASE WHEN length(envelope_json) > 8000000 OR NOT json_valid(envelope_json) THEN '' WHEN instr(envelope_json, '"capabilityName":"hook.beforeRun"')
		THEN json_object('timestamp', created_at, 'prompt', json_extract(envelope_json, '$.payload.payload.context.snapshot.messages[#-1]'))
	ELSE envelope_json END FROM hub_events WHERE session_id = ?1
	AND sequence > coalesce((SELECT sequence FROM hub_events WHERE session_id = ?1 AND event = 'run.started' ORDER BY sequence DESC LIMIT 1), 0)
	AND (event IN ('capability.requested', 'capability.resolved') AND instr(envelope_json, '"capabilityName":"mistake_limit.decide"') > 0
	OR event = 'capability.requested' AND instr(envelope_json, '"capabilityName":"hook.beforeRun"') > 0) ORDER BY sequence`

// turn is what the hub says of the turn that is open.
type turn struct {
	prompt   string // empty: not known
	prompted time.Time
	asked    time.Time // when the terminal began to ask how to go on; zero: it does not
	mistakes int64
	details  string
	unread   bool // the hub's events could not be read
}

// readTurn reads what the hub says of the open turn of a session that it hosts.
func (d *discovery) readTurn(s *session) {
	if s.owner == nil || !s.owner.hub || !s.isOpen() {
		return
	}
	path := filepath.Join(s.root.databases, eventsName)
	_, err := sqlitero.Read(d.Ctx, path, func(ctx context.Context, db *sqlitero.DB) error {
		s.turn = turn{}
		if columns, err := db.Columns(ctx, "hub_events"); err != nil || !columns["envelope_json"] {
			return err
		}
		return db.Each(ctx, turnEvents, []any{s.id}, func(scan func(...any) error) error {
			var event string
			var envelope sql.RawBytes
			err := scan(&event, &envelope)
			if err == nil {
				s.turn.add(event == "capability.requested", envelope)
			}
			return err
		})
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.turn.unread = true
	}
}

// add adds an event, which is a request of the hub to the terminal or the answer to one.
func (t *turn) add(asked bool, envelope []byte) {
	at := millis(agentfile.Get(envelope, "timestamp"))
	if prompt := agentfile.Get(envelope, "prompt"); prompt != nil {
		readMessage(prompt).blocks(func(kind string, _, text []byte) {
			if kind == "text" && t.prompt == "" {
				t.prompt, t.prompted = promptText(text), at
			}
		})
		return
	}
	t.asked = time.Time{}
	if about := agentfile.Get(envelope, "payload", "payload", "context"); asked {
		t.asked = at
		t.mistakes = kit.Count(about, "consecutiveMistakes")
		t.details = kit.Short(agentfile.Get(about, "details"))
	}
}

// question returns what the terminal asks.
func (t *turn) question() string {
	return adapters.CutTo(fmt.Sprintf("How should Cline continue after %d mistakes in a row? The last: %s", t.mistakes, t.details), adapters.MaxDoing)
}
