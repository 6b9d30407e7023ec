package pistore

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/sqlitero"
)

// Conversations lists the files of the agent's sessions to search. All branches of a
// conversation are searched, also those that are not active. A hit has the folder that the
// session's header names.
func (s *Store) Conversations(ctx context.Context, since time.Time) ([]adapters.Conversation, error) {
	d := s.begin(ctx, adapters.Query{Since: since})
	if s.Name() == Pi && d.absent() {
		return nil, adapters.ErrAbsent
	}
	d.list()
	d.namedFiles()
	slices.SortFunc(d.files, func(a, b file) int { return b.info.ModTime().Compare(a.info.ModTime()) })
	seen := map[string]bool{} // of several files of a session the newest counts
	var list []adapters.Conversation
	for _, f := range d.files {
		whole := wholeID.MatchString(f.label)
		if seen[f.label] || f.certain() != "" && f.certain() != s.Name() || f.info.ModTime().Before(since) {
			continue
		}
		seen[f.label] = whole
		list = append(list, s.conversation(f))
	}
	if s.Name() == PiRust && d.absent() && len(list) == 0 && ctx.Err() == nil {
		return nil, adapters.ErrAbsent
	}
	_, err := d.answer.Result(ctx, string(s.Name()))
	return list, err
}

// headerMark is a part of the line that begins a session.
var headerMark = [][]byte{[]byte(`"type":"session"`)}

func (s *Store) conversation(f file) adapters.Conversation {
	changed := f.info.ModTime()
	if f.sqlite {
		return adapters.Conversation{Changed: changed, Search: func(ctx context.Context, q *adapters.SearchQuery, found func(adapters.Hit) error) (map[string]int, error) {
			n := &kit.Finder{Query: q, Found: found, Hit: adapters.Hit{Changed: changed}}
			skipped, err := s.searchDatabase(ctx, f, n)
			return skipped, kit.SearchProblem(ctx, f.path, err, n.FoundErr)
		}}
	}
	return kit.FileSearch(f.path, changed, func(_ context.Context, n *kit.Finder) ([][]byte, func([]byte) error) {
		headed := false
		mine := false
		return headerMark, func(line []byte) error {
			if !headed {
				headed = true
				mine = s.takeHeader(n, f, line)
			}
			if !mine {
				return nil
			}
			return n.AddItems(Items(line, kit.Whole))
		}
	})
}

// takeHeader takes the session's id and folder from the first line, and reports whether the session is one of
// the agent's.
func (s *Store) takeHeader(n *kit.Finder, f file, line []byte) bool {
	of := session{file: f}
	_, _ = agentfile.Records(line, parse, func(r *record) {
		if r.kind == headerLine && !of.known {
			of.known, of.header = true, r.head
		}
	})
	if !of.known {
		of.longLine = "?"
	}
	of.nameByFile()
	n.Hit.Session, n.Hit.CWD = of.id, of.cwd
	return of.known && of.writer() == s.Name()
}

// searchDatabase searches a session that pi_agent_rust keeps in SQLite.
func (s *Store) searchDatabase(ctx context.Context, f file, n *kit.Finder) (map[string]int, error) {
	var lines [][]byte
	long := 0
	_, err := sqlitero.Read(ctx, f.path, func(ctx context.Context, db *sqlitero.DB) error {
		lines, long = nil, 0
		first := true
		return db.Each(ctx, linesQuery, nil, func(scan func(...any) error) error {
			var line sql.RawBytes
			if err := scan(&line); err != nil {
				return err
			}
			switch {
			case !first && !n.Query.Pattern.MayContain(line):
			case len(line) > int(kit.Whole):
				long++
			default:
				lines = append(lines, slices.Clone(line))
			}
			first = false
			return nil
		})
	})
	if err != nil || len(lines) == 0 || !s.takeHeader(n, f, lines[0]) {
		return nil, err
	}
	for _, line := range lines[1:] {
		if err := n.AddItems(Items(line, kit.Whole)); err != nil {
			return nil, err
		}
	}
	return kit.Skipped(long), nil
}
