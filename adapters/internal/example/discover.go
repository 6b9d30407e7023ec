package example

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/skeleton"
)

// discovery holds the state of one question.
type discovery struct {
	*Adapter
	*skeleton.Look
	processes []*skeleton.Process
	sessions  []*session
}

// session is a session's file, and what was read of it.
type session struct {
	kit.Chat
	facts
	owner *skeleton.Process // that has it; nil: none has
	spent *kit.Account
}

// begin starts a question: it reads the processes, and finds the homes.
func (a *Adapter) begin(ctx context.Context, q adapters.Query) *discovery {
	d := &discovery{Adapter: a, Look: skeleton.Begin(ctx, a.Base, q, "sessions")}
	d.processes = finder.Find(d.Look)
	return d
}

// list lists the files of all homes.
func (d *discovery) list() {
	for _, home := range d.Homes.Paths {
		dir := filepath.Join(home, "sessions")
		entries, err := agentfile.Entries(d.Ctx, dir)
		d.Hidden = d.Report.Failed(dir, err) || d.Hidden
		for _, e := range entries {
			if !strings.HasSuffix(e.Name(), ".jsonl") {
				continue
			}
			chat, ok, hidden := d.Report.Stat(home, filepath.Join(dir, e.Name()))
			d.Hidden = d.Hidden || hidden
			if ok {
				d.sessions = append(d.sessions, &session{Chat: chat})
			}
		}
	}
}

// read reads the files that the query asks for, and all that a live process may have: those that were written since it began.
func (d *discovery) read() {
	files := slices.DeleteFunc(d.sessions, func(s *session) bool { return !d.wants(s) })
	d.sessions = nil
	skeleton.Read(d.Look, d.transcripts, files, func(s *session, read facts) bool {
		s.facts = read
		if s.id != "" {
			d.sessions = append(d.sessions, s)
		}
		return s.id != ""
	}, func(*session) { d.Hidden = true })
}

// wants reports whether a file has to be read.
func (d *discovery) wants(s *session) bool {
	if len(d.Query.IDs) > 0 {
		return slices.Contains(d.Query.IDs, strings.TrimSuffix(filepath.Base(s.Path), ".jsonl"))
	}
	return d.IsRecent(s.Info.ModTime()) || slices.ContainsFunc(d.processes, func(p *skeleton.Process) bool {
		return p.Uses(s.Home) && p.Precedes(s.Info.ModTime())
	})
}

// match finds the process of each session, which the session's file names. A pid alone proves nothing.
func (d *discovery) match() {
	for _, s := range d.sessions {
		for _, p := range d.processes {
			if p.PID == s.process.PID && p.Start == s.process.Start {
				s.owner = p
			}
		}
	}
}

// addSessions adds the sessions and processes that the query asks for to the answer.
func (d *discovery) addSessions() {
	if d.Query.Usage {
		d.settle()
	}
	for _, s := range d.sessions {
		d.Add(d.row(s))
	}
	for _, p := range d.processes {
		if !slices.ContainsFunc(d.sessions, func(s *session) bool { return s.owner == p }) {
			d.AddProcess(p.Row(d.Look, d.Hidden, false, false))
		}
	}
}

// row returns a session for the answer.
func (d *discovery) row(s *session) adapters.Session {
	out := adapters.Session{
		ID: s.id, Agent: Name, Files: []string{s.Path},
		State: d.decide(s),
		Place: adapters.Place{CWD: s.cwd, Home: s.Home},
		Topic: s.Topic,
		Spent: adapters.Spent{Usage: s.spent.Steps()},
		Times: adapters.Times{StartedAt: s.started, LastActivityAt: s.at, TurnStartedAt: s.turnAt},
	}
	if s.lost == "" {
		out.Tokens = new(s.ledger.Tokens())
	}
	if s.owner != nil {
		out.Process = s.owner.Identity
	}
	return out
}

// settle finds which of the answers in the files count for which session.
func (d *discovery) settle() {
	var accounts []*kit.Account
	for _, s := range d.sessions {
		s.spent = &kit.Account{ID: s.id, Ledgers: []*kit.Ledger{&s.ledger}, Last: s.at, CWD: s.cwd}
		accounts = append(accounts, s.spent)
	}
	d.Report.Settle(accounts)
}
