package ui

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
)

// messageView shows one message of a conversation.
type messageView struct {
	ui      *UI
	words   words
	content fyne.CanvasObject
	resized func() // tells that the height may have changed

	text  *selectText // of what was said, or noted
	all   *link       // shows the rest of a long text
	whole bool        // it does

	icon *canvas.Image // of a call
	line *line
}

func newMessageView(u *UI, w words, now time.Time, resized func()) *messageView {
	v := &messageView{ui: u, words: w, resized: resized}
	switch w.role {
	case adapters.FromTool:
		v.content = v.call(now)
	case adapters.FromNote:
		v.content = v.note(now)
	default:
		v.content = v.said(now)
	}
	return v
}

// said is a text below who said it and when. What the user said stands on a
// panel: it is what one looks for.
func (v *messageView) said(now time.Time) fyne.CanvasObject {
	who := newLine(v.words.speaker, theme.ColorNameForeground, theme.SizeNameCaptionText, fyne.TextStyle{Bold: true})
	v.text = newSelectText(v.shown())
	body := container.New(layout.NewCustomPaddedVBoxLayout(-4),
		container.New(layout.NewCustomPaddedLayout(4, 0, 6, 6), border(nil, nil, newTime(v.words.at, now), who)), v.text)
	if v.words.rest != "" {
		v.all = newLink(v.ui, "Show all", v.showAll)
		body.Add(v.all)
	}
	if v.words.role == adapters.FromUser {
		return container.New(layout.NewCustomPaddedLayout(5, 5, 8, 12), newPanel(
			container.New(layout.NewCustomPaddedLayout(2, 2, 4, 4), body)))
	}
	return container.New(layout.NewCustomPaddedLayout(6, 3, 12, 16), body)
}

func (v *messageView) shown() string {
	switch {
	case v.words.rest == "":
		return v.words.text
	case v.whole:
		return v.words.text + v.words.rest
	}
	return v.words.text + "…"
}

func (v *messageView) showAll() {
	v.whole = !v.whole
	v.text.SetText(v.shown())
	if v.whole {
		v.all.SetText("Show less")
	} else {
		v.all.SetText("Show all")
	}
	v.resized()
}

// call is a call of a tool: its state as an icon, and what it does, in one line.
func (v *messageView) call(now time.Time) fyne.CanvasObject {
	v.icon = smallIcon(toolIcon(v.words.state))
	name := canvasText(v.words.tool, theme.ColorNameForeground)
	v.line = newLine(v.words.text, colorMuted, theme.SizeNameCaptionText, fyne.TextStyle{Monospace: true})
	left := container.New(layout.NewCustomPaddedHBoxLayout(6), container.NewCenter(v.icon), name)
	return container.New(layout.NewCustomPaddedLayout(2, 2, 18, 22),
		border(nil, left, newTime(v.words.at, now), container.New(layout.NewCustomPaddedLayout(0, 0, 8, 8), v.line)))
}

// canvasText is a name in the fixed width of tools, as wide as it needs.
func canvasText(text string, color fyne.ThemeColorName) *line {
	return newLine(text, color, theme.SizeNameCaptionText, fyne.TextStyle{Monospace: true, Bold: true}).whole()
}

func smallIcon(i *icon) *canvas.Image {
	image := canvas.NewImageFromResource(i)
	image.FillMode = canvas.ImageFillContain
	image.SetMinSize(fyne.NewSquareSize(12))
	return image
}

// toolIcon is the sign of what became of a call.
func toolIcon(s adapters.ToolState) *icon {
	switch s {
	case adapters.ToolRunning:
		return newIcon("working", colorWorking)
	case adapters.ToolDone:
		return newIcon("done", colorGood)
	case adapters.ToolFailed:
		return newIcon("failed", colorBad)
	}
	return newIcon("unknown", colorMuted)
}

// note is what the agent notes itself.
func (v *messageView) note(now time.Time) fyne.CanvasObject {
	icon := smallIcon(newIcon("idle", colorMuted))
	v.text = newSelectText(v.shown())
	v.text.TextStyle.Italic = true
	v.text.Importance = widget.LowImportance
	body := container.New(layout.NewCustomPaddedVBoxLayout(-4), v.text)
	if v.words.rest != "" {
		v.all = newLink(v.ui, "Show all", v.showAll)
		body.Add(v.all)
	}
	return container.New(layout.NewCustomPaddedLayout(0, 0, 18, 22), border(nil,
		container.New(layout.NewCustomPaddedLayout(9, 0, 0, 0), container.NewVBox(icon)),
		container.New(layout.NewCustomPaddedLayout(7, 0, 0, 0), container.NewVBox(newTime(v.words.at, now))), body))
}

// newTime says when something was said: the time of day, or the day of an older
// one as well.
func newTime(at, now time.Time) fyne.CanvasObject {
	text := ""
	switch at = at.In(now.Location()); {
	case at.IsZero():
	case at.YearDay() == now.YearDay() && at.Year() == now.Year():
		text = at.Format("15:04")
	case at.Year() == now.Year():
		text = at.Format("2 Jan 15:04")
	default:
		text = at.Format("2 Jan 2006 15:04")
	}
	return newLine(text, colorMuted, theme.SizeNameCaptionText, fyne.TextStyle{}).whole()
}

// set shows the message as it is now; false where it has to be built anew.
func (v *messageView) set(w words) bool {
	was := v.words
	if was == w {
		return true
	}
	if was.role != w.role || was.speaker != w.speaker || was.tool != w.tool || (was.rest == "") != (w.rest == "") || !was.at.Equal(w.at) {
		return false
	}
	v.words = w
	if w.role == adapters.FromTool {
		v.icon.Resource = toolIcon(w.state)
		v.icon.Refresh()
		v.line.set(w.text, colorMuted)
		return true
	}
	v.text.SetText(v.shown())
	return true
}
