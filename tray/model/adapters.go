package model

import (
	"fmt"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

// trouble is an adapter that failed or has not answered yet.
type trouble struct {
	agent  string
	text   string // of the row
	failed bool   // false: has not answered yet
	lost   bool   // all sessions of the adapter are stale or missing
	away   bool   // is another machine; the menu does not wait for its answer
}

// adapterWidth is the width of an adapter's row in cells. Errors need more space than sessions.
const adapterWidth = 80

// troubles returns the adapters that failed, then those that have not answered yet. It omits agents that are not
// installed.
func troubles(snapshot *app.Snapshot) []trouble {
	stale := map[adapters.Name]*app.Stale{}
	for i := range snapshot.Own {
		if s := &snapshot.Own[i]; s.Stale != nil && s.Machine == "" && stale[s.Agent] == nil {
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
	failed = append(failed, failedMachines(snapshot)...)
	for _, m := range snapshot.Machines {
		if m.State == app.Pending {
			pending = append(pending, trouble{agent: m.Name, text: m.Name + ": connecting…", away: true})
		}
	}
	return append(failed, pending...)
}

// maxMachines is the number of rows for machines that did not answer in full. Further machines share the last row.
const maxMachines = 3

// failedMachines returns the machines that did not answer in full.
func failedMachines(snapshot *app.Snapshot) (out []trouble) {
	for i := range snapshot.Machines {
		m := &snapshot.Machines[i]
		if m.State != app.Failed {
			continue
		}
		head := "⚠ " + m.Name + ": "
		tail := ""
		if !m.Answered.IsZero() {
			tail = ", list from " + clock(m.Answered, snapshot.At)
		}
		room := adapterWidth - present.Width(head) - present.Width(tail)
		out = append(out, trouble{agent: m.Name, failed: true, away: true, text: head + present.Cut(present.Line(present.Head(m.Problems[0])), room) + tail})
	}
	if more := len(out) - maxMachines; more > 0 {
		out[maxMachines-1].text = fmt.Sprintf("⚠ %d more machines did not answer", more+1)
		for i := range out[maxMachines:] {
			out[maxMachines+i].text = ""
		}
	}
	return out
}

// failedText returns the row of a failed adapter, such as "⚠ Codex: no answer in 5 s, list from 14:02". now is the
// snapshot's time, so that the row changes only with the snapshot.
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

// problem returns the first problem on one line, with a file's name in place of its path, since the row is short.
func problem(h *app.Health) string {
	var p string
	if len(h.Problems) > 0 {
		p = present.Line(present.Head(h.Problems[0]))
	}
	if p == "" {
		return "no answer"
	}
	path, rest, found := strings.Cut(p, ": ")
	if !found || !strings.ContainsAny(path, `/\`) {
		return p
	}
	if name := strings.TrimSpace(path[strings.LastIndexAny(path, `/\`)+1:]); name != "" {
		path = name
	}
	return path + ": " + strings.TrimSpace(rest)
}

// ownTroubles returns the rows for the reasons why Rollcall cannot write its own files.
func ownTroubles(snapshot *app.Snapshot) []string {
	var rows []string
	for _, t := range snapshot.Troubles[:min(len(snapshot.Troubles), MaxOwn)] {
		const head = "⚠ Rollcall: "
		rows = append(rows, head+present.Cut(present.Line(present.Head(t)), adapterWidth-present.Width(head)))
	}
	return rows
}

// tooltipWidth is the width of the tooltip in cells. Windows holds 127 UTF-16 units.
const tooltipWidth = 100

// tooltip returns the counts, or the reason why there are none, followed by the agents that failed.
func tooltip(c counts, troubles []trouble, empty string, own bool) string {
	text := c.words() + strings.ToLower(empty)
	var failed []string
	for _, t := range troubles {
		if t.failed {
			failed = append(failed, t.agent)
		}
	}
	if own {
		failed = append(failed, "Rollcall itself")
	}
	if len(failed) > 0 {
		text += "; trouble with " + strings.Join(failed, ", ")
	}
	return present.Cut("Rollcall: "+text, tooltipWidth)
}
