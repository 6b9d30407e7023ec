package ui

import (
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"rollcall/app/control/answer"
	"rollcall/app/describe"
	"rollcall/app/listing"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

// listed returns the view that the list shows: the feed's or, in the scope needsYou, one with a row for each thing that waits.
func (p *sessionsPage) listed(v *listing.View) *listing.View {
	if p.ui.scope != listing.NeedsYou {
		return v
	}
	return listing.Waiting(v, p.ui.asking.asked)
}

// followAsked shows the current list of what waits. It shows the user why the request in the details goes, unless the user answered it.
func (p *sessionsPage) followAsked() {
	u, was := p.ui, p.detail.request.item
	ref := was.Ref()
	listed := slices.ContainsFunc(u.asking.asked, func(a answer.Asked) bool { return a.Ref() == ref })
	if !listed && ref.Key != "" && u.asking.last != ref && !u.isAnswering(ref) {
		if slices.ContainsFunc(u.asking.asked, func(a answer.Asked) bool {
			return a.Entry.Session.Agent == ref.Agent && a.Entry.Session.ID == ref.Session
		}) {
			p.showResult("waiting", widgets.ColorWaiting, present.AgentName(ref.Agent)+" asks for something else now. Nothing was answered; read it again.")
		} else {
			s := &was.Entry.Session
			title := describe.Who(s) + " " + present.When(s.Remote != "", describe.OnMachine(s)+" ") + was.What()
			p.showResult("waiting", widgets.ColorWaiting, title+": this no longer waits. It was answered elsewhere, or withdrawn.")
		}
	}
	if u.scope == listing.NeedsYou {
		p.apply(p.source)
		return
	}
	p.showRequest()
}

// findAsked determines which request is selected after the list has changed: the same one, else another one of its session, else the one that took
// its place.
func (p *sessionsPage) findAsked() {
	if p.asks != "" {
		p.findWanted()
	}
	rows := p.view.Rows
	at := slices.IndexFunc(rows, func(r listing.Row) bool { return p.chosen && r.Ref == p.ref })
	if at < 0 && p.chosen {
		at = slices.IndexFunc(rows, func(r listing.Row) bool { return r.Key == p.selected })
	}
	if at < 0 {
		at = min(p.place, len(rows)-1)
	}
	var r listing.Row // none, if nothing waits
	if at >= 0 {
		r = rows[at]
	}
	p.selected = r.Key
	p.ref = r.Ref
	p.onMore = false
	p.chosen = at >= 0
	p.place = max(at, 0)
}

// findWanted selects the session whose request the user wants to see, as soon as it is known whether the session waits.
func (p *sessionsPage) findWanted() {
	rows, snap := p.view.Rows, p.view.Snapshot
	at := slices.IndexFunc(rows, func(r listing.Row) bool { return r.Session.ID == p.asks || r.Session.Parent == p.asks })
	if at < 0 {
		at = slices.IndexFunc(rows, func(r listing.Row) bool { return strings.HasPrefix(r.Session.ID, p.asks) })
	}
	if at >= 0 {
		p.asks, p.scroll = "", true
		p.selected = rows[at].Key
		p.ref = rows[at].Ref
		p.chosen = true
		return
	}
	if (p.ui.asking.loaded || !describe.IsWaiting(snap, "")) && !describe.Pending(snap) && !snap.Refreshing && p.ui.page == pageSessions && !describe.IsWaiting(snap, p.asks) {
		id := p.asks
		p.asks = ""
		p.ui.Show(id)
	}
}

// showResult shows above the request how the last answer ended, until the next one or until the user chooses another session, and what is offered after it; an empty text
// shows nothing.
func (p *sessionsPage) showResult(icon string, color fyne.ThemeColorName, text string, offers ...oneKeyOffer) {
	text = present.Cut(text, 600)
	if p.outcome == text && len(p.offers)+len(offers) == 0 {
		return
	}
	p.outcome, p.offers = text, offers
	result := p.detail.result
	result.Hidden = text == ""
	if !result.Hidden {
		rows := widgets.Rows(2, widgets.Sentence(icon, color, text))
		for _, o := range offers {
			rows.Add(o.panel(p.ui))
		}
		result.Objects = []fyne.CanvasObject{rows}
	}
	p.detail.layOut()
	p.showPhase()
}

// presses distinguishes the press of a key from its repeats. Fyne reports repeats as further characters, and on some
// desktops the first repeat comes later than answer.VisibleFor.
type presses struct {
	down fyne.KeyName // the key that was pressed last; empty: it has been released
	used bool         // the key press was reported as a character once
}

// KeyDown is called when a key is pressed, and not for its repeats.
func (p *presses) KeyDown(ev *fyne.KeyEvent) {
	switch ev.Name {
	case desktop.KeyShiftLeft, desktop.KeyShiftRight, desktop.KeyControlLeft, desktop.KeyControlRight, desktop.KeyAltLeft, desktop.KeyAltRight:
		return // a modifier key does not end the repeats of another key
	}
	p.down, p.used = ev.Name, false
}

// KeyUp is called when a key is released.
func (p *presses) KeyUp(ev *fyne.KeyEvent) {
	if ev.Name == p.down {
		p.down = ""
	}
}

// isRepeat reports whether a character is a repeat. It must be called once for each character.
func (p *presses) isRepeat() bool {
	repeat := p.down != "" && p.used
	p.used = true
	return repeat
}

// typed handles a character that is typed in the scope needsYou: A allows, or asks for Y if the request is not known to be
// harmless, D denies, a digit chooses an option.
func (p *sessionsPage) typed(r rune) {
	request := p.detail.request
	switch repeat := p.keys.isRepeat(); {
	case repeat:
	case r == 'a' || r == 'A':
		request.allowIt(false)
	case r == 'y' || r == 'Y':
		request.allowIt(true)
	case r == 'd' || r == 'D':
		request.denyIt()
	case r == '/':
		p.focusFilter("")
	case r >= '1' && r <= '9':
		request.form.choose(int(r - '0'))
	}
}
