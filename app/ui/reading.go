package ui

import (
	"fmt"
	"strings"
	"time"

	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

// followReading notes how far the question under way is, once it takes long.
func (p *sessionsPage) followReading() {
	snap := p.view.snapshot
	switch {
	case !snap.Refreshing:
		if p.slow != nil {
			p.slow.Stop()
		}
		p.slow, p.reading = nil, ""
	case p.slow == nil:
		var timer *time.Timer
		timer = time.AfterFunc(present.ReadingAfter, func() {
			p.ui.post(func() {
				if p.slow == timer {
					p.reading = present.Reading(p.view.snapshot.Reading())
					p.apply(p.view)
				}
			})
		})
		p.slow = timer
	case p.reading != "":
		p.reading = present.Reading(snap.Reading())
	}
}

// showCounts shows how many sessions match the filter, and how far the reading is. It reports whether the line has
// appeared or gone.
func (p *sessionsPage) showCounts() (moved bool) {
	text := strings.TrimSpace(sentence(p.reading) + " " + sentence(present.LeftOut(p.view.snapshot.LeftOut.Agents)))
	if p.view.filter != "" {
		text = strings.TrimSuffix(fmt.Sprintf("%d of %d sessions match; %s", p.view.matching, len(p.view.snapshot.Sessions()), p.reading), "; ")
	}
	p.matches.Set(text, widgets.ColorMuted)
	moved = p.matches.Hidden != (text == "")
	p.matches.Hidden = text == ""
	return moved
}
