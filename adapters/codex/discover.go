package codex

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
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
	mains    map[*host]int  // how many threads that are no sub-agents each hosts
	seen     map[string]int // thread: index in the roll
}

// found is one rollout with what belongs to it.
type found struct {
	rollout
	facts facts
	host  *host
	err   error
}

func (d *discovery) problem(errs ...error) {
	for _, err := range errs {
		if err != nil {
			d.problems = append(d.problems, err)
		}
	}
}

// root answers for one Codex home.
func (d *discovery) root(ctx context.Context, r *root) {
	owners, problems := d.lockOwners(r)
	d.problem(problems...)
	candidates := d.candidates(ctx, r, owners)
	d.read(ctx, candidates)
	d.unreadable(r, candidates)
	ids := make([]string, len(candidates))
	for i, c := range candidates {
		ids[i] = c.id
	}
	var threads map[string]thread
	var names map[string]string
	if len(ids) > 0 {
		var path string
		var err error
		threads, path, err = d.states.threads(ctx, r.state, ids)
		d.problem(err)
		d.roll.LookedIn = appendNew(d.roll.LookedIn, path)
		names, err = d.names.of(ctx, r.path)
		d.problem(err)
	}
	answers := d.askDaemons(ctx, r, candidates)
	for _, c := range candidates {
		if c.host != nil && first(c.facts.parent, threads[c.id].parent) == "" {
			d.mains[c.host]++
		}
	}
	d.watchRoot(r)
	for _, c := range candidates {
		if c.err == nil || c.host != nil && !interrupted(c.err) {
			d.session(r, c, threads[c.id], names[c.id], answers[c.id])
		}
	}
}

// candidates are the rollouts that the query asks for.
func (d *discovery) candidates(ctx context.Context, r *root, owners map[string]int) []*found {
	var list []*found
	add := func(ro rollout) {
		host := d.census.hostOf(ro.path, ro.id, owners[ro.id])
		if host != nil || d.query.Since.IsZero() || len(d.query.IDs) > 0 || !ro.info.ModTime().Before(d.query.Since) ||
			d.mayHold(ro.info) != nil {
			list = append(list, &found{rollout: ro, host: host})
		}
	}
	d.roll.LookedIn = appendNew(d.roll.LookedIn, filepath.Join(r.path, "sessions"), filepath.Join(r.path, "archived_sessions"))
	if d.liveOnly() {
		d.problem(readable(filepath.Join(r.path, "sessions")))
		for _, ro := range d.openRollouts(r) {
			add(ro)
		}
		return list
	}
	var wanted func(id string) bool
	if len(d.query.IDs) > 0 {
		wanted = func(id string) bool { return slices.Contains(d.query.IDs, id) }
	}
	hot, search := d.writable(owners)
	rollouts, problems := d.walk(ctx, r.path, wanted, hot, search)
	d.problem(problems...)
	for _, ro := range rollouts {
		add(ro)
	}
	return list
}

// liveOnly says whether the live sessions are all that is asked for and the open
// files of every host are known: then nothing else needs to be looked at.
func (d *discovery) liveOnly() bool {
	if d.blind || len(d.query.IDs) > 0 || d.query.Since.IsZero() || d.query.Since.Before(d.now.Add(-time.Second)) {
		return false
	}
	for _, h := range d.census.opaque() {
		if !errors.Is(h.opaque, fs.ErrPermission) {
			return false
		}
	}
	for _, h := range d.census.hosts {
		for path := range h.rollouts {
			if rootOf(path) == "" { // a link leads there from some home
				return false
			}
		}
	}
	return true
}

// writable tells the threads that a live process can write to, or could a moment
// ago; or search is true, because it isn't known which process can.
func (d *discovery) writable(owners map[string]int) (hot func(id string) bool, search bool) {
	var ids []string
	for id := range owners {
		ids = append(ids, id)
	}
	for _, h := range d.census.hosts {
		for path := range h.rollouts {
			if id, ok := threadID(filepath.Base(path)); ok {
				ids = append(ids, id)
			}
		}
		for id := range h.locks {
			ids = append(ids, id)
		}
		search = search || h.opaque != nil && !errors.Is(h.opaque, fs.ErrPermission)
	}
	lived := d.folders.outlive(ids)
	return func(id string) bool { _, is := lived[id]; return is }, search || d.blind
}

// mayHold returns a host whose open files can't be seen and that could have the
// rollout open: it was written to since that host began. Processes of other
// users deny the look; they don't hold the user's own files.
func (d *discovery) mayHold(info fs.FileInfo) *host {
	for _, h := range d.census.opaque() {
		foreign := errors.Is(h.opaque, fs.ErrPermission) && ownedByUser(info)
		if !foreign && !info.ModTime().Add(slack).Before(h.Started) {
			return h
		}
	}
	return nil
}

// openRollouts are the root's rollouts that hosts have open.
func (d *discovery) openRollouts(r *root) []rollout {
	var list []rollout
	seen := map[string]bool{}
	for _, h := range d.census.hosts {
		for path := range h.rollouts {
			id, ok := threadID(filepath.Base(path))
			if !ok || seen[path] || rootOf(path) != r.path || !h.holds(path, id) {
				continue
			}
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				seen[path] = true
				list = append(list, rollout{path: path, id: id, info: info})
			}
		}
	}
	return list
}

// readable reports a folder that is there and can't be read.
func readable(path string) error {
	f, err := os.Open(path)
	if err == nil {
		_, err = f.Readdirnames(1)
		f.Close()
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, io.EOF) {
		return nil
	}
	return adapters.Unreadable(path, err)
}

