package ui

import (
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/answer"
	"rollcall/app/present"
	"rollcall/app/store/quiet"
	"rollcall/app/ui/widgets"
)

// queuePage lists everything that waits for the user, the longest wait first, beside the selected request. After an
// answer it selects the next request. It is used on Fyne's goroutine only.
type queuePage struct {
	ui      *UI
	content fyne.CanvasObject
	stage   *widgets.Stage
	main    fyne.CanvasObject
	list    *queueList
	request *requestView
	right   *fyne.Container
	result  *fyne.Container // how the last answer ended
	problem *widgets.Banner // agents that can't be read
	left    *fyne.Container
	more    *widgets.Button // opens the menu
	phase   string
	keys    presses

	selected answer.Ref
	chosen   bool   // an item is selected
	at       int    // index of the selection
	wanted   string // id of a session to select once it is known whether it waits
	outcome  string // text of the result
	kind     int    // kind of the result
}

func newQueuePage(u *UI) *queuePage {
	q := &queuePage{ui: u, stage: widgets.NewStage(), result: container.NewStack(), problem: widgets.NewBanner("waiting")}
	q.list = newQueueList(q)
	q.request = newRequestView(u, 0, func() { q.request.content.Refresh() })
	q.result.Hide()
	q.more = u.host.NewButton("", widgets.PlainIcon("more"), q.showMenu)
	q.right = container.NewBorder(widgets.Pad(6, 0, 8, 12, q.result), nil, nil, nil, widgets.Pad(2, 8, 8, 12, q.request.content))
	heading := widgets.Border(nil, nil, q.more, widgets.Pad(8, 0, 4, 0, widgets.NewTitle("Waiting for you, the oldest first")))
	q.left = widgets.Border(widgets.Pad(8, 0, 8, 8, widgets.Rows(6, heading, q.problem.Content)), nil, nil, q.list)
	q.main = newResponsiveSplit(q.left, q.right, 0.34, 0.3)
	q.content = q.stage.Content
	q.showPhase()
	return q
}

// items returns the list of what waits for the user.
func (q *queuePage) items() []asked { return q.ui.asking.asked }

// apply shows the current list of what waits for the user.
func (q *queuePage) apply() {
	q.find()
	q.showPhase()
	if q.problem.Set(problemText(q.snapshot())) {
		q.left.Refresh()
	}
	q.list.Refresh()
	q.showSelected()
}

func (q *queuePage) snapshot() *app.Snapshot { return q.ui.sessions.view.snapshot }

// find determines which item is selected after the list has changed.
func (q *queuePage) find() {
	items := q.items()
	if q.wanted != "" {
		q.findWanted(items)
	}
	at := slices.IndexFunc(items, func(a asked) bool { return a.ref() == q.selected })
	if q.chosen && at >= 0 {
		q.at = at
		return
	}
	if q.chosen {
		at = q.replaced(items)
	}
	if len(items) == 0 {
		q.chosen, q.selected, q.at = false, answer.Ref{}, 0
		return
	}
	if at < 0 {
		at = min(q.at, len(items)-1)
	}
	q.selectAt(items, at)
}

// replaced returns the index of another request of the session whose selected request no longer waits; -1: there is
// none. It shows the user why the selection changes, unless the user answered the request, or the request was not known
// before.
func (q *queuePage) replaced(items []asked) int {
	answered := q.ui.asking.last == q.selected
	at := slices.IndexFunc(items, func(a asked) bool { return a.ofSession(q.selected) })
	switch was := q.request.item; {
	case answered || q.ui.isAnswering(q.selected) || q.selected.Key == "":
	case at >= 0:
		q.showResult(resultFailed, present.AgentName(q.selected.Agent)+" asks for something else now. Nothing was answered; read it again.")
	case was.has():
		q.showResult(resultFailed, was.title()+": this no longer waits. It was answered elsewhere, or withdrawn.")
	}
	return at
}

// has reports whether a holds a request or session.
func (a *asked) has() bool { return a.entry.Session.ID != "" }

// findWanted selects the session that the user wants to see, as soon as it is known whether the session waits.
func (q *queuePage) findWanted(items []asked) {
	at := slices.IndexFunc(items, func(a asked) bool {
		s := &a.entry.Session
		return s.ID == q.wanted || s.Parent == q.wanted
	})
	if at < 0 {
		at = slices.IndexFunc(items, func(a asked) bool { return strings.HasPrefix(a.entry.Session.ID, q.wanted) })
	}
	if at >= 0 {
		q.wanted = ""
		q.selectAt(items, at)
		return
	}
	if snap := q.snapshot(); (q.ui.asking.loaded || !anyWaits(snap)) && !pending(snap) && !snap.Refreshing && q.ui.page == pageQueue && !isWaiting(snap, q.wanted) {
		id := q.wanted
		q.wanted = ""
		q.ui.Show(id)
	}
}

// isWaiting reports whether a session of the snapshot waits; with an empty id, whether any session does. The board may
// not list the session yet.
func isWaiting(s *app.Snapshot, id string) bool {
	for x := range s.All() {
		if (id == "" || x.ID == id) && x.Status == adapters.Waiting {
			return true
		}
	}
	return false
}

