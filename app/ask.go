package app

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/app/places"
	"rollcall/proc"
)

// question is a question to an adapter.
type question struct {
	ids    []string // nil: for all sessions
	exit   bool     // about the sessions whose process ended, instead of ids
	limit  time.Duration
	flight *flight // that the question belongs to; nil: none
	rough  bool    // without exact tokens, even with Config.Totals
	live   bool    // the adapter is asked for all live sessions, whatever ids lists
	keep   bool    // with live and without ids: the stopped sessions stay as they are shown; an answer with an error is not shown
	last   bool    // the adapter is not asked again, and need not keep anything for that
}

// isFull reports whether the question is about all sessions that are shown.
func (q *question) isFull() bool { return q.ids == nil && !q.keep }

// ask asks one question and shows the answer; shown reports whether it did. It changes nothing when ctx ends first, or when a question about
// the live sessions interrupts it.
func (c *Core) ask(ctx context.Context, s *source, q question) (shown bool) {
	if !s.acquire(ctx, &q) {
		return false
	}
	defer func() { <-s.turn }()
	if q.flight != nil {
		var end context.CancelFunc
		ctx, end = s.interruptible(ctx)
		defer end()
	}
	began := time.Now()
	known := c.liveness(s)
	known.readAll(s)
	if q.exit {
		ids, unlisted := s.sessionsWithExitedProcess(known)
		if len(ids) == 0 {
			return false
		}
		if !unlisted { // an unlisted one may be listed by now, under another id
			q.ids = ids
		}
	}
	a := answer{Answer: Answer{IDs: q.ids}}
	now := known
	if err := s.awaitHanging(ctx, c.cfg.Limit, q.limit); err != nil {
		a.Err, a.At = err, time.Now()
	} else {
		a, now = c.callTwice(ctx, s, q, known)
	}
	if ctx.Err() != nil || q.keep && a.Err != nil {
		return false
	}
	a.elapsed = time.Since(began)
	c.settle(s, q, a, now)
	return true
}

// callTwice calls the adapter, and again for the sessions about which the first answer is not final since their processes ended meanwhile. known is what
// lived before, now what lives after the first call.
func (c *Core) callTwice(ctx context.Context, s *source, q question, known *liveness) (a answer, now *liveness) {
	deadline := time.Now().Add(q.limit)
	a = c.call(ctx, s, c.query(s, q), q.limit, deadline)
	if q.keep {
		a.keepStopped(s.shown)
	}
	listed := a.Sessions
	c.addLaunches(s, &a)
	now = c.liveness(s)
	missing := s.missingFolders(&a.Answer, now) // folders that are missing now may exist again when the second question is asked
	if ids := append(s.sessionsToAskAgain(&a.Answer, known, now), a.endedLaunches()...); len(ids) > 0 && ctx.Err() == nil {
		a.Sessions = listed
		a.add(c.call(ctx, s, adapters.Query{IDs: ids, Totals: c.query(s, q).Totals}, q.limit, deadline))
		c.addLaunches(s, &a)
	}
	maps.Copy(missing, s.missingFolders(&a.Answer, now))
	a.addMissingFolders(missing)
	return a, now
}

// acquire waits until no other question to the adapter is under way. An urgent question, about ended processes, shortens the limit of that
// question; one about the live sessions interrupts it if it is about all. It returns false when ctx is done.
func (s *source) acquire(ctx context.Context, q *question) bool {
	var hurry chan struct{}
	switch {
	case q.exit:
		hurry = s.urgent
	case q.keep:
		hurry = s.interrupt
	}
	for {
		select {
		case s.turn <- struct{}{}:
			return true
		case hurry <- struct{}{}:
		case <-ctx.Done():
			return false
		}
	}
}

// interruptible returns a context that ends when a question about the live sessions waits for its turn.
func (s *source) interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-s.interrupt:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

func (c *Core) query(s *source, q question) adapters.Query {
	totals := c.cfg.Totals && !q.rough
	if q.live && !q.keep || q.ids != nil && !slices.ContainsFunc(q.ids, func(id string) bool { return !adapters.IsProcessID(id) }) {
		return adapters.Query{Since: time.Now()} // rows of processes are listed only among all live sessions
	}
	if q.ids != nil {
		return adapters.Query{IDs: q.ids, Totals: totals, Usage: totals && c.cfg.Usage, Once: q.last}
	}
	totals = totals && c.canAskTotals(s)
	since := c.cutoff(time.Now())
	if q.live {
		since = time.Now()
	}
	return adapters.Query{Since: since, Totals: totals, Usage: totals && c.cfg.Usage, Once: q.last}
}

