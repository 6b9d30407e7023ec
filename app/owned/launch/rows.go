package launch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/proc"
)

// Complete implements app.Launches.
func (l *Launches) Complete(agent adapters.Name, listed []adapters.Session) ([]adapters.Session, func(*adapters.Session) *app.Launch) {
	records := l.readable()
	var more []adapters.Session
	now := l.now()
	var over []*Record
	for i := range records {
		r := &records[i]
		switch {
		case r.Agent != agent || !r.Ended() && l.listed(r, listed):
		case l.runs(r, now):
			more = append(more, l.row(r, now))
		case r.Ended() || !r.Process.IsZero(): // it was started
			over = append(over, r)
		}
	}
	found := sessionsOfEnded(over, records, listed, now)
	for _, r := range over {
		if _, ok := found[r.ID]; !ok && !r.Seen && !lists(listed, r.Session) {
			more = append(more, endedRow(r, now))
		}
	}
	// The core calls the function later, when the records may have changed.
	latest := sync.OnceValue(l.readable)
	return more, func(s *adapters.Session) *app.Launch {
		list := latest()
		if own := l.launchOf(list, s); own != nil {
			return own
		}
		i := slices.IndexFunc(list, func(r Record) bool { return r.Agent == s.Agent && found[r.ID] == s.ID })
		if i < 0 {
			return nil
		}
		return l.shown(&list[i])
	}
}

// runs reports whether a process of a launch runs or is being started. If another process than the record's runs, runs
// writes that process to r; the keeper is about to store it.
func (l *Launches) runs(r *Record, now time.Time) bool {
	if r.Ended() {
		return false
	}
	if l.isAlive(r, now) {
		return true
	}
	successor, ok := l.survivor(r)
	if ok {
		r.Process = successor
	}
	return ok
}

func lists(list []adapters.Session, id string) bool {
	return id != "" && slices.ContainsFunc(list, func(s adapters.Session) bool { return s.ID == id })
}

// listed reports whether the agent lists the session of a launch as live.
func (l *Launches) listed(r *Record, list []adapters.Session) bool {
	return slices.ContainsFunc(list, func(s adapters.Session) bool { return s.Live() && l.matches(r, &s) })
}

// recorded returns a session that is made from the record of a launch.
func recorded(r *Record, status adapters.Status) adapters.Session {
	return adapters.Session{
		ID: cmp.Or(r.Session, r.ID), Agent: r.Agent, Model: r.Model,
		State: adapters.State{Status: status},
		Place: adapters.Place{CWD: r.Dir, Branch: r.Branch},
		Topic: adapters.Topic{FirstPrompt: promptHead(r.Prompt), LastPrompt: promptHead(r.Prompt)},
		Times: adapters.Times{StartedAt: r.LaunchedAt, LastActivityAt: r.LaunchedAt},
	}
}

// endedRow returns the row of a launch that is over and for which the agent lists no session. The outcome of its last turn
// is not known.
func endedRow(r *Record, now time.Time) adapters.Session {
	s := recorded(r, adapters.Stopped)
	s.Evidence = "its process has ended"
	if r.Ended() {
		s.LastActivityAt = r.EndedAt
		s.Evidence = fmt.Sprintf("its process ended %s ago", max(now.Sub(r.EndedAt), 0).Round(time.Second))
	}
	if r.ExitCode != nil {
		s.Evidence += fmt.Sprintf(" with exit code %d", *r.ExitCode)
	}
	s.Evidence += "; the agent does not list a session for it"
	return s
}

func (l *Launches) row(r *Record, now time.Time) adapters.Session {
	s := recorded(r, adapters.Working)
	s.Process = r.Process
	age := max(now.Sub(r.LaunchedAt), 0).Round(time.Second)
	d, _ := adapters.Describe(r.Agent)
	if r.isStarting(now) && !r.Seen && !d.Unread {
		s.Evidence = fmt.Sprintf("starting: launched %s ago, not in the agent's storage yet", age)
	} else {
		s.Status = adapters.Unknown // the agent may wait for the user, or its storage could not be read, or never is (Unread)
		s.Evidence = fmt.Sprintf("process %d, launched %s ago, is running; the agent does not list a session for it", r.Process.PID, age)
	}
	return s
}

// ExitCode returns the exit code of a launched session's process that has ended, or nil if it is unknown. It waits a few
// seconds at most for the process that is about to store the code.
func (l *Launches) ExitCode(ctx context.Context, s *app.Session) *int {
	ended := l.EndOf(ctx, s)
	if ended == nil {
		return nil
	}
	return ended.ExitCode
}

