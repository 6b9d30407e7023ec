package qwen

import (
	"path/filepath"
	"strings"

	"rollcall/adapters/internal/pane"
	"rollcall/proc"
)

// readTitles reads the titles of the terminals of sessions whose model has the prompt. Qwen Code records nothing when the user takes a prompt back
// before the first word of its answer; the title alone shows it (0.24.4). It reports whether there is such a title.
func (d *discovery) readTitles() bool {
	var ids []proc.Identity
	for _, s := range d.sessions {
		if s.owner != nil && !s.owner.Headless && s.turn.state == prompted {
			ids = append(ids, s.owner.Identity)
		}
	}
	d.titles = pane.Titles(d.ctx, d.Table, "", ids)
	return len(d.titles) > 0
}

// isReady reports whether the title of the session's terminal is the one that Qwen Code gives it when no turn is open. At work it has a sign before
// that. A title that is as old as the prompt says nothing.
func (d *discovery) isReady(s *session) bool {
	title, known := d.titles[s.owner.Identity]
	text := strings.TrimSpace(title.Text)
	return known && d.now.Sub(s.turn.at) > quick && text != "" && (text == "Qwen - "+filepath.Base(s.cwd) || text == s.title)
}
