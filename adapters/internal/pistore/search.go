package pistore

import (
	"context"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
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
	return kit.FileSearch(f.path, f.info.ModTime(), func(_ context.Context, n *kit.Finder) ([][]byte, func([]byte) error) {
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
