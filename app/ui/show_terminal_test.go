package ui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/show"
	"rollcall/app/settings"
	"rollcall/app/ui/widgets"
	"rollcall/internal/uitest"
)

// fakeShower records what it is asked for.
type fakeShower struct {
	mu    sync.Mutex
	plan  show.Plan
	err   error
	calls []string
}

func (f *fakeShower) call(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, text)
}

func (f *fakeShower) called() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.calls, "; ")
}

func (f *fakeShower) Show(_ context.Context, agent adapters.Name, id string) (*show.Plan, error) {
	f.call("show " + string(agent) + " " + id[:8])
	plan := f.plan
	if !plan.Seen && f.err == nil {
		return &plan, &show.NotShownError{Plan: &plan}
	}
	return &plan, f.err
}

func (f *fakeShower) Attach(_ *app.Session, o *show.Offer) (string, error) {
	f.call("attach " + o.Shell())
	return "xterm", nil
}

func (f *fakeShower) Folder(s *app.Session) error {
	f.call("folder " + s.CWD)
	return errors.New("xdg-open is not installed")
}

func (f *fakeShower) Editor(s *app.Session) (string, error) {
	f.call("editor " + s.CWD)
	return "code", nil
}

func TestShowTerminal(t *testing.T) {
	f := &fakeShower{}
	w := openWith(t, &fakeCore{snapshot: full()}, Options{Agents: usualAgents(), Shower: f})
	w.ui.Show("e17d4c0a")
	detail := w.ui.sessions.detail
	session := *detail.session
	f.plan = show.Plan{Session: session, Note: "it runs in tmux, and no terminal is attached to it", Offers: []show.Offer{
		{Kind: show.OfferAttach, Text: "attach a terminal to it", Command: []string{"tmux", "attach-session", "-t", "$0"}}, {Kind: show.OfferFolder, Text: "open its folder"}}}
	tap(t, detail.content, "Show terminal")
	if !detail.terminal.Disabled() {
		t.Error("it can be asked for twice")
	}
	w.until("the sheet", func() bool { return w.ui.host.Sheet != nil })
	popup := w.ui.host.Sheet.Popup
	shows(t, popup, "The terminal can't be shown", "It runs in tmux, and no terminal is attached to it.", "tmux attach-session -t '$0'", "Copy command", "Open folder", "Close")
	if detail.terminal.Disabled() {
		t.Error("it can't be asked for again")
	}
	w.shoot("show-terminal-not")
	tap(t, popup, "Open a terminal")
	w.until("the terminal", func() bool { return strings.HasSuffix(f.called(), "attach tmux attach-session -t '$0'") })
	if w.ui.host.Sheet != nil {
		t.Error("the sheet stays")
	}

	f.plan.Seen, f.plan.Note = true, ""
	tap(t, detail.content, "Show terminal")
	w.until("its end", func() bool { return !detail.terminal.Disabled() })
	if w.ui.host.Sheet != nil || w.ui.sessions.notice != "" {
		t.Errorf("a success is reported as %q", w.ui.sessions.notice)
	}
	f.err = errors.New("its agent did not answer")
	tap(t, detail.content, "Show terminal")
	w.until("the failure", func() bool {
		return strings.Contains(w.ui.sessions.notice, "The terminal was not shown: its agent did not answer")
	})

	items := w.ui.openItems(session)
	items[0].Action()
	w.until("the folder's failure", func() bool { return strings.Contains(w.ui.sessions.notice, "xdg-open is not installed") })
	items[1].Action()
	w.until("the editor", func() bool { return strings.HasSuffix(f.called(), "editor "+session.CWD) })
	w.press(detail.more, fyne.KeyReturn)
	w.shoot("open-menu")
}

// TestShowTerminalDisabled: what can't have a terminal here offers none.
func TestShowTerminalDisabled(t *testing.T) {
	f := &fakeShower{}
	remote := session("remote-1", adapters.Idle, func(s *adapters.Session) { s.Remote = "gateway" })
	ended := session("ended-1", adapters.Stopped, nil)
	for _, s := range []app.Session{remote, ended} {
		w := openWith(t, &fakeCore{snapshot: snapshotOf(s)}, Options{Agents: usualAgents(), Shower: f})
		w.ui.Show(s.ID)
		if d := w.ui.sessions.detail; !d.terminal.Disabled() || hasItem(d.moreItems(d.session), "Open folder") == (s.Remote != "") {
			t.Errorf("%s: terminal %v, the menu has %v", s.ID, d.terminal.Disabled(), d.moreItems(d.session))
		}
	}
	w := open(t, full())
	w.ui.Show("e17d4c0a")
	if d := w.ui.sessions.detail; !d.terminal.Disabled() || hasItem(d.moreItems(d.session), "Open folder") {
		t.Error("a window that can show nothing offers it")
	}
}

// hasItem reports whether a menu has an item with this text.
func hasItem(items []*fyne.MenuItem, text string) bool {
	return slices.ContainsFunc(items, func(i *fyne.MenuItem) bool { return i.Label == text })
}

func TestCommandSettings(t *testing.T) {
	w, path := settingsWindow(t, "terminal = \"foot {command}\"\n")
	w.ui.open(pageSettings)
	w.until("the settings", func() bool { return strings.Contains(onPage(w), "foot {command}") })
	editor := uitest.After[*widgets.Entry](t, w.ui.settings.Content, "Editor")
	editor.SetText("code {file}")
	w.press(editor, fyne.KeyReturn)
	w.until("the mistake", func() bool { return strings.Contains(onPage(w), "it has no placeholder {file}") })
	uitest.Part[*container.Scroll](t, w.ui.settings.Content, nil).ScrollToBottom()
	w.shoot("settings-commands")
	set, _ := settings.Load(path)
	if set.Terminal != "foot {command}" || set.Editor != "" {
		t.Errorf("%+v", set)
	}
}
