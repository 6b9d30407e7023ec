package usage

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rollcall/adapters"
	_ "rollcall/adapters/all" // describes the agents
	"rollcall/app"
	"rollcall/app/settings"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

// inZone makes a zone the local one for the test.
func inZone(t *testing.T, name string) {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Skipf("time zones are not installed: %v", err)
	}
	was := time.Local
	time.Local = zone
	t.Cleanup(func() { time.Local = was })
}

func step(at string, tokens int64, turns int) adapters.Usage {
	from, err := time.Parse(time.RFC3339, at)
	if err != nil {
		panic(err)
	}
	return adapters.Usage{At: from.UTC().Truncate(adapters.UsageStep), Tokens: adapters.Tokens{Input: tokens}, Turns: turns}
}

func sessionOf(steps ...adapters.Usage) app.Session {
	var s app.Session
	s.ID = "one"
	s.Agent = agentname.Codex
	s.Model = "m"
	s.Tokens, s.Usage = &adapters.Tokens{}, steps
	for _, u := range steps {
		s.Tokens.Add(u.Tokens)
		s.CostUSD += u.CostUSD
		s.LastActivityAt = u.At.Add(time.Minute)
	}
	return s
}

// What was used right before and right after midnight counts on either day, also where midnight is not at a full hour of UTC.
func TestDaysAreLocal(t *testing.T) {
	for zone, offset := range map[string]string{
		"UTC": "Z", "Asia/Kathmandu": "+05:45", "Pacific/Chatham": "+13:45", "Asia/Kolkata": "+05:30", "America/Los_Angeles": "-07:00",
	} {
		t.Run(zone, func(t *testing.T) {
			inZone(t, zone)
			s := sessionOf(step("2026-10-20T23:59:59"+offset, 3, 1), step("2026-10-21T00:00:00"+offset, 5, 2), step("2026-10-21T14:00:00"+offset, 7, 0))
			table := Of([]app.Session{s}, Query{By: ByDay})
			if len(table.Rows) != 2 {
				t.Fatalf("%+v", table.Rows)
			}
			today, before := table.Rows[0], table.Rows[1]
			if today.Key != "2026-10-21" || today.Tokens.Input != 12 || today.Turns != 2 || today.Sessions != 1 {
				t.Errorf("%+v", today)
			}
			if before.Key != "2026-10-20" || before.Tokens.Input != 3 || before.Turns != 1 || before.Sessions != 1 {
				t.Errorf("%+v", before)
			}
			if table.Total.Sessions != 1 || table.Total.Turns != 3 || table.Total.Tokens.Input != 15 {
				t.Errorf("%+v", table.Total)
			}
		})
	}
}

// Only what was used since counts, of every session and however it is grouped.
func TestSince(t *testing.T) {
	inZone(t, "Europe/Berlin")
	now := time.Date(2026, 11, 3, 15, 4, 5, 0, time.Local)
	if got := Start(now, 7*24*time.Hour); !got.Equal(time.Date(2026, 10, 27, 0, 0, 0, 0, time.Local)) {
		t.Errorf("7 days begin %s", got)
	}
	if got := Start(now, 12*time.Hour); !got.Equal(time.Date(2026, 11, 3, 3, 0, 0, 0, time.Local)) {
		t.Errorf("12 hours begin %s", got)
	}
	if !Start(now, app.All).IsZero() || Period(now, time.Time{}) != app.All {
		t.Error("all time begins")
	}
	start := Start(now, 7*24*time.Hour)
	if now.Add(-Period(now, start)).After(start) {
		t.Error("sessions of the first day are not read")
	}
	old := sessionOf(step("2026-09-01T10:00:00Z", 100, 5))
	both := sessionOf(step("2026-10-26T22:45:00Z", 10, 1), step("2026-10-26T23:00:00Z", 20, 2), step("2026-11-03T10:00:00Z", 40, 4))
	for _, by := range Ways {
		table := Of([]app.Session{old, both}, Query{By: by, Prices: map[string]settings.Price{"m": {Input: 1e6}}, Since: start})
		if r := table.Total; r.Sessions != 1 || r.Tokens.Input != 60 || r.Turns != 6 || r.CostUSD != 60 || r.Costed != 1 {
			t.Errorf("by %s: %+v", by, r)
		}
	}
}

// What answers of sub-agents cost counts also where the session itself cost nothing; the user's prices are for the others.
func TestCostOfSubAgents(t *testing.T) {
	free, paid := step("2026-11-03T10:00:00Z", 10, 1), step("2026-11-03T10:00:00Z", 5, 0)
	paid.Model, paid.CostUSD = "paid", 0.25
	s := sessionOf(free, paid)
	s.CostUSD = 0
	if r := Of([]app.Session{s}, Query{By: ByDay}).Total; r.CostUSD != 0.25 || r.Costed != 1 {
		t.Errorf("%+v", r)
	}
	if r := Of([]app.Session{s}, Query{By: ByDay, Prices: map[string]settings.Price{"m": {Input: 1e5}, "paid": {Input: 1e6}}}).Total; r.CostUSD != 1.25 {
		t.Errorf("with a price: %+v", r)
	}
}

