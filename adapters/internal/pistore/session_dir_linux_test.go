package pistore

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
)

// putIn writes a session directly into a folder, as Pi does for one that the user named.
func (w *fixture) putIn(dir string, s *script) {
	w.Helper()
	w.check(os.MkdirAll(dir, 0o755))
	w.check(os.WriteFile(filepath.Join(dir, filepath.Base(w.path(s))), []byte(s.text()), 0o600))
}

// A session in a folder that the environment, the project or the user's settings name belongs to the process of its folder, in this order, and stays listed,
// found and resumed after the end of the process.
func TestSessionDir(t *testing.T) {
	for name, test := range map[string]struct {
		project, user, dir string
		env                []string
	}{
		"of the project":             {project: "notes", dir: "notes"},
		"of the project, not below":  {project: "~/notes", dir: "../notes"},
		"of the project before user": {project: "./a/../notes", user: "~/elsewhere", dir: "notes"},
		"of the user":                {user: "~/notes", dir: "../notes"},
		"environment before project": {project: "other", dir: "../notes", env: []string{"PI_CODING_AGENT_SESSION_DIR=~/notes"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			cwd := w.cwd()
			set := func(dir, value string) {
				if value != "" {
					w.check(os.MkdirAll(dir, 0o755))
					w.check(os.WriteFile(filepath.Join(dir, "settings.json"), []byte(`{"sessionDir": "`+value+`"}`), 0o600))
				}
			}
			set(filepath.Join(cwd, ".pi"), test.project)
			set(filepath.Join(w.home, ".pi", "agent"), test.user)
			p, stop := w.start(agentname.Pi, cwd, test.env...)
			w.putIn(filepath.Join(cwd, test.dir), newScript(idA, cwd, p.Started.Add(second)).begin().sys(second).prompt(2*second, "x").answer(3*second, "stop"))
			a := w.store(agentname.Pi)
			if got := w.expect(a, map[string]string{idA: "idle completed"}); got[idA].Process != p.Identity || len(got) != 1 {
				t.Errorf("process %v, %d rows", got[idA].Process, len(got))
			}
			stop()
			if got := w.expect(a, map[string]string{idA: "stopped completed"}); len(got) != 1 {
				t.Errorf("%d rows", len(got))
			}
			if list, err := a.Conversations(t.Context(), time.Time{}); err != nil || len(list) != 1 {
				t.Errorf("to search: %d, %v", len(list), err)
			}
			c, err := a.Command("pi", adapters.Task{Resume: idA, Terminal: true})
			if i := slices.Index(c.Args, "--session-dir"); test.user == "" && (err != nil || i < 0 || !strings.HasSuffix(c.Args[i+1], "notes")) {
				t.Errorf("resumed by %v, %v", c.Args, err)
			}
		})
	}
}

// A Pi that has written more than its terminal shows before the first prompt, and stored nothing where it is looked for, is not called fresh.
func TestStoresElsewhere(t *testing.T) {
	w := newFixture(t)
	w.counts = true
	p, _ := w.start(agentname.Pi, w.cwd())
	a := w.store(agentname.Pi)
	w.expect(a, map[string]string{processID(p): "idle"})
	w.order(p, order{Path: filepath.Join(w.home, "notes.jsonl"), Text: strings.Repeat("x", 2*freshLimit)})
	if got := w.expect(a, map[string]string{processID(p): "unknown"}); !strings.Contains(got[processID(p)].Evidence, "--session-dir") {
		t.Error(got[processID(p)].Evidence)
	}
}
