package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"rollcall/adapters"
	"rollcall/app/ui/widgets"
)

// wheel turns the wheel over the middle of o: what is topmost there and scrolls gets it.
func (w *window) wheel(o fyne.CanvasObject, by fyne.Delta) {
	w.t.Helper()
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject
	middle := at(o).AddXY(o.Size().Width/2, o.Size().Height/2)
	var top fyne.Scrollable
	for _, x := range visible(w.ui.content) {
		s, ok := x.(fyne.Scrollable)
		from := at(x)
		to := from.Add(x.Size())
		if ok && from.X <= middle.X && middle.X < to.X && from.Y <= middle.Y && middle.Y < to.Y {
			top = s
		}
	}
	if top == nil {
		w.t.Fatalf("nothing scrolls at %v", middle)
	}
	top.Scrolled(&fyne.ScrollEvent{Scrolled: by})
}

// TestWheelOverPrompt: over the prompt the wheel scrolls the page while the text fits, and the text once it doesn't.
func TestWheelOverPrompt(t *testing.T) {
	w, p, _ := launchWindow(t, full())
	w.win.Resize(fyne.NewSize(900, 460))
	w.win.Canvas().Capture()
	for _, c := range []struct {
		text string
		want float32
	}{{"one line", 40}, {strings.Repeat("a line\n", 40), 0}} {
		p.prompt.SetText(c.text)
		p.scroll.ScrollToTop()
		w.wheel(p.prompt, fyne.Delta{DY: -40})
		if p.scroll.Offset.Y != c.want {
			t.Errorf("with %d lines the page is scrolled by %g, want %g", strings.Count(c.text, "\n")+1, p.scroll.Offset.Y, c.want)
		}
	}
}

// TestOneScroll: sixty ticks of the wheel at one place of the details move sixty times the same distance, through code, tables, diffs and the request, and only a
// horizontal wheel moves a block sideways.
func TestOneScroll(t *testing.T) {
	long := strings.Repeat("a line of code that is wider than the pane ", 6)
	blocks := "```go\n" + strings.Repeat(long+"\n", 9) + "```\n\n| file | what |\n| --- | --- |\n" + strings.Repeat("| a.go | "+long+" |\n", 5) +
		"\n```diff\n-" + long + "\n+" + long + "\n```\n"
	change := command("a", "1", strings.Repeat("echo one of many lines; ", 200), time.Minute)
	w := openQueue(t, newAsker(change), waiters(map[string]int{"a": 1}))
	w.armed(change.Text)
	var talk []adapters.Message
	for i := range 30 {
		talk = append(talk, from(adapters.FromAgent, fmt.Sprint(i), blocks, time.Minute))
	}
	w.core.say("a", talk...)
	w.talking(30)
	d := w.ui.sessions.detail
	scroll := d.conversation.scroll
	d.conversation.showEarlier()
	w.win.Canvas().Capture()
	scroll.ScrollToTop()
	was := scroll.Offset.Y
	for i := range 60 {
		w.wheel(scroll, fyne.Delta{DY: -40})
		if moved := scroll.Offset.Y - was; moved != 40 {
			t.Fatalf("tick %d moves by %g, want 40", i+1, moved)
		}
		was = scroll.Offset.Y
	}
	var block *widgets.Sideways
	for _, o := range visible(d.conversation.content) {
		if s, ok := o.(*widgets.Sideways); ok && s.MinSize().Width < s.Content.MinSize().Width {
			block = s
		}
	}
	if block == nil {
		t.Fatal("no block is in sight")
	}
	block.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.Delta{DX: -40}})
	if block.Offset.X != 40 || scroll.Offset.Y != was {
		t.Errorf("a horizontal wheel moves the block by %g, and the pane by %g", block.Offset.X, scroll.Offset.Y-was)
	}
}
