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
		line := newHitText(&h).line
		if got := line.Before + "[" + line.Match + "]" + line.After; got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
