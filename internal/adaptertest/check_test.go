package adaptertest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	_ "rollcall/adapters/all" // registers every agent
	"rollcall/internal/agentname"
	"rollcall/internal/must"
	"rollcall/proc"
)

// expectation is that of two sessions, with every key asserted in the first.
func expectation(t *testing.T) Expectation {
	t.Helper()
	var want Expectation
	must.Do(t, json.Unmarshal([]byte(`{"sessions": [
		{"id": "a", "agent": "codex", "status": "waiting", "also_accepted": ["working"], "waiting_for": "permission", "pid": 7, "cwd": "/p",
		 "branch": "main", "model": "m", "title": "t", "first_prompt": "f", "last_prompt": "l", "parent": "b", "cost": 0.5,
		 "tokens": {"input": 1, "output": 2, "cache_read": 3, "cache_write": 4}},
		{"id": "b", "agent": "codex", "status": "stopped", "pid": null, "outcome": "died", "tokens": {"input": 0}}]}`), &want))
	want.starts = map[int]uint64{7: 70}
	return want
}

// answer is what fulfils it.
func answer() []adapters.Session {
	return []adapters.Session{
		{ID: "b", Agent: agentname.Codex, State: adapters.State{Status: adapters.Stopped, Outcome: adapters.Died, Evidence: "e"}, Topic: adapters.Topic{Title: "isn't asserted"}},
		{
			ID: "a", Agent: agentname.Codex, Model: "m", Parent: "b",
			State: adapters.State{Status: adapters.Waiting, WaitingFor: adapters.ForPermission, Evidence: "e"},
			Owner: adapters.Owner{Process: proc.Identity{PID: 7, Start: 70}},
			Place: adapters.Place{CWD: "/p", Branch: "main"},
			Topic: adapters.Topic{Title: "t", FirstPrompt: "f", LastPrompt: "l"},
			Spent: adapters.Spent{CostUSD: 0.5, Tokens: &adapters.Tokens{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, Reasoning: 9}},
		},
	}
}

func TestCheckAccepts(t *testing.T) {
	Check(t, answer(), expectation(t))
	other := answer()
	other[1].Status, other[1].WaitingFor = adapters.Working, ""
	Check(t, other, expectation(t))
}

// TestCheckFinds changes one thing at a time: each must be found, alone.
func TestCheckFinds(t *testing.T) {
	for name, change := range map[string]func(a, b *adapters.Session){
		"status is":            func(a, _ *adapters.Session) { a.Status, a.WaitingFor = adapters.Idle, "" },
		"waiting_for":          func(a, _ *adapters.Session) { a.WaitingFor = adapters.ForQuestion },
		"outcome":              func(_, b *adapters.Session) { b.Outcome = adapters.Completed },
		"agent":                func(a, _ *adapters.Session) { a.Agent = agentname.Pi },
		"pid is 8, want 7":     func(a, _ *adapters.Session) { a.Process.PID = 8 },
		"pid is 0, want 7":     func(a, _ *adapters.Session) { a.Process = proc.Identity{} },
		"start of the process": func(a, _ *adapters.Session) { a.Process.Start = 71 },
		"cwd":                  func(a, _ *adapters.Session) { a.CWD = "/p/" },
		"branch":               func(a, _ *adapters.Session) { a.Branch = "" },
		"model":                func(a, _ *adapters.Session) { a.Model = "M" },
		"title":                func(a, _ *adapters.Session) { a.Title = "" },
		"first_prompt":         func(a, _ *adapters.Session) { a.FirstPrompt = "f " },
		"last_prompt":          func(a, _ *adapters.Session) { a.LastPrompt = "f" },
		"parent":               func(a, _ *adapters.Session) { a.Parent = "" },
		"cost":                 func(a, _ *adapters.Session) { a.CostUSD = 0 },
		"tokens.cache_write":   func(a, _ *adapters.Session) { a.Tokens.CacheWrite = 8 },
		"tokens is not known":  func(a, _ *adapters.Session) { a.Tokens = nil },
		"evidence":             func(a, _ *adapters.Session) { a.Evidence = "" },
		"session c":            func(_, b *adapters.Session) { *b = *copied(b, "c") },
		"reported twice":       func(_, b *adapters.Session) { b.ID = "a" },
	} {
		t.Run(name, func(t *testing.T) {
			got := answer()
			change(&got[1], &got[0])
			found := Differences(got, expectation(t))
			if len(found) == 0 || !strings.Contains(strings.Join(found, "\n"), name) {
				t.Errorf("found %q", found)
			}
		})
	}
}

