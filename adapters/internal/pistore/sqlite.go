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

// readDatabase reads a session's database: the tables pi_session_header(id, json) and
// pi_session_entries(seq, json) hold the lines of the JSONL form. Source: the code of
// pi_agent_rust, which was not run.
func (d *discovery) readDatabase(f *file) (facts, error) {
	if d.store.name != adapters.PiRust {
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
		for _, query := range []string{
			"SELECT json FROM pi_session_header LIMIT 1",
			"SELECT json FROM pi_session_entries ORDER BY seq",
		} {
			if err := now.rows(ctx, db, query); err != nil {
				return err
			}
		}
		return nil
	})
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, fs.ErrNotExist):
		return facts{}, err
	case err != nil:
		return facts{}, &adapters.Problem{Kind: adapters.ErrFormat, Path: f.path, Err: err, Fix: "a newer version of Rollcall may recognise it"}
	}
	d.store.databases.Put(f.path, database{stamp, now})
	return now, nil
}

func (f *facts) rows(ctx context.Context, db *sqlitero.DB, query string) error {
	rows, err := db.Query(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var line []byte
		if err := rows.Scan(&line); err != nil {
			return err
		}
		r, err := parse(line)
		if err != nil {
			f.skip("line that is not JSON")
			continue
		}
		f.apply(&r)
	}
	return rows.Err()
}
