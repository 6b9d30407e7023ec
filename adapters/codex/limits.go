package codex

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// Limits implements adapters.Limiter. Codex records the limits of a subscription in the rollout after each answer of the model, in
// token_count (0.142.5, 0.169.0). With an API key it records none.
func (a *Adapter) Limits(ctx context.Context) ([]adapters.Limit, error) {
	answer := kit.NewAnswer()
	_, roots, _ := a.inUse(ctx, answer)
	var found []adapters.Limit
	for _, r := range roots {
		rollouts, _, problems := a.walk(ctx, r.path, nil, func(string) bool { return false }, false)
		answer.Problem(problems...)
		var files []kit.LimitFile
		for i := range rollouts {
			if !compressed(rollouts[i].path) { // Codex compresses cold ones
				files = append(files, kit.LimitFile{Path: rollouts[i].path, Info: rollouts[i].info})
			}
		}
		limits, err := a.limits.Newest(ctx, r.path, files, a.Now(), limitsOf)
		answer.Problem(err)
		found = append(found, limits...)
	}
	return found, errors.Join(answer.Problems()...)
}

// limitsOf returns the limits in a line of a rollout. The list is empty, not nil, for a record without any, as with an API key.
func limitsOf(line []byte) []adapters.Limit {
	if !bytes.Contains(line, []byte(`"rate_limits"`)) {
		return nil
	}
	l, err := splitLine(line)
	if err != nil || string(agentfile.Text(agentfile.Get(l.payload, "type"))) != "token_count" {
		return nil
	}
	record := agentfile.Get(l.payload, "rate_limits")
	if len(record) == 0 || record[0] != '{' {
		return nil
	}
	name := agentfile.String(agentfile.Get(record, "limit_id"))
	if name == "codex" {
		name = ""
	}
	name = cmp.Or(agentfile.String(agentfile.Get(record, "limit_name")), name)
	found := []adapters.Limit{}
	for _, key := range []string{"primary", "secondary"} {
		window := agentfile.Get(record, key)
		used, ok := agentfile.Float(agentfile.Get(window, "used_percent"))
		if !ok {
			continue
		}
		limit := adapters.Limit{Name: name, Window: windowOf(window), ResetsAt: resetOf(window), At: l.at}
		found = append(found, share(limit, used, true))
	}
	if spending := agentfile.Get(record, "individual_limit"); !agentfile.Null(spending) {
		left, ok := agentfile.Float(agentfile.Get(spending, "remaining_percent"))
		found = append(found, share(adapters.Limit{Name: "spending", ResetsAt: resetOf(spending), At: l.at}, 100-left, ok))
	}
	if credits := agentfile.Get(record, "credits"); agentfile.True(agentfile.Get(credits, "has_credits")) {
		balance := agentfile.String(agentfile.Get(credits, "balance"))
		if agentfile.True(agentfile.Get(credits, "unlimited")) {
			balance = "unlimited"
		}
		if balance != "" {
			found = append(found, adapters.Limit{Name: "credits", Balance: balance, At: l.at})
		}
	}
	return found
}

// maxShare is above every share in per cent that an account reaches: a limit can be exceeded a little.
const maxShare = 1000

// share adds the used share to a limit, in per cent. One that is no share is not known.
func share(l adapters.Limit, used float64, ok bool) adapters.Limit {
	l.Unknown = !ok || !(used >= 0 && used <= maxShare)
	if !l.Unknown {
		l.Used = used
	}
	return l
}

// windowOf returns the length of a window; 0 for one that no account has.
func windowOf(record []byte) time.Duration {
	minutes, _ := agentfile.Int(agentfile.Get(record, "window_minutes"))
	if minutes < 0 || minutes > 10*366*24*60 {
		return 0
	}
	return time.Duration(minutes) * time.Minute
}

// resetOf returns when a window begins again; zero: that is not recorded, or no time in seconds.
func resetOf(record []byte) time.Time {
	seconds, ok := agentfile.Int(agentfile.Get(record, "resets_at"))
	if !ok || seconds <= 0 || seconds > 1<<35 {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}
