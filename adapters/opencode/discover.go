package opencode

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/report"
)

// discovery holds the state of one call of Discover.
type discovery struct {
	adapter *Adapter
	query   adapters.Query
	now     time.Time
	census  census
	noTable bool // the process table could not be read
	answer  *report.Answer
	roots   []*root
	absent  bool
}

// root adds the sessions of one data folder to the answer.
func (d *discovery) root(ctx context.Context, r *root) {
	l := &links{now: d.now, hosts: r.hosts, own: map[*host]*run{}, held: map[*host]bool{}, databases: r.databases, copied: map[string]bool{}}
	problems := len(d.answer.Problems())
	d.readLogs(ctx, r, l)
	sessions := d.stores(ctx, r, l)
	complete := len(d.answer.Problems()) == problems && ctx.Err() == nil
	l.serverAnswers = d.askServers(ctx, r, foldersOf(sessions, r.hosts))
	d.assign(r, l, sessions)
	l.findLatest(sessions)
	d.watchRoot(r, l)
	answers := make(map[string]*adapters.Session, len(sessions))
	claims := make(map[string]claim, len(sessions))
	for _, id := range childrenFirst(sessions) {
		f := sessions[id]
		claims[id] = d.claim(l, sessions, f, 0)
		answers[id] = d.session(l, f, claims[id], answers)
	}
	mainSessions := map[*host]int{}
	for id, c := range claims {
		if c.host != nil && sessions[id].parent == "" {
			mainSessions[c.host]++
		}
	}
	d.answer.Expect(len(answers))
	for id, s := range answers {
		if c := claims[id]; !s.Process.IsZero() && c.host != nil {
			s.Shared = c.host.role == server || s.Parent != "" || mainSessions[c.host] > 1
		}
		d.add(r, sessions[id], s)
	}
	if complete {
		d.addProcesses(r, claims)
	}
}

// addProcesses adds a row for each terminal interface without a session: one before its
// first prompt, or one that shows an old session. The store must have been read
// completely, since a session that could not be read may be in any of these interfaces.
// There are no such rows for an `opencode run`, which soon has a session, and for a
// server, which has none of its own.
func (d *discovery) addProcesses(r *root, claims map[string]claim) {
	busy := map[*host]bool{}
	for _, c := range claims {
		busy[c.host] = true
		for _, h := range c.may {
			busy[h] = true
		}
	}
	for _, h := range r.hosts {
		if h.role != terminal || busy[h] || h.cwd == "" || !h.surelyUses(r) {
			continue
		}
		d.addProcess(adapters.ProcessSession(adapters.OpenCode, h.Process, h.cwd))
	}
}

func (d *discovery) addProcess(s adapters.Session) {
	if len(d.query.IDs) == 0 || slices.Contains(d.query.IDs, s.ID) {
		d.answer.Add(s)
	}
}

// addUnresponsive adds the processes whose data folders do not answer.
func (d *discovery) addUnresponsive() {
	for _, h := range d.census.hosts {
		if h.unresponsive != "" && h.role != server && h.cwd != "" {
			d.addProcess(adapters.UnresponsiveProcess(adapters.OpenCode, h.Process, h.cwd, h.unresponsive))
		}
	}
}

// claim finds the process of a session. A sub-agent that appears in no log inherits its
// parent's process.
func (d *discovery) claim(l *links, sessions map[string]*facts, f *facts, depth int) claim {
	c := l.of(f)
	parent := sessions[f.parent]
	if c.why == "" && c.host == nil && parent != nil && depth < 8 {
		p := d.claim(l, sessions, parent, depth+1)
		if p.host != nil && !p.host.beganAfter(f) && l.canStore(p.host, f) && !f.activity.time().Add(slack).Before(p.host.Started) {
			return p
		}
	}
	return c
}

// readLogs reads the logs of live processes. Without live processes it reads none.
func (d *discovery) readLogs(ctx context.Context, r *root, l *links) {
	if len(r.hosts) == 0 {
		return
	}
	d.answer.LookedIn(r.logFolder())
	var unknown []*host
	owners, readable := map[string][]*host{}, map[string]string{}
	for _, h := range r.hosts {
		if log, path := r.ownLog(h); log != "" {
			owners[log], readable[log] = append(owners[log], h), path
			l.held[h] = true
		} else if h.filesHidden {
			unknown = append(unknown, h)
		}
	}
	for log, hosts := range owners {
		one, err := d.adapter.readOwn(ctx, readable[log])
		d.answer.Problem(err)
		switch {
		case one == nil:
		case len(hosts) == 1:
			l.own[hosts[0]] = one
		default:
			l.common = append(l.common, common{one, hosts})
		}
	}
	d.guessLogs(ctx, r, l, unknown, func(path string) bool { return owners[path] != nil })
	shared := filepath.Join(r.logFolder(), sharedName)
	state, err := d.adapter.readLog(ctx, shared, r.oldest(), sharedLine)
	switch {
	case err == nil:
		l.shared = state.runs
	case !errors.Is(err, fs.ErrNotExist):
		d.answer.Problem(adapters.AsProblem(shared, err))
	}
}

