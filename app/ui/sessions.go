package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"

	"rollcall/app"
	"rollcall/app/control/answer"
	"rollcall/app/describe"
	"rollcall/app/listing"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

// sessionsPage shows the list of sessions with its filter, and the details of the selected one. It is used on Fyne's
// goroutine only.
type sessionsPage struct {
	ui      *UI
	content fyne.CanvasObject
	filter  *widgets.Entry
	more    *widgets.Button // opens the menu
	matches *widgets.Line
	problem *widgets.Banner
	list    *sessionList
	body    *widgets.Stage // the list, or a message instead of it
	detail  *detailPane
	left    *fyne.Container // filter and list
	panes   *panes          // left and detail
	behind  leftReader
	main    *fyne.Container // the banner and panes
	whole   *widgets.Stage  // main, or a message that fills the page

	reading  string          // progress of a refresh that takes long; empty: there is none
	slow     *time.Timer     // fires when the refresh that runs has taken long; nil: no refresh runs
	source   *listing.View   // of the feed
	view     *listing.View   // that the list shows
	warning  string          // about the window itself
	notice   string          // about something the user did
	details  *widgets.Button // on the banner
	dismiss  *widgets.Button // on the banner
	undo     *widgets.Button // on the banner
	undoing  func()          // takes back what notice says; nil: nothing can be taken back
	selected listing.Key
	ref      answer.Ref // of the selected request, in the scope needsYou
	place    int        // index of the selected request
	asks     string     // id of a session whose request is to be selected once it is known whether it waits
	keys     presses
	outcome  string        // text of the result of the last answer
	offers   []oneKeyOffer // after it
	onMore   bool          // the row of the finished sub-agents of selected is selected
	grouped  bool          // the sessions are grouped by project
	chosen   bool          // the user chose the selection
	settled  bool          // the window chose the selection when every agent had been read
	scroll   bool          // scroll to the selection once it is listed
	comes    bool          // the next view of the feed lists the selection
	wanted   string        // the id, or the beginning of the id, of a session to show once it is listed
}

func newSessionsPage(u *UI) *sessionsPage {
	p := &sessionsPage{ui: u, view: &listing.View{Snapshot: &app.Snapshot{}}}
	p.filter = u.host.NewEntry("Filter (/)", nil)
	p.filter.Icon = widgets.NewIcon("search", widgets.ColorMuted)
	p.filter.Key = p.filterKey
	clearButton := u.host.NewFlatButton("", widgets.NewIcon("clear", widgets.ColorMuted), p.clearFilter)
	clearButton.Hide()
	p.filter.ActionItem = clearButton
	p.filter.OnChanged = func(text string) {
		clearButton.Hidden = text == ""
		clearButton.Refresh()
		p.ui.feed.SetFilter(text)
	}
	p.more = u.host.NewButton("", widgets.PlainIcon("more"), func() { p.showMenu(p.more) })
	p.matches = widgets.NewCaption("")
	p.details = u.host.NewButton("Details", nil, u.opens(pageAgents))
	p.dismiss = u.host.NewButton("Dismiss", nil, func() { u.notify("") })
	p.undo = u.host.NewButton("Undo", nil, func() {
		undo := p.undoing
		u.notify("")
		widgets.Call(undo)
	})
	p.problem = widgets.NewBanner("waiting", p.details, p.undo, p.dismiss)
	p.list = newSessionList(p)
	p.detail = newDetailPane(u)
	p.body, p.whole = widgets.NewStage(), widgets.NewStage()
	p.main, p.content = p.frame(), p.whole.Content
	p.apply(p.view)
	return p
}

func (p *sessionsPage) frame() *fyne.Container {
	top := widgets.Rows(6, widgets.Border(nil, nil, p.more, p.filter), widgets.Pad(0, 0, 6, 6, p.matches))
	p.matches.Hide()
	p.left = widgets.Border(widgets.Pad(8, 0, 8, 8, top), nil, nil, p.body.Content)
	p.panes = newPanes(p.ui, p.left, p.detail.content, 0.42, p.list)
	p.panes.turned = p.detail.request.opened
	return widgets.Border(p.problem.Content, nil, nil, p.panes.content)
}

// showNotice shows above the list what the user did, and what can't be read. It reports whether what is below has to be laid out again.
func (p *sessionsPage) showNotice(problem string) (moved bool) {
	p.details.Hidden, p.dismiss.Hidden = problem == "", p.notice == ""
	p.undo.Hidden = p.undoing == nil
	icon := widgets.NewIcon("waiting", widgets.ColorWaiting)
	if p.undoing != nil && p.warning == "" && problem == "" {
		icon = widgets.NewIcon("done", widgets.ColorGood)
	}
	p.problem.SetIcon(icon)
	return p.problem.Set(strings.TrimSpace(p.warning + "\n" + p.notice + "\n" + problem))
}