// A session of an agent that does not say when it used what counts as a whole, at its last activity.
func TestUntimed(t *testing.T) {
	inZone(t, "UTC")
	s := sessionOf(step("2026-11-03T10:00:00Z", 10, 1))
	s.Usage, s.CostUSD = nil, 2
	none := s
	none.Tokens, none.CostUSD = nil, 0
	list := []app.Session{s, none}
	table := Of(list, Query{By: ByDay, Since: time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC)})
	if len(table.Rows) != 1 || table.Untimed != 1 {
		t.Fatalf("%+v", table)
	}
	if r := table.Rows[0]; r.Key != "2026-11-03" || r.Sessions != 2 || r.Unknown != 1 || r.Tokens.Input != 10 || r.CostUSD != 2 || r.Costed != 1 || r.Turns != 0 {
		t.Errorf("%+v", r)
	}
	table = Of(list, Query{By: ByDay, Since: time.Date(2026, 11, 4, 0, 0, 0, 0, time.UTC)})
	if table.Total.Sessions != 0 || table.Untimed != 0 {
		t.Errorf("%+v", table)
	}
}

// The rows add up to the totals of the sessions, however they are grouped, and the days from any day on to the total from then on.
func TestRowsAddUp(t *testing.T) {
	inZone(t, "America/St_Johns")
	rng := rand.New(rand.NewPCG(1, 2))
	var sessions []app.Session
	var want adapters.Tokens
	for range 300 {
		var steps []adapters.Usage
		at := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(rng.IntN(40*96)) * adapters.UsageStep)
		for range 1 + rng.IntN(30) {
			steps = append(steps, adapters.Usage{At: at, Turns: rng.IntN(3), CostUSD: rng.Float64(),
				Tokens: adapters.Tokens{Input: rng.Int64N(1000), Output: rng.Int64N(1000), CacheRead: rng.Int64N(1e6), CacheWrite: rng.Int64N(99), Reasoning: rng.Int64N(9)}})
			at = at.Add(time.Duration(1+rng.IntN(60)) * adapters.UsageStep)
		}
		s := sessionOf(steps...)
		s.CWD, s.Branch = []string{"/a", "/b", ""}[rng.IntN(3)], []string{"main", ""}[rng.IntN(2)]
		want.Add(*s.Tokens)
		sessions = append(sessions, s)
	}
	for _, by := range Ways {
		for back := range 60 {
			since := time.Time{}
			if back > 0 {
				since = time.Date(2026, 12, 1, 0, 0, 0, 0, time.Local).AddDate(0, 0, -back)
			}
			table := Of(sessions, Query{By: by, Since: since})
			var sum Row
			for _, r := range table.Rows {
				sum.Tokens.Add(r.Tokens)
				sum.Turns += r.Turns
				if by == ByDay && !since.IsZero() && r.Key < since.Format(time.DateOnly) {
					t.Fatalf("since %s there is %s", since, r.Key)
				}
			}
			if sum.Tokens != table.Total.Tokens || sum.Turns != table.Total.Turns || since.IsZero() && sum.Tokens != want {
				t.Fatalf("by %s since %s: %+v, total %+v", by, since, sum, table.Total)
			}
		}
	}
}

// What a session used counts for the model, the folder and the branch with which it was used, at the price of that model.
func TestPlacesOfASession(t *testing.T) {
	at := func(model, cwd, branch string, tokens int64) adapters.Usage {
		u := step("2026-10-20T10:00:00Z", tokens, 1)
		u.Model = model
		u.CWD = cwd
		u.Branch = branch
		u.Answers = 1
		return u
	}
	s := sessionOf(at("opus", "/a", "main", 1e6), at("haiku", "/b", adapters.NoBranch, 2e6), at("", "", "", 4e6))
	s.Model = "haiku"
	s.CWD = "/b"
	s.Branch = "x"
	prices := map[string]settings.Price{"opus": {Input: 10}, "haiku": {Input: 1}}
	for by, want := range map[By]map[string][3]float64{ // tokens, turns, cost
		ByModel: {"opus": {1e6, 1, 10}, "haiku": {6e6, 2, 6}}, ByProject: {"/a": {1e6, 1, 10}, "/b": {6e6, 2, 6}}, ByBranch: {"main": {1e6, 1, 10}, "": {2e6, 1, 2}, "x": {4e6, 1, 4}},
		ByAgent: {"codex": {7e6, 3, 16}},
	} {
		table := Of([]app.Session{s}, Query{By: by, Prices: prices})
		for _, r := range table.Rows {
			if got := [3]float64{float64(r.Tokens.Input), float64(r.Turns), r.CostUSD}; got != want[r.Key] || r.Sessions != 1 || r.Costed != 1 {
				t.Errorf("by %s: %+v, want %v", by, r, want[r.Key])
			}
		}
		if len(table.Rows) != len(want) || table.Total.Sessions != 1 || table.Total.Answers != 3 || table.Total.CostUSD != 16 {
			t.Errorf("by %s: %+v", by, table)
		}
	}
}

