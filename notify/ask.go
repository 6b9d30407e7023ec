package notify

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/answer"
	"rollcall/app/present"
)

// ask is a request of a session, with what its notification shows of it.
type ask struct {
	ref     answer.Ref
	request answer.Request
	more    int // number of further requests of the session
}

// The lengths, in cells, up to which every server shows a text in full. Servers cut longer texts, each in its own
// way, and give no sign of that.
const (
	wholeText   = 100
	wholeFolder = 70
	shownText   = 160 // shown part of a longer text
	shownDanger = 90
)

// ask returns the request of a session; nil: the request is not known, or has several questions.
func (p *policy) ask(w *openWait) *ask {
	if w == nil {
		return nil
	}
	// Sorted, so that a notification of several sessions does not switch between their requests.
	ids := slices.DeleteFunc(slices.Sorted(maps.Keys(w.sessions)), func(id string) bool { return id == w.session.ID })
	for _, id := range slices.Insert(ids, 0, w.session.ID) {
		if e, ok := p.entry(&app.Session{Session: adapters.Session{Agent: w.session.Agent, ID: id}}); ok {
			r := e.Requests[0]
			return &ask{ref: e.Ref(&r), request: r, more: len(e.Requests) - 1}
		}
	}
	return nil
}

// entry returns what the board has of a session; ok is false if it has no request.
func (p *policy) entry(s *app.Session) (e answer.Entry, ok bool) {
	if p.board != nil {
		e, ok = p.board.Of(s.Agent, s.ID)
	}
	return e, ok && len(e.Requests) > 0
}

// askedAnew returns the orders to correct notifications of one wait that are still on the screen and show another
// request than the one that waits now.
func (p *policy) askedAnew() (orders []order) {
	for _, key := range p.sortedWaits() {
		w := p.waits[key]
		if w.shown == nil || len(w.shown.waits) != 1 {
			continue
		}
		if a := p.ask(w); a != nil && a.ref.Key != w.shown.asked {
			orders = append(orders, p.changed(w.shown))
		}
	}
	return orders
}

// isWhole reports whether the notification shows everything that the user decides on, without hidden characters.
func (a *ask) isWhole() bool {
	r := &a.request
	fits := func(s string, cells int) bool {
		return len(s) <= 4*cells && present.Width(s) <= cells && present.Visible(s) == s && present.Line(s) == s
	}
	return fits(r.Text, wholeText) && fits(r.Folder, wholeFolder) && fits(r.Reason, wholeFolder) && len(r.Questions)+len(r.Details)+len(r.Unknown) == 0
}

// mayAllow reports whether the request may be allowed by one click on a notification that shows it, which is wholly visible.
func (a *ask) mayAllow() bool {
	return a.request.CanAllow && a.request.OneKey && a.isWhole()
}

// danger returns the line about what looks dangerous; empty: nothing does.
func danger(a *answer.Asks) string {
	if text := a.Danger(); text != "" {
		return present.Cut("⚠ "+text, shownDanger)
	}
	return ""
}

func (a *ask) text(s *app.Session) Text {
	r := &a.request
	brief := present.Brief(s.Session)
	asks := answer.AsksOf(s, r)
	t := Text{Title: present.AgentName(s.Agent) + " " + asks.Words + place(&brief.Place)}
	body := filled([]string{danger(&asks)})
	shown := present.Line(present.Visible(present.Head(r.Plain().Text)))
	if !a.isWhole() {
		shown = asks.Text
	}
	if cut := present.Cut(shown, shownText); !a.isWhole() && (cut != shown || len(r.Text) > len(present.Head(r.Text))) {
		body = append(body, present.Isolate(cut), fmt.Sprintf("(cut: %s; open it to read all)", humanize.Bytes(uint64(len(r.Text)))))
	} else {
		body = append(body, present.Isolate(shown))
	}
	if r.Folder != "" {
		body = append(body, present.Cut("in "+present.Line(present.Visible(present.Head(r.Folder))), wholeFolder+3))
	}
	if a.isWhole() && r.Reason != "" {
		body = append(body, "because: "+r.Reason)
	}
	if a.more > 0 {
		body = append(body, fmt.Sprintf("and %d more", a.more))
	}
	t.Body = lines(body...)
	return t
}

// The keys of actions. The keys of the buttons that answer end with the key of the request that the
// notification showed. The server returns the key of the button, so a click can't answer a request that has
// replaced the one on the screen.
const (
	actOpen  = "default"
	actAllow = "allow:"
	actDeny  = "deny:"
)

// actions returns the keys and labels of the buttons that answer the request. hasBody reports whether the server shows the body.
func (a *ask) actions(hasBody bool) (out []string) {
	if hasBody && a.mayAllow() {
		out = append(out, actAllow+a.ref.Key, "Allow once")
	}
	if hasBody && a.request.CanDeny {
		out = append(out, actDeny+a.ref.Key, "Deny")
	}
	return out
}

// actLimit is how long an answer may take.
const actLimit = 30 * time.Second

var (
	errJustShown  = errors.New("nothing was answered: the notification had only just begun to show the request when you clicked")
	errEarlierRun = errors.New("nothing was answered: the notification is from an earlier run of Rollcall")
)

// click is what a click on a notification or on its buttons does.
type click struct {
	session string                // empty for a notification of several waits
	waits   bool                  // the click opens the request of the session
	refs    map[string]answer.Ref // the requests that the notification has shown, by their keys
	asked   string                // key of the request that the notification shows; empty: none
	askedAt time.Time             // when the notification began to show the request asked
}

// act answers a request that a notification showed. If nothing was answered, it shows the reason in another notification.
func (n *Notifier) act(c click, action string) {
	key, allow := strings.CutPrefix(action, actAllow)
	if !allow {
		key = strings.TrimPrefix(action, actDeny)
	}
	ref, known := c.refs[key]
	var err error
	switch {
	case !known:
		err = errEarlierRun
	case c.askedAt.Add(answer.VisibleFor).After(time.Now()):
		err = errJustShown
	default:
		d := adapters.Decision{Verdict: adapters.Deny}
		if allow {
			d.Verdict = adapters.AllowOnce
		}
		ctx, cancel := context.WithTimeout(context.Background(), actLimit)
		defer cancel()
		err = n.opts.Answer(ctx, ref, d)
	}
	if err == nil {
		return
	}
	n.opts.Log.Warn("a request was not answered from its notification", "session", c.session, "error", err)
	title := "Nothing was answered"
	if errors.Is(err, adapters.ErrUnconfirmed) {
		title = "Not confirmed"
	}
	n.box.put(order{key: "answer " + key, kind: Permission, session: c.session, opensRequest: true, text: Text{Title: title, Body: present.Cut(present.Line(err.Error()), 2*topicCells)}})
}

// open opens what a click on a notification asks for: a request, or a session.
func (n *Notifier) open(c click) {
	switch {
	case c.waits && n.opts.OpenRequest != nil:
		n.opts.OpenRequest(c.session)
	case n.opts.Open != nil:
		n.opts.Open(c.session)
	}
}
