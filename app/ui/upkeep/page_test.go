package upkeep

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rollcall/app"
	"rollcall/app/owned/cleanup"
	"rollcall/app/owned/fuse"
	"rollcall/app/owned/launch"
	"rollcall/app/store"
	"rollcall/app/store/lock"
	"rollcall/app/ui/widgets"
	"rollcall/internal/uitest"
	"rollcall/proc"
)

// fakeCore is a core without sessions.
type fakeCore struct{ Core }

func (fakeCore) Refresh(context.Context) *app.Snapshot { return &app.Snapshot{} }

func TestMain(m *testing.M) {
	uitest.UseTheme(uitest.Light)
	goleak.VerifyTestMain(m)
}

func ago(d time.Duration) time.Time { return uitest.Clock.Add(-d) }

// open opens a window that shows the page, over folders of the test.
func open(t *testing.T, environ func() []string) (*uitest.Window, *Page) {
	t.Helper()
	w, table := uitest.Open(t), proc.Open()
	p := New(Window{Host: w.Host(), Core: fakeCore{}, Launches: launch.In(t.TempDir(), table), Fuses: fuse.In(store.In(filepath.Join(t.TempDir(), "fuses"))), Table: table, Environ: environ})
	w.SetContent(p.Content)
	return w, p
}

// TestFolderCardsStay checks that cards, with the focus and the selection in them, stay while times change and other
// locks are added.
func TestFolderCardsStay(t *testing.T) {
	_, p := open(t, os.Environ)
	k := &folderState{locks: []lock.Lock{{Path: "/home/dev/a", Kind: lock.Manual, By: "mia", Since: ago(3 * time.Minute)}},
		fuses: []fuse.Fuse{{Path: "/home/dev/b", Script: "x", Expires: uitest.Clock.Add(24 * time.Minute)}}}
	p.show(k)
	first := p.cards[0]
	old := p.window.Now
	p.window.Now = func() time.Time { return old().Add(10 * time.Minute) }
	p.ShowAges()
	uitest.Shows(t, p.Content, "(13 m ago)", "(14 minutes from now)")
	if p.cards[0] != first {
		t.Error("there is a new card: the focus and the selection in the old one are lost")
	}
	again := *k
	again.fuses = nil
	p.show(&again)
	uitest.Shows(t, p.Content, "No timer is set.")
}

// TestChangeFails: the button works again, and a form that is open stays.
func TestChangeFails(t *testing.T) {
	w, p := open(t, os.Environ)
	b := p.window.NewButton("Unlock", nil, nil)
	failed := func(context.Context) error { return errors.New("no room") }
	p.change(b, "It was not unlocked: ", failed)
	w.Until("the failure", func() bool { return p.window.Sheet != nil })
	uitest.Shows(t, p.window.Sheet.Popup, "It was not unlocked: no room")
	p.showLock()
	s := p.window.Sheet
	p.change(b, "It was not unlocked: ", failed)
	w.Until("the failure", func() bool { return len(w.Notices) > 0 })
	w.Until("the page", func() bool { return p.shown != nil }) // it is read again
	if p.window.Sheet != s || b.Disabled() {
		t.Errorf("the form is closed: %t, the button is dead: %t", p.window.Sheet != s, b.Disabled())
	}
}

// TestCleanupGoesOnWhenClosed: files are removed although the sheet is closed meanwhile, and a failure is shown above the list.
func TestCleanupGoesOnWhenClosed(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	w, p := open(t, os.Environ)
	s := p.cleanUp()
	s.Read = func(context.Context) ([]cleanup.Item, []string, error) {
		return []cleanup.Item{{Path: "/srv/x"}}, nil, nil
	}
	s.Open(p.window.Host, "Clean up", 680)
	w.Until("the list", func() bool { return !s.IsWaiting() })
	uitest.Tap(t, s.Popup, "Remove 1 file, 0 B")
	uitest.Shows(t, s.Popup, "Close")
	if strings.Contains(strings.Join(uitest.Texts(s.Popup), "\n"), "Cancel") {
		t.Error("it offers to cancel what can't be")
	}
	s.Close()
	w.Until("the notice", func() bool { return strings.Contains(strings.Join(w.Notices, "\n"), "/srv/x: not removed: ") })
}

func TestTimerState(t *testing.T) {
	for want, x := range map[string]fuse.Fuse{
		"(1 hour from now)":   {Expires: uitest.Clock.Add(70*time.Minute + time.Second)},
		"overdue since":       {Expires: ago(time.Minute)},
		"running now":         {Expires: ago(time.Minute), FiredAt: ago(time.Minute)},
		"script: exit 2":      {Expires: ago(time.Minute), FiredAt: ago(time.Minute), Outcome: fuse.Failed, Results: []string{"script: exit 2"}},
		"delivered":           {Expires: ago(time.Minute), FiredAt: ago(time.Minute), Outcome: fuse.Succeeded, Results: []string{"script: exit 0", "webhook: delivered"}},
		"webhook: told":       {Expires: ago(time.Minute), FiredAt: ago(time.Minute), Results: []string{"webhook: told"}}, // by an older version
		"(1 second from now)": {Expires: uitest.Clock.Add(time.Second)},
		"(3 days from now)":   {Expires: uitest.Clock.Add(73 * time.Hour)},
	} {
		icon, text := timerState(&x, uitest.Clock)
		if !strings.Contains(text, want) {
			t.Errorf("%q has no %q", text, want)
		}
		if failed := icon == widgets.NewIcon("failed", widgets.ColorBad); failed != (want == "script: exit 2") {
			t.Errorf("%q has the sign %s", text, icon.File)
		}
		if good := icon == widgets.NewIcon("done", widgets.ColorGood); good != (want == "delivered") {
			t.Errorf("%q has the sign %s", text, icon.File)
		}
	}
}

func TestShotLocks(t *testing.T) {
	w, p := open(t, os.Environ)
	p.Look()
	w.Until("the page", func() bool { return p.shown != nil })
	w.Shoot("locks-empty")
	p.showLock()
	w.Shoot("lock")
	p.showTimer("/home/dev/projects/infra")
	w.Shoot("timer")
	p.window.CloseSheet()
	p.show(&folderState{
		locks: []lock.Lock{
			{Path: "/home/dev/projects/rollcall", Kind: lock.Manual, By: "mia", Reason: "a release is being made", Since: ago(3 * time.Hour)},
			{Path: "/home/dev/projects/website", Kind: lock.Auto, Agent: "claude-code", Session: "w1", Since: ago(4 * time.Minute)}},
		fuses: []fuse.Fuse{
			{Path: "/home/dev/projects/infra", Note: "the test cluster", Script: "make cluster-down", Expires: uitest.Clock.Add(24 * time.Minute)},
			{Path: "/home/dev/projects/api", Script: "docker compose down", Webhook: "https://x", Expires: ago(time.Hour), FiredAt: ago(time.Hour),
				Outcome: fuse.Failed, Results: []string{"script: exit 1", "webhook: delivered"}, Output: "Cannot connect to the Docker daemon. Is it running?\n"},
			{Path: "/home/dev/notes", Script: "pkill hugo", Expires: ago(5 * time.Hour), FiredAt: ago(5 * time.Hour), Outcome: fuse.Succeeded, Results: []string{"script: exit 0"}}},
		problems: []string{"Not all locks could be read: /home/dev/.local/state/rollcall/locks/77ab.json: not JSON; it was set aside"},
	})
	w.Shoot("locks")
}
