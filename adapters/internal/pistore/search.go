package pistore

import (
	"context"
	"database/sql"
	"errors"
	"io"
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
	d.answer.Problem(d.storeProblems...)
	_, err := d.answer.Result(ctx, string(s.Name()))
	return list, err
}

func (s *Store) conversation(f file) adapters.Conversation {
	changed := f.info.ModTime()
	return adapters.Conversation{Changed: changed, Search: func(ctx context.Context, q *adapters.SearchQuery, found func(adapters.Hit) error) (map[string]int, error) {
		n := &finder{Finder: kit.Finder{Query: q, Found: found, Hit: adapters.Hit{Changed: changed}}, file: f, agent: s.Name()}
		var skipped map[string]int
		var err error
		if f.sqlite {
			skipped, err = n.database(ctx)
		} else {
			skipped, err = n.transcript(ctx)
		}
		return skipped, kit.SearchProblem(ctx, f.path, err, n.err)
	}}
}

// finder finds hits in the entries of one session.
type finder struct {
	kit.Finder
	file  file
	agent adapters.Name
	err   error // of Found
}

func (n *finder) transcript(ctx context.Context) (map[string]int, error) {
	f, _, err := agentfile.OpenUntouched(n.file.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	headed, mine := false, false
	skipped, err := kit.SearchLines(ctx, f, n.Query, nil, func(line []byte, _ int64) error {
		if !headed {
			headed = true
			mine = n.takeHeader(firstLine(f))
		}
		if !mine {
			return errOther
		}
		return n.line(line)
	})
	if errors.Is(err, errOther) {
		return nil, nil
	}
	return skipped, err
}

// errOther ends the search of a file of the other agent.
var errOther = errors.New("a session of another agent")

func firstLine(f io.ReaderAt) (first []byte) {
	_, _, _ = agentfile.Forward(context.Background(), f, 0, 0, func(line []byte, _ int64) error {
		first = slices.Clone(line)
		return errOther
	})
	return first
}

// takeHeader takes the session's id and folder, and reports whether the session is one of
// the agent's.
func (n *finder) takeHeader(line []byte) bool {
	s := session{file: n.file}
	_, _ = agentfile.Records(line, parse, func(r *record) {
		if r.kind == headerLine && !s.known {
			s.known, s.header = true, r.head
		}
	})
	if !s.known {
		s.longLine = "?"
	}
	s.nameByFile()
	n.Hit.Session, n.Hit.CWD = s.id, s.cwd
	return s.known && s.writer() == n.agent
}

// database searches a session that pi_agent_rust keeps in SQLite.
func (n *finder) database(ctx context.Context) (map[string]int, error) {
	var lines [][]byte
	long := 0
	_, err := sqlitero.Read(ctx, n.file.path, func(ctx context.Context, db *sqlitero.DB) error {
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
	if err != nil || len(lines) == 0 || !n.takeHeader(lines[0]) {
		return nil, err
	}
	for _, line := range lines[1:] {
		if err := n.line(line); err != nil {
			return nil, err
		}
	}
	return kit.Skipped(long), nil
}

// line searches one entry.
func (n *finder) line(line []byte) error {
	var f fields
	if f.read(line) != nil {
		return nil
	}
	n.err = n.AddItems(f.items(kit.Whole))
	return n.err
}
