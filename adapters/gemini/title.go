package gemini

import (
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/pane"
	"rollcall/proc"
)

// The beginnings of the titles that Gemini CLI gives its terminal (0.29.0, 0.61.0).
const (
	titleWaits = "✋"
	titleWorks = "✦"
	titleQuiet = "⏲" // it works, and nothing has changed for a while
	titleReady = "◇"
)

// questionText is what a question to the user shows, and no request for a permission (0.61.0).
const questionText = "Enter to select"

// askTerminals asks the terminals of sessions whose files leave open what they do. Each terminal's server is asked once.
func (d *discovery) askTerminals(verdicts map[*session]adapters.State, unsettled []*session) {
	var ids []proc.Identity
	for _, s := range unsettled {
		ids = append(ids, s.owner.Identity)
	}
	titles, again := pane.Titles(d.Ctx, d.Table, questionText, ids), false
	for _, s := range unsettled {
		title, titled := titles[s.owner.Identity]
		again = again || verdicts[s].Status != adapters.Idle || titled && d.Now.Sub(s.last) < recent
		if titled {
			verdicts[s] = s.withTitle(verdicts[s], title)
		}
	}
	d.Again(again)
}

// withTitle returns the state of a session whose terminal has a title. A title of another form says nothing.
func (s *session) withTitle(v adapters.State, title pane.Title) adapters.State {
	says := "; its terminal's title says "
	switch {
	case strings.HasPrefix(title.Text, titleWaits) && title.Shows:
		return kit.Waiting(adapters.ForQuestion, v.Evidence+says+"that it waits, below a question")
	case strings.HasPrefix(title.Text, titleWaits):
		return kit.Waiting(adapters.ForPermission, v.Evidence+says+"that it waits")
	case strings.HasPrefix(title.Text, titleWorks), strings.HasPrefix(title.Text, titleQuiet):
		return kit.Working(v.Evidence + says + "that it works")
	case strings.HasPrefix(title.Text, titleReady) && (s.turn.state == ended || s.turn.state == noTurn):
		return kit.Idle(s.turn.outcome, v.Evidence+says+"that it is ready")
	}
	return v
}

// recent is how long after its last record a session's title may still change.
const recent = 10 * time.Second
