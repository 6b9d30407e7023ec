package pistore

import (
	"context"
	"errors"
	"io/fs"

	"rollcall/adapters"
	"rollcall/adapters/internal/sqlitero"
)

// database holds what was read of a session that pi_agent_rust keeps in SQLite.
type database struct {
	stamp sqlitero.Stamp
	facts facts
}

// linesQuery selects the lines of a session, the header first: the tables pi_session_header(id, json) and
// pi_session_entries(seq, json) hold those of the JSONL form. Source: the code of
// pi_agent_rust, which was not run.
const linesQuery = "SELECT json FROM pi_session_header UNION ALL SELECT json FROM (SELECT json FROM pi_session_entries ORDER BY seq)"

// readDatabase reads a session's database.
func (d *discovery) readDatabase(f *file) (facts, error) {
	if d.store.name != PiRust {
		return facts{}, nil
	}
	stamp, err := sqlitero.Look(f.path)
	if err != nil {
		return facts{}, err
	}
	known, there := d.store.databases.Get(f.path)
	if there && known.stamp == stamp {
		return known.facts, nil
	}
	var now facts
	stamp, err = sqlitero.Read(d.ctx, f.path, func(ctx context.Context, db *sqlitero.DB) error {
		now = facts{exact: true}
		return db.Each(ctx, linesQuery, nil, func(scan func(...any) error) error {
			var line []byte
			if err := scan(&line); err != nil {
				return err
			}
			if r, err := parse(line); err == nil {
				now.apply(&r)
			} else {
				now.skip("line that is not JSON")
			}
			return nil
		})
	})
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, fs.ErrNotExist):
		return facts{}, err
	case err != nil:
		return facts{}, adapters.Unrecognised(f.path, "%w", err)
	}
	d.store.databases.Put(f.path, database{stamp, now})
	return now, nil
}
