package ui

import (
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"rollcall/app"
	"rollcall/app/present"
)

// sessionsPage is the list of sessions with its filter, and what is known of
// the selected one. All of it belongs to the UI goroutine.
type sessionsPage struct {
	ui      *UI
	content *fyne.Container
	filter  *filterEntry
	more    *button // opens the menu
	matches *line
	problem *banner
	list    *sessionList
	body    *fyne.Container // the list, or why there is none
	detail  *detailPane
	left    *fyne.Container   // filter, banner and list
	main    fyne.CanvasObject // left and detail
	phase   string            // which of the states body shows
	busy    *widget.Activity  // runs while the page says that it loads

	view     *view
	warning  string  // of the window itself
	notice   string  // of something the user did
	details  *button // on the banner
	dismiss  *button // on the banner
	selected key
	onMore   bool   // selected is the line below that session, for its finished sub-agents
	chosen   bool   // the user selected it, not the window
	settled  bool   // the window did, from a complete picture
	scroll   bool   // to what is selected, once it is listed
	wanted   string // id or start of one that is to be shown once it is listed
}

func newSessionsPage(u *UI) *sessionsPage {
	p := &sessionsPage{ui: u, view: &view{snapshot: &app.Snapshot{}}}
	p.filter = newFilterEntry("Filter (" + shortcutName("F") + ")")
	p.filter.Icon = newIcon("search", colorMuted)
	p.filter.keys, p.filter.shortcuts, p.filter.toList = u.typedKey, u.shortcut, p.focusList
	wipe := newButton("", newIcon("clear", colorMuted), u.typedKey, p.clearFilter)
	wipe.Importance = widget.LowImportance
	wipe.Hide()
	p.filter.ActionItem = wipe
	p.filter.OnChanged = func(text string) {
		wipe.Hidden = text == ""
		wipe.Refresh()
		p.ui.feed.setFilter(text)
	}
	p.more = newButton("", plainIcon("more"), u.typedKey, func() { p.showMenu(p.more) })
	p.matches = newLine("", colorMuted, theme.SizeNameCaptionText, fyne.TextStyle{})
	p.details = newButton("Details", nil, u.typedKey, func() { u.open(pageAgents) })
	p.dismiss = newButton("Dismiss", nil, u.typedKey, func() { u.tell("") })
	p.problem = newBanner("waiting", p.details, p.dismiss)
	p.list = newSessionList(p)
	p.detail = newDetailPane(u)
	p.body = container.NewStack()
	p.main = p.frame()
	p.content = container.NewStack()
	p.apply(p.view)
	return p
}

func (p *sessionsPage) frame() fyne.CanvasObject {
	top := container.New(layout.NewCustomPaddedVBoxLayout(6), border(nil, nil, p.more, p.filter), p.problem.content,
		container.New(layout.NewCustomPaddedLayout(0, 0, 6, 6), p.matches))
	p.matches.Hide()
	p.left = border(container.New(layout.NewCustomPaddedLayout(8, 0, 8, 8), top), nil, nil, p.body)
	return newTurning(p.left, p.detail.content, 0.42, 0.4)
}

// apply shows another view. The selection stays with its session.
func (p *sessionsPage) apply(v *view) {
	complete := v.snapshot.Generation > 0 && !v.snapshot.Refreshing
	offset, filtered := p.list.follow(v), v.filter != p.view.filter
	p.view = v
	problem := problemText(v.snapshot)
	p.details.Hidden, p.dismiss.Hidden = problem == "", p.notice == ""
	moved := p.problem.show(strings.TrimSpace(p.warning + "\n" + p.notice + "\n" + problem))
	if hidden := v.filter == ""; p.matches.Hidden != hidden {
		p.matches.Hidden, moved = hidden, true
	}
	p.matches.set(fmt.Sprintf("%d of %d sessions match", v.matching, len(v.snapshot.Sessions)), colorMuted)
	if moved {
		p.left.Refresh()
	}
	p.showPhase()
	if filtered {
		offset, p.scroll = 0, p.scroll || v.filter == ""
	}
	p.list.ScrollToOffset(offset)
	p.find(complete)
	p.showSelected()
}

