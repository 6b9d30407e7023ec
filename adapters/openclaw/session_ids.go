package openclaw

import (
	"cmp"
	"strings"
	"sync"
)

// idMark separates a session's own id from the suffix that makes it unique: the same id
// on two gateways (a copied state folder) is two sessions.
const idMark = "@"

// place is the gateway and the key of a session.
type place struct{ gateway, key string }

// sessionIDs records which gateway has which session, and assigns ids. A session keeps
// its id as long as the program runs.
type sessionIDs struct {
	mu    sync.Mutex
	raw   map[place]string // the session's own id
	ids   map[place]string
	owner map[string]place // the session that has the id without a mark
	at    map[string]place // by id
}

// maxRemembered is the number of sessions that are remembered. When it is reached, all are
// forgotten.
const maxRemembered = 200_000

// enter records the sessions of a gateway.
func (b *sessionIDs) enter(t *target, rows []row) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.raw == nil || len(b.ids) > maxRemembered {
		b.raw, b.ids = map[place]string{}, map[place]string{}
		b.owner, b.at = map[string]place{}, map[string]place{}
	}
	for i := range rows {
		b.raw[place{t.id, rows[i].Key}] = cmp.Or(rows[i].SessionID, rows[i].Key)
	}
	for i := range rows {
		p := place{t.id, rows[i].Key}
		raw := b.raw[p]
		id := raw
		switch o, taken := b.owner[raw]; {
		case !taken || o == p || b.raw[o] != raw: // a key was renamed
			b.owner[raw] = p
		case o.gateway == p.gateway:
			id = raw + idMark + p.key
		default:
			id = raw + idMark + strings.TrimPrefix(strings.TrimPrefix(t.name, "ws://"), "wss://")
		}
		b.ids[p], b.at[id] = id, p
	}
}

func (b *sessionIDs) idOf(t *target, key string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ids[place{t.id, key}]
}

func (b *sessionIDs) find(id string) (place, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, ok := b.at[id]
	return p, ok
}

// parent returns the id of the session that spawned this one. A session that a user
// created has a parentSessionKey too (2026.9.6): only a sub-agent's counts.
func (b *sessionIDs) parent(t *target, r *row, own string) string {
	key := r.SpawnedBy
	if key == "" && strings.Contains(r.Key, ":subagent:") {
		key = r.ParentKey
	}
	if key == "" || key == r.Key {
		return ""
	}
	if id := b.idOf(t, key); id != own {
		return cmp.Or(id, key)
	}
	return ""
}
