package usagepage

import (
	"context"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

// limitStrip shows the usage limits that agents recorded last: a line with a bar for each window.
type limitStrip struct {
	content *fyne.Container
	rows    *fyne.Container
	without *widgets.Line // the agents that could not be read
}

// limitWidths are the widths of the columns after the account and its window. limitSpare are the columns that a narrow window leaves out.
var limitWidths, limitSpare = []float32{120, 80, 120, 90}, []int{4, 3, 2}

func newLimitStrip() *limitStrip {
	s := &limitStrip{rows: widgets.Rows(4), without: widgets.NewCaption("")}
	s.content = widgets.Rows(6, widgets.NewCaption("Limits, as the agents recorded them"), s.rows, s.without)
	s.content.Hide()
	return s
}

// read reads the limits on another goroutine, and shows them.
func (s *limitStrip) read(w *Window) {
	widgets.InBackground(w.Context, w.Host, func(ctx context.Context) ([]app.AgentLimits, error) {
		return app.LimitsOf(ctx, w.Agents, 0), nil
	},
		func(found []app.AgentLimits, _ error) { s.show(w, found) })
}

// maxLimitRows is the largest number of windows that the strip shows.
const maxLimitRows = 8

func (s *limitStrip) show(w *Window, agents []app.AgentLimits) {
	set := w.Settings()
	s.rows.Objects = nil
	var failed []string
	for i := range agents {
		a := &agents[i]
		if a.Err != nil {
			failed = append(failed, present.AgentName(a.Agent)+": "+present.Short(a.Err.Error()))
		}
		for j := range a.Limits {
			if l := &a.Limits[j]; len(s.rows.Objects) < maxLimitRows {
				who := strings.TrimSpace(present.AgentName(a.Agent) + " " + present.Short(set.NameAccount(a.Agent, l.Home, a.SeveralHomes())))
				s.rows.Add(limitRow(who, l, w.Now()))
			}
		}
	}
	s.without.Set(strings.Join(failed, "; "), widgets.ColorMuted)
	s.without.Hidden = len(failed) == 0
	widgets.SetVisible(s.content, len(s.rows.Objects) > 0 || len(failed) > 0)
	s.content.Refresh()
}

// limitRow returns the line of one window.
func limitRow(who string, l *adapters.Limit, now time.Time) fyne.CanvasObject {
	line := func(text string, color fyne.ThemeColorName) *widgets.Line {
		return widgets.NewLine(text, color, theme.SizeNameText, fyne.TextStyle{})
	}
	bar := widgets.NewBar(0)
	if l.Balance == "" && l.Holds(now) {
		bar.Set(l.Used / 100)
	} else {
		bar.Hide() // an empty bar would look like 0 %
	}
	return widgets.Cells(limitWidths, limitSpare, line(who+" · "+present.LimitWindow(l), theme.ColorNameForeground), widgets.Pad(6, 6, 0, 0, bar),
		line(present.LimitUse(l, now), theme.ColorNameForeground).Trailing(), line(present.LimitReset(l, now), widgets.ColorMuted).Trailing(), line(present.Ago(l.At, now), widgets.ColorMuted).Trailing())
}