// The phases of the page: which message or what else stands in it.
const (
	phaseLoading = "loading"
	phaseEmpty   = "empty"
	phaseFailed  = "failed"
	phaseNone    = "no match"
	phaseList    = "list"
)

func phaseOf(v *view) string {
	switch {
	case len(v.rows) > 0:
		return phaseList
	case v.filter != "" && len(v.snapshot.Sessions) > 0:
		return phaseNone
	case pending(v.snapshot):
		return phaseLoading
	case len(failedNames(v.snapshot)) > 0:
		return phaseFailed
	}
	return phaseEmpty
}

// pending says whether the first question to some agent is still open.
func pending(s *app.Snapshot) bool {
	if s.Generation == 0 && len(s.Adapters) == 0 {
		return true
	}
	for _, a := range s.Adapters {
		if a.State == app.Pending {
			return true
		}
	}
	return false
}

func (p *sessionsPage) showPhase() {
	phase := phaseOf(p.view)
	again := phase + "\n" + p.view.filter + "\n" + problemText(p.view.snapshot) + fmt.Sprint(installed(p.view.snapshot))
	if phase == phaseList {
		again = phase
	}
	if p.phase == again {
		return
	}
	p.phase = again
	if p.busy != nil {
		p.busy.Stop()
		p.busy = nil
	}
	switch phase {
	case phaseList:
		p.body.Objects = []fyne.CanvasObject{p.list}
	case phaseNone:
		p.body.Objects = []fyne.CanvasObject{newMessage(sign("search", colorMuted), "Nothing matches “"+present.Cut(present.Line(p.view.filter), 40)+"”",
			"The filter looks into project, agent, title, prompts, branch, id and status.",
			newButton("Clear filter", nil, p.ui.typedKey, p.clearFilter))}
	}
	p.body.Refresh()
	if phase == phaseList || phase == phaseNone {
		p.content.Objects = []fyne.CanvasObject{p.main}
	} else {
		p.content.Objects = []fyne.CanvasObject{p.whole(phase)}
	}
	p.content.Refresh()
}

// whole is the message that takes the whole page.
func (p *sessionsPage) whole(phase string) fyne.CanvasObject {
	refresh := newButton("Refresh", plainIcon("refresh"), p.ui.typedKey, p.ui.Refresh)
	switch phase {
	case phaseLoading:
		p.busy = widget.NewActivity()
		p.busy.Start()
		return newMessage(p.busy, "Calling the roll…", "Asking each agent's own files and processes who is there.")
	case phaseFailed:
		details := newButton("Details", nil, p.ui.typedKey, func() { p.ui.open(pageAgents) })
		return newMessage(sign("waiting", colorWaiting), join(failedNames(p.view.snapshot))+" could not be asked",
			problemText(p.view.snapshot), refresh, details)
	}
	launch := newButton("Launch…", nil, p.ui.typedKey, func() { p.ui.open(pageLaunch) })
	if names := installed(p.view.snapshot); len(names) > 0 {
		return newMessage(sign("idle", colorMuted), "No sessions",
			"Nobody is at work. Rollcall looked for sessions of "+join(names)+", and shows them here as soon as there are any.", launch, refresh)
	}
	return newMessage(sign("absent", colorMuted), "No coding agents found",
		"Neither files nor processes of an agent are on this machine. The launch page says how to install one.", launch, refresh)
}

// find settles what is selected after the view changed. Until the user chooses,
// that is the most urgent session, as it was once every agent had answered.
func (p *sessionsPage) find(complete bool) {
	if p.wanted != "" {
		if k, ok := match(p.view, p.wanted); ok {
			p.wanted = ""
			p.reveal(k)
		} else if complete {
			p.selected = key{}
		}
		return
	}
	_, listed := p.view.byKey[p.selected]
	if p.chosen || p.settled && listed {
		return
	}
	p.selected, p.onMore = key{}, false
	for _, r := range p.view.rows {
		if r.kind == sessionRow {
			p.selected, p.settled = r.key, complete
			return
		}
	}
}

