package codex

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/must"
	"rollcall/proc"
)

// recordedRollout was written by Codex 0.169.0 for a server that states limits as those of subscriptions do.
const recordedRollout = "rollout-2026-11-25T23-26-57-01a21508-a592-71a3-8c02-a69ada61d81c.jsonl"

// limitsIn returns the limits of two homes with these rollouts; empty: no rollout.
func limitsIn(t *testing.T, now time.Time, rollouts ...string) ([]adapters.Limit, []string) {
	t.Helper()
	var homes []string
	for _, text := range rollouts {
		home := t.TempDir()
		day := filepath.Join(home, "sessions", "2026", "11", "25")
		must.Do(t, os.MkdirAll(day, 0o700))
		if text != "" {
			must.Do(t, os.WriteFile(filepath.Join(day, recordedRollout), []byte(text), 0o600))
		}
		homes = append(homes, home)
	}
	a := New(adapters.Config{Home: t.TempDir(), Env: func(string) string { return "" }, Table: proc.Open(), Now: func() time.Time { return now },
		Homes: func() []string { return homes }})
	var found []adapters.Limit
	for range 2 { // the second answer is from memory
		found = must.Get(a.Limits(t.Context()))(t)
	}
	slices.SortFunc(found, func(a, b adapters.Limit) int {
		return strings.Compare(a.Home+a.Name+a.Window.String(), b.Home+b.Name+b.Window.String())
	})
	return found, homes
}

func TestLimits(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "limits", recordedRollout))
	must.Do(t, err)
	at := time.Date(2026, 11, 25, 23, 26, 58, 210e6, time.UTC)
	found, homes := limitsIn(t, at.Add(time.Minute), string(text), "")
	want := map[string]adapters.Limit{
		"5h":      {Window: 5 * time.Hour, Used: 92, ResetsAt: time.Unix(1795654607, 0)},
		"week":    {Window: 7 * 24 * time.Hour, Used: 41.5, ResetsAt: time.Unix(1796049207, 0)},
		"credits": {Name: "credits", Balance: "38.21"},
	}
	for name, w := range want {
		if !slices.ContainsFunc(found, func(l adapters.Limit) bool {
			return l.Home == homes[0] && l.At.Equal(at) && l.Name == w.Name && l.Window == w.Window && l.Used == w.Used && l.Balance == w.Balance && l.ResetsAt.Equal(w.ResetsAt)
		}) {
			t.Errorf("no %s in %+v", name, found)
		}
	}
	if len(found) != len(want) {
		t.Errorf("%+v", found)
	}
	five := want["5h"]
	if reset := five.ResetsAt; !five.Holds(reset.Add(-time.Second)) || five.Holds(reset) {
		t.Error("the figure does not hold until the reset alone")
	}
}

// The newest record counts, and one without limits (an API key) ends the search.
func TestLimitsOfRecords(t *testing.T) {
	record := func(limits string) string {
		return `{"timestamp":"2026-11-25T20:00:00.000Z","type":"event_msg","payload":{"type":"token_count","info":null,"rate_limits":` + limits + "}}\n"
	}
	old := record(`{"primary":{"used_percent":12.5,"window_minutes":299,"resets_at":1795636860}}`)
	for name, c := range map[string]struct {
		text string
		want []adapters.Limit
	}{
		"newest":    {record(`{"primary":{"used_percent":99.0,"window_minutes":300,"resets_at":1}}`) + old, []adapters.Limit{{Window: 299 * time.Minute, Used: 12.5, ResetsAt: time.Date(2026, 11, 25, 20, 1, 0, 0, time.UTC)}}},
		"none":      {old + record(`{"limit_id":"codex","primary":null,"secondary":null}`), nil},
		"null":      {old + record(`null`), []adapters.Limit{{Window: 299 * time.Minute, Used: 12.5, ResetsAt: time.Date(2026, 11, 25, 20, 1, 0, 0, time.UTC)}}},
		"in words":  {`{"timestamp":"2026-11-25T20:00:00.000Z","type":"event_msg","payload":{"type":"user_message","message":"\"rate_limits\":{\"primary\":{\"used_percent\":1}}"}}` + "\n", nil},
		"named":     {record(`{"limit_id":"codex_x","limit_name":"Spark","primary":{"used_percent":3}}`), []adapters.Limit{{Name: "Spark", Used: 3}}},
		"no share":  {record(`{"individual_limit":{"limit":"10","resets_at":1796049207}}`), []adapters.Limit{{Name: "spending", Unknown: true, ResetsAt: time.Unix(1796049207, 0)}}},
		"no times":  {record(`{"primary":{"used_percent":7,"window_minutes":9223372036854775,"resets_at":-5}}`), []adapters.Limit{{Used: 7}}},
		"no number": {record(`{"primary":{"used_percent":1e300,"window_minutes":300,"resets_at":9223372036854775807}}`), []adapters.Limit{{Window: 5 * time.Hour, Unknown: true}}},
		"spending":  {record(`{"individual_limit":{"limit":"10","used":"9","remaining_percent":10,"resets_at":1796049207}}`), []adapters.Limit{{Name: "spending", Used: 90, ResetsAt: time.Unix(1796049207, 0)}}},
	} {
		found, _ := limitsIn(t, time.Date(2026, 11, 25, 20, 0, 30, 0, time.UTC), c.text)
		for i := range found {
			found[i].Home, found[i].At, found[i].ResetsAt = "", time.Time{}, found[i].ResetsAt.UTC()
		}
		for i := range c.want {
			c.want[i].ResetsAt = c.want[i].ResetsAt.UTC()
		}
		if !slices.Equal(found, c.want) {
			t.Errorf("%s: %+v, want %+v", name, found, c.want)
		}
	}
}

func TestLaunchHome(t *testing.T) {
	home := t.TempDir()
	a := New(adapters.Config{Home: home, Env: func(string) string { return "" }, Table: proc.Open()})
	for wanted, want := range map[string][]string{"": nil, filepath.Join(home, ".codex"): nil, "/srv/codex": {"CODEX_HOME=/srv/codex"}} {
		if c, err := a.Command("codex", adapters.Task{Prompt: "x", Home: wanted}); err != nil || !slices.Equal(c.Set, want) {
			t.Errorf("%q: %v, %v", wanted, c.Set, err)
		}
	}
}
