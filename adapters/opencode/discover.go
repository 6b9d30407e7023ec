package opencode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// discovery holds the state of one call of Discover.
type discovery struct {
	adapter *Adapter
	query   adapters.Query
	now     time.Time
	census  census
	noTable bool // the process table could not be read
	answer  *kit.Answer
	roots   []*root
	absent  bool
	spent   map[string]*kit.Account // of the sessions of a root; nil where it is not asked for
}

// root adds the sessions of one data folder to the answer.
func (d *discovery) root(ctx context.Context, r *root) {
	l := newLinks(r, d.now)
	problems := len(d.answer.Problems())
	d.readLogs(ctx, r, l)
	sessions := d.stores(ctx, r, l)
	if d.query.Usage {
		d.settle(sessions)
	}
	complete := len(d.answer.Problems()) == problems && ctx.Err() == nil
	l.serverAnswers = d.askServers(ctx, r, sessions)
	l.assign(sessions)
	l.findLatest(sessions)
	d.watchRoot(r)
	answers := make(map[string]*adapters.Session, len(sessions))
	claims := make(map[string]claim, len(sessions))
	for _, id := range childrenFirst(sessions) {
		f := sessions[id]
		claims[id] = d.claim(l, sessions, f, 0)
	}
	l.doubtOld(sessions, claims)
	for _, id := range childrenFirst(sessions) {
		answers[id] = d.session(l, sessions[id], claims[id], answers)
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
		d.add(sessions[id], s)
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
		if h.role != terminal || busy[h] || h.CWD == "" || !h.surelyUses(r) {
			continue
		}
		s := adapters.ProcessSession(d.adapter.product.Name, h.Process.Process, h.CWD)
		if h.old {
			s.Status, s.Evidence = adapters.Unknown, fmt.Sprintf("process %d: open; %s", h.PID, floor.Reason(""))
		}
		d.addProcess(s)
	}
}

func (d *discovery) addProcess(s adapters.Session) {
	if kit.Asked(d.query, s.ID) {
		d.answer.Add(s)
	}
}