// selectAt selects the item with an index.
func (q *queuePage) selectAt(items []asked, at int) {
	q.at, q.selected, q.chosen = at, items[at].ref(), true
}

// move selects another request.
func (q *queuePage) move(to int) {
	items := q.items()
	if len(items) == 0 {
		return
	}
	q.selectAt(items, min(max(to, 0), len(items)-1))
	q.list.Refresh()
	q.list.ScrollTo(q.at)
	q.showSelected()
}

func (q *queuePage) showSelected() {
	items := q.items()
	if !q.chosen || q.at >= len(items) {
		q.request.hide()
		return
	}
	q.request.show(&items[q.at], q.ui.now())
}

// showResult shows how the last answer ended, until the next one.
func (q *queuePage) showResult(kind int, text string) {
	text = present.Cut(text, 600)
	if q.kind == kind && q.outcome == text {
		return
	}
	q.kind, q.outcome = kind, text
	switch kind {
	case resultDone:
		q.result.Objects = []fyne.CanvasObject{widgets.Success(text)}
	case resultFailed:
		q.result.Objects = []fyne.CanvasObject{widgets.Warning(text)}
	default:
		q.result.Objects = []fyne.CanvasObject{widgets.Hint(text)}
	}
	q.result.Hidden = kind == resultNone
	q.right.Refresh()
	q.showPhase()
}

// showAges updates the ages.
func (q *queuePage) showAges() {
	q.list.Refresh()
	if q.request.has {
		q.request.showAge(q.ui.now())
	}
}

// showPhase shows the list or, while nothing waits, why it is empty.
func (q *queuePage) showPhase() {
	snap := q.snapshot()
	switch q.phase = phaseEmpty; {
	case len(q.items()) > 0:
		q.phase = phaseList
		q.stage.Show(phaseList, func() fyne.CanvasObject { return q.main })
		return
	case !q.ui.asking.loaded && anyWaits(snap), pending(snap):
		q.phase = phaseLoading
	case len(failedNames(snap))+len(failedMachines(snap)) > 0:
		q.phase = phaseFailed
	}
	q.stage.Show(q.phase+problemText(snap)+q.outcome, func() fyne.CanvasObject { return q.message(q.phase) })
}

// focus returns the widget that gets the focus.
func (q *queuePage) focus() fyne.Focusable {
	if q.phase == phaseList {
		return q.list
	}
	return nil
}

func anyWaits(s *app.Snapshot) bool { return isWaiting(s, "") }

// message returns the text that fills the page while nothing waits.
func (q *queuePage) message(phase string) fyne.CanvasObject {
	switch phase {
	case phaseLoading:
		return q.stage.Busy("Looking for requests…", "Rollcall asks each agent what waits for you.")
	case phaseFailed:
		details := q.ui.host.NewButton("Details", nil, func() { q.ui.open(pageAgents) })
		return widgets.NewMessage(widgets.Sign("waiting", widgets.ColorWaiting), "Nothing is known to wait for you",
			problemText(q.snapshot()), q.ui.host.NewButton("Refresh", widgets.PlainIcon("refresh"), q.ui.Refresh), details)
	}
	text := "When a session asks for a permission or has a question, it is shown here."
	if q.kind == resultDone || q.kind == resultFailed {
		text = q.outcome
	}
	return widgets.NewMessage(widgets.Sign("done", widgets.ColorGood), "Nothing waits for you", text)
}

// showMenu opens the menu with the choices for do not disturb and muted projects.
func (q *queuePage) showMenu() {
	u := q.ui
	if u.options.Quiet == nil {
		u.showMenuBelow(q.more, q.quietItems(quiet.State{}))
		return
	}
	go func() {
		state, err := u.options.Quiet.Get()
		u.post(func() {
			if err != nil {
				q.showResult(resultFailed, errorText(err))
			}
			u.showMenuBelow(q.more, q.quietItems(state))
		})
	}()
}

// quietItems returns the items for do not disturb, for the project of the selected session, and for the settings.
func (q *queuePage) quietItems(state quiet.State) (items []*fyne.MenuItem) {
	u := q.ui
	if u.options.Quiet != nil && state.Active(u.now()) {
		items = append(items, fyne.NewMenuItem("End do not disturb", func() { q.setQuiet(func() error { return u.options.Quiet.Off() }) }))
	} else if u.options.Quiet != nil {
		on := func(until time.Time) func() {
			return func() {
				q.setQuiet(func() error {
					_, err := u.options.Quiet.On(u.now(), until)
					return err
				})
			}
		}
		items = append(items, fyne.NewMenuItem("Do not disturb for 1 hour", on(u.now().Add(time.Hour))),
			fyne.NewMenuItem("Do not disturb until tomorrow", on(quiet.Tomorrow(u.now()))))
	}
	if q.request.has {
		if item := u.muteItem(&q.request.item.entry.Session); item != nil {
			items = append(items, item)
		}
	}
	return append(items, fyne.NewMenuItem("Refresh", u.Refresh), fyne.NewMenuItem("Settings", func() { u.open(pageSettings) }))
}

// setQuiet changes do not disturb, and shows an error.
func (q *queuePage) setQuiet(change func() error) {
	go func() {
		err := change()
		q.ui.post(func() {
			if err != nil {
				q.showResult(resultFailed, errorText(err))
			}
		})
	}()
}
