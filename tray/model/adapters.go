package model

import (
	"fmt"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

// trouble is what an adapter could not answer.
type trouble struct {
	agent  string
	text   string // the row
	failed bool   // false: it was not heard yet
	lost   bool   // its sessions are stale or missing altogether
}

// adapterWidth is wider than a session's row: an error has more to say.
const adapterWidth = 80

// troubles are the adapters that failed, then those that have not answered for
// the first time. Absent ones are left out.
func troubles(snapshot *app.Snapshot) []trouble {
	stale := map[adapters.Name]*app.Stale{}
	for i := range snapshot.Sessions {
		if s := &snapshot.Sessions[i]; s.Stale != nil && stale[s.Agent] == nil {
			stale[s.Agent] = s.Stale
		}
	}
	var failed, pending []trouble
	for i := range snapshot.Adapters {
		h := &snapshot.Adapters[i]
		agent := present.AgentName(h.Name)
		switch h.State {
		case app.Failed:
			lost := stale[h.Name] != nil || h.Sessions == 0
			failed = append(failed, trouble{agent: agent, failed: true, lost: lost,
				text: failedText(h, stale[h.Name], lost, snapshot.At)})
		case app.Pending:
			pending = append(pending, trouble{agent: agent, text: agent + ": asking…"})
		}
	}
	return append(failed, pending...)
}

// failedText is the row of a failed adapter: "⚠ Codex: no answer in 5 s, list
// from 14:02". now is the snapshot's time: the row must not change by itself.
func failedText(h *app.Health, stale *app.Stale, lost bool, now time.Time) string {
	var tail string
	if n := len(h.Problems) - 1; n > 0 {
		tail = fmt.Sprintf(" (+%d)", n)
	}
	from := h.Answered
	if from.IsZero() && stale != nil {
		from = stale.Since
	}
	if lost && !from.IsZero() {
		tail += ", list from " + clock(from, now)
	}
	head := "⚠ " + present.AgentName(h.Name) + ": "
	room := adapterWidth - present.Width(head) - present.Width(tail)
	return head + present.Cut(problem(h), room) + tail
}

// problem is the first problem on one line, with a file's name in place of its
// path: the row is short, and the window has the rest.
func problem(h *app.Health) string {
	var p string
	if len(h.Problems) > 0 {
		p = present.Line(bound(h.Problems[0], textBytes))
	}
	if p == "" {
		return "no answer"
	}
	path, rest, found := strings.Cut(p, ": ")
	if !found || !strings.ContainsAny(path, `/\`) {
		return p
	}
	if name := path[strings.LastIndexAny(path, `/\`)+1:]; name != "" {
		path = name
	}
	return path + ": " + rest
}

// tooltip tells the counts, or why there are none, then who could not be asked.
func tooltip(c counts, troubles []trouble, empty string) string {
	text := c.words() + strings.ToLower(empty)
	var failed []string
	for _, t := range troubles {
		if t.failed {
			failed = append(failed, t.agent)
		}
	}
	if len(failed) > 0 {
		text += "; trouble with " + strings.Join(failed, ", ")
	}
	// Windows holds 127 UTF-16 units.
	return present.Cut("Rollcall: "+text, 100)
}
