package opencode

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// usageQuery sums up the messages of sessions, which %[2]s selects, by steps of %[1]d milliseconds. A turn is an answer whose
// previous message is the user's. The time in the message's data has priority over the row's time, which can be the time of
// an import.
const usageQuery = `SELECT session, at / %[1]d AS step, CAST(total(input) AS INTEGER), CAST(total(output) AS INTEGER), CAST(total(reasoning) AS INTEGER),
	CAST(total(cache_read) AS INTEGER), CAST(total(cache_write) AS INTEGER), total(cost), count(CASE WHEN answers AND before = 'user' THEN 1 END)
FROM (SELECT *, role = 'assistant' AND (ended AND NOT failed OR coalesce(output, 0) > 0) AS answers, lag(role) OVER (PARTITION BY session ORDER BY at, id) AS before
	FROM (SELECT session, id, CAST(coalesce(data ->> '$.time.created', created) AS INTEGER) AS at, role,
			data ->> '$.error' IS NOT NULL AS failed, data ->> '$.time.completed' IS NOT NULL AS ended, data ->> '$.cost' AS cost,
			data ->> '$.tokens.input' AS input, data ->> '$.tokens.output' AS output, data ->> '$.tokens.reasoning' AS reasoning,
			data ->> '$.tokens.cache.read' AS cache_read, data ->> '$.tokens.cache.write' AS cache_write
		FROM (%[2]s)))
GROUP BY session, step ORDER BY session, step`

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
			f.log, f.logged = old.log, true
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
		if !r.sessions[id].logged {
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
	query := fmt.Sprintf(usageQuery, adapters.UsageStep.Milliseconds(), fmt.Sprintf(rows, marks))
	return r.db.Each(ctx, query, args, func(scan func(...any) error) error {
		var id string
		var step int64
		var u adapters.Usage
		if err := scan(&id, &step, &u.Tokens.Input, &u.Tokens.Output, &u.Tokens.Reasoning, &u.Tokens.CacheRead, &u.Tokens.CacheWrite,
			&u.CostUSD, &u.Turns); err != nil {
			return err
		}
		if step > 0 {
			u.At = time.UnixMilli(step * adapters.UsageStep.Milliseconds()).UTC()
		}
		if f := r.sessions[id]; f != nil {
			f.log.AddStep(u)
		}
		return nil
	})
}

// logged notes that all usage of sessions is known.
func (r *reading) logged(ids []string) {
	for _, id := range ids {
		r.sessions[id].logged = true
		r.note(id, usageCost)
	}
}