// apply shows another view. The selected session stays selected.
func (p *sessionsPage) apply(v *listing.View) {
	complete := v.Snapshot.Generation > 0 && !v.Snapshot.Refreshing
	p.comes = p.comes && v == p.source
	p.source, v = v, p.listed(v)
	offset, filtered := p.list.follow(v), v.Filter != p.view.Filter
	p.view = v
	p.followReading()
	moved := p.showNotice(describe.ProblemSummary(v.Snapshot))
	moved = p.showCounts() || moved
	if moved {
		p.main.Refresh()
	}
	p.showPhase()
	if filtered {
		offset, p.scroll = 0, p.scroll || v.Filter == ""
		_, listed := p.selectedRow()
		p.chosen = p.chosen && (listed || p.scroll)
	}
	p.list.ScrollToOffset(offset)
	if p.ui.scope == listing.NeedsYou {
		p.findAsked()
	} else {
		p.find(complete)
	}
	p.showSelected()
	if v.Counts[listing.Stopped] != p.behind.over {
		p.readLeft()
	}
}

// find determines which session is selected after the view has changed. Until the user selects a session, the selection
// is the most urgent one at the time when every agent had been read.
func (p *sessionsPage) find(complete bool) {
	if p.wanted != "" {
		if k, ok := listing.Match(p.view, p.wanted); ok {
			p.wanted = ""
			p.reveal(k)
		} else if complete {
			p.selected = listing.Key{}
		}
		return
	}
	_, listed := p.selectedRow()
	if p.chosen || p.settled && listed {
		return
	}
	p.selected, p.onMore = listing.Key{}, false
	for _, r := range p.view.Rows {
		if r.Kind == listing.SessionRow {
			p.selected, p.settled = r.Key, complete
			return
		}
	}
}

// reveal selects a session and makes its row visible: it clears the filter, ignores the session's age, and unfolds its
// parents.
func (p *sessionsPage) reveal(k listing.Key) {
	p.selected = k
	p.onMore = false
	p.chosen = true
	p.scroll = true
	p.panes.show(true)
	p.ui.open(pageSessions)
	if _, ok := p.view.At[k]; !ok {
		p.ui.showAllGroups()
		var parents []listing.Key
		for c, ok := p.view.Parent[k]; ok; c, ok = p.view.Parent[c] {
			parents = append(parents, c)
		}
		if s := p.view.ByKey[k]; s != nil && (s.PutAway() || s.Archived) {
			parents = append(parents, listing.PutAway)
		}
		p.ui.feed.Reveal(k, parents)
		p.clearFilter()
		p.comes = true
	}
	p.showSelected()
}

// focus returns the widget that gets the focus.
func (p *sessionsPage) focus() fyne.Focusable {
	if len(p.view.Rows) == 0 {
		return nil
	}
	return p.list
}

// showAges shows the ages as they are now.
func (p *sessionsPage) showAges() {
	if len(p.behind.counts) > 0 { // what was left behind may have ended
		p.readLeft()
	}
	p.list.Refresh()
	p.showDetail()
}

// showSelected selects the session's row in the list, and shows its details.
func (p *sessionsPage) showSelected() {
	if at, ok := p.view.At[p.selected]; ok && p.scroll {
		p.scroll = false
		p.list.reveal(at)
	}
	p.list.Refresh()
	p.showDetail()
}

func (p *sessionsPage) showDetail() {
	s, ok := p.view.ByKey[p.selected]
	at, listed := p.selectedRow()
	if !ok && listed && p.ui.scope == listing.NeedsYou {
		s, ok = p.view.Rows[at].Session, true
	}
	switch {
	case ok && !listed && !p.comes: // the details follow the list, and have no buttons for what is not in it
		showIt := p.ui.host.NewButton("Show it", nil, func() { p.reveal(p.selected) })
		p.detail.showMessage("Not in this list", "“"+present.Cut(describe.Title(s), 60)+"”: "+present.Status(s.Session)+".", showIt)
	case ok:
		p.detail.show(s, p.selected, p.view, p.ui.host.Now())
	case listed && p.onMore:
		p.detail.showMessage(p.view.Rows[at].Title, "Click the row, or press Enter or →, to see its sessions.")
	case p.selected.ID != "":
		p.detail.showMessage("No longer listed", "The agent no longer lists the session “"+present.Cut(present.Short(p.selected.ID), 60)+"”.")
	case p.wanted != "" && !describe.Pending(p.view.Snapshot):
		p.detail.showMessage("Session not found", "No agent lists a session “"+present.Cut(present.Short(p.wanted), 60)+
			"”. It may be older than the sessions listed here.")
	default:
		p.detail.showMessage("Nothing selected", selectHint)
	}
}

// showRequest shows what the selected session asks, in its details.
func (p *sessionsPage) showRequest() {
	if s, ok := p.view.ByKey[p.selected]; ok && p.detail.session != nil {
		p.detail.showRequest(s, p.ui.host.Now())
	}
}

// showRow fills one visible row of the list.
func (p *sessionsPage) showRow(r listing.Row, v *rowView, focused bool) {
	on := r.Kind != listing.HeaderRow && r.Key == p.selected && (r.Kind == listing.MoreRow) == p.onMore && (r.Ref == answer.Ref{} || r.Ref == p.ref)
	v.set(r, p.textOf(r), on, focused)
}