// cutoff returns the time before which stopped sessions are not shown.
func (c *Core) cutoff(now time.Time) time.Time {
	switch c.cfg.Since {
	case All:
		return time.Time{}
	case 0:
		return c.began
	}
	return now.Add(-c.cfg.Since)
}

// sessionsToAskAgain returns the ids that must be queried again, because a's answer about
// them can't be final: their process ended while the answer was read, the answer
// contradicts the process table, or it does not contain them. The agent's files are
// final once the process has ended.
func (s *source) sessionsToAskAgain(a *Answer, known, now *liveness) []string {
	if len(a.Sessions) == 0 && a.Err != nil && !isAbsent(a.Err) {
		return nil // it failed altogether
	}
	listed, ids := a.listed(), map[string]bool{}
	for i := range a.Sessions {
		x := &a.Sessions[i]
		if gone(x, now.alive) && !known.dead(x.Process) && !x.IsProcess() {
			ids[x.ID] = true
		}
	}
	for id, l := range s.lifetimes {
		if !a.asked(id) || l.session.IsProcess() {
			continue
		}
		ended := slices.ContainsFunc(l.processes, func(p proc.Identity) bool {
			return !now.alive(p) && !known.dead(p)
		})
		if ended || !listed[id] && !l.stopped && a.IDs == nil {
			ids[id] = true
		}
	}
	for id := range s.ended {
		if a.IDs == nil && !listed[id] {
			ids[id] = true
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

// sessionsWithExitedProcess returns the sessions of which a process ended. unlisted
// reports whether one of them is a row without a session: a launch that its agent has not
// listed yet, or a process without a session.
func (s *source) sessionsWithExitedProcess(now *liveness) (ids []string, unlisted bool) {
	for id, l := range s.lifetimes {
		if slices.ContainsFunc(l.processes, func(p proc.Identity) bool { return !now.alive(p) }) {
			ids = append(ids, id)
			unlisted = unlisted || l.session.IsProcess() || l.session.Launch != nil && l.session.Launch.Unlisted
		}
	}
	slices.Sort(ids)
	return ids, unlisted
}

// answer is the answer to a question, with its circumstances.
type answer struct {
	Answer
	roll    adapters.Roll
	elapsed time.Duration
	places  *watchList
	added   int                             // how many of Sessions are launches that the agent did not list
	launch  func(*adapters.Session) *Launch // returns the launch of a session
}

// add merges the answer to a second question, about single sessions, into a.
func (a *answer) add(b answer) {
	again := b.listed()
	if b.Err == nil {
		for _, id := range b.IDs { // asked about and not listed: no longer there
			again[id] = true
		}
	}
	used := map[string][]adapters.Usage{} // what counts for a session shows only among all
	a.Sessions = slices.DeleteFunc(slices.Clone(a.Sessions), func(s adapters.Session) bool {
		if again[s.ID] {
			used[s.ID] = s.Usage
		}
		return again[s.ID]
	})
	for _, s := range b.Sessions {
		s.Usage = used[s.ID]
		a.Sessions = append(a.Sessions, s)
	}
	a.Remotes = slices.DeleteFunc(slices.Clone(a.Remotes), func(r string) bool { return !slices.Contains(b.Remotes, r) })
	a.Err, a.At = joinErrors(a.Err, b.Err), b.At
	if a.IDs != nil {
		a.IDs = append(slices.Clone(a.IDs), b.IDs...)
	}
}

func joinErrors(a, b error) error {
	if a != nil && b != nil && a.Error() == b.Error() {
		return a
	}
	return errors.Join(a, b)
}

// totalsPerQuestion is the number of sessions whose tokens are asked for in one question, so that
// other questions don't wait long.
const totalsPerQuestion = 50

// addTotals asks for the exact tokens of the listed sessions, a few sessions at a time, in the order in which they are
// shown. The first refresh of Run leaves tokens out, since for some agents every transcript must be read as a whole for
// them. Later questions are cheap, since adapters then read only what was added.
func (c *Core) addTotals(ctx context.Context, s *source) {
	tried := map[string]bool{}
	for {
		ids := c.sessionsWithoutTotals(s, tried)
		if len(ids) == 0 || ctx.Err() != nil {
			break
		}
		for _, id := range ids {
			tried[id] = true
		}
		c.ask(ctx, s, question{ids: ids, limit: c.cfg.Limit})
	}
	c.mu.Lock()
	s.totalsKnown = true
	c.mu.Unlock()
}

// sessionsWithoutTotals returns the ids of the next sessions whose tokens are not known.
func (c *Core) sessionsWithoutTotals(s *source, tried map[string]bool) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var ids []string
	for i := range s.public {
		x := &s.public[i]
		if x.Tokens != nil || tried[x.ID] || x.IsProcess() {
			continue
		}
		ids = append(ids, x.ID)
		if len(ids) == totalsPerQuestion {
			break
		}
	}
	return ids
}

// canAskTotals reports whether a question about all sessions may ask for exact tokens.
func (c *Core) canAskTotals(s *source) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.running || s.totalsKnown
}

// RefreshLive does what Refresh does in two steps. First it asks each adapter for its live sessions alone, which takes a fraction of the time where
// thousands are stored, and returns. A session that ended since the last answer is then shown as stopped, and all that had stopped before stay
// as they were shown. After a pause of restAfter it asks for all sessions, until ctx is done, and publishes these answers as they come.
//
// An adapter that has not answered yet, or whose last answer was not complete, is asked for all sessions at once, as is one whose answer about
// its live sessions is not complete.
func (c *Core) RefreshLive(ctx context.Context) *Snapshot {
	var group sync.WaitGroup
	asked := make([]bool, len(c.sources))
	for i, s := range c.sources {
		group.Go(func() {
			asked[i] = c.canAskLive(s) && c.ask(ctx, s, question{live: true, keep: true, limit: c.cfg.Limit})
			if !asked[i] && ctx.Err() == nil {
				c.await(ctx, c.join(s, false))
			}
		})
	}
	group.Wait()
	go c.askRest(ctx, asked)
	return c.Snapshot()
}

// restAfter is the time that the caller of RefreshLive has to show the live sessions, before the question about all sessions takes every processor.
const restAfter = 300 * time.Millisecond

// askRest asks the marked sources for all sessions, after restAfter.
func (c *Core) askRest(ctx context.Context, sources []bool) {
	pause := time.NewTimer(restAfter)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
		return
	}
	for i, s := range c.sources {
		if sources[i] {
			go c.await(ctx, c.join(s, false))
		}
	}
}