// EndOf returns what is recorded of a launched session, as ExitCode does; nil: nothing is.
func (l *Launches) EndOf(ctx context.Context, s *app.Session) *app.Launch {
	if s.Launch == nil {
		return nil
	}
	r, err := l.waitForCode(ctx, s.Launch.ID)
	if err != nil {
		return nil
	}
	return l.shown(&r)
}

func (l *Launches) launchOf(records []Record, s *adapters.Session) *app.Launch {
	for i := range records {
		r := &records[i]
		if r.Agent == s.Agent && l.matches(r, s) {
			shown := l.shown(r)
			shown.Unlisted = s.ID == r.ID // a row that Complete added
			return shown
		}
	}
	return nil
}

func (l *Launches) shown(r *Record) *app.Launch {
	return &app.Launch{ID: r.ID, Group: r.Group, Spec: r.Spec, Prompt: promptHead(r.Prompt), Log: r.Log, LaunchedAt: r.LaunchedAt,
		Hooks: l.shownHooks(r), Ended: r.Ended(), ExitCode: r.ExitCode, Signal: r.Signal, CodeUnknown: l.codeUnknown(r)}
}

// matches reports whether a session belongs to a launch, by its id or by its process.
func (l *Launches) matches(r *Record, s *adapters.Session) bool {
	if s.ID == r.ID || r.Session != "" && s.ID == r.Session {
		return true
	}
	// A process may change to another session later. So once the id of the launch's session is known, only the id counts,
	// except for a row of a process without a session before the agent has listed the id.
	if r.Session != "" && (r.Seen || !s.IsProcess()) || r.Ended() || s.Parent != "" || s.Shared || s.Process.IsZero() {
		return false
	}
	return s.Process == r.Process || l.member(r, s.Process)
}

// member reports whether a running process belongs to a launch: it has the launch's id in its environment, is in the
// POSIX session that the started process leads, or is a child of the started process (Windows).
func (l *Launches) member(r *Record, id proc.Identity) bool {
	first := r.Process
	if len(r.Former) > 0 {
		first = r.Former[0]
	}
	if id.Start < first.Start {
		return false
	}
	if id == first {
		return true
	}
	p, err := l.table.Find(id.PID)
	if err != nil || p.Identity != id {
		return false
	}
	if env, err := l.table.Env(id); err == nil && slices.Contains(env, Variable+"="+r.ID) {
		return true
	}
	if first.IsZero() {
		return false
	}
	// The kernel does not reuse the number of a POSIX session that still has a process. If another process has that number
	// as its pid, the launch's POSIX session has ended.
	if leader, err := l.table.Find(first.PID); err == nil && leader.Identity != first {
		return false
	}
	return p.SID == first.PID || p.SID == 0 && p.PPID == first.PID
}

// Successor returns a function for Sweep that finds the agent's process once a wrapper has ended: the process with which
// the agent lists the session, or else the survivor of the wrapper.
func (l *Launches) Successor(snap *app.Snapshot) func(Record) (proc.Identity, bool) {
	return func(r Record) (proc.Identity, bool) {
		for s := range snap.Known() {
			if s.Agent == r.Agent && s.Live() && !s.Shared && s.Process != r.Process && s.Parent == "" &&
				(s.Launch == nil || !s.Launch.Unlisted) && l.member(&r, s.Process) {
				return s.Process, true
			}
		}
		return l.survivor(&r)
	}
}

// survivor returns the oldest process of a launch whose recorded process has ended. That is the agent, unless the
// recorded process is known to have been the agent itself: then only tools are left, and survivor returns none. For an
// interrupted start it returns the process that was started.
func (l *Launches) survivor(r *Record) (proc.Identity, bool) {
	if r.Seen || r.Own {
		return proc.Identity{}, false
	}
	list, err := l.table.List(context.Background())
	if err != nil && len(list) == 0 {
		return proc.Identity{}, false
	}
	slices.SortFunc(list, func(a, b proc.Process) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.PID, b.PID)) })
	for _, p := range list {
		if p.Identity != r.Process && l.member(r, p.Identity) {
			return p.Identity, true
		}
	}
	return proc.Identity{}, false
}

func (l *Launches) shownHooks(r *Record) []app.Hook {
	out := make([]app.Hook, 0, len(r.Hooks))
	for _, h := range r.Hooks {
		out = append(out, app.Hook{When: string(h.When), Command: h.Command, RanAt: h.RanAt, Result: h.Result, Output: h.Output, Lost: l.resultUnknown(&h)})
	}
	return out
}
