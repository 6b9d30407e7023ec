//go:build !headless

package desktop

import (
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/settings"
	"rollcall/internal/must"
	"rollcall/proc"
)

// TestOnWaitIsElsewhere: the user's command runs in Rollcall's folder, since the session's has files that an agent can write, and is told where the session works.
func TestOnWaitIsElsewhere(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a command of a POSIX shell")
	}
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	t.Setenv("HOME", dir)
	out := filepath.Join(dir, "out")
	a := &attention{log: slog.Default(), slots: make(chan struct{}, 1)}
	a.away = settings.Notifications{OnWait: `pwd -P >` + out + `; echo "$ROLLCALL_CWD" >>` + out}
	project := t.TempDir()
	a.callAway(t.Context(), app.Session{Session: adapters.Session{ID: "s", Agent: "claude-code", Place: adapters.Place{CWD: project}}})
	text := must.Get(os.ReadFile(out))(t)
	in, told, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	own := must.Get(stateFolder())(t)
	own = must.Get(filepath.EvalSymlinks(own))(t)
	if in != own || told != project {
		t.Errorf("it ran in %q and was told %q, want %q and %q", in, told, own, project)
	}
}

// TestOwnActs: an act counts for its session alone, in the process that had it, and for a while.
func TestOwnActs(t *testing.T) {
	a := &attention{acted: map[string]act{"old": {at: time.Now().Add(-time.Hour)}}}
	a.acts("a")
	in := func(id string, pid int) bool {
		return a.hasActed(&app.Session{Session: adapters.Session{ID: id, Owner: adapters.Owner{Process: proc.Identity{PID: pid}}}})
	}
	of := func(id string) bool { return in(id, 1) }
	if !of("a") || of("b") || of("old") {
		t.Errorf("a: %v, b: %v, old: %v", of("a"), of("b"), of("old"))
	}
	if !of("a") || in("a", 2) {
		t.Errorf("the end of the same process: %v, of a later one: %v", of("a"), in("a", 2))
	}
	if _, kept := a.acted["old"]; kept {
		t.Error("an old act is kept")
	}
}
