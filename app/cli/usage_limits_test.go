package cli

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app/settings"
	"rollcall/internal/agentname"
)

// limited is an agent that stores limits.
type limited struct {
	adapters.Adapter
	limits []adapters.Limit
	err    error
}

func (l *limited) Limits(context.Context) ([]adapters.Limit, error) { return l.limits, l.err }

func TestUsageLimits(t *testing.T) {
	now := time.Now().Truncate(time.Second)
	a := &limited{Adapter: codex(), limits: []adapters.Limit{
		{Home: inHome(".codex"), Window: 5 * time.Hour, Used: 92, ResetsAt: now.Add(time.Hour), At: now.Add(-10 * time.Minute)},
		{Home: inHome(".codex-work"), Window: 7 * 24 * time.Hour, Used: 99, ResetsAt: now.Add(-time.Second), At: now.Add(-time.Hour)},
		{Home: inHome(".codex-work"), Name: "credits\x1b[31m", Balance: "38.21", At: now},
	}}
	d := deps(a, claude())
	d.Settings = func() (settings.Settings, error) {
		return settings.Settings{Homes: map[adapters.Name]settings.Homes{agentname.Codex: {{Path: inHome(".codex-work"), Name: "work"}}}}, nil
	}
	r := run(t, d, "usage", "--limits")
	for _, want := range []string{"AGENT  ACCOUNT  WINDOW   USED        RESETS", "Codex  codex    5 h      92 %", "10 m ago", "Codex  work     week     not known", "Codex  work     credits  38.21 left"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("no %q in\n%s", want, r.out)
		}
	}
	if strings.Contains(r.out, "99") || strings.Contains(r.out, "\x1b") || r.err != "rollcall: Claude Code: limits are not stored by these agents\n" || r.code != Done {
		t.Errorf("%d, %q\n%s", r.code, r.err, r.out)
	}
	var j limitsJSON
	if err := json.Unmarshal([]byte(run(t, d, "usage", "--limits", "--json").out), &j); err != nil || len(j.Limits) != 3 || len(j.NotStored) != 1 {
		t.Fatalf("%v, %+v", err, j)
	}
	if l := j.Limits[0]; *l.UsedPercent != 92 || l.WindowSeconds != 18000 || l.Account != "codex" || l.Home != inHome(".codex") || l.ResetsAt != timestamp(now.Add(time.Hour)) {
		t.Errorf("%+v", l)
	}
	if l := j.Limits[1]; l.UsedPercent == nil && l.Balance == "" {
		if l.Account != "work" || l.ResetsAt == "" {
			t.Errorf("%+v", l)
		}
	} else if l.Balance == "" {
		t.Errorf("an old figure: %+v", l)
	}
}

func TestUsageLimitsMissing(t *testing.T) {
	a := &limited{Adapter: codex(), err: errors.New("sessions: permission denied")}
	r := run(t, deps(a), "usage", "--limits", "--strict")
	if r.code != Incomplete || !strings.Contains(r.err, "Codex: sessions: permission denied") || !strings.Contains(r.err, "no agent has recorded a limit") {
		t.Errorf("%d %q", r.code, r.err)
	}
	if r := run(t, deps(a), "usage", "--limits", "--by", "day"); r.code != Usage || !strings.Contains(r.err, "--limits cannot be combined") {
		t.Errorf("%d %q", r.code, r.err)
	}
}
