package cline

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/bounded"
)

// discovery holds the state of one call of Discover.
type discovery struct {
	*Adapter
	ctx       context.Context
	query     adapters.Query
	now       time.Time
	answer    *kit.Answer
	processes []*process
	tableErr  error
	roots     []*root
	sessions  []*session
	unread    map[*root]bool // those with a session that could not be read
}

// session is what was read of one session.
type session struct {
	manifest
	root    *root
	folder  string // of its files
	talk    conversation
	failed  bool  // the manifest could not be read
	talkErr error // why the conversation could not be read; nil if it is missing

	above     *session // of a sub-agent: the session that spawned it
	owner     *process // that hosts it, or that resumed it
	owners    int      // how many processes can be the one that its manifest names
	doubt     string   // why its process can't be known
	terminals int      // with the hub as owner: the processes that can be its terminal
	spent     *kit.Account
}

// conversationFile returns the file of a session's conversation.
func (s *session) conversationFile() string {
	if s.agent != "" {
		return filepath.Join(s.folder, s.agent+".messages.json")
	}
	return filepath.Join(s.folder, s.id+".messages.json")
}

// look reads the processes first and the files after them, once.
func (a *Adapter) look(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	d := &discovery{Adapter: a, ctx: ctx, query: q, now: a.now(), answer: kit.NewAnswer(), unread: map[*root]bool{}}
	d.processes, d.tableErr = a.census(ctx)
	d.answer.Problem(d.tableErr)
	d.roots = a.roots(d.processes, d.answer)
	if d.absent() {
		return d.answer.Absent()
	}
	for _, r := range d.roots {
		d.list(r)
	}
	d.readManifests()
	for _, r := range d.roots {
		d.addAgents(r)
	}
	d.match()
	d.readConversations()
	d.addSessions()
	d.addProcesses()
	d.keepWatch()
	if q.Once {
		a.manifests.Forget()
		a.conversations.Forget()
		a.databases.Forget()
	}
	return d.answer.Result(ctx, description.Title)
}

// absent reports whether nothing shows that Cline is installed.
func (d *discovery) absent() bool {
	return len(d.processes) == 0 && d.tableErr == nil && len(d.answer.Problems()) == 0 &&
		!slices.ContainsFunc(d.roots, func(r *root) bool { return exists(r.data) || exists(r.sessions) })
}

// list finds the folders of a root's sessions.
func (d *discovery) list(r *root) {
	entries, err := agentfile.Entries(d.ctx, r.sessions)
	if err != nil && !isMissing(err) {
		d.answer.Problem(adapters.AsProblem(r.sessions, err))
		d.unread[r] = true
	}
	for _, e := range entries {
		id := e.Name()
		if e.Type().IsRegular() || !d.mayBeAsked(id) {
			continue
		}
		s := &session{root: r, folder: filepath.Join(r.sessions, id)}
		s.id = id
		d.sessions = append(d.sessions, s)
	}
}

// mayBeAsked reports whether the query asks for a session or its sub-agents.
func (d *discovery) mayBeAsked(id string) bool {
	return d.query.IDs == nil || slices.ContainsFunc(d.query.IDs, func(asked string) bool {
		return asked == id || len(asked) > len(id) && asked[:len(id)] == id
	})
}

// readManifests reads the manifests, and drops the sessions that can't be read.
func (d *discovery) readManifests() {
	slices.SortFunc(d.sessions, func(a, b *session) int { return strings.Compare(b.id, a.id) }) // ids begin with a time
	ctx, cancel := kit.ReadingTime(d.ctx, len(d.sessions))
	defer cancel()
	late := make([]bool, len(d.sessions))
	agentfile.Parallel(len(d.sessions), func(i int) { late[i] = !d.readManifest(ctx, d.sessions[i]) })
	lost := 0
	for i, s := range d.sessions {
		if late[i] {
			lost++
		}
		if late[i] || s.failed {
			d.unread[s.root] = true
		}
	}
	if lost > 0 {
		d.answer.NotRead(d.sessions[0].root.sessions, "sessions", lost, len(d.sessions))
	}
	d.sessions = slices.DeleteFunc(d.sessions, func(s *session) bool { return s.status == "" })
}

// readManifest reads the manifest of a session, and reports whether there was time for it. The session has no status if
// that failed.
func (d *discovery) readManifest(ctx context.Context, s *session) bool {
	if agentfile.Ended(ctx) != nil {
		return false
	}
	id, path := s.id, filepath.Join(s.folder, s.id+".json")
	read, err := read(ctx, &d.manifests, path, manifestLimit, parseManifest)
	switch {
	case adapters.IsOutOfTime(err):
		return false
	case isMissing(err):
		if _, err := agentfile.Entries(ctx, s.folder); err == nil {
			d.answer.Skip("folder of a session without a manifest", 1)
		}
		return true
	case err != nil:
		s.failed = true
		d.answer.Problem(adapters.AsProblem(path, err))
		d.answer.LeaveOut(kit.NotReadable, 1)
		return true
	case read.value.id != id:
		d.answer.Skip("manifest of another session than its folder", 1)
		return true
	}
	s.manifest = read.value
	s.modified = read.stamp.ModTime()
	if s.newer > 0 {
		d.answer.Skip("manifest in a form that is newer than Rollcall supports", 1)
	}
	return true
}