// Some agents count reasoning as a part of the output, others beside it: all of it was written by a model, and costs as much.
func TestReasoning(t *testing.T) {
	for agent, want := range map[adapters.Name]int64{agentname.Codex: 150, agentname.Gemini: 170, agentname.OpenCode: 170} {
		u := step("2026-10-20T10:00:00Z", 100, 1)
		u.Tokens.Output = 50
		u.Tokens.Reasoning = 20
		u.Model = "m"
		s := sessionOf(u)
		s.Agent = agent
		r := Of([]app.Session{s}, Query{By: ByAgent, Prices: map[string]settings.Price{"m": {Input: 1e6, Output: 1e6}}}).Rows[0]
		if r.All() != want || r.CostUSD != float64(want) || r.Tokens.Output != 50 || r.Tokens.Reasoning != 20 {
			t.Errorf("%s: %d tokens, %g USD, want %d of both: %+v", agent, r.All(), r.CostUSD, want, r)
		}
	}
}

// Editors write the letter of a Windows drive small, terminals write it large.
func TestDriveLettersAreOneProject(t *testing.T) {
	var list []app.Session
	for _, folder := range []string{`c:\Users\kim\vault`, `C:\Users\kim\vault`, "C:/w", "c:/w", "c:", "/c:/w"} {
		s := sessionOf(step("2026-10-20T10:00:00Z", 1, 1))
		s.CWD = folder
		list = append(list, s)
	}
	table := Of(list, Query{By: ByProject})
	if len(table.Rows) != 4 {
		t.Errorf("%+v", table.Rows)
	}
	for _, r := range table.Rows {
		if want := map[string]int{`C:\Users\kim\vault`: 2, "C:/w": 2, "c:": 1, "/c:/w": 1}[r.Key]; r.Sessions != want {
			t.Errorf("%s: %d sessions, want %d", r.Key, r.Sessions, want)
		}
	}
}

func TestWorktreesAreOneProject(t *testing.T) {
	repository := t.TempDir()
	worktree := filepath.Join(repository, ".claude", "worktrees", "1")
	admin := filepath.Join(repository, ".git", "worktrees", "1")
	for _, dir := range []string{worktree, admin} {
		must.Do(t, os.MkdirAll(dir, 0o700))
	}
	for file, text := range map[string]string{filepath.Join(worktree, ".git"): "gitdir: " + admin + "\n", filepath.Join(admin, "commondir"): "../..\n"} {
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
	}
	var list []app.Session
	for _, folder := range []string{repository, worktree, filepath.Join(repository, ".claude", "worktrees", "removed"), "/elsewhere"} {
		s := sessionOf(step("2026-10-20T10:00:00Z", 1, 1))
		s.CWD = folder
		list = append(list, s)
	}
	elsewhere := sessionOf(step("2026-10-20T10:00:00Z", 1, 1)) // its paths are those of another world
	elsewhere.CWD, elsewhere.Container = worktree, "4026532567"
	list = append(list, elsewhere)
	table := Of(list, Query{By: ByProject, Projects: ProjectsOf(list)})
	if len(table.Rows) != 3 {
		t.Fatalf("%+v", table.Rows)
	}
	for _, r := range table.Rows {
		if want := map[string]int{repository: 3, "/elsewhere": 1, worktree: 1}[r.Key]; r.Sessions != want {
			t.Errorf("%s: %d sessions, want %d", r.Key, r.Sessions, want)
		}
	}
}

// What sessions used by themselves is a row for each, which a reader knows by its title or its first prompt.
func TestBySession(t *testing.T) {
	named := sessionOf(step("2026-10-20T12:00:00Z", 3, 1), step("2026-10-21T12:00:00Z", 4, 1))
	named.Title, named.FirstPrompt = "Title", "prompt"
	other := sessionOf(step("2026-10-20T12:00:00Z", 5, 1))
	other.ID, other.FirstPrompt = "two", "prompt"
	rows := Of([]app.Session{other, named}, Query{By: BySession}).Rows
	if len(rows) != 2 || rows[0].Key != "one" || rows[0].Name() != "Title" || rows[0].Tokens.Input != 7 || rows[1].Key != "two" || rows[1].Name() != "prompt" {
		t.Errorf("%+v", rows)
	}
}