// textOf returns the texts of a row: what its session asks, where that is known, or what the row says of itself.
func (p *sessionsPage) textOf(r listing.Row) rowText {
	if r.Kind == listing.SessionRow && (r.Session.Stale == nil || p.ui.scope == listing.NeedsYou) {
		if a := p.ui.askedBy(r.Session, r.Ref); a != nil && (p.ui.scope == listing.NeedsYou || a.IsKnown()) {
			return askedText(a, r.IsNested(), p.ui.host.Now())
		}
	}
	w := rowTextOf(&r, p.ui.host.Now(), p.ui.days)
	if r.Kind == listing.SessionRow && r.Session.Stale == nil {
		w.status = strings.TrimSuffix(w.status+" · "+present.LeftBehind(p.behind.counts.Of(r.Session)), " · ")
	}
	return w
}

// selectedRow returns the index of the selected row; ok is false if it is not listed.
func (p *sessionsPage) selectedRow() (at int, ok bool) {
	if p.ui.scope == listing.NeedsYou {
		at = slices.IndexFunc(p.view.Rows, func(r listing.Row) bool { return r.Key == p.selected && r.Ref == p.ref })
		return at, at >= 0
	}
	at, ok = p.view.At[p.selected]
	if ok && p.onMore {
		at, ok = p.view.More[p.selected]
	}
	return at, ok
}

// selectRow selects r. For a row of finished sub-agents, the details are those of their parent.
func (p *sessionsPage) selectRow(r listing.Row) {
	if r.Key != p.selected || r.Ref != p.ref {
		p.showResult("", "", "")
	}
	p.chosen = true
	p.wanted = ""
	p.asks = ""
	p.selected = r.Key
	p.ref = r.Ref
	p.onMore = r.Kind == listing.MoreRow
	p.place, _ = p.selectedRow()
	p.showSelected()
}

func (p *sessionsPage) tapped(i int) {
	if i >= len(p.view.Rows) || p.view.Rows[i].Kind == listing.HeaderRow {
		return
	}
	r := p.view.Rows[i]
	p.selectRow(r)
	if r.Kind == listing.MoreRow {
		p.ui.feed.SetOpen(r.Key, !r.Open)
		return
	}
	p.panes.show(true)
}

// enter handles the Enter key in the list: it folds or unfolds sub-agents, or moves the focus to the details.
func (p *sessionsPage) enter() {
	at, ok := p.selectedRow()
	if !ok {
		return
	}
	if r := p.view.Rows[at]; r.Kind == listing.MoreRow {
		p.ui.feed.SetOpen(r.Key, !r.Open)
		return
	}
	p.panes.show(true)
	p.detail.focus()
}

// fold folds or unfolds the finished sub-agents of the selected session.
func (p *sessionsPage) fold(open bool) {
	if _, ok := p.view.More[p.selected]; ok {
		p.ui.feed.SetOpen(p.selected, open)
		p.onMore = p.onMore && open
	}
}

func (p *sessionsPage) focusFilter(add string) {
	p.ui.open(pageSessions)
	p.panes.show(false)
	p.ui.host.Focus(p.filter)
	if add != "" {
		p.filter.SetText(p.filter.Text + add)
		p.filter.CursorColumn = len([]rune(p.filter.Text))
		p.filter.Refresh()
	}
}

// filterKey moves the focus from the filter to the list.
func (p *sessionsPage) filterKey(ev *fyne.KeyEvent) bool {
	switch {
	case ev.Name == fyne.KeyEscape && p.filter.Text != "":
		return false // clears the filter
	case ev.Name == fyne.KeyEscape, ev.Name == fyne.KeyDown, ev.Name == fyne.KeyReturn, ev.Name == fyne.KeyEnter:
		p.ui.host.Focus(p.list)
		return true
	}
	return false
}

func (p *sessionsPage) clearFilter() {
	if p.filter.Text != "" {
		p.filter.SetText("")
	}
}

// followReading updates the text about agents that have not answered yet, once a refresh takes longer than present.ReadingAfter.
func (p *sessionsPage) followReading() {
	snap := p.view.Snapshot
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
					p.reading = present.Reading(p.view.Snapshot.Reading())
					p.apply(p.source)
				}
			})
		})
		p.slow = timer
	case p.reading != "":
		p.reading = present.Reading(snap.Reading())
	}
}

// showCounts shows how many sessions match the filter, and which agents have not answered yet. It reports whether
// the line has appeared or disappeared.
func (p *sessionsPage) showCounts() (moved bool) {
	text := strings.TrimSpace(present.Sentence(p.reading) + " " + present.Sentence(present.LeftOut(p.view.Snapshot.LeftOut.Agents)))
	if p.view.Filter != "" {
		text = strings.TrimSuffix(fmt.Sprintf("%d of %d sessions match; %s", p.view.Matching, len(p.view.Snapshot.Sessions()), p.reading), "; ")
	}
	p.matches.Set(text, widgets.ColorMuted)
	moved = p.matches.Hidden != (text == "")
	p.matches.Hidden = text == ""
	return moved
}
