package codex

import (
	"context"
	"errors"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// Conversations implements adapters.Searcher. A message is a text that Peek shows as one
// message. A message that the rollout holds both as an event and as an item is found once. Of a
// sub-agent's rollout only its own records are searched. A hit has the folder in which the
// thread began.
func (a *Adapter) Conversations(ctx context.Context, since time.Time) ([]adapters.Conversation, error) {
	answer := kit.NewAnswer()
	_, roots, absent := a.inUse(ctx, answer)
	if absent {
		return nil, adapters.ErrAbsent
	}
	var list []adapters.Conversation
	for _, r := range roots {
		rollouts, _, problems := a.walk(ctx, r.path, nil, func(string) bool { return false }, true)
		answer.Problem(problems...)
		for i := range rollouts {
			if !rollouts[i].info.ModTime().Before(since) {
				list = append(list, rollouts[i].conversation())
			}
		}
	}
	_, err := answer.Result(ctx, "Codex")
	return list, err
}

func (r *rollout) conversation() adapters.Conversation {
	id := r.id
	path := r.path
	changed := r.info.ModTime()
	return adapters.Conversation{Changed: changed, Search: func(ctx context.Context, q *adapters.SearchQuery, found func(adapters.Hit) error) (map[string]int, error) {
		s := &finder{Finder: kit.Finder{Query: q, Found: found, Hit: adapters.Hit{Session: id, Changed: changed}}}
		skipped, err := s.file(ctx, path)
		if errors.Is(err, errForm) { // it has the text, in a form that is not known
			err = formProblem(path, err)
		}
		return skipped, kit.SearchProblem(ctx, path, err, s.FoundErr)
	}}
}

// finder finds hits in the records of one rollout.
type finder struct {
	kit.Finder
	inherited int64 // see headOf
}

func (s *finder) file(ctx context.Context, path string) (map[string]int, error) {
	f, info, err := agentfile.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in, _, err := contentOf(f, info.Size())
	switch {
	case errors.Is(err, errTooLarge):
		return map[string]int{"rollout too large to be unpacked": 1}, nil
	case err != nil:
		return nil, err
	}
	headed := false
	return kit.SearchLines(ctx, in, s.Query, nil, func(line []byte, offset int64) error {
		if !headed {
			headed = true
			var err error
			s.inherited, s.Hit.CWD, err = headOf(in)
			if err != nil {
				return err
			}
		}
		return s.line(line, offset)
	})
}

// line searches one record.
func (s *finder) line(line []byte, offset int64) error {
	items, _ := readItems(line, offset, s.inherited, kit.Whole)
	return s.AddItems(items)
}
