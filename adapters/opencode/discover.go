package opencode

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rollcall/adapters"
)

// discovery is one Discover.
type discovery struct {
	*Adapter
	query    adapters.Query
	now      time.Time
	census   census
	blind    bool // the process table could not be read
	roll     adapters.Roll
	problems []error
	watch    []string
	seen     map[string]int // session: index in the roll
	absent   bool
}

func (d *discovery) problem(errs ...error) {
	for _, err := range errs {
		if err != nil {
			d.problems = append(d.problems, err)
		}
	}
}

// root answers for one data folder.
func (d *discovery) root(ctx context.Context, r *root) {
	l := &links{now: d.now, hosts: r.hosts, own: map[*host]*run{}}
	d.readLogs(ctx, r, l)
	sessions := d.stores(ctx, r, l)
	l.said = d.askServers(ctx, r, foldersOf(sessions, r.hosts))
	d.assign(r, l, sessions)
	l.findLatest(sessions)
	d.watchRoot(r)
	answers := map[string]*adapters.Session{}
	claims := map[string]claim{}
	for _, id := range childrenFirst(sessions) {
		f := sessions[id]
		claims[id] = d.claim(l, sessions, f, 0)
		answers[id] = d.session(l, f, claims[id], answers)
	}
	mains := map[*host]int{}
	for id, c := range claims {
		if c.host != nil && sessions[id].parent == "" {
			mains[c.host]++
		}
	}
	for id, s := range answers {
		if c := claims[id]; !s.Process.IsZero() && c.host != nil {
			s.Shared = c.host.role == server || s.Parent != "" || mains[c.host] > 1
		}
		d.add(r, sessions[id], s)
	}
}

// claim finds the process of a session. Of a sub-agent that no log names it is
// that of its parent.
func (d *discovery) claim(l *links, sessions map[string]*facts, f *facts, depth int) claim {
	c := l.of(f)
	parent := sessions[f.parent]
	if c.why == "" && c.host == nil && parent != nil && depth < 8 {
		p := d.claim(l, sessions, parent, depth+1)
		if p.host != nil && !f.activity.time().Add(slack).Before(p.host.Started) {
			return p
		}
	}
	return c
}

// unlogged are the processes that have no log of their own.
func (d *discovery) unlogged(r *root, l *links) []*host {
	var list []*host
	for _, h := range r.hosts {
		if l.own[h] == nil {
			list = append(list, h)
		}
	}
	return list
}

// readLogs reads what the logs say of live processes. Without any, no log is
// looked at.
func (d *discovery) readLogs(ctx context.Context, r *root, l *links) {
	if len(r.hosts) == 0 {
		return
	}
	d.roll.LookedIn = appendNew(d.roll.LookedIn, r.logFolder())
	var unknown []*host
	owners := map[string][]*host{}
	for _, h := range r.hosts {
		if path := r.ownLog(h); path != "" {
			owners[path] = append(owners[path], h)
		} else {
			unknown = append(unknown, h)
		}
	}
	for path, hosts := range owners {
		one, err := d.readOwn(ctx, path)
		d.problem(err)
		switch {
		case one == nil:
		case len(hosts) == 1:
			l.own[hosts[0]] = one
		default:
			l.common = append(l.common, common{one, hosts})
		}
	}
	d.guessLogs(ctx, r, l, unknown)
	shared := filepath.Join(r.logFolder(), sharedName)
	state, err := d.logs.read(ctx, shared, r.oldest(), sharedLine)
	switch {
	case err == nil:
		l.shared = state.runs
	case !errors.Is(err, fs.ErrNotExist):
		d.problem(asProblem(ctx, shared, err))
	}
}

// guessLogs finds the logs of their own of processes whose open files can't be
// seen: the command line stands in the first line. A terminal interface has
// another one, which has none; it is begun right after.
func (d *discovery) guessLogs(ctx context.Context, r *root, l *links, hosts []*host) {
	owner := map[string][]*host{}
	for _, h := range hosts {
		for _, path := range r.begunLogs(h) {
			owner[path] = append(owner[path], h)
		}
	}
	for path, may := range owner {
		state, err := d.logs.read(ctx, path, time.Time{}, oldLine)
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
		if len(may) == 1 && l.own[may[0]] == nil {
			l.own[may[0]] = one.clone()
		} else if len(may) == 1 {
			l.own[may[0]] = l.own[may[0]].join(one)
		}
	}
}

// oldest is when the first of the root's processes began.
func (r *root) oldest() time.Time {
	var oldest time.Time
	for _, h := range r.hosts {
		if oldest.IsZero() || h.Started.Before(oldest) {
			oldest = h.Started
		}
	}
	return oldest
}

// scope is what the query wants of a root's stores.
func (d *discovery) scope(r *root, l *links) scope {
	want := scope{totals: d.query.Totals, also: map[string]bool{}, runs: len(r.hosts) > 0}
	if !d.query.Since.IsZero() {
		want.since = millis(d.query.Since.UnixMilli())
	}
	for _, h := range r.hosts {
		want.also[h.resume] = h.resume != ""
		if h.latest && !d.named(r, l, h) {
			want.since = 0 // which one is the latest takes them all
		}
	}
	delete(want.also, "")
	oldest := r.oldest()
	if want.runs {
		want.live = millis(oldest.Add(-2 * time.Second).UnixMilli())
		want.since = min(want.since, want.live)
	}
	for _, one := range l.own {
		one.name(want.also, oldest)
	}
	for _, one := range l.shared {
		one.name(want.also, oldest)
	}
	if len(d.query.IDs) > 0 {
		want.since, want.only = 0, map[string]bool{}
		for _, id := range d.query.IDs {
			want.only[id] = true
		}
		if len(r.hosts) > 0 { // the others tell which process is whose
			want.only, want.since = nil, want.live
			for _, id := range d.query.IDs {
				want.also[id] = true
			}
		}
	}
	return want
}

