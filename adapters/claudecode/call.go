package claudecode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// call is one Discover.
type call struct {
	*Adapter
	ctx   context.Context
	q     adapters.Query
	at    time.Time
	table *table

	mu       sync.Mutex // of problems and skipped
	problems []error
	skipped  map[string]int

	sessions map[string]*session
	claimed  map[int]bool   // pids whose registry entry is live
	blind    map[int]string // pids whose registry entry can't be read, and why

	histories map[string]*history // by root
}

// session is what a call finds out about one session.
type session struct {
	id   string
	file *file // nil: no transcript yet

	live    []liveEntry // registry entries whose process lives
	foreign *entry      // of another machine or container
	gone    *entry      // its process is gone
	reused  bool        // gone's pid is another process by now
	owners  []claude    // by folder and time: one of them, for versions without a registry
	rivals  int         // transcripts that the owners could belong to
	unsure  bool        // the only owner may as well belong to a rival
	blind   string      // why the registry doesn't tell its status
	left    string      // how its process went on to another session
	behind  bool        // the end of its turn isn't in the transcript yet

	read  bool
	err   error
	facts facts
	sums  *totals
	title string // given by another session's transcript
}

type liveEntry struct {
	entry
	process proc.Process
	broken  string // why the entry is an earlier one, and its status not known
	via     string // how the process came from the session that the entry names
}

func (c *call) problem(err error) {
	if err == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problems = append(c.problems, err)
}

func (c *call) skip(reason string, n int) {
	if n == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.skipped[reason] += n
}

func (c *call) session(id string) *session {
	s := c.sessions[id]
	if s == nil {
		s = &session{id: id}
		c.sessions[id] = s
	}
	return s
}

// registry reads one root's registry and looks for each entry's process.
func (c *call) registry(root string) {
	reg, problem := readRegistry(c.ctx, root)
	for i := range reg.entries {
		c.entry(&reg.entries[i])
	}
	for _, b := range reg.broken {
		c.brokenEntry(b)
	}
	if problem == nil {
		return
	}
	c.problem(problem)
	for _, p := range c.table.claudes {
		if p.root == "" || p.root == root {
			c.blind[p.PID] = "the registry could not be read"
		}
	}
}

// brokenEntry takes what the entry said when it could be read last, but for the
// status.
func (c *call) brokenEntry(b brokenEntry) {
	p, err := c.table.Find(b.pid)
	if err != nil { // left behind by a dead process
		c.skip("unreadable registry file of no process", 1)
		return
	}
	c.problem(b.err)
	why := "registry file " + filepath.Base(b.path) + " could not be read"
	c.blind[b.pid] = why
	c.Adapter.mu.Lock()
	e, known := c.entries[p.Identity]
	c.Adapter.mu.Unlock()
	if !known {
		return
	}
	s := c.session(e.id)
	s.live = append(s.live, liveEntry{entry: e, process: p, broken: why})
	c.claimed[p.PID] = true
}

func (c *call) entry(e *entry) {
	s := c.session(e.id)
	if c.table.err != nil {
		s.blind = "the process table could not be read"
		return
	}
	p, err := c.table.Find(e.pid)
	by := notWriter
	if err == nil {
		by = e.isBy(p, func() string { cwd, _ := c.table.CWD(p.Identity); return cwd })
	}
	switch by {
	case isWriter:
		s.live = append(s.live, liveEntry{entry: *e, process: p})
		c.claimed[p.PID] = true
		return
	case maybeWriter:
		s.blind = fmt.Sprintf("pid %d may have written registry %s, or the clock was not set since and it is another claude in that folder",
			e.pid, filepath.Base(e.path))
		return
	case notWriter:
	}
	if err != nil && !errors.Is(err, proc.ErrGone) {
		s.blind = fmt.Sprintf("process %d could not be looked at", e.pid)
		return
	}
	if here := c.table.Domain(); e.domain != "" && here != "" && e.domain != here {
		s.foreign = e
		return
	}
	if s.gone == nil || e.since.After(s.gone.since) {
		s.gone, s.reused = e, err == nil
	}
}

// loose returns the claude processes that no readable registry entry names and
// that can own a session.
func (c *call) loose() []claude {
	var loose []claude
	for _, p := range c.table.claudes {
		if !c.claimed[p.PID] && p.tool == "" && p.cwd != "" {
			loose = append(loose, p)
		}
	}
	return loose
}

