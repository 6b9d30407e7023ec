package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/follow"
	"rollcall/app/ui/widgets"
	"rollcall/internal/agentname"
	"rollcall/textmatch"
)

// marked returns the texts that a part of the window marks as found, in their order. The present hit is in brackets.
func marked(o fyne.CanvasObject) (texts []string) {
	for _, x := range visible(o) {
		switch x := x.(type) {
		case *widget.RichText:
			for _, s := range x.Segments {
				if t, ok := s.(*widget.TextSegment); ok && t.Style.ColorName != "" && t.Visual().MinSize().Width > 0 {
					if _, isHit := t.Visual().(*fyne.Container); isHit {
						texts = append(texts, bracketed(t.Text, t.Style.TextStyle))
					}
				}
			}
		case *canvas.Text:
			if x.TextStyle.Monospace && strings.EqualFold(x.Text, "flaky") {
				texts = append(texts, bracketed(x.Text, x.TextStyle))
			}
		}
	}
	return texts
}

func bracketed(text string, style fyne.TextStyle) string {
	if style.Underline {
		return "[" + text + "]"
	}
	return text
}

// showEverything shows also what is out of sight.
func showEverything(c *conversation) {
	for _, o := range c.rows.Objects {
		o.Show()
		hideBlocks(o, 0, 1e6)
	}
}

// TestFindInConversation: Ctrl+F finds in the conversation that is shown, also in what is folded and where Markdown divides the text; Enter and F3 go on, Shift goes
// back; Escape takes the marks away and gives the focus back.
func TestFindInConversation(t *testing.T) {
	w := open(t, full())
	c := w.ui.sessions.detail.conversation
	long := strings.Repeat("a line of the prompt that is folded\n", 40) + "and here it is Flaky"
	w.core.say(firstID, from(adapters.FromUser, "0", long, 3*time.Minute), from(adapters.FromAgent, "1", "The fl**aky** test. Nothing else is flaky:\n\n- one flaky item\n\n```go\nvar flaky = 1\n```\n", time.Minute),
		toolCall("2", "Bash", "grep flaky", adapters.ToolDone, time.Minute), from(adapters.FromAgent, "3", "Nothing.", time.Minute), from(adapters.FromAgent, "4", strings.Repeat("Done.\n\n", 30), time.Minute))
	w.talking(5)
	w.ui.host.Focus(w.ui.sessions.list)
	w.shortcut(fyne.KeyF)
	if f, ok := w.win.Canvas().Focused().(*widgets.Entry); !ok || f.PlaceHolder != "Find in this conversation" {
		t.Fatalf("Ctrl+F leads to %#v", w.win.Canvas().Focused())
	}
	for _, r := range "flaky" {
		w.rune(r)
	}
	w.win.Canvas().Capture()
	shows(t, c.content, "6 of 6", "and here it is ") // below the first ones no hit is in sight: the nearest above is the last
	w.key(fyne.KeyReturn)
	shows(t, c.content, "1 of 6")
	for i, want := range []string{"[Flaky] fl aky flaky flaky flaky", "Flaky [fl] [aky] flaky flaky flaky", "Flaky fl aky [flaky] flaky flaky", "Flaky fl aky flaky [flaky] flaky",
		"Flaky fl aky flaky flaky [flaky]", "Flaky fl aky flaky flaky flaky"} {
		shows(t, c.content, fmt.Sprintf("%d of 6", i+1))
		showEverything(c)
		if got := strings.Join(marked(c.content), " "); got != want {
			t.Errorf("at hit %d marked are %q, want %q", i+1, got, want)
		}
		w.key(fyne.KeyF3)
	}
	w.key(fyne.KeyF3)
	w.key(fyne.KeyF3)
	w.shoot("find")
	w.key(fyne.KeyEscape)
	if got := marked(c.content); len(got) > 0 || w.win.Canvas().Focused() != fyne.Focusable(w.ui.sessions.list) {
		t.Errorf("after Escape %q are marked, and the focus is on %T", got, w.win.Canvas().Focused())
	}
	if says(c, "and here it is Flaky") {
		t.Error("what was folded stays unfolded")
	}
}

// TestFindAgain: new messages are searched, too, and the present hit stays the same; what is not there is said.
func TestFindAgain(t *testing.T) {
	w := open(t, full())
	c := w.ui.sessions.detail.conversation
	talk := []adapters.Message{from(adapters.FromUser, "0", "one needle", 3*time.Minute), from(adapters.FromAgent, "1", "two needles, needle", time.Minute)}
	w.core.say(firstID, talk...)
	w.talking(2)
	w.shortcut(fyne.KeyF)
	for _, r := range "needle" {
		w.rune(r)
	}
	w.until("the hits", func() bool { return says(c, "1 of 3") })
	w.key(fyne.KeyReturn)
	w.core.say(firstID, append(talk, from(adapters.FromAgent, "2", "a needle more", time.Second))...)
	w.until("the new hit", func() bool { return says(c, "2 of 4") })
	w.rune('x')
	shows(t, c.content, "Nothing found")
	w.ui.Show("w1")
	if w.ui.sessions.detail.conversation.finder.content.Visible() {
		t.Error("the field stays for another session")
	}
}