// wanted reports whether a session that is not live may be in the answer, before its conversation was read.
func (d *discovery) wanted(s *session) bool {
	if d.query.IDs != nil {
		return slices.Contains(d.query.IDs, s.id)
	}
	return s.owner != nil || s.owners > 0 || s.doubt != "" || d.tableErr != nil || d.query.Since.IsZero() || !s.modified.Before(d.query.Since) || !s.ended.Before(d.query.Since)
}

// readConversations reads the conversations of the sessions that the query asks for, and drops the others.
func (d *discovery) readConversations() {
	d.sessions = slices.DeleteFunc(d.sessions, func(s *session) bool { return !d.wanted(s) })
	slices.SortStableFunc(d.sessions, func(a, b *session) int { return b.modified.Compare(a.modified) })
	ctx, cancel := kit.ReadingTime(d.ctx, len(d.sessions))
	defer cancel()
	agentfile.Parallel(len(d.sessions), func(i int) {
		s := d.sessions[i]
		if s.talkErr = agentfile.Ended(ctx); s.talkErr != nil {
			return
		}
		found, err := read(ctx, &d.conversations, s.conversationFile(), conversationLimit, parseConversation)
		if isMissing(err) {
			err = nil
		}
		s.talk, s.talkErr = found.value, err
	})
	late := 0
	for _, s := range d.sessions {
		switch {
		case adapters.IsOutOfTime(s.talkErr):
			late++
		case s.talkErr != nil:
			d.answer.Problem(adapters.AsProblem(s.conversationFile(), s.talkErr))
			d.answer.LeaveOut(kit.NotReadable, 1)
		}
		d.answer.SkipAll(s.talk.skipped)
	}
	if late > 0 {
		d.answer.NotRead(d.sessions[0].root.sessions, "conversations", late, len(d.sessions))
	}
}

// addSessions adds the sessions that the query asks for.
func (d *discovery) addSessions() {
	if d.query.Usage {
		d.settle()
	}
	for _, s := range d.sessions {
		row := d.row(s)
		if !row.Live() && d.query.IDs == nil && row.LastActivityAt.Before(d.query.Since) {
			continue
		}
		d.answer.AddOnce(row, "session that several homes have", func(s *adapters.Session) bool { return !s.Process.IsZero() })
	}
}

// row returns a session for the answer.
func (d *discovery) row(s *session) adapters.Session {
	v := d.verdict(s)
	t := &s.talk
	out := adapters.Session{
		ID: s.id, Agent: Name, Status: v.Status, WaitingFor: v.WaitingFor, Outcome: v.Outcome, Evidence: v.Evidence, Parent: s.parent,
		CWD: s.cwd, Branch: s.branch, Model: s.model, Title: s.title, Version: s.version, CostUSD: s.cost,
		FirstPrompt: cmp.Or(t.firstPrompt, s.prompt), LastPrompt: cmp.Or(t.lastPrompt, s.prompt),
		StartedAt: s.started, TurnStartedAt: t.prompted, LastActivityAt: latest(s.started, s.ended, t.updated, t.last.at),
		Context: adapters.Context{Used: t.context}, Files: []string{s.conversationFile(), filepath.Join(s.folder, s.id+".json")}, Home: s.root.data,
	}
	if out.TurnStartedAt.IsZero() {
		out.TurnStartedAt = s.started
	}
	if t.model != "" {
		out.Model = t.model
	}
	out.Doing, out.DoingSince = t.doing()
	if s.talkErr == nil {
		out.Tokens = s.tokens()
	}
	if s.spent != nil {
		out.Usage = s.spent.Usage
	}
	if s.owner != nil && v.Status != adapters.Stopped {
		out.Process = s.owner.Identity
		out.Shared = s.owner.hub || s.parent != ""
		out.Unattended = s.owner.hub && s.terminals == 0
	}
	return out
}

func latest(times ...time.Time) (at time.Time) {
	for _, t := range times {
		if t.After(at) {
			at = t
		}
	}
	return at
}

// addProcesses adds the rows of the terminals that have no session yet.
func (d *discovery) addProcesses() {
	for _, p := range d.processes {
		if p.hub || !d.isOpen(p) {
			continue
		}
		row := adapters.ProcessSession(Name, p.Process, p.cwd)
		if p.root != nil && d.unread[p.root] {
			row.Status = adapters.Unknown
			row.Evidence = fmt.Sprintf("process %d; its session may be one that could not be read", p.PID)
		}
		if p.unresponsive != "" {
			row = adapters.UnresponsiveProcess(Name, p.Process, p.cwd, p.unresponsive)
		}
		if d.query.IDs == nil || slices.Contains(d.query.IDs, row.ID) {
			d.answer.Add(row)
		}
	}
}

// keepWatch sets the folders to watch.
func (d *discovery) keepWatch() {
	var paths []string
	for _, r := range d.roots {
		paths = append(paths, r.watched()...)
	}
	for _, s := range d.sessions {
		if s.owner != nil && bounded.Answers(s.folder) {
			paths = append(paths, s.folder)
		}
	}
	d.watch.Set(paths)
}
