package facts

import (
	"cmp"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/describe"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

// Line returns what a session is called, with its agent, folder and status.
func Line(s *app.Session) fyne.CanvasObject {
	text := present.AgentName(s.Agent) + " · " + describe.Folder(s) + " · " + present.Status(s.Session)
	if topic := describe.Title(s); topic != "" {
		text = "“" + present.Cut(topic, 120) + "”\n" + text
	}
	return widgets.Paragraph(text, widget.MediumImportance)
}

// StatusIcon returns the icon of a session's status. The icons differ by shape as well as by colour.
func StatusIcon(s *adapters.Session) *widgets.Icon {
	names := map[adapters.Status]string{adapters.Waiting: "waiting", adapters.Working: "working", adapters.Idle: "idle", adapters.Stopped: "stopped"}
	name, color := cmp.Or(names[s.Status], "unknown"), StatusColor(s)
	switch {
	case s.Suspended && s.Live() && s.Status != adapters.Waiting:
		name = "suspended"
	case s.Status == adapters.Stopped && s.Outcome == adapters.Completed:
		name, color = "done", widgets.ColorGood
	case s.Status == adapters.Stopped && color == widgets.ColorBad:
		name = "failed"
	}
	return widgets.NewIcon(name, color)
}

// StatusColor returns the colour of a session's status in words.
func StatusColor(s *adapters.Session) fyne.ThemeColorName {
	switch {
	case s.Status == adapters.Waiting:
		return widgets.ColorWaiting
	case s.Status == adapters.Working && !s.Suspended:
		return widgets.ColorWorking
	case s.Outcome == adapters.Failed, s.Outcome == adapters.Died:
		return widgets.ColorBad
	}
	return widgets.ColorMuted
}
