package ui

import (
	"fyne.io/fyne/v2"

	"rollcall/adapters"
	"rollcall/app/ui/widgets"
)

// statusIcon returns the icon of a session's status. The icons differ by shape as well as by colour.
func statusIcon(s *adapters.Session) *widgets.Icon {
	if s.Suspended && s.Live() && s.Status != adapters.Waiting {
		return widgets.NewIcon("suspended", statusColor(s))
	}
	switch s.Status {
	case adapters.Waiting:
		return widgets.NewIcon("waiting", widgets.ColorWaiting)
	case adapters.Working:
		return widgets.NewIcon("working", widgets.ColorWorking)
	case adapters.Idle:
		if s.Outcome == adapters.Failed {
			return widgets.NewIcon("idle", widgets.ColorBad)
		}
		return widgets.NewIcon("idle", widgets.ColorMuted)
	case adapters.Stopped:
		switch s.Outcome {
		case adapters.Completed:
			return widgets.NewIcon("done", widgets.ColorGood)
		case adapters.Failed, adapters.Died:
			return widgets.NewIcon("failed", widgets.ColorBad)
		}
		return widgets.NewIcon("stopped", widgets.ColorMuted)
	}
	return widgets.NewIcon("unknown", widgets.ColorMuted)
}

// statusColor returns the colour of a session's status in words.
func statusColor(s *adapters.Session) fyne.ThemeColorName {
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