// guessLogs finds the separate logs of processes whose open files can't be seen. Every
// version that has such a log keeps it open. The first line of the log has the command
// line. A terminal interface has a second log without it, which is begun right after.
// Logs that another process has open are left out.
func (d *discovery) guessLogs(ctx context.Context, r *root, l *links, hosts []*host, taken func(path string) bool) {
	owner := map[string][]*host{}
	for _, h := range hosts {
		for _, path := range r.begunLogs(h) {
			if !taken(path) {
				owner[path] = append(owner[path], h)
			}
		}
	}
	for path, may := range owner {
		state, err := d.adapter.readLog(ctx, path, time.Time{}, oldLine)
		if err != nil {
			continue
		}
		one := state.runs[""]
		if one == nil {
			continue
		}
		if one.args != "" {
			may = slices.DeleteFunc(may, func(h *host) bool { return !h.hasArgs(one.args) })
		}
		if len(may) == 1 {
			l.own[may[0]] = l.own[may[0]].join(one)
		}
	}
}

// oldest returns when the first of the root's processes began.
func (r *root) oldest() time.Time {
	if len(r.hosts) == 0 {
		return time.Time{}
	}
	return r.hosts[0].Started
}

// scope returns which sessions of a root's stores the query needs.
func (d *discovery) scope(r *root, l *links) scope {
	want := scope{totals: d.query.Totals, usage: d.query.Usage, once: d.query.Once, also: map[string]bool{}, runs: len(r.hosts) > 0}
	if !d.query.Since.IsZero() {
		want.since = millis(d.query.Since.UnixMilli())
	}
	for _, h := range r.hosts {
		want.also[h.resume] = h.resume != ""
		if h.latest && !d.named(r, l, h) {
			want.since = 0 // finding the latest session needs all sessions
		}
	}
	delete(want.also, "")
	oldest := r.oldest()
	if want.runs {
		want.live = millis(oldest.Add(-2 * time.Second).UnixMilli())
		want.since = min(want.since, want.live)
	}
	for _, one := range slices.Concat(slices.Collect(maps.Values(l.own)), slices.Collect(maps.Values(l.shared))) {
		one.name(want.also, oldest)
	}
	if len(d.query.IDs) > 0 {
		want.since, want.only = 0, map[string]bool{}
		for _, id := range d.query.IDs {
			want.only[id] = true
		}
		if len(r.hosts) > 0 { // the other sessions show to which one each process belongs
			want.only, want.since = nil, want.live
			for _, id := range d.query.IDs {
				want.also[id] = true
			}
		}
	}
	return want
}

// named reports whether a process's log names the sessions on which it works.
func (d *discovery) named(r *root, l *links, h *host) bool {
	one := l.own[h]
	if one == nil {
		one = l.shared[d.adapter.runOwners.known(h.Identity, filepath.Join(r.logFolder(), sharedName))]
	}
	return one != nil && len(one.sessions) > 0
}

// name adds the sessions on which a run worked since a given time.
func (r *run) name(to map[string]bool, since time.Time) {
	for id, m := range r.sessions {
		if m.at.After(since.Add(-slack)) && len(to) < 500 {
			to[id] = true
		}
	}
}

// stores reads the databases and the JSON store. A session that several of them contain is
// taken from the one that was written last.
func (d *discovery) stores(ctx context.Context, r *root, l *links) map[string]*facts {
	want := d.scope(r, l)
	all := map[string]*facts{}
	skipped := map[string]int{}
	for _, path := range r.databases {
		d.answer.LookedIn(path)
		sessions, err := d.adapter.sessions(ctx, path, want)
		d.answer.Problem(err)
		for id, f := range sessions {
			if !want.wants(id, f.activity) {
				continue // read for another query
			}
			if old := all[id]; old == nil || old.activity < f.activity {
				all[id] = f
			}
		}
	}
	d.answer.LookedIn(filepath.Join(r.storage(), "session"))
	files, problems := d.adapter.fileSessions(ctx, r.storage(), want, skipped)
	d.answer.Problem(problems...)
	for id, f := range files {
		if all[id] == nil {
			all[id] = f
		} else {
			l.copied[id] = true
		}
	}
	d.answer.SkipAll(skipped)
	return all
}

