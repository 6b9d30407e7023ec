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
	records := l.quietly() // what can't be read is told by those who manage launches
	var more []adapters.Session
	now := l.now()
	for i := range records {
		r := &records[i]
		if r.Agent != agent || r.Ended() || l.listed(r, listed) {
			continue
		}
		if !l.lives(r, now) {
			heir, ok := l.left(r)
			if !ok {
				continue
			}
			r.Process = heir // the keeper is about to write that down
		}
		more = append(more, l.row(r, now))
	}
	// Sessions are named later, when more may be known of the launches than now.
	latest := sync.OnceValue(l.quietly)
	return more, func(s *adapters.Session) *app.Launch { return l.launchOf(latest(), s) }
}

// listed says whether the agent lists the session of a launch as live.
func (l *Launches) listed(r *Record, list []adapters.Session) bool {
	return slices.ContainsFunc(list, func(s adapters.Session) bool { return s.Live() && l.fits(r, &s) })
}

func (l *Launches) row(r *Record, now time.Time) adapters.Session {
	s := adapters.Session{
		ID: r.Session, Agent: r.Agent, Status: adapters.Working, Process: r.Process, CWD: r.Dir, Branch: r.Branch, Model: r.Model,
		FirstPrompt: r.Prompt, LastPrompt: r.Prompt, StartedAt: r.LaunchedAt, LastActivityAt: r.LaunchedAt,
	}
	if s.ID == "" {
		s.ID = r.ID
	}
	age := max(now.Sub(r.LaunchedAt), 0).Round(time.Second)
	if r.young(now) && !r.Seen {
		s.Evidence = fmt.Sprintf("starting: launched %s ago, not in its agent's storage yet", age)
	} else {
		s.Status = adapters.Unknown // it may wait for something, or its agent could not be read
		s.Evidence = fmt.Sprintf("process %d, launched %s ago, lives; its agent does not list a session of it", r.Process.PID, age)
	}
	return s
}

// ExitCode is the exit code of the process that a session of ours ran in; nil:
// nobody knows it.
func (l *Launches) ExitCode(s *app.Session) *int {
	records := l.quietly()
	for i := range records {
		if r := &records[i]; s.Launch != nil && r.ID == s.Launch.ID {
			return r.ExitCode
		}
	}
	return nil
}

// launchOf is the launch that a session came from.
func (l *Launches) launchOf(records []Record, s *adapters.Session) *app.Launch {
	for i := range records {
		r := &records[i]
		if r.Agent == s.Agent && l.fits(r, s) {
			return &app.Launch{ID: r.ID, Group: r.Group, Spec: r.Spec, Prompt: r.Prompt, Log: r.Log, LaunchedAt: r.LaunchedAt, Hooks: r.shownHooks(),
				Unlisted: s.ID == r.ID} // a row of ours, also where only others were asked about
		}
	}
	return nil
}

// fits says whether a session came from a launch: by its id, or by its process.
func (l *Launches) fits(r *Record, s *adapters.Session) bool {
	if s.ID == r.ID || r.Session != "" && s.ID == r.Session {
		return true
	}
	// A process can be given to another session later: the id, once known, rules.
	if r.Session != "" || r.Ended() || s.Parent != "" || s.Shared || s.Process.IsZero() {
		return false
	}
	return s.Process == r.Process || l.member(r, s.Process)
}

// member says whether a living process belongs to what a launch started: it has
// the launch in its environment, is of the session that the started process
// leads, or is its child (Windows).
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
	// While a session has a process, its number is not given to another process:
	// a stranger with it means that the session of the launch is gone.
	if leader, err := l.table.Find(first.PID); err == nil && leader.Identity != first {
		return false
	}
	return p.SID == first.PID || p.SID == 0 && p.PPID == first.PID
}

// Heir finds, for Sweep, the agent behind a wrapper that is gone: the process on
// which the agent lists the session, or, before it has listed it once, the eldest
// process that the wrapper left. Afterwards what is left are tools.
func (l *Launches) Heir(snap *app.Snapshot) func(Record) (proc.Identity, bool) {
	return func(r Record) (proc.Identity, bool) {
		for _, s := range snap.Sessions {
			if s.Agent == r.Agent && s.Live() && !s.Shared && s.Process != r.Process && s.Parent == "" &&
				(s.Launch == nil || !s.Launch.Unlisted) && l.member(&r, s.Process) {
				return s.Process, true
			}
		}
		return l.left(&r)
	}
}

// left is the eldest process that a wrapper left when it ended: the agent, as long
// as it was not seen that the wrapper's process is the agent. Afterwards it is a tool.
// Of a start that was cut short before it was written down, it is what was
// started.
func (l *Launches) left(r *Record) (proc.Identity, bool) {
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

// shownHooks are the hooks of a launch as they are shown.
func (r *Record) shownHooks() []app.Hook {
	out := make([]app.Hook, 0, len(r.Hooks))
	for _, h := range r.Hooks {
		out = append(out, app.Hook{When: string(h.When), Command: h.Command, RanAt: h.RanAt, Result: h.Result, Output: h.Output})
	}
	return out
}
