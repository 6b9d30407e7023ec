package upkeep

import (
	"cmp"
	"context"
	"strings"
	"time"

	"fyne.io/fyne/v2/widget"
	"github.com/dustin/go-humanize"

	"rollcall/app"
	"rollcall/app/owned/fuse"
	"rollcall/app/present"
	"rollcall/app/store/quiet"
	"rollcall/app/ui/facts"
	"rollcall/app/ui/widgets"
)

// timerState returns the state of a timer in words, with its icon.
func timerState(x *fuse.Fuse, now time.Time) (icon *widgets.Icon, text string) {
	switch {
	case x.ResultUnknown():
		return widgets.NewIcon("failed", widgets.ColorBad), "expired " + present.DayTime(x.FiredAt) + ", result unknown: Rollcall ended before the result was stored"
	case x.Fired() && !x.Finished():
		return widgets.NewIcon("working", widgets.ColorWorking), "expired " + present.DayTime(x.FiredAt) + ", running now"
	case x.Fired():
		icons := map[fuse.Outcome]*widgets.Icon{fuse.Succeeded: widgets.NewIcon("done", widgets.ColorGood), fuse.Failed: widgets.NewIcon("failed", widgets.ColorBad)}
		return cmp.Or(icons[x.Outcome], widgets.NewIcon("done", widgets.ColorMuted)), "expired " + present.DayTime(x.FiredAt) + "\n" + present.Short(strings.Join(x.Results, "; "))
	case now.After(x.Expires.Add(5 * time.Second)):
		return widgets.NewIcon("waiting", widgets.ColorWaiting), "overdue since " + present.DayTime(x.Expires) + "; runs at the next use of Rollcall"
	}
	return widgets.NewIcon("stale", widgets.ColorWorking), "expires " + present.DayTime(x.Expires) + " (" + humanize.RelTime(x.Expires, now, "ago", "from now") + ")"
}

func (p *Page) timerText(x *fuse.Fuse, now time.Time) folderText {
	icon, text := timerState(x, now)
	for _, part := range []struct{ name, value string }{{"", x.Note}, {"command: ", x.Script}} {
		if part.value != "" {
			text += "\n" + part.name + present.Cut(present.Short(part.value), 300)
		}
	}
	text += present.When(x.Webhook != "", "\ncalls a webhook")
	path, cancel := x.Path, p.window.Fuses.Cancel
	if c := x.Continue; c != nil {
		text += "\ncontinues " + present.AgentName(c.Agent) + ": " + present.Cut(present.Short(c.Prompt), 300)
		cancel = func(ctx context.Context, _ string) (fuse.Fuse, error) {
			return p.window.Fuses.CancelContinue(ctx, c.Session)
		}
	}
	action := func(name, failed string, do func(context.Context, string) (fuse.Fuse, error)) folderAction {
		return folderAction{name, path, func(b *widgets.Button) {
			p.change(b, failed, func(ctx context.Context) error {
				_, err := do(ctx, path)
				return err
			})
		}}
	}
	t := folderText{icon: icon, path: path, text: text, output: present.Text(present.Tail(x.Output, 1500))}
	switch {
	case x.Continue != nil && !x.Fired():
		t.actions = []folderAction{action("Cancel", "The timer was not cancelled: ", cancel)}
	case x.Continue != nil: // it is never tried again
	case x.ResultUnknown():
		t.actions = []folderAction{action("Retry", "The timer was not retried: ", p.window.Fuses.Retry)}
	case !x.Fired():
		t.actions = []folderAction{{"Extend…", path, func(*widgets.Button) { p.showExtend(path) }},
			action("Cancel", "The timer was not cancelled: ", cancel)}
	}
	return t
}

// durations contains the suggestions for timers; others can be typed.
var durations = []string{"10m", "30m", "1h", "2h", "8h"}

func (p *Page) newDurationField(f *widgets.Form) *widgets.Entry {
	e := f.NewEntry("45m")
	p.window.Suggest(e, func() []string { return durations })
	e.SetText(durations[0])
	return e
}