// foldersOf returns the folders that a server can be asked about, those of the latest
// sessions first.
func foldersOf(sessions map[string]*facts, hosts []*host) []string {
	var list []*facts
	for _, f := range sessions {
		if len(hosts) > 0 && !f.activity.time().Add(slack).Before(hosts[0].Started) && f.directory != "" {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b *facts) int { return int(b.activity - a.activity) })
	var folders []string
	for _, f := range list {
		folders = report.AppendNew(folders, f.directory)
	}
	return folders
}

// childrenFirst orders sessions so that sub-agents come before the session that began
// them.
func childrenFirst(sessions map[string]*facts) []string {
	depth := func(id string) int {
		n := 0
		for f := sessions[id]; f != nil && f.parent != "" && n < 16; n++ {
			f = sessions[f.parent]
		}
		return n
	}
	ids := make([]string, 0, len(sessions))
	depths := make(map[string]int, len(sessions))
	for id := range sessions {
		ids, depths[id] = append(ids, id), depth(id)
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Or(depths[b]-depths[a], compareIDs(b, a)) })
	return ids
}

// session returns one session for the answer.
func (d *discovery) session(l *links, f *facts, c claim, answers map[string]*adapters.Session) *adapters.Session {
	s := observation{facts: f, claim: c, noTable: d.noTable, now: d.now}
	if c.host != nil {
		s.server = l.serverAnswers[c.host]
		s.runs = d.census.hasChild(c.host)
		s.pressure = d.adapter.table.Pressure()
		s.child = f.waitingChild(answers)
	}
	v := decide(s)
	out := &adapters.Session{
		ID: f.id, Agent: adapters.OpenCode,
		Status: v.Status, WaitingFor: v.WaitingFor, Outcome: v.Outcome, Evidence: v.Evidence,
		CWD: f.cwd, Model: f.model, Title: f.title, FirstPrompt: f.firstPrompt, LastPrompt: f.lastPrompt,
		Parent: f.parent, Version: f.version, Tokens: f.tokens, Context: adapters.Context{Used: f.context},
		CostUSD: math.Round(f.cost*1e9) / 1e9, StartedAt: f.created.time(), LastActivityAt: f.activity.time(), TurnStartedAt: f.prompted.time(), Files: f.files,
	}
	if d.query.Usage && out.Tokens != nil && f.logged {
		out.Usage = f.log.Steps(*out.Tokens, out.CostUSD, out.LastActivityAt)
	}
	if out.Parent == out.ID {
		out.Parent = ""
	}
	if c.host != nil && v.Status != adapters.Stopped {
		out.Process = c.host.Identity
	}
	return out
}

// add adds a session to the answer, if it was asked for.
func (d *discovery) add(r *root, f *facts, s *adapters.Session) {
	d.answer.SkipAll(f.skipped)
	if len(d.query.IDs) > 0 && !slices.Contains(d.query.IDs, s.ID) ||
		len(d.query.IDs) == 0 && s.Status == adapters.Stopped && s.LastActivityAt.Before(d.query.Since) {
		return
	}
	if s.Live() {
		d.watchSession(r, f)
	}
	d.answer.AddOnce(*s, "copy of a session in another folder", (*adapters.Session).Live)
}

// watchRoot adds the folders of a root that should be watched.
func (d *discovery) watchRoot(r *root, l *links) {
	d.answer.Watch(r.path, r.logFolder())
	for _, path := range append(slices.Clone(r.databases), r.missing...) {
		d.answer.Watch(filepath.Dir(path))
	}
	sessions := filepath.Join(r.storage(), "session")
	if len(r.databases) > 0 && !slices.ContainsFunc(r.hosts, func(h *host) bool { return !l.usesDatabase(h) }) {
		return // nothing is written there any more
	}
	d.answer.Watch(sessions)
	entries, err := os.ReadDir(sessions)
	if err != nil || len(entries) > 100 {
		return
	}
	for _, e := range entries {
		d.answer.Watch(filepath.Join(sessions, e.Name()))
	}
}

// watchSession adds the folder of the messages of a live session in the JSON store.
func (d *discovery) watchSession(r *root, f *facts) {
	if len(f.files) > 0 && filepath.Ext(f.files[0]) == ".json" && len(d.answer.Watched()) < 500 {
		d.answer.Watch(messageFolder(r.storage(), f.id))
	}
}
