package qwen

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters/internal/pane"
	"rollcall/proc"
)

// longestRequest is how long after the last record of a session its turn may go on without another.
const longestRequest = time.Hour

// readTitles reads the titles of the terminals of sessions in a turn, or shortly after one. Qwen Code records nothing when the user takes a prompt back before
// the first word of its answer, nor when it asks the model again after an answer that ended at the limit of its tokens or that a hook did not accept, and the
// result of a command seconds after its end; the title alone shows these (0.24.4). It reports whether a turn goes on of which only a title says so.
func (d *discovery) readTitles() bool {
	var ids []proc.Identity
	for _, s := range d.sessions {
		mayWork := s.turn.state == prompted || s.turn.state == called || s.turn.state == ended && d.Now.Sub(s.turn.at) < longestRequest
		if s.owner != nil && !s.owner.Headless && mayWork {
			ids = append(ids, s.owner.Identity)
		}
	}
	d.titles = pane.Titles(d.Ctx, d.Table, "", ids)
	return slices.ContainsFunc(d.sessions, d.goesOn)
}

// goesOn reports whether the turn of a session goes on after an answer that could have been its last, as the title of the terminal says.
func (d *discovery) goesOn(s *session) bool {
	return s.owner != nil && s.turn.state == ended && d.title(s) == titleWorks
}

// titleState is what the title of a terminal says.
type titleState int

const (
	noTitle    titleState = iota // it can't be read, or is of another form
	titleReady                   // no turn is open, or a command runs
	titleWorks
	titleAsks
)

// title returns what the title of the session's terminal says: at work, and while it asks, it has a sign before what it is without a turn (0.24.4). A
// variation selector may follow the sign.
func (d *discovery) title(s *session) titleState {
	text := strings.TrimSpace(d.titles[s.owner.Identity].Text)
	is := titleReady
	for sign, state := range map[string]titleState{"◐": titleWorks, "✳": titleAsks} {
		if rest, ok := strings.CutPrefix(text, sign); ok {
			text, is = strings.TrimSpace(strings.TrimPrefix(rest, "\ufe0e")), state
		}
	}
	if text == "" || text != "Qwen - "+filepath.Base(s.cwd) && text != s.Title {
		return noTitle
	}
	return is
}

// isReady reports whether the title of the session's terminal is the one that Qwen Code gives it when no turn is open. A title that may be as old as the
// prompt says nothing.
func (d *discovery) isReady(s *session) bool {
	return d.Now.Sub(s.turn.at) > d.silence() && d.title(s) == titleReady
}
