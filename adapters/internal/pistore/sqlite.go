package pistore

import (
	"context"
	"errors"
	"io/fs"

	"rollcall/adapters"
	"rollcall/adapters/internal/sqlitero"
)

// linesQuery selects the lines of a session, the header first: the tables pi_session_header(id, json) and
// pi_session_entries(seq, json) hold those of the JSONL form. Source: the code of
// pi_agent_rust, which was not run.
const linesQuery = "SELECT json FROM pi_session_header UNION ALL SELECT json FROM (SELECT json FROM pi_session_entries ORDER BY seq)"

// readDatabase reads a session's database.
func (d *discovery) readDatabase(f *file) (facts, error) {
	if d.store.Name() != PiRust {
		return facts{}, nil
	}
	now, err := d.store.databases.Read(d.ctx, f.path, func(ctx context.Context, db *sqlitero.DB) (facts, error) {
		now := facts{}
		err := db.Each(ctx, linesQuery, nil, func(scan func(...any) error) error {
			var line []byte
			if err := scan(&line); err != nil {
				return err
			}
			if r, err := parse(line); err == nil {
				now.apply(&r)
			} else {
				now.Skip("line that is not JSON")
			}
			return nil
		})
		return now, err
	})
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, fs.ErrNotExist):
		return facts{}, err
	case err != nil:
		return facts{}, adapters.Unrecognised(f.path, "%w", err)
	}
	return now, nil
}