func copied(s *adapters.Session, id string) *adapters.Session {
	c := *s
	c.ID = id
	return &c
}

func TestInvalid(t *testing.T) {
	for _, s := range answer() {
		if wrong := Invalid(&s); wrong != nil {
			t.Errorf("%s: %q", s.ID, wrong)
		}
	}
	for name, change := range map[string]func(*adapters.Session){
		"has no id":            func(s *adapters.Session) { s.ID = "" },
		"unknown agent":        func(s *adapters.Session) { s.Agent = "claude" },
		"unknown status":       func(s *adapters.Session) { s.Status = "busy" },
		"unknown outcome":      func(s *adapters.Session) { s.Outcome = "done" },
		"no evidence":          func(s *adapters.Session) { s.Evidence = "" },
		"waits for \"\"":       func(s *adapters.Session) { s.Status = adapters.Waiting },
		"yet waits":            func(s *adapters.Session) { s.WaitingFor = adapters.ForQuestion },
		"its turn is open":     func(s *adapters.Session) { s.Status, s.Outcome = adapters.Working, adapters.Completed },
		"is stopped, yet has":  func(s *adapters.Session) { s.Process.PID = 7 },
		"died, yet is unknown": func(s *adapters.Session) { s.Status = adapters.Unknown },
		"is its own parent":    func(s *adapters.Session) { s.Parent = s.ID },
	} {
		s := answer()[0]
		change(&s)
		if wrong := Invalid(&s); !slices.ContainsFunc(wrong, func(w string) bool { return strings.Contains(w, name) }) {
			t.Errorf("%s isn't found: %q", name, wrong)
		}
	}
}

// TestTree changes a folder in every way that counts, one at a time.
func TestTree(t *testing.T) {
	for want, change := range map[string]func(dir string) error{
		"":               func(string) error { return nil },
		"changed d/f":    func(dir string) error { return rewrite(dir+"/d/f", "other", time.Unix(1000, 0)) },
		"changed d/f ":   func(dir string) error { return os.Chtimes(dir+"/d/f", time.Time{}, time.Unix(2000, 0)) },
		"changed d/f: -": func(dir string) error { return os.Chmod(dir+"/d/f", 0o600) },
		"removed d/f":    func(dir string) error { return os.Remove(dir + "/d/f") },
		"added d/g":      func(dir string) error { return os.WriteFile(dir+"/d/g", nil, 0o644) },
		"added e":        func(dir string) error { return os.Mkdir(dir+"/e", 0o755) },
		"changed l: ":    func(dir string) error { _ = os.Remove(dir + "/l"); return os.Symlink("other", dir+"/l") },
		"changed d: d":   func(dir string) error { _ = os.WriteFile(dir+"/d/g", nil, 0o644); return os.Remove(dir + "/d/g") },
	} {
		dir := t.TempDir()
		must.Do(t, os.Mkdir(dir+"/d", 0o755))
		must.Do(t, rewrite(dir+"/d/f", "text", time.Unix(1000, 0)))
		must.Do(t, os.Symlink("d/f", dir+"/l"))
		before := TreeOf(t, dir)
		time.Sleep(5 * time.Millisecond) // folders' times are as fine as the kernel's tick
		must.Do(t, change(dir))
		changes := before.Changes(TreeOf(t, dir))
		if want == "" && changes != nil {
			t.Errorf("nothing was changed, yet %q", changes)
		}
		want = strings.TrimSpace(want)
		if want != "" && !slices.ContainsFunc(changes, func(c string) bool { return strings.HasPrefix(c, want) }) {
			t.Errorf("%s: found %q", want, changes)
		}
	}
	if got := TreeOf(t, filepath.Join(t.TempDir(), "nowhere")); len(got) != 0 {
		t.Errorf("a folder that doesn't exist has %v", got)
	}
}

func rewrite(path, content string, at time.Time) error {
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		return err
	}
	return os.Chtimes(path, at, at)
}
