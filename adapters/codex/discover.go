package codex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"syscall"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/proc"
)

// discovery holds the state of one call of Discover.
type discovery struct {
	adapter     *Adapter
	query       adapters.Query
	now         time.Time
	running     agentProcesses
	answer      *kit.Answer
	mainThreads map[*host]int    // the number of main threads, not sub-agents, of each host
	attended    map[string]bool  // threads of a daemon that a terminal interface shows or may show
	shownBy     map[string]*host // the interfaces and runs that certainly show threads of a daemon
}

// found is one rollout, with its facts and its process.
type found struct {
	rollout
	facts  facts
	ledger *kit.Ledger // nil where it is not asked for, or was not read in time
	spent  *kit.Account
	tokens *adapters.Tokens // where the facts lack them
	host   *host
	asked  bool // the system said who has the rollout open, although it lists no process's open files
	err    error
}

// isEmpty reports whether the rollout has no record. Such a file is no session.
func (f *found) isEmpty() bool { return f.info != nil && f.info.Size() <= 1 }

// readRoot reads the rollouts of one Codex home that the query asks for.
func (d *discovery) readRoot(ctx context.Context, r *root) {
	owners, problems := d.lockOwners(r)
	d.answer.Problem(problems...)
	d.running.addOwners(d.adapter.Table, owners)
	candidates := d.candidates(ctx, r, owners)
	r.all = len(candidates) + r.late
	d.read(ctx, candidates)
	d.unreadable(r, candidates)
	r.candidates = slices.DeleteFunc(candidates, r.isLate)
}

// settle finds which of the answers in the rollouts of all homes count for which thread.
func (d *discovery) settle(roots []*root) {
	var accounts []*kit.Account
	for _, r := range roots {
		for _, f := range r.candidates {
			if f.ledger != nil {
				f.spent = &kit.Account{ID: f.id, Ledgers: []*kit.Ledger{f.ledger}, Last: f.facts.last, Model: f.facts.model, CWD: f.facts.cwd, Branch: f.facts.branch}
				accounts = append(accounts, f.spent)
			}
		}
	}
	d.answer.Settle(accounts)
}

// addRoot adds the sessions of one Codex home to the answer.
func (d *discovery) addRoot(ctx context.Context, r *root) {
	candidates := r.candidates
	ids := make([]string, len(candidates))
	for i, c := range candidates {
		ids[i] = c.id
	}
	var threads map[string]thread
	var names map[string]string
	if len(ids) > 0 {
		var path string
		var err error
		threads, path, err = d.adapter.states.threads(ctx, r.state, ids)
		d.answer.Problem(err)
		d.answer.LookedIn(path)
		names, err = d.adapter.names.of(ctx, r.path)
		d.answer.Problem(err)
	}
	answers := d.askDaemons(ctx, r, candidates)
	d.matchTerminals(ctx, r)
	for _, c := range candidates {
		if c.host != nil && c.facts.turn.state == open {
			c.host = d.running.turnHost(c.path, c.id, c.facts.turn.since, c.host)
		}
		if c.host != nil && cmp.Or(c.facts.parent, threads[c.id].parent) == "" {
			d.mainThreads[c.host]++
		}
	}
	d.watchRoot(r)
	d.answer.Expect(len(candidates))
	for _, c := range candidates {
		// A session of which only a part was read in time is left out: its earlier state is better.
		switch {
		case c.host == nil && kit.IsOver(ctx):
			r.late++
		case c.host == nil && c.err == nil && c.isEmpty():
			d.answer.Skip("empty rollout", 1)
		case c.err == nil || c.host != nil:
			d.session(r, c, threads[c.id], names[c.id], answers[c.id])
		}
	}
	d.answer.NotRead(filepath.Join(r.path, "sessions"), "rollouts", r.late, r.all)
}

// isLate reports whether the rollout was not read in time, and counts it then.
func (r *root) isLate(f *found) bool {
	late := adapters.IsOutOfTime(f.err)
	if late {
		r.late++
	}
	return late
}