// addUnresponsive adds the processes whose data folders do not answer.
func (d *discovery) addUnresponsive() {
	for _, h := range d.census.hosts {
		if h.unresponsive != "" && h.role != server && h.CWD != "" {
			d.addProcess(adapters.UnresponsiveProcess(d.adapter.product.Name, h.Process.Process, h.CWD, h.unresponsive))
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
		if p.host != nil && !p.host.beganAfter(f) && !f.activity.time().Add(slack).Before(p.host.began) {
			return p
		}
	}
	return c
}

// readLogs reads the log that all processes share, and finds the lines that each of them wrote.
// Without live processes it reads nothing.
func (d *discovery) readLogs(ctx context.Context, r *root, l *links) {
	if len(r.hosts) == 0 {
		return
	}
	d.answer.LookedIn(r.logFolder())
	shared := filepath.Join(r.logFolder(), sharedName)
	from := r.oldest().Add(-clockStep)
	state, err := d.adapter.readLog(ctx, shared, from)
	switch {
	case err == nil:
		l.shared = state.since(from)
		d.findWritten(l, shared)
	case !errors.Is(err, fs.ErrNotExist):
		l.unread = true
		d.answer.Problem(adapters.AsProblem(shared, err))
	}
}

// oldest returns when the first of the root's processes began.
func (r *root) oldest() time.Time {
	var first time.Time
	for i, h := range r.hosts {
		if i == 0 || h.began.Before(first) {
			first = h.began
		}
	}
	return first
}

// scope returns which sessions of a root's stores the query needs.
func (d *discovery) scope(r *root, l *links) scope {
	want := scope{usage: d.query.Usage, once: d.query.Once, also: map[string]bool{}, runs: len(r.hosts) > 0}
	if !d.query.Since.IsZero() {
		want.since = millis(d.query.Since.UnixMilli())
	}
	for _, h := range r.hosts {
		want.also[h.resume] = h.resume != ""
		if one := l.written[h]; h.latest && (one == nil || len(one.sessions) == 0) {
			want.since = 0 // finding the latest session needs all sessions
		}
	}
	delete(want.also, "")
	oldest := r.oldest()
	if slices.ContainsFunc(l.hosts, l.isUnlogged) {
		oldest = oldest.Add(-clockStep)
	}
	if want.runs {
		want.live = millis(oldest.Add(-2 * time.Second).UnixMilli())
		want.since = min(want.since, want.live)
		if slices.ContainsFunc(r.hosts, func(h *host) bool { return h.role == server }) { // it may have those of the day before it, see ofNext
			want.since = min(want.since, millis(oldest.Add(-servedFor).UnixMilli()))
		}
	}
	for _, one := range l.shared {
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

// name adds the sessions on which a run worked since a given time.
func (r *run) name(to map[string]bool, since time.Time) {
	for id, m := range r.sessions {
		if m.at.After(since.Add(-slack)) && len(to) < 500 {
			to[id] = true
		}
	}
}

// stores reads the databases. A session that several of them contain is taken from the one that
// was written last.
func (d *discovery) stores(ctx context.Context, r *root, l *links) map[string]*facts {
	want := d.scope(r, l)
	all := map[string]*facts{}
	for _, path := range r.databases {
		d.answer.LookedIn(path)
		sessions, err := d.adapter.sessions(ctx, path, want)
		d.answer.Problem(err)
		for id, f := range sessions {
			if !want.wants(id, f.used()) {
				continue // read for another query
			}
			if old := all[id]; old == nil || old.activity < f.activity {
				all[id] = f
			}
		}
	}
	if r.hasFilesOnly() {
		d.answer.Skip(filesOnly, 1)
	}
	return all
}

// foldersOf returns the folders that a server can be asked about, those of the latest
// sessions first.
func foldersOf(sessions map[string]*facts, hosts []*host, oldest time.Time) []string {
	var list []*facts
	for _, f := range sessions {
		if len(hosts) > 0 && !f.activity.time().Add(slack).Before(oldest) && f.directory != "" {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b *facts) int { return int(b.activity - a.activity) })
	var folders []string
	for _, f := range list {
		folders = kit.AppendNew(folders, f.directory)
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
	slices.SortFunc(ids, func(a, b string) int { return cmp.Or(depths[b]-depths[a], strings.Compare(b, a)) })
	return ids
}

// session returns one session for the answer.
func (d *discovery) session(l *links, f *facts, c claim, answers map[string]*adapters.Session) *adapters.Session {
	s := observation{facts: f, claim: c, noTable: d.noTable, now: d.now}
	if c.host != nil {
		s.server = l.serverAnswers[c.host]
		s.runs = len(f.calls) > 0 && d.census.hasChild(c.host)
		s.pressure = d.adapter.Table.Pressure()
		s.child = f.waitingChild(answers)
	}
	v := decide(s)
	out := &adapters.Session{
		ID: f.id, Agent: d.adapter.product.Name, Model: f.model, Parent: f.parent, Version: f.version, Files: f.files, Archived: f.archived,
		State: v,
		Place: adapters.Place{CWD: f.cwd},
		Topic: adapters.Topic{Title: f.title, FirstPrompt: f.firstPrompt, LastPrompt: f.lastPrompt},
		Spent: adapters.Spent{Tokens: f.tokens, Context: adapters.Context{Used: f.context}, CostUSD: f.stated()},
		Times: adapters.Times{StartedAt: f.created.time(), LastActivityAt: f.activity.time(), TurnStartedAt: f.prompted.time()},
	}
	if v.Status == adapters.Working {
		out.LimitedUntil = s.limitedUntil()
		out.Limited = !out.LimitedUntil.IsZero()
	}
	if a := d.spent[f.id]; a != nil {
		out.Usage = a.Usage
	}
	if len(f.files) > 0 && filepath.Base(filepath.Dir(f.files[0])) == d.adapter.product.HomeFolder { // not where OPENCODE_DB leads elsewhere
		out.Home = filepath.Dir(f.files[0])
	}
	if out.Parent == out.ID {
		out.Parent = ""
	}
	if c.host != nil && v.Status != adapters.Stopped {
		out.Process, out.Headless = c.host.Identity, c.host.role == oneShot
	}
	return out
}

// add adds a session to the answer, if it was asked for.
func (d *discovery) add(f *facts, s *adapters.Session) {
	d.answer.SkipAll(f.skipped)
	if s.Live() || f.readsParts() {
		d.answer.SkipAll(f.skippedParts)
	}
	if kit.Asked(d.query, s.ID) && (len(d.query.IDs) > 0 || s.Status != adapters.Stopped || !s.LastActivityAt.Before(d.query.Since)) {
		d.answer.AddOnce(*s, "copy of a session in another folder", (*adapters.Session).Live)
	}
}

// watchRoot adds the folders of a root that should be watched.
func (d *discovery) watchRoot(r *root) {
	d.answer.Watch(r.path, r.logFolder())
	for _, path := range append(slices.Clone(r.databases), r.missing...) {
		d.answer.Watch(filepath.Dir(path))
	}
}
