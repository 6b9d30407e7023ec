package openclaw

import (
	"context"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
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
	kit.Memo[place, total]
}

type total struct {
	tokens  adapters.Tokens
	cost    float64
	updated number
}

// fill asks for the totals of sessions that changed since their totals were read and are not at
// work, the newest first. The gateway does not list this method among its methods.
func (u *usages) fill(ctx context.Context, t *target, c *client, rows []row, all bool) {
	few := usageFew
	limit := usageLimit / 3
	if all {
		few, limit = usageAll, usageLimit
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		counting := false
		for _, r := range newest(rows, few, func(r *row) bool { return u.wants(t, r) }) {
			var answer usage
			if c.call(limited, "sessions.usage", map[string]any{"key": r.Key, "range": "all"}, &answer) != nil {
				return
			}
			found, ok := answer.total(r)
			if !ok {
				counting = true
				continue
			}
			u.Put(r.place(t), found)
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

// wants reports whether the totals of a row can be asked for and are not known.
func (u *usages) wants(t *target, r *row) bool {
	have, ok := u.Get(r.place(t))
	hasRun := r.Input > 0 || r.Output > 0 || r.Started > 0 // a row has no tokens after an aborted run or a compaction (2026.9.6)
	return hasRun && !r.isActive() && (!ok || have.updated != r.Updated)
}

// of returns the totals of a session, if they are those of its last change.
func (u *usages) of(t *target, r *row) (*adapters.Tokens, float64) {
	have, ok := u.Get(r.place(t))
	if !ok || have.updated != r.Updated {
		return nil, 0
	}
	return &have.tokens, have.cost
}

// isCountedAt reports whether a count of the session as it was at a time has all of its answers: none came since its last run ended, but a compaction may have.
func (r *row) isCountedAt(at number) bool {
	return at == r.Updated || r.Ended > 0 && r.Ended >= r.Started && at >= r.Ended
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
		if s.Key != r.Key && s.SessionID != r.SessionID || s.Usage == nil || s.Updated != nil && !r.isCountedAt(*s.Updated) {
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