// candidates returns the rollouts that the query asks for.
func (d *discovery) candidates(ctx context.Context, r *root, owners map[string]int) []*found {
	var list []*found
	add := func(ro rollout) {
		asked := false
		if d.possibleHost(ro.info) != nil {
			asked = d.askHolders(ro.path)
		}
		host := d.running.hostOf(ro.path, ro.id, owners[ro.id])
		if host != nil || d.query.Since.IsZero() || len(d.query.IDs) > 0 || !ro.info.ModTime().Before(d.query.Since) ||
			d.possibleHost(ro.info) != nil {
			list = append(list, &found{rollout: ro, host: host, asked: asked})
		}
	}
	sessions, archived := filepath.Join(r.path, "sessions"), filepath.Join(r.path, archive)
	d.answer.LookedIn(sessions, archived)
	d.answer.Problem(folderOrNothing(sessions), folderOrNothing(archived))
	if d.liveOnly() {
		if _, err := agentfile.Entries(ctx, sessions); err != nil { // that of a live session may be in it
			d.answer.Problem(readProblem(sessions, err))
		}
		for _, ro := range d.openRollouts(r) {
			add(ro)
		}
		return list
	}
	var wanted func(id string) bool
	if len(d.query.IDs) > 0 {
		wanted = func(id string) bool { return slices.Contains(d.query.IDs, id) }
	}
	isRecent, search := d.recentThreads(owners)
	listing, cancel := kit.Part(ctx, 3)
	defer cancel()
	rollouts, late, problems := d.adapter.walk(listing, r.path, wanted, isRecent, search)
	r.late = late
	d.answer.Problem(problems...)
	for _, ro := range rollouts {
		add(ro)
	}
	return list
}

// liveOnly reports whether the live sessions are all that is asked for and the open
// files of every host are known: then nothing else needs to be examined.
func (d *discovery) liveOnly() bool {
	if d.running.unread || len(d.query.IDs) > 0 || d.query.Since.IsZero() || d.query.Since.Before(d.now.Add(-time.Second)) {
		return false
	}
	for _, h := range d.running.hostsWithHiddenFiles() {
		if !errors.Is(h.filesErr, fs.ErrPermission) {
			return false
		}
	}
	for _, h := range d.running.hosts {
		for path := range h.rollouts {
			if rootOf(path) == "" { // a link leads there from some home
				return false
			}
		}
	}
	return true
}

// recentThreads returns a function that reports whether a live process can write to a
// thread, or could a moment ago. search is true where it isn't known which process can.
func (d *discovery) recentThreads(owners map[string]int) (isRecent func(id string) bool, search bool) {
	ids := slices.Collect(maps.Keys(owners))
	for _, h := range d.running.hosts {
		for path := range h.rollouts {
			if id, ok := threadID(filepath.Base(path)); ok {
				ids = append(ids, id)
			}
		}
		ids = slices.AppendSeq(ids, maps.Keys(h.locks))
		search = search || h.filesErr != nil && !errors.Is(h.filesErr, fs.ErrPermission)
	}
	lived := d.adapter.folders.noteThreads(ids)
	return func(id string) bool { _, is := lived[id]; return is }, search || d.running.unread
}

// possibleHostOf returns possibleHost of a thread whose host is not known.
func (d *discovery) possibleHostOf(f *found) *host {
	if f.host != nil || f.asked {
		return nil
	}
	return d.possibleHost(f.info)
}

// possibleHost returns a host whose open files can't be seen and that could have the
// rollout open, since the rollout was written to after that host began. Processes of
// other users deny access to their open files; they don't hold the user's own files.
func (d *discovery) possibleHost(info fs.FileInfo) *host {
	for _, h := range d.running.hostsWithHiddenFiles() {
		foreign := errors.Is(h.filesErr, fs.ErrPermission) && ownedByUser(info)
		if !foreign && !info.ModTime().Add(slack).Before(h.Started) {
			return h
		}
	}
	return nil
}

// askHolders asks which hosts have a rollout open, and reports whether that is known: not where only another program has it open.
func (d *discovery) askHolders(path string) bool {
	holders, hosts, err := d.holders(path)
	for _, h := range hosts {
		h.rollouts[path] = true
	}
	return err == nil && len(holders) == 0 || len(hosts) > 0
}

// holders returns the processes that have a file open, and those of them that are hosts whose open files can't be listed.
func (d *discovery) holders(path string) (ids []proc.Identity, hosts []*host, err error) {
	ids, err = d.adapter.Table.Holders(path)
	for _, h := range d.running.hostsWithHiddenFiles() {
		if slices.ContainsFunc(ids, func(id proc.Identity) bool { return id.PID == h.PID && id.Start == h.Start }) {
			hosts = append(hosts, h)
		}
	}
	return ids, hosts, err
}