// named says whether a process's log names what it is at work on.
func (d *discovery) named(r *root, l *links, h *host) bool {
	one := l.own[h]
	if one == nil {
		one = l.shared[d.memory.known(h.Identity, filepath.Join(r.logFolder(), sharedName))]
	}
	return one != nil && len(one.sessions) > 0
}

// name adds the sessions that a run was at work on since a time.
func (r *run) name(to map[string]bool, since time.Time) {
	for id, m := range r.sessions {
		if m.at.After(since.Add(-slack)) && len(to) < 500 {
			to[id] = true
		}
	}
}

// stores reads the databases and the JSON store. A session in several is the one
// of the database that was written last.
func (d *discovery) stores(ctx context.Context, r *root, l *links) map[string]*facts {
	want := d.scope(r, l)
	all := map[string]*facts{}
	skipped := map[string]int{}
	for _, path := range r.databases {
		d.roll.LookedIn = appendNew(d.roll.LookedIn, path)
		sessions, err := d.sessions(ctx, path, want)
		d.problem(err)
		for id, f := range sessions {
			if !want.wants(id, f.activity) {
				continue // read for another question
			}
			if old := all[id]; old == nil || old.activity < f.activity {
				all[id] = f
			}
		}
	}
	d.roll.LookedIn = appendNew(d.roll.LookedIn, filepath.Join(r.storage(), "session"))
	files, problems := d.fileSessions(ctx, r.storage(), want, skipped)
	d.problem(problems...)
	for id, f := range files {
		if all[id] == nil {
			all[id] = f
		}
	}
	for reason, n := range skipped {
		d.roll.Skipped[reason] += n
	}
	return all
}

// foldersOf are the folders that a server can be asked about, those of the latest
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
		folders = appendNew(folders, f.directory)
	}
	return folders
}

// childrenFirst orders sessions so that sub-agents come before what began them.
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
	slices.SortFunc(ids, func(a, b string) int {
		if depths[a] != depths[b] {
			return depths[b] - depths[a]
		}
		return compareIDs(b, a)
	})
	return ids
}

// session makes the answer for one session.
func (d *discovery) session(l *links, f *facts, c claim, answers map[string]*adapters.Session) *adapters.Session {
	s := sight{facts: f, claim: c, blind: d.blind, now: d.now}
	if c.host != nil {
		s.said = l.said[c.host]
		s.runs = d.census.hasChild(c.host)
		s.child = f.waitingChild(answers)
	}
	v := decide(s)
	out := &adapters.Session{
		ID: f.id, Agent: adapters.OpenCode,
		Status: v.status, WaitingFor: v.waiting, Outcome: v.outcome, Evidence: v.evidence,
		CWD: f.cwd, Model: f.model, Title: f.title, FirstPrompt: f.firstPrompt, LastPrompt: f.lastPrompt,
		Parent: f.parent, Version: f.version, Tokens: f.tokens, Context: adapters.Context{Used: f.context},
		CostUSD: math.Round(f.cost*1e9) / 1e9, StartedAt: f.created.time(), LastActivityAt: f.activity.time(), Files: f.files,
	}
	if out.Parent == out.ID {
		out.Parent = ""
	}
	if c.host != nil && v.status != adapters.Stopped {
		out.Process = c.host.Identity
	}
	return out
}

// add puts a session on the roll, if it was asked for, and once: of a copy in
// another folder the one that lives counts, else the one active last.
func (d *discovery) add(r *root, f *facts, s *adapters.Session) {
	for reason, n := range f.skipped {
		d.roll.Skipped[reason] += n
	}
	if len(d.query.IDs) > 0 && !slices.Contains(d.query.IDs, s.ID) ||
		len(d.query.IDs) == 0 && s.Status == adapters.Stopped && s.LastActivityAt.Before(d.query.Since) {
		return
	}
	if s.Live() {
		d.watchSession(r, f)
	}
	if d.seen == nil {
		d.seen = map[string]int{}
	}
	i, again := d.seen[s.ID]
	if !again {
		d.seen[s.ID] = len(d.roll.Sessions)
		d.roll.Sessions = append(d.roll.Sessions, *s)
		d.roll.Versions[first(s.Version, "unknown")]++
		return
	}
	d.roll.Skipped["copy of a session in another folder"]++
	have := &d.roll.Sessions[i]
	if s.Live() && !have.Live() || s.Live() == have.Live() && s.LastActivityAt.After(have.LastActivityAt) {
		d.roll.Sessions[i] = *s
	}
}

// watchRoot notes the folders of a root that are worth a watch.
func (d *discovery) watchRoot(r *root) {
	d.watch = append(d.watch, r.path, r.logFolder())
	for _, path := range r.databases {
		d.watch = append(d.watch, filepath.Dir(path))
	}
	sessions := filepath.Join(r.storage(), "session")
	if len(r.databases) > 0 {
		return // nothing is written there any more
	}
	d.watch = append(d.watch, sessions)
	entries, err := os.ReadDir(sessions)
	if err != nil || len(entries) > 100 {
		return
	}
	for _, e := range entries {
		d.watch = append(d.watch, filepath.Join(sessions, e.Name()))
	}
}

// watchSession notes the folder of the messages of a live session in files.
func (d *discovery) watchSession(r *root, f *facts) {
	if len(f.files) > 0 && filepath.Ext(f.files[0]) == ".json" && len(d.watch) < 500 {
		d.watch = append(d.watch, filepath.Join(r.storage(), "message", f.id))
	}
}
