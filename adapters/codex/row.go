package codex

import (
	"cmp"
	"path/filepath"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// title returns the name of the thread; named are names that the user or Codex gave it.
func (f *found) title(named ...string) string {
	if f.facts.guardian { // its prompt is the history that it reviews
		return "Guardian review"
	}
	return cmp.Or(cmp.Or(named...), f.facts.task)
}

// isHeadless returns adapters.Session.Headless. A process of its own, or the one that certainly shows it, determines it, since a thread that codex exec began
// can be resumed in a terminal.
func (f *found) isHeadless(shownBy *host, attended bool) bool {
	for _, h := range []*host{f.host, shownBy} {
		if h != nil && (h.role == run || h.role == terminal) {
			return h.role == run
		}
	}
	return !attended && (f.host == nil && f.facts.byExec || f.facts.byRemote || strings.HasPrefix(f.facts.client, "SDK"))
}

// archive is the folder of the rollouts that the user archived.
const archive = "archived_sessions"

// session adds one session to the roll.
func (d *discovery) session(r *root, f *found, row thread, name string, answer threadStatus) {
	s := observation{facts: f.facts, host: f.host, unread: f.err, now: d.now}
	if answer.Type != "" {
		s.answer = &answer
	}
	s.possibleHost = d.possibleHostOf(f)
	if call, ok := s.oldestCall(); ok && f.host != nil {
		s.running, s.nothingRuns = d.running.processOfCall(d.adapter.Table, f.host, f.id, call.at)
		s.pressure = d.adapter.Table.Pressure()
	}
	v := decide(s)
	if d.running.unread && f.host == nil && v.Status == adapters.Stopped {
		v = kit.Unknown("the process table can't be read; " + s.lastTurn())
	}
	out := adapters.Session{
		ID: f.id, Agent: Name, Model: cmp.Or(f.facts.model, row.model), Parent: cmp.Or(f.facts.parent, row.parent),
		Version: cmp.Or(f.facts.version, row.version), Review: f.facts.guardian, Archived: filepath.Base(filepath.Dir(f.path)) == archive,
		Files: []string{f.path},
		State: kit.WithLimit(v, f.facts.turn.limited, f.facts.turn.why, f.facts.turn.since),
		Owner: adapters.Owner{Host: f.facts.client, Headless: f.isHeadless(d.shownBy[f.id], d.attended[f.id])},
		Place: adapters.Place{CWD: f.facts.cwd, Branch: cmp.Or(row.branch, f.facts.branch), Home: r.path},
		Topic: adapters.Topic{Title: f.title(row.name, name), FirstPrompt: f.facts.firstPrompt, LastPrompt: f.facts.lastPrompt},
		Spent: adapters.Spent{Tokens: cmp.Or(f.tokens, f.facts.tokenTotals()), Usage: f.spent.Steps(),
			Context: adapters.Context{Used: f.facts.context, Window: f.facts.window}},
		Times: adapters.Times{StartedAt: f.facts.started, LastActivityAt: f.facts.last, TurnStartedAt: f.facts.turnStart()},
	}
	out.Doing, out.DoingSince = f.facts.doing()
	out.Decision = s.decision(v.Status)
	if out.LastActivityAt.IsZero() && f.info != nil {
		out.LastActivityAt = f.info.ModTime()
	}
	if f.host != nil {
		out.Process = f.host.Identity
		out.Shared = f.host.role == server || out.Parent != "" || d.mainThreads[f.host] > 1
		out.Unattended = f.host.daemon && out.Parent == "" && f.facts.byTerminal && !d.attended[f.id]
		if k := d.shownBy[f.id]; k != nil && f.host.daemon {
			out.Terminal = k.Identity
		}
		d.answer.Watch(filepath.Dir(f.path))
	}
	if v.Status == adapters.Waiting && v.WaitingFor == adapters.ForPermission {
		d.answer.Watch(r.path) // when the user decides, Codex writes only to databases there
	}
	// A thread that is in two homes, because one is a copy, is shown once.
	d.answer.AddOnce(out, "copy of a thread in another home", func(s *adapters.Session) bool { return !s.Process.IsZero() })
}
