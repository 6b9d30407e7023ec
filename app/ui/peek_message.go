package ui

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

// messageView shows one message of a conversation.
type messageView struct {
	message messageText
	content fyne.CanvasObject

	text *widgets.LongText // text of a message or a note
	icon *canvas.Image     // of a tool call
	line *widgets.Line     // of a tool call
	mark *widgets.CopyMark // copies the message
}

// markdown returns the whole text of a message as it was written, or what a tool was called with.
func (m *messageText) markdown() string {
	if m.whole != "" {
		return present.Text(m.whole)
	}
	return m.text + m.rest
}

// aside returns the time of a message, and the icon that copies it.
func (v *messageView) aside(now time.Time) fyne.CanvasObject {
	return widgets.Columns(6, container.NewCenter(v.mark), newTime(v.message.at, now))
}

// newMessageView shows a message. resized is called when the height may have changed.
func newMessageView(h *widgets.Host, m messageText, now time.Time, resized func()) *messageView {
	v := &messageView{message: m}
	v.mark = h.NewCopyMark(func() string { return v.message.markdown() })
	switch m.role {
	case adapters.FromTool:
		v.content = v.toolCall(now)
		if m.plan {
			v.line.Set("", widgets.ColorMuted)
			v.text = h.NewMarkdown(m.text, m.rest, resized)
			v.content = widgets.Rows(0, v.content, widgets.Pad(0, 4, 14, 16, widgets.NewPanel(2, 4, 4, 4, v.text.Content)))
		}
	case adapters.FromAgent:
		v.text = h.NewMarkdown(m.text, m.rest, resized)
		v.content = v.turn(v.text.Content, now)
	case adapters.FromNote:
		label := widgets.NewSelectText("")
		v.text = h.NewLongText(label, m.text, m.rest, resized)
		label.TextStyle.Italic, label.Importance = true, widget.LowImportance
		v.content = v.note(v.text.Content, now)
	default:
		v.text = h.NewLongText(widgets.NewSelectText(""), m.text, m.rest, resized)
		v.content = v.turn(v.text.Content, now)
	}
	return v
}

// turn shows a text below its author and time. The user's own messages are on a panel, because users search for them.
func (v *messageView) turn(text fyne.CanvasObject, now time.Time) fyne.CanvasObject {
	who := widgets.NewLine(v.message.speaker, theme.ColorNameForeground, theme.SizeNameCaptionText, fyne.TextStyle{Bold: true})
	body := widgets.Rows(-4, widgets.Pad(4, 0, 6, 6, widgets.Border(nil, nil, v.aside(now), who)), text)
	if v.message.role == adapters.FromUser {
		return widgets.Pad(5, 5, 4, 6, widgets.NewPanel(2, 2, 4, 4, body))
	}
	return widgets.Pad(6, 3, 8, 10, body)
}

// toolCall shows a call of a tool on one line: its state as an icon, its name, and what it does.
func (v *messageView) toolCall(now time.Time) fyne.CanvasObject {
	v.icon = widgets.NewImage(toolIcon(v.message.state), 12)
	mono := fyne.TextStyle{Monospace: true}
	name := widgets.NewLine(v.message.tool, theme.ColorNameForeground, theme.SizeNameCaptionText, fyne.TextStyle{Monospace: true, Bold: true}).Whole()
	v.line = widgets.NewLine(v.message.text, widgets.ColorMuted, theme.SizeNameCaptionText, mono)
	return widgets.Pad(2, 2, 14, 16, widgets.Border(nil, widgets.Columns(6, container.NewCenter(v.icon), name),
		v.aside(now), widgets.Pad(0, 0, 8, 8, v.line)))
}

// note shows a note that the agent made.
func (v *messageView) note(text fyne.CanvasObject, now time.Time) fyne.CanvasObject {
	return widgets.Pad(0, 0, 14, 16, widgets.Border(nil, widgets.TopOf(9, 0, 0, 0, widgets.NewImage(widgets.NewIcon("idle", widgets.ColorMuted), 12)),
		widgets.TopOf(7, 0, 0, 0, newTime(v.message.at, now)), text))
}

// toolIcon returns the icon of a call's state.
func toolIcon(s adapters.ToolState) *widgets.Icon {
	switch s {
	case adapters.ToolRunning:
		return widgets.NewIcon("working", widgets.ColorWorking)
	case adapters.ToolDone:
		return widgets.NewIcon("done", widgets.ColorGood)
	case adapters.ToolFailed:
		return widgets.NewIcon("failed", widgets.ColorBad)
	}
	return widgets.NewIcon("unknown", widgets.ColorMuted)
}

// newTime shows the time of a message: the time of day, with the date unless that is today.
func newTime(at, now time.Time) fyne.CanvasObject {
	return widgets.NewCaption(timeText(at, now)).Whole()
}

// timeText returns the time of a message in words.
func timeText(at, now time.Time) (text string) {
	switch at = at.In(now.Location()); {
	case at.IsZero():
	case at.YearDay() == now.YearDay() && at.Year() == now.Year():
		text = at.Format("15:04")
	case at.Year() == now.Year():
		text = at.Format("2 Jan 15:04")
	default:
		text = at.Format("2 Jan 2006 15:04")
	}
	return text
}

// set shows the message as it is now. It returns false if another view must be created for m.
func (v *messageView) set(m messageText) bool {
	was := v.message
	if was == m {
		return true
	}
	if was.role != m.role || was.speaker != m.speaker || was.tool != m.tool || was.plan != m.plan || (was.rest == "") != (m.rest == "") || !was.at.Equal(m.at) {
		return false
	}
	v.message = m
	if m.role == adapters.FromTool {
		widgets.SetImage(v.icon, toolIcon(m.state))
		if !m.plan {
			v.line.Set(m.text, widgets.ColorMuted)
			return true
		}
	}
	v.text.Set(m.text, m.rest)
	return true
}