// byID finds the transcripts of the sessions asked for where they were last
// time. It says whether that was enough.
func (c *call) byID() bool {
	if len(c.q.IDs) == 0 {
		return false
	}
	found := make([]file, 0, len(c.q.IDs))
	for _, id := range c.q.IDs {
		path := c.whereIs(id)
		info, err := os.Stat(path)
		if path == "" || err != nil || !info.Mode().IsRegular() {
			return false
		}
		found = append(found, file{id: id, path: path, dir: filepath.Dir(path), info: info})
	}
	for i := range found {
		c.session(found[i].id).file = &found[i]
	}
	return true
}

// wanted says whether the answer needs the session.
func (c *call) wanted(s *session) bool {
	if len(c.q.IDs) > 0 {
		return slices.Contains(c.q.IDs, s.id)
	}
	if s.maybeLive() || c.q.Since.IsZero() {
		return true
	}
	switch {
	case s.file != nil:
		return !s.file.info.ModTime().Before(c.q.Since)
	case s.gone != nil:
		return !s.gone.modified.Before(c.q.Since)
	}
	return s.foreign != nil && !s.foreign.modified.Before(c.q.Since)
}

func (s *session) maybeLive() bool {
	return len(s.live) > 0 || len(s.owners) > 0 || s.blind != ""
}

// byUrgency sorts live sessions first, then the newest first: what is read first
// when time is short.
func byUrgency(list []*session) {
	when := func(s *session) time.Time {
		if s.file == nil {
			return time.Time{}
		}
		return s.file.info.ModTime()
	}
	slices.SortFunc(list, func(a, b *session) int {
		if a.maybeLive() != b.maybeLive() {
			if a.maybeLive() {
				return -1
			}
			return 1
		}
		return cmp.Or(when(b).Compare(when(a)), cmp.Compare(a.id, b.id))
	})
}

// load reads a session's transcript, once per call.
func (c *call) load(s *session) {
	if s.read || s.file == nil {
		return
	}
	s.read = true
	c.Adapter.mu.Lock()
	t := c.cache.get(s.file.path)
	c.Adapter.mu.Unlock()
	if s.err = t.acquire(c.ctx); s.err != nil {
		return
	}
	defer t.release()
	if s.err = t.read(c.ctx, s.file.info); s.err == nil {
		s.facts = t.now.clone()
	}
}

// readAll reads the transcripts that the answer needs.
func (c *call) readAll() {
	list := c.list()
	parallel(len(list), func(i int) { c.load(list[i]) })
	late, where := 0, ""
	for _, s := range list {
		switch {
		case s.err == nil || errors.Is(s.err, fs.ErrNotExist):
		case errors.Is(s.err, context.DeadlineExceeded), errors.Is(s.err, context.Canceled):
			late, where = late+1, filepath.Dir(s.file.dir)
		default:
			c.problem(asProblem(s.file.path, s.err))
		}
		for reason, n := range s.facts.skipped {
			c.skip(reason, n)
		}
		if s.err == nil && s.file != nil && s.file.info.Size() > 0 && s.facts.records == 0 && len(s.facts.skipped) > 0 {
			c.problem(adapters.Unrecognised(s.file.path, "no record of a known form"))
		}
	}
	if late > 0 {
		c.problem(&adapters.Problem{Kind: adapters.ErrTimeout, Path: where,
			Err: fmt.Errorf("%d transcripts were not read in time", late)})
	}
}

// list returns the wanted sessions, the most urgent first.
func (c *call) list() []*session {
	var list []*session
	for _, s := range c.sessions {
		if c.wanted(s) {
			list = append(list, s)
		}
	}
	byUrgency(list)
	return list
}

// margin is left of the caller's time when sums are broken off, for the answer.
const margin = 300 * time.Millisecond

// sumAll adds the tokens: those that are known, or, when asked for, all.
func (c *call) sumAll() {
	ctx := c.ctx
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-min(margin, time.Until(deadline)/5)))
		defer cancel()
	}
	list := c.list()
	parallel(len(list), func(i int) {
		s := list[i]
		if s.file == nil || !s.read || s.err != nil {
			return
		}
		if err := c.sum(ctx, s); err != nil {
			c.skip("token totals not finished in time", 1)
		}
	})
}

func (c *call) sum(ctx context.Context, s *session) error {
	c.Adapter.mu.Lock()
	t := c.cache.get(s.file.path)
	c.Adapter.mu.Unlock()
	if err := t.acquire(ctx); err != nil {
		return err
	}
	defer t.release()
	if t.info == nil || !c.q.Totals && t.sums.next < t.next {
		return nil
	}
	sums, err := t.exact(ctx)
	if err != nil {
		return err
	}
	s.sums = &sums
	return nil
}
