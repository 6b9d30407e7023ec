package qwen

import (
	"path/filepath"
	"strings"

	"rollcall/adapters/internal/pane"
	"rollcall/proc"
)

// readTitles reads the titles of the terminals of sessions with an open turn. Qwen Code records nothing when the user takes a prompt back before the first
// word of its answer, and the result of a command seconds after its end; the title alone shows both (0.24.4). It reports whether there is such a title.
func (d *discovery) readTitles() bool {
	var ids []proc.Identity
	for _, s := range d.sessions {
		if s.owner != nil && !s.owner.Headless && (s.turn.state == prompted || s.turn.state == called) {
			ids = append(ids, s.owner.Identity)
		}
	}
	d.titles = pane.Titles(d.Ctx, d.Table, "", ids)
	return len(d.titles) > 0
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
	if text == "" || text != "Qwen - "+filepath.Base(s.cwd) && text != s.title {
		return noTitle
	}
	return is
}

// isReady reports whether the title of the session's terminal is the one that Qwen Code gives it when no turn is open. A title that may be as old as the
// prompt says nothing.
func (d *discovery) isReady(s *session) bool {
	return d.Now.Sub(s.turn.at) > d.silence() && d.title(s) == titleReady
}