// match finds the session with that id, or the only one whose id starts so.
func match(v *view, id string) (key, bool) {
	var found []key
	for k := range v.byKey {
		if k.id == id && k.repeated == 0 {
			return k, true
		}
		if strings.HasPrefix(k.id, id) && k.repeated == 0 {
			found = append(found, k)
		}
	}
	if len(found) == 1 {
		return found[0], true
	}
	return key{}, false
}

// reveal selects a session, and removes what hides it: the filter, its age, or
// its being folded away.
func (p *sessionsPage) reveal(k key) {
	p.selected, p.onMore, p.chosen, p.scroll = k, false, true, true
	p.ui.open(pageSessions)
	if _, ok := p.view.at[k]; !ok {
		var parents []key
		for c, ok := p.view.parent[k]; ok; c, ok = p.view.parent[c] {
			parents = append(parents, c)
		}
		p.ui.feed.reveal(k, parents)
		p.clearFilter()
	}
	p.showSelected()
}

// showSelected brings the list and the details in line with what is selected.
func (p *sessionsPage) showSelected() {
	if at, ok := p.view.at[p.selected]; ok && p.scroll {
		p.scroll = false
		p.list.reveal(at)
	}
	p.list.Refresh()
	p.showDetail()
}

func (p *sessionsPage) showDetail() {
	s, ok := p.view.byKey[p.selected]
	switch {
	case ok:
		p.detail.show(s, p.selected, p.view, p.ui.now())
	case p.selected.id != "":
		p.detail.showMessage("No longer listed", "Its agent doesn't list the session “"+present.Cut(short(p.selected.id), 60)+"” any more.")
	case p.wanted != "" && !pending(p.view.snapshot):
		p.detail.showMessage("Session not found", "No agent lists a session “"+present.Cut(short(p.wanted), 60)+
			"”. It may be older than what is listed here.")
	default:
		p.detail.showMessage("Nothing selected", "Choose a session in the list to see what is known of it.")
	}
}

// showRow fills one visible row of the list.
func (p *sessionsPage) showRow(r row, v *rowView, focused bool) {
	on := r.kind != headerRow && r.key == p.selected && (r.kind == moreRow) == p.onMore
	v.set(r, r.words(p.ui.now(), p.ui.days), on, focused)
}

// selectedRow is where the selection stands in the list, if it does.
func (p *sessionsPage) selectedRow() (int, bool) {
	i, ok := p.view.at[p.selected]
	if ok && p.onMore {
		i, ok = p.view.more[p.selected]
	}
	return i, ok
}

// selectRow selects r. A row that stands for finished sub-agents shows their
// parent.
func (p *sessionsPage) selectRow(r row) {
	p.chosen, p.wanted = true, ""
	p.selected, p.onMore = r.key, r.kind == moreRow
	p.showSelected()
}

func (p *sessionsPage) tapped(i int) {
	if i >= len(p.view.rows) || p.view.rows[i].kind == headerRow {
		return
	}
	r := p.view.rows[i]
	p.selectRow(r)
	if r.kind == moreRow {
		p.ui.feed.setOpen(r.key, !r.open)
	}
}

// enter is the Enter key in the list: it folds, or goes on to the details.
func (p *sessionsPage) enter() {
	at, ok := p.selectedRow()
	if !ok {
		return
	}
	if r := p.view.rows[at]; r.kind == moreRow {
		p.ui.feed.setOpen(r.key, !r.open)
		return
	}
	p.ui.focus(p.detail.copyID)
}

// fold folds or unfolds the finished sub-agents of the selected session.
func (p *sessionsPage) fold(open bool) {
	if _, ok := p.view.more[p.selected]; ok {
		p.ui.feed.setOpen(p.selected, open)
		p.onMore = p.onMore && open
	}
}

func (p *sessionsPage) focusFilter(add string) {
	p.ui.open(pageSessions)
	p.ui.focus(p.filter)
	if add != "" {
		p.filter.SetText(p.filter.Text + add)
		p.filter.CursorColumn = len([]rune(p.filter.Text))
		p.filter.Refresh()
	}
}

func (p *sessionsPage) focusList() { p.ui.focus(p.list) }

func (p *sessionsPage) clearFilter() {
	if p.filter.Text != "" {
		p.filter.SetText("")
	}
}
