package claudecode

import (
	"path/filepath"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/proc"
)

// teammates is a table in which some processes have the arguments of a teammate.
type teammates struct {
	ownTable
	args map[int][]string
}

func (t teammates) Args(id proc.Identity) ([]string, error) {
	if args := t.args[id.PID]; args != nil {
		return args, nil
	}
	return t.ownTable.Args(id)
}

// What a teammate does is in its transcript; that it waits, in the entry of its lead.
func TestTeammates(t *testing.T) {
	w := newFixture(t)
	dir := filepath.Join(w.home, "proj")
	lead := w.start(dir)
	mate := w.start(dir)
	other := w.start(dir)
	args := func(name string) []string {
		return []string{"claude", "--agent-id", name + "@team", "--agent-name", name, "--team-name", "team", "--parent-session-id", id(1), "--lead-verify-key", "hush"}
	}
	w.config.Table = teammates{w.ownTable(), map[int][]string{mate.PID: args("mate"), other.PID: args("other")}}
	member := func(n int, name string, lines ...string) {
		for i := range lines {
			lines[i] = strings.Replace(lines[i], `"gitBranch"`, `"teamName":"team","agentName":"`+name+`","gitBranch"`, 1)
		}
		w.inProject(dir, n, lines...)
	}
	ask := func(wantMate, wantOther string) {
		t.Helper()
		for _, q := range []adapters.Query{{}, {IDs: []string{id(2), id(3)}}} {
			sessions, _, err := w.discover(q)
			if err != nil {
				t.Error(err)
			}
			for n, want := range map[int]string{2: wantMate, 3: wantOther} {
				s := w.expect(sessions, n, want)
				if p := map[int]proc.Process{2: mate, 3: other}[n]; s.Parent != id(1) || s.Process != p.Identity || strings.Contains(s.Evidence, "hush") {
					t.Errorf("session %d: parent %q, process %v, evidence %q", n, s.Parent, s.Process, s.Evidence)
				}
			}
		}
	}
	w.inProject(dir, 1, promptLine("hi"), doneLine("m"))
	w.entry(lead, id(1), map[string]any{"status": "busy"})
	member(2, "mate", promptLine("<teammate-message>go</teammate-message>"))
	member(3, "other", promptLine("<teammate-message>go</teammate-message>"), doneLine("m"))
	ask("working", "idle completed")
	member(2, "mate", promptLine("<teammate-message>go</teammate-message>"), callLine("m", "t", "Bash"))
	ask("working", "idle completed")
	w.entry(lead, id(1), map[string]any{"status": "waiting", "waitingFor": "permission prompt"})
	ask("waiting permission", "idle completed")
	member(3, "other", promptLine("<teammate-message>go</teammate-message>"), callLine("m", "t", "Bash"))
	ask("unknown", "unknown") // one of them
	w.end(mate)
	w.write(w.path("teams", "team", "config.json"), `{"leadSessionId":"`+id(1)+`"}`)
	sessions, _, _ := w.discover(adapters.Query{})
	if s := w.expect(sessions, 2, "stopped died"); s.Parent != id(1) {
		t.Errorf("parent %q", s.Parent)
	}
	w.expect(sessions, 3, "waiting permission")
}
