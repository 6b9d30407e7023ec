package openclaw

import (
	"cmp"
	"context"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// Conversations implements adapters.Searcher. The gateways are asked for each conversation
// (chat.history), 1,000 messages at a time. A gateway shortens long messages; what it
// leaves out is not found.
func (a *Adapter) Conversations(ctx context.Context, since time.Time) ([]adapters.Conversation, error) {
	roll, err := a.Discover(ctx, adapters.Query{Since: since})
	if len(roll.Sessions) == 0 {
		return nil, err
	}
	gateways := map[string]*target{}
	for _, t := range a.find(ctx).targets {
		gateways[t.id] = t
	}
	var list []adapters.Conversation
	for i := range roll.Sessions {
		s := &roll.Sessions[i]
		p, ok := a.ids.find(s.ID)
		if t := gateways[p.gateway]; ok && t != nil && !s.LastActivityAt.Before(since) {
			list = append(list, a.conversation(s, t, p.key))
		}
	}
	return list, err
}

func (a *Adapter) conversation(s *adapters.Session, t *target, key string) adapters.Conversation {
	hit := adapters.Hit{Session: s.ID, CWD: s.CWD, Changed: s.LastActivityAt}
	return adapters.Conversation{Changed: s.LastActivityAt, Search: func(ctx context.Context, q *adapters.SearchQuery, found func(adapters.Hit) error) (map[string]int, error) {
		h, problem := a.history(ctx, t, key, 0)
		f := kit.Finder{Query: q, Found: found, Hit: hit}
		items := h.items()
		for i := range items {
			m := &items[i]
			if m.Texts != nil && q.Tools {
				m.Text = m.Texts()
			}
			m.Text, m.Texts = t.auth.redact(m.Text), nil
		}
		if err := f.AddItems(items); err != nil {
			return nil, err
		}
		if problem != nil {
			return nil, cmp.Or(ctx.Err(), problem)
		}
		if h.More {
			return map[string]int{"conversation of which the gateway gives only the last messages": 1}, nil
		}
		return nil, nil
	}}
}
