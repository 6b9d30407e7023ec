package openclaw

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
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
		for _, m := range h.texts(q.Tools) {
			m.Text = t.auth.redact(m.Text)
			if _, err := f.Add(&m); err != nil {
				return nil, err
			}
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

// texts returns the texts of the messages of a history and, if tools is set, the calls of tools
// and their results. Keys are those of messages.
func (h *history) texts(tools bool) (list []adapters.Message) {
	calls := map[string]adapters.Message{} // by their ids
	for key, e := range h.entries() {
		if e.Role == "toolResult" {
			var words []string
			for _, p := range e.parts() {
				words = append(words, p.Text)
			}
			m := calls[e.CallID]
			m.Key, m.Tool = cmp.Or(m.Key, key), cmp.Or(m.Tool, e.Tool)
			m.Role = adapters.FromTool
			m.At = e.Timestamp.time()
			m.Text = strings.Join(words, "\n")
			if tools {
				list = append(list, m)
			}
			continue
		}
		for _, m := range e.split(key) {
			if m.Role != adapters.FromTool {
				list = append(list, m)
			}
		}
		for _, p := range e.parts() {
			if p.Arguments == nil {
				continue
			}
			m := adapters.Message{Key: key + "/" + p.ID, Role: adapters.FromTool, Tool: p.Name, At: e.Timestamp.time()}
			calls[p.ID] = m
			if arguments, err := json.Marshal(p.Arguments); err == nil && tools {
				m.Text = kit.Strings(arguments)
				list = append(list, m)
			}
		}
	}
	return list
}
