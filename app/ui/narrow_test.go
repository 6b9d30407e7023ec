package ui

import (
	"image/color"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app/owned/notices"
	"rollcall/app/ui/widgets"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// TestWindowWidths: at every width from 420 to 1920 every entry of the sidebar is whole, none covers another or leaves the window, and a click on each does what
// it says.
func TestWindowWidths(t *testing.T) {
	w := open(t, full())
	w.ui.nav.scopes[0].SetCount(12, widgets.ColorWaiting)
	if least := w.ui.content.MinSize(); least.Width > 420 {
		t.Errorf("the window can't be narrower than %g", least.Width)
	}
	d := fyne.CurrentApp().Driver()
	for width := float32(420); width <= 1920; width += 20 {
		for _, height := range []float32{420, 680} {
			w.win.Resize(fyne.NewSize(width, height))
			entries := []fyne.CanvasObject{w.ui.nav.launch, w.ui.nav.gear}
			for _, e := range w.ui.nav.tabs() {
				entries = append(entries, e)
			}
			for i, e := range entries {
				at, size := d.AbsolutePositionForObject(e), e.Size()
				if size.Width < 30 || size.Height < 28 || at.X < 0 || at.X+size.Width > width || at.Y+size.Height > height {
					t.Fatalf("%gx%g: entry %d is at %v, %v", width, height, i, at, size)
				}
				for j, other := range entries[:i] {
					to, by := d.AbsolutePositionForObject(other), other.Size()
					if at.X < to.X+by.Width && to.X < at.X+size.Width && at.Y < to.Y+by.Height && to.Y < at.Y+size.Height {
						t.Fatalf("%gx%g: entries %d and %d overlap", width, height, i, j)
					}
				}
			}
			list, detail := w.ui.sessions.left.Size(), w.ui.sessions.detail.content.Size()
			if width >= narrowWindow && (list.Width < 200 || detail.Width < 300) || width < narrowWindow && list.Width != width {
				t.Fatalf("%gx%g: the list is %v, the details are %v", width, height, list, detail)
			}
		}
	}
}

// TestPagesAreNarrow: every page, also with all that can be unfolded, fits into the narrowest window.
func TestPagesAreNarrow(t *testing.T) {
	w := open(t, full())
	w.launchPage().advanced.OnTapped()
	w.ui.open(pageLaunch)
	w.until("the agents", w.launchPage().asked)
	w.launchPage().choices[0].check.SetChecked(true)
	for page := range w.ui.pages {
		w.ui.open(page)
		w.win.Resize(fyne.NewSize(420, 600))
		w.win.Canvas().Capture()
		if least := w.ui.content.MinSize(); least.Width > 420 {
			t.Errorf("page %d can't be narrower than %g", page, least.Width)
		}
	}
}

// TestAnswersAreVisible: the buttons that answer a request are visible without scrolling, at 700×500, at 420×600 and below a long request. A high window shows the conversation.
func TestAnswersAreVisible(t *testing.T) {
	short := "git push --force origin main && npm publish --tag latest --access public"
	for text, size := range map[string]fyne.Size{short: fyne.NewSize(700, 500), "make " + short: fyne.NewSize(420, 600), strings.Repeat(short+"; ", 100): fyne.NewSize(1040, 680)} {
		w := openQueue(t, newAsker(command("a", "1", text, time.Minute)), waiters(map[string]int{"a": 1}))
		w.armed(text)
		w.win.Resize(size)
		w.win.Canvas().Capture()
		at := fyne.CurrentApp().Driver().AbsolutePositionForObject
		detail := w.ui.sessions.detail
		for _, b := range []*widgets.Button{detail.request.allow, detail.request.deny} {
			if end, bottom := at(b).Y+b.Size().Height, at(detail.above).Y+detail.above.Size().Height; end > bottom {
				t.Errorf("%v: %q ends at %g, the pane at %g", size, b.Text, end, bottom)
			}
		}
		if code := detail.request.code; size.Height == 500 && code.Rows() > code.Visible() {
			t.Errorf("%v: %d of %d lines of the request are visible", size, code.Visible(), code.Rows())
		}
		w.win.Resize(fyne.NewSize(1040, 800))
		w.win.Canvas().Capture()
		if below := detail.request.content.Size().Height < 300; below && at(detail.conversation.title).Y > at(detail.composer.content).Y {
			t.Error("a high window doesn't show the conversation")
		}
	}
}

// TestRequestBeforeAgent: where a row of what waits is too narrow for both, it has the request without the agent's name.
func TestRequestBeforeAgent(t *testing.T) {
	text := "npm publish --tag latest"
	w := openQueue(t, newAsker(command("a", "1", text, time.Minute)), waiters(map[string]int{"a": 1}))
	w.armed(text)
	row := newRowView()
	row.set(w.ui.sessions.view.Rows[0], askedText(&w.ui.asking.asked[0], false, clock), false, false)
	test.WidgetRenderer(row)
	for width, want := range map[float32]string{600: "Claude Code · " + text, 240: text, 140: "npm publish --…"} {
		row.Resize(fyne.NewSize(width, rowHeight))
		if got := test.WidgetRenderer(row.second).Objects()[0].(*canvas.Text).Text; got != want {
			t.Errorf("%g: %q, want %q", width, got, want)
		}
	}
}

// TestRowUsage: from a width of 1,400 units on the rows show the model, how full its context is, and the tokens.
func TestRowUsage(t *testing.T) {
	w := open(t, full())
	for width, want := range map[float32]bool{1280: false, 1390: false, 1400: true, 1920: true} {
		w.win.Resize(fyne.NewSize(width, 800))
		w.win.Canvas().Capture()
		texts := shownTexts(w.ui.sessions.list)
		if got := slices.Contains(texts, "claude-sonnet-5-5 · 76 % · 1.32 M tokens"); got != want {
			t.Errorf("%g: the rows show the usage: %v; they show\n%s", width, got, strings.Join(texts, "\n"))
		}
	}
}

// TestDividerIsHairline: between the panes there is a line of the separator's colour on the window's background,
// in light and in dark, and nothing else.
func TestDividerIsHairline(t *testing.T) {
	settings, first := fyne.CurrentApp().Settings(), canvas.NewRectangle(color.Black)
	was := settings.Theme()
	t.Cleanup(func() { settings.SetTheme(was) })
	w := test.NewTempWindow(t, newPanes(open(t, full()).ui, first, container.NewWithoutLayout(), 0.5, nil).content)
	w.SetPadded(false)
	for _, variant := range []fyne.ThemeVariant{theme.VariantLight, theme.VariantDark, theme.VariantLight} {
		settings.SetTheme(widgets.Theme{Variant: &variant})
		w.Resize(fyne.NewSize(705, 405))
		shot, got := w.Canvas().Capture(), map[color.NRGBA]int{}
		for i := range 5 {
			got[color.NRGBAModel.Convert(shot.At(int(first.Size().Width)+i, 200)).(color.NRGBA)]++
		}
		back, line := widgets.ThemeColor(theme.ColorNameBackground).(color.NRGBA), widgets.ThemeColor(theme.ColorNameSeparator).(color.NRGBA)
		if got[back] != 4 || got[line] != 1 {
			t.Errorf("theme %d: the divider has %v", variant, got)
		}
	}
}

// TestPrimaryButton: the button for what a session most likely needs is the only primary one.
func TestPrimaryButton(t *testing.T) {
	a := newAsker(command("a", "1", "make test", 3*time.Minute))
	snap := waiters(map[string]int{"a": 3})
	snap.Own = append(snap.Own, session("idle", adapters.Idle, nil), session("gone", adapters.Stopped, nil))
	w := openQueue(t, a, snap)
	d := w.ui.sessions.detail
	buttons := map[string]*widgets.Button{"allow": d.request.allow, "send": d.composer.send, "resume": d.resume, "terminal": d.terminal}
	for id, want := range map[string]string{"a": "allow", "idle": "send", "gone": "resume"} {
		w.ui.Show(id)
		w.until("the buttons of "+id, func() bool {
			for name, b := range buttons {
				isPrimary := b.Visible() && (name != "send" || d.composer.field.Visible()) && b.Importance != widget.MediumImportance
				if isPrimary != (name == want) {
					return false
				}
			}
			return d.session != nil && d.session.ID == id
		})
	}
}

// TestSettingsInANarrowWindow: a field is below its name where it has no room beside it, and its value is not cut.
func TestSettingsInANarrowWindow(t *testing.T) {
	w, _ := settingsWindow(t, "")
	w.win.Resize(fyne.NewSize(420, 600))
	w.shortcut(fyne.KeyComma)
	var theme *widgets.Select
	w.until("the fields", func() bool {
		for _, o := range visible(w.ui.settings.Content) {
			if s, ok := o.(*widgets.Select); ok && s.Selected == "Same as the desktop" {
				theme = s
			}
		}
		return theme != nil
	})
	w.win.Canvas().Capture()
	if width := theme.Size().Width; width < 220 {
		t.Errorf("the field is %.0f wide", width)
	}
}

// TestNarrowTextsAreWhole: in a narrow window the paths in which an agent was looked for follow one another without an empty line, and the title of a notification
// wraps.
func TestNarrowTextsAreWhole(t *testing.T) {
	told := notices.In(t.TempDir())
	title := "Claude Code needs permission in rollcall, in a worktree with a long name"
	must.Do(t, told.Add(notices.Notice{At: time.Now(), Key: title, Agent: agentname.ClaudeCode, Session: firstID, Title: title}, false))
	w := openWith(t, &fakeCore{snapshot: full()}, Options{Agents: usualAgents(), Notices: told})
	w.win.Resize(fyne.NewSize(420, 600))
	find := func(page int, text string) *widgets.SelectText {
		w.ui.open(page)
		var found *widgets.SelectText
		eventually.Happens(func() bool {
			w.until("the page", func() bool { return true })
			w.win.Canvas().Capture()
			for _, o := range visible(w.ui.content) {
				if s, ok := o.(*widgets.SelectText); ok && s.Text == text {
					found = s
				}
			}
			return found != nil || page == pageMissed && strings.Contains(strings.Join(shownTexts(w.ui.content), "\n"), title)
		})
		return found
	}
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject
	first, second := find(pageAgents, "/home/dev/.claude/sessions"), find(pageAgents, "/home/dev/.claude/projects")
	if gap := at(second).Y - at(first).Y; gap > first.Size().Height {
		t.Errorf("the second path is %.0f below the first one, which is %.0f high", gap, first.Size().Height)
	}
	w.shoot("agents-narrow")
	if find(pageMissed, title) == nil {
		t.Error("the title of a notification does not wrap")
	}
	w.shoot("missed-narrow")
}
