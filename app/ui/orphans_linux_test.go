package ui

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/listing"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
)

// ownProcesses is a process table with only the processes that have an entry in their environment.
type ownProcesses struct {
	*proc.Table
	entry string
}

// List implements proc.Lister.
func (m ownProcesses) List(ctx context.Context) ([]proc.Process, error) {
	list, err := m.Table.List(ctx)
	return slices.DeleteFunc(list, func(p proc.Process) bool {
		env, err := m.Env(p.Identity)
		return err != nil || !slices.Contains(env, m.entry)
	}), err
}

// leave starts a process that its parent leaves behind, as an agent does for the session "over", and returns it.
func (m ownProcesses) leave(t *testing.T, inherited ...*os.File) (left proc.Process) {
	t.Helper()
	before, err := m.List(t.Context())
	must.Do(t, err)
	cmd := exec.Command("sh", "-c", "setsid sleep 60 </dev/null >/dev/null 2>&1 &")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), m.entry, "CLAUDE_CODE_SESSION_ID=over"}
	cmd.ExtraFiles = inherited
	must.Do(t, cmd.Run())
	eventually.True(t, "sleep", func() bool {
		list, err := m.List(t.Context())
		i := slices.IndexFunc(list, func(p proc.Process) bool { return p.Comm == "sleep" && !slices.Contains(before, p) })
		if err == nil && i >= 0 {
			left = list[i]
		}
		return !left.IsZero()
	})
	t.Cleanup(func() {
		if h, err := m.Hold(left.Identity); err == nil {
			_ = h.Send(proc.Kill)
			h.Close()
		}
	})
	return left
}

// agentWithSession returns an agent with one session, which is over, and a function that gives the session a process.
func agentWithSession(t *testing.T) (a *realAgent, table ownProcesses, is func(proc.Identity)) {
	table = ownProcesses{proc.OpenAt("/proc", "/etc"), "TEST=" + t.TempDir()}
	a = &realAgent{Agent: fakeAgent{As: agentname.ClaudeCode}, store: t.TempDir(), table: table.Table}
	is = func(process proc.Identity) {
		text := must.Get(json.Marshal(entry{ID: "over", Dir: "/home/dev/over", Process: process}))(t)
		must.Do(t, os.WriteFile(filepath.Join(a.store, "over"), text, 0o600))
	}
	is(proc.Identity{})
	return a, table, is
}

// TestOrphansSheet: what sessions left behind is listed, nothing is ended that the user did not check, and one whose session lives again is left alone.
func TestOrphansSheet(t *testing.T) {
	a, table, is := agentWithSession(t)
	core := app.New(app.Config{Adapters: []adapters.Adapter{a}, Table: table})
	w := openWith(t, core, Options{Agents: []adapters.Adapter{a}, Table: table})
	w.show(t)
	shows(t, w.ui.host.Sheet.Popup, "No agent left a process behind")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	file, err := listener.(*net.TCPListener).File()
	must.Do(t, err)
	first := table.leave(t, file)
	second := table.leave(t)
	must.Do(t, file.Close())
	must.Do(t, listener.Close())

	w.show(t)
	name := func(p proc.Process) string { return strconv.Itoa(p.PID) + " sleep 60" }
	shows(t, w.ui.host.Sheet.Popup, name(first), name(second), "Claude Code over · began ", " · port "+strconv.Itoa(listener.Addr().(*net.TCPAddr).Port), "End 0 processes")
	check(t, w.ui.host.Sheet.Popup, name(first), true)
	w.shoot("orphans")
	tap(t, w.ui.host.Sheet.Popup, "End 1 process")
	w.until("the end", func() bool {
		return strings.Contains(strings.Join(shownTexts(w.ui.host.Sheet.Popup), "\n"), "ended 1 process")
	})
	if table.Alive(first.Identity) || !table.Alive(second.Identity) {
		t.Error("not exactly the process that was checked was ended")
	}

	w.show(t)
	check(t, w.ui.host.Sheet.Popup, name(second), true)
	is(proc.Self())
	tap(t, w.ui.host.Sheet.Popup, "End 1 process")
	w.until("the refusal", func() bool {
		return strings.Contains(strings.Join(shownTexts(w.ui.host.Sheet.Popup), "\n"), "it is not left behind any more")
	})
	if !table.Alive(second.Identity) {
		t.Error("a process of a live session was ended")
	}
}

// TestEndedRowSaysWhatIsLeftBehind: the row of a session that is over, and its details, say that processes of it live on, as long as they do; the row of one that
// lives again does not.
func TestEndedRowSaysWhatIsLeftBehind(t *testing.T) {
	a, table, is := agentWithSession(t)
	left := table.leave(t)
	core := app.New(app.Config{Adapters: []adapters.Adapter{a}, Table: table})
	w := openWith(t, core, Options{Agents: []adapters.Adapter{a}, Table: table})
	core.Refresh(t.Context())
	status := func() string {
		for _, r := range w.ui.sessions.view.Rows {
			if r.Kind == listing.SessionRow {
				return w.ui.sessions.textOf(r).status
			}
		}
		return ""
	}
	says := func(what string, holds bool) {
		t.Helper()
		w.until(what, func() bool {
			return strings.HasSuffix(status(), " · left 1 process behind") == holds && status() != ""
		})
	}
	says("what was left behind", true)
	w.ui.sessions.detail.showFacts(true)
	w.shoot("left behind")
	shows(t, w.win.Content(), "Left behind", "1 process")

	is(proc.Self())
	core.Refresh(t.Context())
	says("that it lives", false)
	is(proc.Identity{})
	core.Refresh(t.Context())
	says("what was left behind", true)
	h, err := table.Hold(left.Identity)
	must.Do(t, err)
	defer h.Close()
	must.Do(t, h.Send(proc.Kill))
	eventually.True(t, "the end", func() bool { return !table.Alive(left.Identity) })
	w.ui.showAges()
	says("that nothing is left", false)
}

// show opens the sheet, and waits for the list.
func (w *window) show(t *testing.T) {
	t.Helper()
	w.ui.upkeep.EndOrphans()
	w.until("the list", func() bool { return !w.ui.host.Sheet.IsWaiting() })
}
