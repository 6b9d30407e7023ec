package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/app"
	"rollcall/app/control/answer"
	"rollcall/app/listing"
	machines "rollcall/app/machine"
	"rollcall/app/settings"
	"rollcall/internal/must"
)

// streamOfDevbox is what the Rollcall of devbox prints first: a session that waits for a permission, and one that works.
const streamOfDevbox = `{"schema":1,"event":"hello","at":"2026-11-21T14:00:00Z","hello":{"version":"1","heartbeat":60}}
{"schema":1,"event":"session","at":"2026-11-21T14:00:00Z","session":{"id":"w1","agent":"claude-code","status":"waiting","waiting_for":"permission","evidence":"its registry","cwd":"/src/shop","title":"Fix the login"}}
{"schema":1,"event":"session","at":"2026-11-21T14:00:00Z","session":{"id":"w2","agent":"codex","status":"working","evidence":"its file","cwd":"/src/site","title":"Deploy it"}}
{"schema":1,"event":"roll","at":"2026-11-21T14:00:01Z"}
`

// TestRowsOfMachines: the window over a real core has the rows of another machine with its name, among this machine's; its wait is in the
// queue, and says where it is answered. Once the machine is gone its rows stay, stale, with its name and the reason.
func TestRowsOfMachines(t *testing.T) {
	dir := t.TempDir()
	stream, gone := filepath.Join(dir, "stream"), filepath.Join(dir, "gone")
	must.Do(t, os.WriteFile(stream, []byte(streamOfDevbox), 0o600))
	script := fmt.Sprintf("[ -e '%[2]s' ] || cat '%[1]s'\nuntil [ -e '%[2]s' ]; do sleep 0.02; done\necho 'no such container: devbox' >&2\nexit 1\n", stream, gone)
	m := machines.New([]settings.Machine{{Name: "devbox", Exec: []string{"/bin/sh", "-c", script}}}, nil)
	core := app.New(app.Config{Machines: m})
	ctx, done := t.Context(), make(chan struct{})
	go func() {
		defer close(done)
		m.Run(ctx, time.Hour, core)
	}()
	t.Cleanup(func() { <-done }) // the context of the test is done by then
	answers := answer.New(newAsker(), func() settings.Answering { return settings.AnswerAll })
	w := openWith(t, core, Options{Agents: usualAgents(), Machines: m, Answers: answers})
	row := func(id string) rowText {
		for _, r := range w.ui.sessions.view.Rows {
			if r.Kind == listing.SessionRow && r.Session.ID == "devbox:"+id {
				return rowTextOf(&r, clock, 7)
			}
		}
		return rowText{}
	}
	w.until("the rows of devbox", func() bool { return row("w1").first != "" && row("w2").first != "" })
	if got, want := w.rows(), []string{"# Needs you | 1", "shop | needs permission", "# Working | 1", "site | working"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for id, want := range map[string]string{"w1": "Claude Code · on devbox · Fix the login", "w2": "Codex · on devbox · Deploy it"} {
		if got := row(id).second; got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
	shows(t, w.win.Content(), "Claude Code · on devbox · Fix the login", "Codex · on devbox · Deploy it")
	w.shoot("rows-of-machines")
	w.ui.ShowRequest("")
	w.until("the wait in the queue", func() bool { return len(w.ui.asking.asked) == 1 && w.ui.asking.asked[0].Entry.Read })
	shows(t, w.win.Content(), "shop", "Claude Code · on devbox · answer it in its terminal", "needs permission · Claude Code · shop · on devbox",
		"Rollcall answers only on the session's own machine (on devbox, in /src/shop)")
	w.shoot("wait-of-machine")
	w.ui.showScope(listing.AllGroups)

	must.Do(t, os.WriteFile(gone, nil, 0o600))
	w.until("the stale rows", func() bool {
		return strings.Contains(row("w1").second, "Last seen") && strings.Contains(row("w2").second, "Last seen")
	})
	for _, id := range []string{"w1", "w2"} {
		if got := row(id).second; !strings.HasPrefix(got, "on devbox · Last seen at ") || !strings.HasSuffix(got, ": no such container: devbox") {
			t.Errorf("%s: %q", id, got)
		}
	}
	if got := row("w1").status; got != "needs permission" {
		t.Errorf("the wait is shown as %q", got)
	}
	w.shoot("rows-of-machine-that-is-gone")
}
