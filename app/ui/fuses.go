package ui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"rollcall/app/fuse"
	"rollcall/app/present"
)

// fuseState says in words how a timer stands.
func fuseState(x *fuse.Fuse, now time.Time) (icon *icon, text string) {
	at := func(t time.Time) string { return t.Local().Format("2 Jan, 15:04:05") }
	switch {
	case x.Fired() && len(x.Results) == 0:
		return newIcon("working", colorWorking), "went off " + at(x.FiredAt) + ", and is at work"
	case x.Fired():
		icon, text := newIcon("done", colorGood), "went off "+at(x.FiredAt)+"\n"+short(strings.Join(x.Results, "; "))
		for _, r := range x.Results {
			if !strings.HasSuffix(r, ": exit 0") && !strings.HasSuffix(r, ": told") {
				icon = newIcon("failed", colorBad)
			}
		}
		return icon, text
	case now.After(x.Expires.Add(5 * time.Second)):
		return newIcon("waiting", colorWaiting), "overdue since " + at(x.Expires) + ": it goes off once the tray runs"
	}
	return newIcon("stale", colorWorking), "goes off " + at(x.Expires) + ", in " + left(x.Expires.Sub(now))
}

// left is a time to come: "4 m", "1 h 20 m".
func left(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return "less than a minute"
	case d < time.Hour:
		return fmt.Sprintf("%d m", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d m", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%d days", d/(24*time.Hour))
}

func (p *locksPage) fuseWords(x *fuse.Fuse, now time.Time) keptWords {
	icon, text := fuseState(x, now)
	for _, part := range []struct{ name, value string }{{"", x.Note}, {"runs: ", x.Script}} {
		if part.value != "" {
			text += "\n" + part.name + present.Cut(short(part.value), 300)
		}
	}
	if x.Webhook != "" {
		text += "\ntells a webhook"
	}
	w := keptWords{icon: icon, path: x.Path, text: text, output: present.Text(tail(x.Output, 1500))}
	if x.Fired() {
		return w
	}
	path := x.Path
	w.actions = []keptAction{
		{"Extend…", path, func(*button) { p.ui.showExtend(path) }},
		{"Cancel", path, func(b *button) {
			p.ui.change(b, "The timer was not cancelled: ", func(ctx context.Context) error {
				_, err := p.ui.options.Fuses.Cancel(ctx, path)
				return err
			})
		}},
	}
	return w
}

// durations are offered for timers; others can be typed.
var durations = []string{"10m", "30m", "1h", "2h", "8h"}

// parseIn reads a time to come as a user writes it: "45m", "2 h", "90" (minutes).
func parseIn(text string) (time.Duration, error) {
	text = strings.ToLower(strings.ReplaceAll(strings.TrimSpace(text), " ", ""))
	if text != "" && strings.Trim(text, "0123456789") == "" {
		text += "m"
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, errors.New("a time is written like 45m, 2h or 1h30m")
	}
	return d, nil
}

// newDuration is a field for a time to come.
func newDuration(u *UI, changed func()) *suggestEntry {
	e := newSuggestEntry(u, durations)
	e.SetText(durations[0])
	e.OnChanged = func(string) { changed() }
	return e
}

// showFuse sets a timer.
func (u *UI) showFuse(dir string) {
	s := u.newSheet("Set a timer", sheetWidth)
	problem := container.NewStack()
	problem.Hide()
	set := s.button("Set it", nil)
	set.Importance = widget.HighImportance
	var check func()
	folder := newFolderField(u, func() { check() })
	in := newDuration(u, func() { check() })
	script := newFormText(u, "a command, run in the folder, for 2 minutes at most", 2, func(string) { check() })
	hook := newFormEntry(u, "https://…, told when its time is up", func(string) { check() })
	note := newFormEntry(u, "what it is for", nil)
	check = func() {
		setEnabled(set, folder.path() != "" && strings.TrimSpace(script.Text+hook.Text) != "" && in.Text != "")
	}
	folder.entry.SetText(dir)
	set.OnTapped = func() {
		x := fuse.Fuse{Path: folder.path(), Note: strings.TrimSpace(note.Text), Script: strings.TrimSpace(script.Text), Webhook: strings.TrimSpace(hook.Text)}
		after := in.Text
		s.submit(set, problem, func(ctx context.Context) error {
			d, err := parseIn(after)
			if err != nil {
				return err
			}
			_, err = u.options.Fuses.Set(ctx, x, d)
			return err
		})
	}
	folder.entry.submit, in.submit, script.submit, hook.submit, note.submit = set.OnTapped, set.OnTapped, set.OnTapped, set.OnTapped, set.OnTapped
	check()
	s.show([]fyne.CanvasObject{
		paragraph("When its time is up, while the tray runs or at its next start, the script runs, the webhook is told, or both.", widget.LowImportance),
		container.New(layout.NewCustomPaddedVBoxLayout(6), named("Folder", folder.content), named("In", in), named("Script", script),
			named("Webhook", hook), named("Note", note)), problem}, s.button("Cancel", s.close), set)
	s.focus(folder.entry)
}

// showExtend lets a timer run longer.
func (u *UI) showExtend(path string) {
	s := u.newSheet("Extend the timer", sheetWidth)
	problem := container.NewStack()
	problem.Hide()
	extend := s.button("Extend it", nil)
	extend.Importance = widget.HighImportance
	by := newDuration(u, func() {})
	extend.OnTapped = func() {
		more := by.Text
		s.submit(extend, problem, func(ctx context.Context) error {
			d, err := parseIn(more)
			if err == nil {
				_, err = u.options.Fuses.Extend(ctx, path, d)
			}
			return err
		})
	}
	by.submit = extend.OnTapped
	s.show([]fyne.CanvasObject{paragraph(short(path), widget.MediumImportance), named("By", by), problem}, s.button("Cancel", s.close), extend)
	s.focus(extend)
}
