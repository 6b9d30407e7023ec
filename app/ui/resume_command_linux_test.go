package ui

import (
	"path/filepath"
	"testing"

	"fyne.io/fyne/v2"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

// TestCopyResumeCommand: what is copied is what a launch would run: the program that the adapter finds, and
// the session by its id.
func TestCopyResumeCommand(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	of := func(agent adapters.Name) func(*adapters.Session) {
		return func(s *adapters.Session) {
			s.Agent = agent
			s.CWD = dir
			s.Files = []string{"/h/x_0123.jsonl"}
		}
	}
	w := openWith(t, &fakeCore{snapshot: snapshotOf(session("019a", adapters.Stopped, of(agentname.Pi)), session("0123abcd-1", adapters.Stopped, of(agentname.PiRust)))},
		Options{Agents: []adapters.Adapter{&fakeAgent{As: agentname.Pi, Run: "legacy-pi"}, &fakeAgent{As: agentname.PiRust, Run: "pi"}}})
	for id, want := range map[string]string{"019a": "legacy-pi --resume 019a", "0123abcd-1": "pi --resume 0123abcd-1"} {
		w.ui.Show(id)
		w.until("the session", func() bool { d := w.ui.sessions.detail; return d.session != nil && d.session.ID == id })
		d := w.ui.sessions.detail
		fyne.CurrentApp().Clipboard().SetContent("")
		d.copyItems(d.session)[2].Action()
		w.until("the command", func() bool { return fyne.CurrentApp().Clipboard().Content() != "" })
		if got := fyne.CurrentApp().Clipboard().Content(); got != "cd "+dir+" && /usr/local/bin/"+want {
			t.Errorf("copied %q, want %q", got, want)
		}
	}
}