// changeTimer returns the function that a form calls: it parses duration, calls do with the result, and reads the timers again.
func (p *Page) changeTimer(duration string, do func(context.Context, time.Duration) (fuse.Fuse, error)) func(context.Context) error {
	return func(ctx context.Context) error {
		defer p.Look()
		d, err := fuse.ParseIn(duration)
		if err == nil {
			_, err = do(ctx, d)
		}
		return err
	}
}

// showTimer opens the form that sets a timer.
func (p *Page) showTimer(dir string) {
	f := p.window.NewForm("Set a timer", "Set timer", "The timer was not set: ")
	folder, in := newFolderField(p.window.Host, f), p.newDurationField(f)
	script := f.NewTextArea("docker compose down", 2)
	hook := f.NewEntry("https://example.org/hook")
	note := f.NewEntry("the test cluster")
	again := p.window.NewCheckBox("Retry it if its result is lost (can run twice)", nil)
	f.Ready = func() bool {
		return folder.path() != "" && strings.TrimSpace(script.Text+hook.Text) != "" && in.Text != ""
	}
	folder.entry.SetText(dir)
	f.Submit = func() func(context.Context) error {
		x := fuse.Fuse{Path: folder.path(), Note: strings.TrimSpace(note.Text), Script: strings.TrimSpace(script.Text), Webhook: strings.TrimSpace(hook.Text), Again: again.Checked}
		return p.changeTimer(in.Text, func(ctx context.Context, d time.Duration) (fuse.Fuse, error) { return p.window.Fuses.Set(ctx, x, d) })
	}
	f.Open(widgets.Hint("When the timer expires, Rollcall runs the script in the folder (for at most 2 minutes), calls the webhook, or both. This needs neither the tray nor the window. If the computer is off at that time, the timer runs at the next use of Rollcall."),
		widgets.Named("Folder", folder.content), widgets.Named("Duration", in), widgets.Named("Script", script),
		widgets.Named("Webhook", hook), widgets.Named("Note", note), again)
	f.Focus(folder.entry)
}

// showExtend opens the form that lets a timer run longer.
func (p *Page) showExtend(path string) {
	f := p.window.NewForm("Extend the timer", "Extend", "The timer was not extended: ")
	by := p.newDurationField(f)
	f.Submit = func() func(context.Context) error {
		return p.changeTimer(by.Text, func(ctx context.Context, d time.Duration) (fuse.Fuse, error) {
			return p.window.Fuses.Extend(ctx, path, d)
		})
	}
	f.Open(widgets.Paragraph(present.Short(path), widget.MediumImportance), widgets.Named("Extra time", by))
	f.Focus(f.Primary)
}

// CanContinue reports whether the window offers to continue a session later, at the reset of the limit that it reached.
func (p *Page) CanContinue(s *app.Session) bool {
	return p.window.Fuses != nil && fuse.CheckContinue(s, p.window.CanPrompt(s)) == nil
}

// Continue opens the form that sets the timer of a session that reached a limit.
func (p *Page) Continue(s app.Session) {
	f := p.window.NewForm("Continue this session later", "Set timer", "The timer was not set: ")
	when := f.NewEntry("15:05, or 2026-11-28 09:00")
	prompt := f.NewEntry(fuse.Prompt)
	prompt.SetText(fuse.Prompt)
	hint := "Its agent has not recorded when the limit is reset."
	if at, err := fuse.AtReset(&s, p.window.Now()); err == nil {
		hint = "The limit is reset at " + present.DayTime(s.LimitedUntil) + "."
		when.SetText(at.Local().Format("2006-01-02 15:04"))
	}
	f.Ready = func() bool { return strings.TrimSpace(when.Text) != "" && strings.TrimSpace(prompt.Text) != "" }
	f.Submit = func() func(context.Context) error {
		at, text := when.Text, prompt.Text
		return func(ctx context.Context) error {
			defer p.Look()
			expires, err := quiet.ParseUntil(at, time.Now())
			if err == nil {
				_, err = p.window.Fuses.SetContinue(ctx, &s, text, expires)
			}
			return err
		}
	}
	f.Open(widgets.Hint(hint+" At that time Rollcall gives the session the prompt once, if it was not used until then, also while tray and window are closed. Locks & timers shows the timer and its result, and cancels it."),
		facts.Line(&s), widgets.Named("Time", when), widgets.Named("Prompt", prompt))
	f.Check()
	f.Focus(f.Primary)
}