// read fills in the facts, with a few readers at once: most of the time goes into
// waiting for the disk.
func (d *discovery) read(ctx context.Context, list []*found) {
	work := make(chan *found)
	var group sync.WaitGroup
	for range min(len(list), readers) {
		group.Go(func() {
			for f := range work {
				if facts, ok := d.rollouts.unchanged(f.path, f.info); ok {
					f.facts = facts
					continue
				}
				var info fs.FileInfo
				if f.facts, info, f.err = d.rollouts.facts(ctx, f.path); info != nil {
					f.info = info
				}
			}
		})
	}
	for _, f := range list {
		work <- f
	}
	close(work)
	group.Wait()
}

// interrupted says whether a read ended because there was no more time. Nothing is
// said of such a session: what was seen of it last is better than half a look.
func interrupted(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// unreadable reports the rollouts that could not be read, and those that were
// and have a form that isn't known.
func (d *discovery) unreadable(r *root, list []*found) {
	unknown := 0
	for _, f := range list {
		switch {
		case f.err == nil && !f.facts.known && f.info.Size() > 0:
			unknown++
			d.roll.Skipped["rollout without session_meta"]++
		case f.err == nil, errors.Is(f.err, fs.ErrNotExist):
		case interrupted(f.err):
			d.roll.Skipped["rollout not read in time"]++
		default:
			d.problem(adapters.Unreadable(f.path, f.err))
		}
		for reason, n := range f.facts.skipped {
			d.roll.Skipped[reason] += n
		}
	}
	if unknown > 0 && unknown == len(list) {
		d.problem(adapters.Unrecognised(filepath.Join(r.path, "sessions"),
			"none of %d rollouts begins with a session_meta line", unknown))
	}
}

// askDaemons asks a root's daemon for the threads that it hosts, if any of them
// is in a turn.
func (d *discovery) askDaemons(ctx context.Context, r *root, list []*found) map[string]threadStatus {
	threads := map[*host][]string{}
	busy := map[*host]bool{}
	for _, f := range list {
		if f.host != nil && f.host.daemon {
			threads[f.host] = append(threads[f.host], f.id)
			busy[f.host] = busy[f.host] || f.facts.turn.state == open
		}
	}
	answers := map[string]threadStatus{}
	for h, ids := range threads {
		if !busy[h] {
			continue
		}
		said, err := d.daemons.ask(ctx, r.path, h.Identity, ids, d.now)
		d.problem(err)
		for id, s := range said {
			answers[id] = s
		}
	}
	return answers
}

// session adds one session to the roll.
func (d *discovery) session(r *root, f *found, row thread, name string, answer threadStatus) {
	s := sight{facts: f.facts, host: f.host, unread: f.err, now: d.now}
	if answer.Type != "" {
		s.answer = &answer
	}
	if f.host == nil {
		s.opaque = d.mayHold(f.info)
	}
	if call, ok := s.oldestCall(); ok && f.host != nil {
		s.running, s.nothingRuns = d.census.runs(d.table, f.host, f.id, call.at)
	}
	v := decide(s)
	if d.blind && f.host == nil && v.status == adapters.Stopped {
		v = verdict{status: adapters.Unknown, evidence: "the process table can't be read; " + s.lastTurn()}
	}
	out := adapters.Session{
		ID: f.id, Agent: adapters.Codex,
		Status: v.status, WaitingFor: v.waiting, Outcome: v.outcome, Evidence: v.evidence,
		CWD: f.facts.cwd, Branch: first(row.branch, f.facts.branch), Model: first(f.facts.model, row.model),
		Title:       first(row.name, name, f.facts.title, f.facts.task),
		FirstPrompt: f.facts.firstPrompt, LastPrompt: f.facts.lastPrompt,
		Parent: first(f.facts.parent, row.parent), Version: first(f.facts.version, row.version),
		Tokens: f.facts.tokenTotals(), Context: adapters.Context{Used: f.facts.context, Window: f.facts.window},
		StartedAt: f.facts.started, LastActivityAt: f.facts.last, Files: []string{f.path},
	}
	if out.LastActivityAt.IsZero() && f.info != nil {
		out.LastActivityAt = f.info.ModTime()
	}
	if f.host != nil {
		out.Process = f.host.Identity
		out.Shared = f.host.server || out.Parent != "" || d.mains[f.host] > 1
		d.watch = append(d.watch, filepath.Dir(f.path))
	}
	if v.status == adapters.Waiting && v.waiting == adapters.ForPermission {
		d.watch = append(d.watch, r.path)
	}
	d.add(out)
}

// add puts a session on the roll, once: of a thread that lies in two homes (one
// was copied) the one that lives counts, else the one active last.
func (d *discovery) add(s adapters.Session) {
	i, again := d.seen[s.ID]
	if !again {
		d.seen[s.ID] = len(d.roll.Sessions)
		d.roll.Sessions = append(d.roll.Sessions, s)
		d.roll.Versions[first(s.Version, "unknown")]++
		return
	}
	d.roll.Skipped["copy of a thread in another home"]++
	have := d.roll.Sessions[i]
	lives, lived := !s.Process.IsZero(), !have.Process.IsZero()
	if lives && !lived || lives == lived && s.LastActivityAt.After(have.LastActivityAt) {
		d.roll.Sessions[i] = s
	}
}

// countUnused counts the hosts without any thread: a terminal interface has none
// before its first prompt (0.169), and can't be told from `codex login` by then.
// With a shared daemon every interface is one.
func (d *discovery) countUnused() {
	unused := 0
	for _, h := range d.census.hosts {
		if h.daemon {
			return
		}
		if !h.server && h.opaque == nil && len(h.rollouts) == 0 && len(h.locks) == 0 {
			unused++
		}
	}
	if unused > 0 {
		d.roll.Skipped["codex process without a session so far"] = unused
	}
}
