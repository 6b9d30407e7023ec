package opencode

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// usageQuery selects the answers of sessions, whose messages %s selects. A turn is an answer whose
// previous message is the user's. The time in the message's data has priority over the row's time, which can be the time of
// an import.
const usageQuery = `SELECT session, at, completed, provider, model, cwd, input, output, reasoning, cache_read, cache_write, cost, answers AND before = 'user'
FROM (SELECT *, (completed > 0 AND NOT failed OR output > 0) AS answers, lag(role) OVER (PARTITION BY session ORDER BY at, id) AS before
	FROM (SELECT session, id, role, CAST(coalesce(data ->> '$.time.created', created) AS INTEGER) AS at,
			CAST(coalesce(data ->> '$.time.completed', 0) AS INTEGER) AS completed, data ->> '$.error' IS NOT NULL AS failed,
			coalesce(data ->> '$.providerID', data ->> '$.model.providerID', '') AS provider,
			coalesce(data ->> '$.modelID', data ->> '$.model.modelID', data ->> '$.model.id', '') AS model, coalesce(data ->> '$.path.cwd', '') AS cwd,
			CAST(coalesce(data ->> '$.tokens.input', 0) AS INTEGER) AS input, CAST(coalesce(data ->> '$.tokens.output', 0) AS INTEGER) AS output,
			CAST(coalesce(data ->> '$.tokens.reasoning', 0) AS INTEGER) AS reasoning, CAST(coalesce(data ->> '$.tokens.cache.read', 0) AS INTEGER) AS cache_read,
			CAST(coalesce(data ->> '$.tokens.cache.write', 0) AS INTEGER) AS cache_write, CAST(coalesce(data ->> '$.cost', 0) AS REAL) AS cost
		FROM (%s)))
WHERE role = 'assistant' ORDER BY session, at, id`

const (
	usageJSON = `CASE WHEN json_valid(m.data) THEN m.data ELSE '{}' END AS data`
	// usageRows selects the messages of 1.x, and usageNext those of OpenCode 2, of the sessions in the list %s.
	usageRows = `SELECT m.session_id AS session, m.id AS id, m.time_created AS created,
		CASE WHEN json_valid(m.data) THEN m.data ->> '$.role' END AS role, ` + usageJSON + ` FROM message m WHERE m.session_id IN %s`
	usageNext = `SELECT m.session_id AS session, m.id AS id, m.time_created AS created,
		m.type AS role, ` + usageJSON + ` FROM session_message m WHERE m.session_id IN %s AND m.type IN ('user', 'assistant')`
)

// keepUsage takes over what this process or an earlier one knew of the usage of sessions that have not changed since. It
// must be called also where no usage is wanted: the next question may want it.
func (r *reading) keepUsage() {
	for _, f := range r.sessions {
		if old := r.before(f); old != nil && old.logged {
			f.ledger, f.logged = old.ledger, true
		}
	}
}

// usage reads the usage of the sessions by time, unless it is known. It returns nil if there was no time for all
// sessions: the usage of the others is not known then.
func (r *reading) usage(ctx context.Context) error {
	limited, cancel := kit.WithMargin(ctx)
	defer cancel()
	var missing []string
	for _, id := range slices.Sorted(maps.Keys(r.sessions)) {
		if f := r.sessions[id]; !f.logged || !r.saved.Fetch(r.path+"#"+id, &f.ledger) {
			f.ledger, f.logged = kit.SavedLedger{}, false
			missing = append(missing, id)
		}
	}
	imported := func(id string) bool { return r.sessions[id].next != nil && r.sessions[id].next.claims }
	for ids := range slices.Chunk(missing, listLimit) {
		var old, next []string // the messages that 2.0 has imported are still in the tables of 1.x
		for _, id := range ids {
			if !imported(id) {
				old = append(old, id)
			}
			if r.sessions[id].next != nil {
				next = append(next, id)
			}
		}
		err := errors.Join(r.usageOf(limited, usageRows, old), r.usageOf(limited, usageNext, next))
		if err == nil {
			r.logged(ids)
		}
		if err != nil && limited.Err() != nil && ctx.Err() == nil {
			r.want.usage = false // the next question reads again
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// usageCost is what reading the usage of a session costs, in bytes of a large file.
const usageCost = 64 << 10

func (r *reading) usageOf(ctx context.Context, rows string, ids []string) error {
	if len(ids) == 0 || rows == usageRows && !r.hasV1() {
		return nil
	}
	marks, args := idList(ids)
	return r.db.Each(ctx, fmt.Sprintf(usageQuery, fmt.Sprintf(rows, marks)), args, func(scan func(...any) error) error {
		var id, provider, model, cwd string
		var at, completed millis
		var u adapters.Tokens
		var usd float64
		var turn bool
		if err := scan(&id, &at, &completed, &provider, &model, &cwd, &u.Input, &u.Output, &u.Reasoning, &u.CacheRead, &u.CacheWrite, &usd, &turn); err != nil {
			return err
		}
		f := r.sessions[id]
		if f == nil {
			return nil
		}
		e := kit.Entry{At: at.time(), Model: strings.TrimPrefix(provider+"/"+model, "/"), CWD: cwd, Tokens: u, CostUSD: usd, Copied: at < f.created}
		if model == "" {
			e.Model = ""
		}
		if turn {
			e.Turns = 1
		}
		if at > 0 && completed > 0 { // a fork copies its messages with new ids
			e.ID = xxhash.Sum64String(fmt.Sprint(at, completed, e.Model, u, usd)) | 1
		}
		f.ledger.Add(e)
		return nil
	})
}

// settle finds which of the answers of sessions count for which of them.
func (d *discovery) settle(sessions map[string]*facts) {
	var accounts []*kit.Account
	d.spent = map[string]*kit.Account{}
	for id, f := range sessions {
		if f.tokens == nil || !f.logged {
			continue
		}
		a := &kit.Account{ID: id, Ledgers: []*kit.Ledger{&f.ledger.Ledger}, Last: f.activity.time(), Model: f.model, CWD: f.cwd, Marked: true,
			Known: &kit.Known{Tokens: *f.tokens, CostUSD: f.stated()}}
		d.spent[id] = a
		accounts = append(accounts, a)
	}
	d.answer.Settle(accounts)
}

// stated returns the cost that the row states, without rounding errors.
func (f *facts) stated() float64 { return math.Round(f.cost*1e9) / 1e9 }

// logged notes that all usage of sessions is known.
func (r *reading) logged(ids []string) {
	for _, id := range ids {
		r.sessions[id].logged = true
		r.note(id, usageCost)
	}
}
