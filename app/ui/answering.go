package ui

import (
	"context"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/answer"
	"rollcall/app/describe"
	"rollcall/app/follow"
	"rollcall/app/listing"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

// answering holds the state of the requests that wait, for all pages. It is used on Fyne's goroutine only, except the board.
type answering struct {
	board   *answer.Board
	deliver *follow.Latest[struct{}] // receives when the board has changed
	asked   []answer.Asked           // what waits for the user, the longest wait first
	loaded  bool                     // the board has delivered its list once
	running map[answer.Ref]bool      // answers that were sent and have no result yet
	done    map[answer.Ref]time.Time // when a request was answered here, until the agent no longer lists it
	last    answer.Ref               // the request that was answered last
	quit    func()                   // ends the subscription
}

const (
	// askAgain is how often an agent is asked while its session waits: a request may be replaced by another that no
	// watched file shows.
	askAgain = 2 * time.Second
	// doneFor is the time after which an answered request that the agent still lists is shown again.
	doneFor = 5 * time.Second
	// answerWait is how long an answer may take altogether.
	answerWait = 30 * time.Second
)

// startAnswering begins to read what waiting sessions ask, until the window is closed.
func (u *UI) startAnswering() {
	a := &u.asking
	a.running, a.done = map[answer.Ref]bool{}, map[answer.Ref]time.Time{}
	// The list is read on Fyne's goroutine: several goroutines report changes, and a list that was read earlier could
	// otherwise be delivered later.
	a.deliver = follow.NewLatest(u.ctx, u.do, func(*struct{}) { u.showAsked(a.board.List()) })
	a.board = answer.NewBoard(u.options.Answers, askAgain, func() { a.deliver.Set(&struct{}{}) })
	go a.board.Run(u.ctx)
	a.quit = u.core.Subscribe(a.board.SetSessions)
	a.board.SetSessions(u.core.Snapshot())
}

// isAnswering reports whether an answer to a request is on its way.
func (u *UI) isAnswering(ref answer.Ref) bool { return u.asking.running[ref] }

// showAsked shows what waits on every page.
func (u *UI) showAsked(entries []answer.Entry) {
	if u.ctx.Err() != nil {
		return
	}
	a := &u.asking
	a.loaded = true
	list := answer.ListAsked(entries)
	listed := map[answer.Ref]bool{}
	for i := range list {
		listed[list[i].Ref()] = true
	}
	for ref, at := range a.done {
		if !listed[ref] || u.host.Now().Sub(at) >= doneFor {
			delete(a.done, ref)
		}
	}
	a.asked = slices.DeleteFunc(list, func(x answer.Asked) bool { _, done := a.done[x.Ref()]; return done })
	u.sessions.followAsked()
	u.nav.count()
}

// askedBy returns the request ref of a session, else its first one, or the wait of a session whose request is not known; nil: the session does not wait.
func (u *UI) askedBy(s *app.Session, ref answer.Ref) (first *answer.Asked) {
	for i := range u.asking.asked {
		a := &u.asking.asked[i]
		if a.Entry.Session.Agent != s.Agent || a.Entry.Session.ID != s.ID {
			continue
		}
		if a.Ref() == ref {
			return a
		}
		if first == nil {
			first = a
		}
	}
	return first
}

// answer sends the user's decision on item. It returns at once; answered shows the result.
func (u *UI) answer(item answer.Asked, d adapters.Decision) {
	ref := item.Ref()
	a := &u.asking
	a.running[ref] = true
	u.sessions.showResult("stale", widgets.ColorMuted, "Answering…")
	u.sessions.detail.request.enable()
	go func() {
		ctx, cancel := context.WithTimeout(u.ctx, answerWait)
		defer cancel()
		result, err := u.options.Answers.Answer(ctx, ref, d)
		if err == nil {
			a.board.Reread(ref.Agent, ref.Session)
		}
		u.post(func() { u.answered(item, d, result.Session.Status, err) })
	}()
}

// answered shows the result of an answer, after which the session has a status. It removes the answered request, and shows the next one.
func (u *UI) answered(item answer.Asked, d adapters.Decision, status adapters.Status, err error) {
	a, ref := &u.asking, item.Ref()
	delete(a.running, ref)
	name := describe.Who(&item.Entry.Session)
	if err != nil {
		text := name + ": " + present.Error(err)
		u.sessions.showResult("waiting", widgets.ColorWaiting, text)
		if u.page != pageSessions {
			u.notify(text)
		}
		a.board.Reread(ref.Agent, ref.Session)
		u.sessions.detail.request.enable()
		return
	}
	done := map[adapters.Verdict]string{adapters.AllowOnce: "allowed once", adapters.Deny: "denied", adapters.Reply: "answered"}[d.Verdict]
	if d.Verdict == adapters.Deny {
		done += present.When(d.Message != "", ", with your message") + map[adapters.Status]string{adapters.Idle: "; its turn is over", adapters.Working: "; it goes on"}[status]
	}
	u.sessions.showResult("done", widgets.ColorGood, name+": "+done, u.offersAfter(&item, d)...)
	a.done[ref], a.last = u.host.Now(), ref
	u.showAsked(a.board.List())
}

// ShowRequest limits the list to what waits for the user, and selects the first request of a session; with an empty id, the request
// that waits longest. A session that does not wait is shown in the list of all sessions.
func (u *UI) ShowRequest(id string) {
	u.sessions.asks = id
	u.open(pageSessions)
	u.setScope(listing.NeedsYou)
	u.sessions.panes.show(id != "")
	u.sessions.apply(u.sessions.source)
}
