package openclaw

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"rollcall/adapters"
)

// The tokens and the costs in a row of sessions.list are those of the last run only
// (2026.9.6): the second run of a session replaces those of the first. sessions.usage
// returns those of the whole session.

const (
	usageFew   = 8 // sessions asked about without Query.Totals
	usageAll   = 200
	usageLimit = 1500 * time.Millisecond
	usageAgain = 200 * time.Millisecond
)

// usages caches the totals of sessions, with their rows' time of change.
type usages struct {
	mu    sync.Mutex
	known map[place]total
}

type total struct {
	tokens  adapters.Tokens
	cost    float64
	updated number
}

// fill asks for the totals of sessions that changed since and are not at work, the
// newest first. The gateway does not list this method among its methods.
func (u *usages) fill(ctx context.Context, t *target, c *client, rows []row, all bool) {
	if c.hello.Protocol < 4 {
		return
	}
	few := usageFew
	limit := usageLimit / 3
	if all {
		few, limit = usageAll, usageLimit
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		counting := false
		for _, r := range u.wanted(t, rows, few) {
			var answer usage
			if c.call(limited, "sessions.usage", map[string]any{"key": r.Key, "range": "all"}, &answer) != nil {
				return
			}
			found, ok := answer.total(r)
			if !ok {
				counting = true
				continue
			}
			u.mu.Lock()
			u.known[place{t.id, r.promptKey()}] = found
			u.mu.Unlock()
		}
		if !counting || !all {
			return
		}
		select { // the gateway counts after the first question
		case <-limited.Done():
			return
		case <-time.After(usageAgain):
		}
	}
}

func (u *usages) wanted(t *target, rows []row, few int) []*row {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.known == nil || len(u.known) > maxRemembered {
		u.known = map[place]total{}
	}
	var list []*row
	for i := range rows {
		r := &rows[i]
		have, ok := u.known[place{t.id, r.promptKey()}]
		if (r.Input > 0 || r.Output > 0) && (r.Active == nil || !*r.Active) && (!ok || have.updated != r.Updated) {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b *row) int { return cmp.Compare(b.Updated, a.Updated) })
	return list[:min(len(list), few)]
}

// of returns the totals of a session, if they are those of its last change.
func (u *usages) of(t *target, r *row) (*adapters.Tokens, float64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	have, ok := u.known[place{t.id, r.promptKey()}]
	if !ok || have.updated != r.Updated {
		return nil, 0
	}
	tokens := have.tokens
	return &tokens, have.cost
}

// usage is the answer to sessions.usage for one session.
type usage struct {
	Sessions []struct {
		Key       string  `json:"key"`
		SessionID string  `json:"sessionId"`
		Updated   *number `json:"updatedAt"`
		Usage     *struct {
			Input       number `json:"input"`
			Output      number `json:"output"`
			CacheRead   number `json:"cacheRead"`
			CacheWrite  number `json:"cacheWrite"`
			Cost        number `json:"totalCost"`
			MissingCost number `json:"missingCostEntries"`
		} `json:"usage"`
	} `json:"sessions"`
	Cache *struct {
		Status string `json:"status"`
	} `json:"cacheStatus"`
}

// total returns the totals of a row. ok is false while the gateway still counts.
func (u *usage) total(r *row) (total, bool) {
	if u.Cache != nil && u.Cache.Status != "fresh" {
		return total{}, false
	}
	for _, s := range u.Sessions {
		if s.Key != r.Key && s.SessionID != r.SessionID || s.Usage == nil || s.Updated != nil && *s.Updated != r.Updated {
			continue
		}
		found := total{updated: r.Updated, tokens: adapters.Tokens{
			Input: s.Usage.Input.count(), Output: s.Usage.Output.count(),
			CacheRead: s.Usage.CacheRead.count(), CacheWrite: s.Usage.CacheWrite.count()}}
		if s.Usage.MissingCost == 0 {
			found.cost = max(0, float64(s.Usage.Cost))
		}
		return found, true
	}
	return total{}, false
}