// TestSnippets: a hit's line has no marks of Markdown, unless they are what was searched for, and loses nothing else.
func TestSnippets(t *testing.T) {
	for text, want := range map[string]string{
		"The **[flaky]** test": "The [flaky] test", "a *very [flaky]* test": "a very [flaky] test", "## The `[flaky]` one": "The [flaky] one", "* an item, [flaky]": "an item, [flaky]",
		"2 * 3 is [flaky] * 4": "2 * 3 is [flaky] * 4", "**The [**] mark": "**The [**] mark", "*[flaky]*, *twice*": "[flaky], twice",
	} {
		before, rest, _ := strings.Cut(text, "[")
		match, after, _ := strings.Cut(rest, "]")
		h := app.SearchHit{Agent: agentname.ClaudeCode, Hit: adapters.Hit{Role: adapters.FromAgent, Part: textmatch.Part{Before: before, Match: match, After: after}}}
		line := follow.NewHit(&h).Line
		if got := line.Before + "[" + line.Match + "]" + line.After; got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

// TestHitIsMarked: the conversation of a search's hit has what was searched for marked, its own hit first, and F3 goes on from it.
func TestHitIsMarked(t *testing.T) {
	a := app.Around{Session: full().Own[0], At: 2}
	for i := range 5 {
		a.Messages = append(a.Messages, from(adapters.FromUser, fmt.Sprint("k", i), fmt.Sprintf("message %d has the flaky test", i), time.Minute))
	}
	hit := hitOf(agentname.ClaudeCode, firstID, "/srv", adapters.FromUser, "message 2 has the ", "flaky", " test", time.Minute)
	hit.Key = "k2"
	core := &searchCore{fakeCore: &fakeCore{snapshot: full()}, hits: []app.SearchHit{hit}, around: a}
	w := openWith(t, core, Options{Agents: usualAgents()})
	w.ui.open(pageSearch)
	w.ui.search.entry.SetText("flaky")
	w.until("the hit", func() bool { return len(w.ui.search.result.Hits) == 1 })
	w.ui.search.list.Select(0)
	c := w.ui.search.hit.conversation
	w.until("its conversation", func() bool { return len(c.views) == 5 })
	shows(t, w.ui.search.content, "3 of 5")
	if got := strings.Join(marked(c.content), " "); got != "flaky flaky [flaky] flaky flaky" {
		t.Errorf("marked are %q", got)
	}
	w.ui.host.Focus(w.ui.search.list)
	w.key(fyne.KeyF3)
	shows(t, w.ui.search.content, "4 of 5")
	w.shoot("find-hit")
}

// TestFoundIsInSight: a hit far away in a long conversation is in sight when it is the present one, in each kind of block.
func TestFoundIsInSight(t *testing.T) {
	w := open(t, full())
	c := w.ui.sessions.detail.conversation
	var talk []adapters.Message
	for i := range 200 {
		text := "Nothing here.\n\nNor here.\n"
		switch i {
		case 20:
			text = strings.Repeat("word ", 400) + "needle" + strings.Repeat(" word", 400)
		case 80:
			text = "A block\n\n```go\n" + strings.Repeat("x := 1\n", 60) + "needle := 1\n" + strings.Repeat("x := 1\n", 60) + "```\n"
		case 120:
			text = "- one\n- > a quote with a needle\n"
		}
		talk = append(talk, from(adapters.FromAgent, fmt.Sprint(i), text, time.Minute))
	}
	w.core.say(firstID, talk...)
	w.talking(50)
	w.win.Canvas().Capture()
	w.shortcut(fyne.KeyF)
	for _, r := range "needle" {
		w.rune(r)
	}
	w.until("the hits", func() bool { return says(c, "3 of 3") })
	for i := range 6 {
		hit := i%3 + 1
		w.key(fyne.KeyReturn)
		shows(t, c.content, fmt.Sprintf("%d of 3", hit))
		w.win.Canvas().Capture()
		position := fyne.CurrentApp().Driver().AbsolutePositionForObject
		y := float32(-1)
		for _, o := range visible(c.rows) {
			if text, ok := o.(*canvas.Text); ok && text.TextStyle.Underline {
				y = position(o).Y - position(c.scroll).Y
			}
		}
		if y < 0 || y > c.scroll.Size().Height {
			t.Errorf("hit %d is not in sight, but at %g of %g; the window computed %g, scrolled to %g", hit, y, c.scroll.Size().Height, c.finder.position(hit-1), c.scroll.Offset.Y)
		}
	}
	w.shoot("find-far")
}
