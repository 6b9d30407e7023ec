package ui

import (
	"context"
	"maps"

	"rollcall/app"
	"rollcall/app/listing"
	"rollcall/app/ui/widgets"
)

// leftReader reads what the sessions that are over left behind. Its fields are used on Fyne's goroutine.
type leftReader struct {
	counts  app.LeftCounts
	reading bool
	over    int // how many listed sessions were over when it was read last
}

// readLeft reads what the listed sessions left behind, and shows it. What is not known is said by the sheet alone.
func (p *sessionsPage) readLeft() {
	l := &p.behind
	l.over = p.view.Counts[listing.Stopped]
	if l.reading || l.over == 0 {
		return
	}
	l.reading = true
	widgets.InBackground(p.ui.ctx, p.ui.host, func(ctx context.Context) (app.LeftCounts, error) {
		counts, _, err := p.ui.core.CountsLeftBehind(ctx)
		return counts, err
	}, func(counts app.LeftCounts, _ error) {
		l.reading = false
		if !maps.Equal(counts, l.counts) {
			l.counts = counts
			p.showSelected()
		}
	})
}
