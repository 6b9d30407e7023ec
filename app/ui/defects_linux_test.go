package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app/ui/widgets"
)

func init() {
	roles["login"] = func() int {
		for i := range 30 {
			fmt.Printf(`{"type":"system","n":%d}`+"\n", i)
		}
		fmt.Println("Not logged in · Please run /login")
		fmt.Println(`{"type":"result","is_error":true}`)
		return 1
	}
}

// TestFailedLaunchSaysWhy: a launch that failed shows its agent's sentence first, and its log on demand.
func TestFailedLaunchSaysWhy(t *testing.T) {
	w := openReal(t, "login")
	w.launch("do it")
	w.until("its end", func() bool { return strings.Contains(w.run(), "exit code 1") })
	if all := w.run(); !strings.Contains(all, "Not logged in · Please run /login\nEnded with") || strings.Contains(all, "{") {
		t.Errorf("at first it shows\n%s", all)
	}
	tap(t, w.launchPage().runs, "Show log")
	shows(t, w.launchPage().runs, `{"type":"system","n":29}`)
	if strings.Contains(w.run(), "Show log") {
		t.Error("the log is offered twice")
	}
}

// TestResumeWhereItIsDue: only a stopped session has a button that resumes it; of a running one the menu has it.
func TestResumeWhereItIsDue(t *testing.T) {
	w := open(t, snapshotOf(session("runs", adapters.Working, nil), session("over", adapters.Stopped, nil)))
	d := w.ui.sessions.detail
	for id, runs := range map[string]bool{"runs": true, "over": false} {
		w.ui.Show(id)
		if d.session.ID != id || d.resume.Visible() == runs || d.stop.Visible() != runs {
			t.Errorf("%s: %q has the button Resume: %v, Stop: %v", id, d.session.ID, d.resume.Visible(), d.stop.Visible())
		}
		inMenu := slices.ContainsFunc(d.moreItems(d.session), func(m *fyne.MenuItem) bool { return m.Label == "Resume…" })
		if inMenu != runs {
			t.Errorf("%s: the menu has Resume: %v", id, inMenu)
		}
	}
}

// TestSettingsFromTheMenu: without any session the menu leads to the settings by keys. They have a title, General is first, and no button saves.
func TestSettingsFromTheMenu(t *testing.T) {
	set, _ := settingsWindow(t, "")
	w := openWith(t, &fakeCore{snapshot: snapshotOf()}, Options{Agents: usualAgents(), Live: set.ui.options.Live})
	w.ui.host.Focus(w.ui.nav.gear)
	for _, k := range []fyne.KeyName{fyne.KeyReturn, fyne.KeyDown, fyne.KeyReturn} {
		w.key(k)
	}
	if w.ui.page != pageSettings {
		t.Fatalf("page %d", w.ui.page)
	}
	var bold []string
	for _, o := range visible(w.ui.settings.Content) {
		switch o := o.(type) {
		case *widget.Label:
			if o.TextStyle.Bold {
				bold = append(bold, o.Text)
			}
		case *widgets.Line:
			bold = append(bold, o.Text())
		case *widgets.Button:
			if strings.HasPrefix(o.Text, "Save") || o.Text == "Apply" {
				t.Errorf("there is a button %q", o.Text)
			}
		}
	}
	if len(bold) < 2 || bold[0] != "Settings" || bold[1] != "General" {
		t.Errorf("the titles are %q", bold)
	}
}

// TestRequestIsNotJSON: a command is shown without the shell around it, which has its own line, and the agent's options by their names.
func TestRequestIsNotJSON(t *testing.T) {
	r := command("a", "1", `/bin/bash -lc "npm test && echo \"done\""`, 3*time.Minute)
	r.Folder, r.Options = "", []string{"Yes", "Yes, and don't ask again"}
	w := openQueue(t, newAsker(r), waiters(map[string]int{"a": 3}))
	w.armed(r.Text)
	want := []string{"Command", `npm test && echo "done"`, "", "Run by", "/bin/bash -lc", "", "What the agent itself offers", "Yes · Yes, and don't ask again"}
	if got := w.ui.sessions.detail.request.code.All(); !slices.Equal(got, want) {
		t.Errorf("the card shows %q, want %q", got, want)
	}
	shows(t, w.ui.sessions.list, `npm test && echo "done"`)
}
