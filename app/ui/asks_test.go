package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/listing"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

// shownRows returns the visible rows of the list in words; "red" is behind those that are marked as dangerous.
func (w *window) shownRows() (out []string) {
	w.win.Canvas().Capture()
	for _, o := range visible(w.ui.sessions.list) {
		if v, ok := o.(*rowView); ok && v.row.Kind == listing.SessionRow {
			out = append(out, strings.TrimSpace(fmt.Sprint(v.text.status, " | ", v.second.Text(), " ", present.When(v.text.statusColor == widgets.ColorBad, "red"))))
		}
	}
	slices.Sort(out)
	return out
}

// TestOneTextForWhatIsAsked: the queue, the list and the details show the same of a request, and its danger: from the agent's channel, or where that has
// nothing from the call that the agent's records leave open.
func TestOneTextForWhatIsAsked(t *testing.T) {
	a := newAsker(command("channel", "1", "rm -rf src", 3*time.Minute), command("harmless", "2", "go test ./...", 2*time.Minute))
	a.elsewise["records"] = fmt.Errorf("%w: its agent takes no answers from outside", adapters.ErrAnswerElsewhere)
	a.requests["records"] = nil
	snap := waiters(map[string]int{"channel": 3, "harmless": 2, "records": 1})
	for s := range snap.All() {
		s.Doing = map[string]string{"channel": "", "harmless": "other words", "records": "git push --force origin main"}[s.ID]
	}
	w := openQueue(t, a, snap)
	want := []string{
		"needs permission | Claude Code · git push --force origin main red",
		"wants to run a command | Claude Code · go test ./...",
		"wants to run a command | Claude Code · rm -rf src red",
	}
	slices.Sort(want)
	if got := w.shownRows(); !slices.Equal(got, want) {
		t.Errorf("the queue shows\n%s", strings.Join(got, "\n"))
	}
	w.shoot("asks-queue")
	w.ui.sessions.list.OnSelected(2)
	shows(t, w.ui.sessions.detail.content, "Looks dangerous: ", "git push --force origin main")
	w.shoot("asks-records")
	w.ui.showScope(listing.AllGroups)
	w.until("the list", func() bool { return len(w.ui.sessions.view.Rows) == 4 })
	if got := w.shownRows(); !slices.Equal(got, want) {
		t.Errorf("the list shows\n%s", strings.Join(got, "\n"))
	}
	w.shoot("asks-list")
}

// TestAsksOfStale: the row of a session that can't be read now says so.
func TestAsksOfStale(t *testing.T) {
	snap := waiters(map[string]int{"a": 1})
	snap.Own[0].Stale = &app.Stale{Since: ago(time.Minute), Reason: "codex: no answer in 5 s"}
	w := openQueue(t, newAsker(command("a", "1", "rm -rf src", time.Minute)), snap)
	w.ui.showScope(listing.AllGroups)
	w.until("the list", func() bool { return len(w.ui.sessions.view.Rows) == 2 })
	if got := w.shownRows(); len(got) != 1 || !strings.Contains(got[0], "Last seen") {
		t.Errorf("%q", got)
	}
}
