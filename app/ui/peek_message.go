package ui

import (
	"cmp"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app/describe"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

// messageView shows one message of a conversation.
type messageView struct {
	message describe.Message
	content fyne.CanvasObject

	text *widgets.LongText // text of a message or a note
	icon *canvas.Image     // of a tool call
	line *widgets.Line     // of a tool call
	mark *widgets.CopyMark // copies the message
}

// aside returns the time of a message, and the icon that copies it.
func (v *messageView) aside(now time.Time) fyne.CanvasObject {
	return widgets.Columns(6, container.NewCenter(v.mark), newTime(v.message.At, now))
}

// newMessageView shows a message. resized is called when the height may have changed.
func newMessageView(h *widgets.Host, m describe.Message, now time.Time, resized func()) *messageView {
	v := &messageView{message: m}
	v.mark = h.NewCopyMark(func() string { return v.message.Markdown() })
	switch m.Role {
	case adapters.FromTool:
		v.content = v.toolCall(now)
		if m.Plan {
			v.line.Set("", widgets.ColorMuted)
			v.text = h.NewMarkdown(m.Text, m.Rest, resized)
			v.content = widgets.Rows(0, v.content, widgets.Pad(0, 4, 14, 16, widgets.NewPanel(2, 4, 4, 4, v.text.Content)))
		}
	case adapters.FromAgent:
		v.text = h.NewMarkdown(m.Text, m.Rest, resized)
		v.content = v.turn(v.text.Content, now)
	case adapters.FromNote:
		label := widgets.NewSelectText("")
		v.text = h.NewLongText(label, m.Text, m.Rest, resized)
		label.TextStyle.Italic, label.Importance = true, widget.LowImportance
		v.content = v.note(v.text.Content, now)
	default:
		v.text = h.NewLongText(widgets.NewSelectText(""), m.Text, m.Rest, resized)
		v.content = v.turn(v.text.Content, now)
	}
	return v
}

// turn shows a text below its author and time. The user's own messages are on a panel, because users search for them.
func (v *messageView) turn(text fyne.CanvasObject, now time.Time) fyne.CanvasObject {
	who := widgets.NewLine(v.message.Speaker, theme.ColorNameForeground, theme.SizeNameCaptionText, fyne.TextStyle{Bold: true})
	body := widgets.Rows(-4, widgets.Pad(4, 0, 6, 6, widgets.Border(nil, nil, v.aside(now), who)), text)
	if v.message.Role == adapters.FromUser {
		return widgets.Pad(5, 5, 4, 6, widgets.NewPanel(2, 2, 4, 4, body))
	}
	return widgets.Pad(6, 3, 8, 10, body)
}

// toolCall shows a call of a tool on one line: its state as an icon, its name, and what it does.
func (v *messageView) toolCall(now time.Time) fyne.CanvasObject {
	v.icon = widgets.NewImage(toolIcon(v.message.State), 12)
	mono := fyne.TextStyle{Monospace: true}
	name := widgets.NewLine(v.message.Tool, theme.ColorNameForeground, theme.SizeNameCaptionText, fyne.TextStyle{Monospace: true, Bold: true}).Whole()
	v.line = widgets.NewLine(v.message.Text, widgets.ColorMuted, theme.SizeNameCaptionText, mono)
	return widgets.Pad(2, 2, 14, 16, widgets.Border(nil, widgets.Columns(6, container.NewCenter(v.icon), name),
		v.aside(now), widgets.Pad(0, 0, 8, 8, v.line)))
}

// note shows a note that the agent made.
func (v *messageView) note(text fyne.CanvasObject, now time.Time) fyne.CanvasObject {
	return widgets.Pad(0, 0, 14, 16, widgets.Border(nil, widgets.TopOf(9, 0, 0, 0, widgets.NewImage(widgets.NewIcon("idle", widgets.ColorMuted), 12)),
		widgets.TopOf(7, 0, 0, 0, newTime(v.message.At, now)), text))
}

// toolIcon returns the icon of a call's state.
func toolIcon(s adapters.ToolState) *widgets.Icon {
	icons := map[adapters.ToolState]*widgets.Icon{adapters.ToolRunning: widgets.NewIcon("working", widgets.ColorWorking),
		adapters.ToolDone: widgets.NewIcon("done", widgets.ColorGood), adapters.ToolFailed: widgets.NewIcon("failed", widgets.ColorBad)}
	return cmp.Or(icons[s], widgets.NewIcon("unknown", widgets.ColorMuted))
}

// newTime shows the time of a message: the time of day, with the date unless that is today.
func newTime(at, now time.Time) fyne.CanvasObject {
	return widgets.NewCaption(present.TimeOfDay(at, now)).Whole()
}

// set shows the message as it is now. It returns false if another view must be created for m.
func (v *messageView) set(m describe.Message) bool {
	was := v.message
	if was == m {
		return true
	}
	if was.Role != m.Role || was.Speaker != m.Speaker || was.Tool != m.Tool || was.Plan != m.Plan || (was.Rest == "") != (m.Rest == "") || !was.At.Equal(m.At) {
		return false
	}
	v.message = m
	if m.Role == adapters.FromTool {
		widgets.SetImage(v.icon, toolIcon(m.State))
		if !m.Plan {
			v.line.Set(m.Text, widgets.ColorMuted)
			return true
		}
	}
	v.text.Set(m.Text, m.Rest)
	return true
}
