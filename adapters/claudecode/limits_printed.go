package claudecode

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/bounded"
)

// printedLimits returns the newest limits in the output of background launches, by the homes of the launches.
func (a *Adapter) printedLimits(ctx context.Context, answer *kit.Answer) []adapters.Limit {
	byHome := map[string][]kit.LimitFile{}
	for _, o := range a.outputs() {
		home := cmp.Or(o.Home, a.configDir())
		if !bounded.Answers(home) {
			answer.Problem(adapters.Unresponsive(home))
			continue
		}
		info, err := os.Stat(o.Path)
		switch {
		case err == nil:
			home = agentproc.RealPath(home)
			byHome[home] = append(byHome[home], kit.LimitFile{Path: o.Path, Info: info})
		case !errors.Is(err, fs.ErrNotExist):
			answer.Problem(adapters.AsProblem(o.Path, err))
		}
	}
	var found []adapters.Limit
	for home, files := range byHome {
		limits, err := a.limits.Newest(ctx, home, files, a.Now(), printedLimitsOf)
		answer.Problem(err)
		found = append(found, limits...)
	}
	return found
}

// maxWindows bounds the windows of an event. 2.1.332 knows four.
const maxWindows = 16

// printedLimitsOf returns the limits in a line of `claude -p --output-format stream-json`: those of a rate_limit_event, which Claude Code prints after an
// answer that changed them, with a subscription alone (2.1.332). The event has no time of its own.
func printedLimitsOf(line []byte) []adapters.Limit {
	if !bytes.Contains(line, []byte(`"rate_limit_event"`)) {
		return nil
	}
	var kind, info []byte
	err := agentfile.Members(line, agentfile.Into("type", &kind), agentfile.Into("rate_limit_info", &info))
	if err != nil || agentfile.String(kind) != "rate_limit_event" {
		return nil
	}
	found := []adapters.Limit{}
	add := func(name string, window []byte) {
		if limit, ok := printedLimit(name, window); ok {
			found = append(found, limit)
		}
	}
	windows := agentfile.Get(info, "unifiedWindows")
	if agentfile.Null(windows) {
		add(text(agentfile.Get(info, "rateLimitType")), info)
		return found
	}
	_ = agentfile.Top(windows, func(key, raw []byte) bool { // Members has checked the line
		add(string(key), raw)
		return len(found) < maxWindows
	})
	return found
}

// printedLimit returns a window of a rate_limit_event.
func printedLimit(name string, raw []byte) (adapters.Limit, bool) {
	used, ok := agentfile.Float(agentfile.Get(raw, "utilization"))
	if !ok && agentfile.String(agentfile.Get(raw, "status")) == "rejected" {
		used, ok = 1, true
	}
	return limitOf(name, math.Round(used*1e4)/100, ok, agentfile.Get(raw, "resetsAt"))
}

// limitOf returns a limit of which that share in per cent is used. A share outside of 0 to 100 is not one, except that a window that is exceeded a little is
// used up.
func limitOf(name string, used float64, ok bool, reset []byte) (limit adapters.Limit, isLimit bool) {
	limit.Used = min(used, 100)
	limit.Window, limit.Name = window(name)
	limit.ResetsAt = resetAt(reset)
	return limit, ok && used >= 0 && used < 200 && (limit.Window != 0 || limit.Name != "")
}

// resetAt reads the second of a reset; zero: it is none.
func resetAt(raw []byte) time.Time {
	reset, _ := agentfile.Int(raw)
	if reset <= 0 || reset >= maxReset {
		return time.Time{}
	}
	return time.Unix(reset, 0)
}

// maxReset is above the seconds of every reset, and below milliseconds.
const maxReset = 1e11
