package cline

import (
	"context"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// Conversations implements adapters.Searcher. A hit has the folder that the manifest names.
func (a *Adapter) Conversations(ctx context.Context, since time.Time) ([]adapters.Conversation, error) {
	d := &discovery{Adapter: a, ctx: ctx, query: adapters.Query{Since: since}, now: a.now(), answer: kit.NewAnswer(), unread: map[*root]bool{}}
	d.processes, _ = a.census(ctx) // those that can't be read only name further homes
	d.roots = a.roots(d.processes, d.answer)
	if d.absent() {
		return nil, adapters.ErrAbsent
	}
	for _, r := range d.roots {
		d.list(r)
	}
	d.readManifests()
	for _, r := range d.roots {
		d.addAgents(r)
	}
	var list []adapters.Conversation
	for _, s := range d.sessions {
		changed := latest(s.started, s.ended, s.modified)
		if changed.Before(since) {
			continue
		}
		path, id, cwd := s.conversationFile(), s.id, s.cwd
		list = append(list, adapters.Conversation{Changed: changed, Search: func(ctx context.Context, q *adapters.SearchQuery, found func(adapters.Hit) error) (map[string]int, error) {
			f := kit.Finder{Query: q, Found: found, Hit: adapters.Hit{Session: id, CWD: cwd, Changed: changed}}
			err := search(ctx, path, &f)
			return nil, kit.SearchProblem(ctx, path, err, f.FoundErr)
		}})
	}
	_, err := d.answer.Result(ctx, description.Title)
	return list, err
}

// search reports the messages of a conversation that have the pattern.
func search(ctx context.Context, path string, f *kit.Finder) error {
	data, _, err := agentfile.ReadSmall(path, conversationLimit)
	if err != nil {
		return err
	}
	p := chat{limit: kit.Whole, results: map[string]adapters.ToolState{}}
	if f.Query.Tools {
		p.tools = kit.Strings
	}
	messages, err := p.read(data)
	if err != nil {
		return adapters.Unrecognised(path, "%w", err)
	}
	for i := range messages {
		if err := agentfile.Ended(ctx); err != nil {
			return err
		}
		if _, err := f.Add(&messages[i]); err != nil {
			return err
		}
	}
	return nil
}
