package claudecode

import (
	"context"
	"maps"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// Conversations implements adapters.Searcher. A message is a text that Peek shows as one
// message. A hit has the folder that its record names.
func (a *Adapter) Conversations(ctx context.Context, since time.Time) ([]adapters.Conversation, error) {
	answer := kit.NewAnswer()
	_, homes := a.homes(ctx, answer)
	if homes.Absent() {
		return nil, adapters.ErrAbsent
	}
	newest := map[string]*file{} // of several transcripts of a session the one written last
	for _, root := range homes.Paths {
		for _, f := range a.listAll(ctx, answer, root) {
			if known := newest[f.id]; known == nil || f.info.ModTime().After(known.info.ModTime()) {
				newest[f.id] = f
			}
		}
	}
	var list []adapters.Conversation
	for f := range maps.Values(newest) {
		if !f.info.ModTime().Before(since) {
			list = append(list, f.conversation())
		}
	}
	_, err := answer.Result(ctx, "Claude Code")
	return list, err
}

func (f *file) conversation() adapters.Conversation {
	id := f.id
	path := f.path
	changed := f.info.ModTime()
	return adapters.Conversation{Changed: changed, Search: func(ctx context.Context, q *adapters.SearchQuery, found func(adapters.Hit) error) (map[string]int, error) {
		return searchFile(ctx, path, &kit.Finder{Query: q, Found: found, Hit: adapters.Hit{Session: id, Changed: changed}})
	}}
}

// joined holds the marks of records whose message is composed of several texts: slash commands
// and shell commands.
var joined = [][]byte{[]byte("<command-args>"), []byte("<bash-input>")}

func searchFile(ctx context.Context, path string, s *kit.Finder) (map[string]int, error) {
	f, _, err := agentfile.OpenRegular(path)
	if err != nil {
		return nil, kit.SearchProblem(ctx, path, err, nil)
	}
	defer f.Close()
	var marks [][]byte
	if s.Query.Pattern.CanSpan() {
		marks = joined
	}
	skipped, err := kit.SearchLines(ctx, f, s.Query, marks, func(line []byte, offset int64) error {
		p := readItems(line, offset, kit.Whole)
		s.Hit.CWD, _ = agentfile.Head(p.cwd, textLimit)
		return s.AddItems(p.items)
	})
	return skipped, kit.SearchProblem(ctx, path, err, s.FoundErr)
}