// canAskLive reports whether the stopped sessions of s are known.
func (c *Core) canAskLive(s *source) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return s.health.State == OK
}

// keepStopped adds to an answer about live sessions those rows of stopped sessions that it does not list. Rows of launches that the agent
// does not list are left out: Core.addLaunches adds them.
func (a *answer) keepStopped(rows []Session) {
	listed := a.listed()
	a.Sessions = slices.Clip(a.Sessions)
	for i := range rows {
		if x := &rows[i]; x.Status == adapters.Stopped && !listed[x.ID] && (x.Launch == nil || !x.Launch.Unlisted) {
			a.Sessions = append(a.Sessions, x.Session)
		}
	}
}

// errFolderMissing is the cause of the problem with a folder that vanished while sessions in it run.
var errFolderMissing = errors.New("the folder is missing, and sessions in it still run")

// missingFolders returns the live sessions that a does not list because the folder of their file was renamed or deleted, with that folder. An adapter that
// finds nothing there reports no problem. A session whose own file was deleted is not one of them: its folder exists.
func (s *source) missingFolders(a *Answer, now *liveness) map[string]string {
	folders := map[string]string{}
	for id, l := range s.lifetimes {
		x := &l.session
		if l.stopped || !a.asked(id) || a.lists(id) || !l.runsOrIsStale(now) {
			continue
		}
		if len(x.Files) == 0 || x.Remote != "" || x.Container != "" { // a container's files vanish with its processes
			continue
		}
		if folder := places.MissingFolder(x.Files[0]); folder != "" {
			folders[id] = folder
		}
	}
	return folders
}

// runsOrIsStale reports whether a process of the session runs, or the session could not be read before its process ended.
func (l *lifetime) runsOrIsStale(now *liveness) bool {
	return l.session.Stale != nil || slices.ContainsFunc(l.processes, func(p proc.Identity) bool { return now.alive(p) })
}

// lists reports whether the answer contains a session.
func (a *Answer) lists(id string) bool {
	return slices.ContainsFunc(a.Sessions, func(x adapters.Session) bool { return x.ID == id })
}

// addMissingFolders makes a complete answer incomplete if it does not list one of the sessions of folders, which missingFolders returned, since the state of
// these sessions is not known.
func (a *Answer) addMissingFolders(folders map[string]string) {
	if !a.complete() {
		return
	}
	maps.DeleteFunc(folders, func(id, _ string) bool { return a.lists(id) })
	var problems []error
	for _, folder := range slices.Compact(slices.Sorted(maps.Values(folders))) {
		problems = append(problems, &adapters.Problem{Kind: adapters.ErrUnreadable, Path: folder, Err: errFolderMissing,
			Fix: "move it back, or stop the agent"})
	}
	if len(problems) > 0 {
		a.Err = errors.Join(problems...)
	}
}