// openRollouts returns the root's rollouts that hosts have open.
func (d *discovery) openRollouts(r *root) []rollout {
	var list []rollout
	seen, told := map[string]bool{}, map[string]bool{}
	for _, h := range d.running.hosts {
		for path := range h.rollouts {
			id, ok := threadID(filepath.Base(path))
			if !ok || seen[path] || rootOf(path) != r.path || !h.holds(path, id) {
				continue
			}
			seen[path] = true
			info, err := os.Stat(path)
			switch {
			case err != nil:
				if p := unreadableRollout(path, err); p != nil && !told[p.Path] {
					told[p.Path] = true
					d.answer.Problem(p)
				}
			case info.Mode().IsRegular():
				list = append(list, rollout{path: path, id: id, info: info})
			}
		}
	}
	return list
}

// unreadableRollout returns the problem of a rollout that a host has open and that could not
// be examined: a live session is missing from the answer. The problem names the folder that
// denies access, if there is one. It returns nil for a rollout that was removed.
func unreadableRollout(path string, err error) *adapters.Problem {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if !errors.Is(err, fs.ErrPermission) {
		return adapters.Unreadable(path, err)
	}
	for errors.Is(err, fs.ErrPermission) && filepath.Dir(path) != path {
		path = filepath.Dir(path)
		_, err = os.Lstat(path)
	}
	return adapters.Unreadable(path, fs.ErrPermission)
}

// folderOrNothing returns a problem if path is no folder, or a link whose target does not exist.
func folderOrNothing(path string) error {
	if err := agentfile.CheckFolder(path); err != nil {
		return adapters.Unreadable(path, err)
	}
	_, isThere := os.Lstat(path)
	if _, err := os.Stat(path); isThere != nil || !errors.Is(err, fs.ErrNotExist) {
		return nil // it is reported when it is read
	}
	return &adapters.Problem{Kind: adapters.ErrUnreadable, Path: path, Err: errors.New("the target of the link does not exist"),
		Fix: "Codex keeps its sessions in a folder with this name: restore it"}
}

// read fills in the facts, those of the newest files first.
func (d *discovery) read(ctx context.Context, list []*found) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b *found) int {
		return cmp.Or(b.info.ModTime().Compare(a.info.ModTime()), cmp.Compare(a.path, b.path))
	})
	ctx, cancel := kit.ReadingTime(ctx, len(list))
	defer cancel()
	agentfile.Parallel(len(list), func(i int) {
		f := list[i]
		f.err = agentfile.Ended(ctx)
		if f.err != nil {
			return
		}
		var read rolloutFacts
		read, f.info, f.err = d.adapter.rollouts.read(ctx, f.path, f.info, &d.query)
		f.facts = read.facts
		f.ledger = read.ledger
		f.tokens = read.tokens
		if d.query.Usage && f.err == nil && f.ledger == nil && f.facts.totals != nil {
			d.answer.Skip("usage not read in time", 1)
			d.answer.LeaveOut(kit.NotInTime, 1)
		}
		if read.unsure {
			d.answer.LeaveOut(kit.Contradictory, 1)
		}
	})
}

// unreadable reports the rollouts that could not be read, but for lack of time, and those in an unknown form.
func (d *discovery) unreadable(r *root, list []*found) {
	unknown := 0
	for _, f := range list {
		switch {
		case f.err == nil && !f.facts.known && !f.isEmpty():
			unknown++
			d.answer.Skip("rollout in a form that is not recognised (Codex before 0.32)", 1)
			d.answer.LeaveOut(kit.NotRecognised, 1)
		case f.err == nil, errors.Is(f.err, fs.ErrNotExist), adapters.IsOutOfTime(f.err):
		default:
			d.answer.Problem(adapters.Unreadable(f.path, f.err))
			d.answer.LeaveOut(kit.NotReadable, 1)
		}
		d.answer.SkipAll(f.facts.skipped)
	}
	if unknown > 0 && unknown == len(list) {
		d.answer.Problem(formProblem(filepath.Join(r.path, "sessions"),
			fmt.Errorf("none of %d rollouts begins with session_meta, which Codex 0.32 and later write", unknown)))
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
		said, err := askDaemon(ctx, r.path, ids)
		d.answer.Problem(err)
		maps.Copy(answers, said)
	}
	return answers
}
