package opencode

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// claim holds the process of a session, or the reason why none is known.
type claim struct {
	host      *host
	why       string  // for evidence
	doubt     string  // why the process is not known; "" if it is
	may       []*host // with doubt: the processes that could run it
	opensOnly bool    // host began after the last record of the open turn, which is that of another process
	run       *run    // of the host, if its log is known
	over      time.Time
}

// links finds the process of each session of one root.
type links struct {
	now           time.Time
	hosts         []*host
	shared        map[string]*run // nil: there is no log, or it could not be read
	unread        bool            // the log could not be read
	written       map[*host]*run  // the runs that the processes are known to write
	runs          assignment
	serverAnswers map[*host]*serverAnswer
	latest        map[string]*host // sessions that --continue in a command line refers to

	old       []*host // the processes of versions that are too old, see doubtOld
	databases []string
}

func newLinks(r *root, now time.Time) *links {
	l := &links{now: now, databases: r.databases}
	for _, h := range r.hosts {
		if h.old {
			l.old = append(l.old, h)
		} else {
			l.hosts = append(l.hosts, h)
		}
		if h.service { // it registers itself as it starts: its start moves when the clock is set, and that time does not
			if _, info, err := h.registered(); err == nil && info.ModTime().Before(h.began) {
				h.began = info.ModTime()
			}
		}
	}
	return l
}

// logLag is the time after which a line must be in the shared log: OpenCode writes it in
// batches, once a second.
const logLag = 3 * time.Second

// stepLead is the time that may pass from the line about a step to the answer that it begins, where the time of the
// prompt is not known.
const stepLead = 2 * time.Second

// trace is one sign that a session ran somewhere.
type trace struct {
	at    time.Time
	host  *host
	maybe []*host // the run is one of these, or of a process that is gone
	run   *run
	why   string
	over  time.Time
	opens bool // the process was begun with the session, and may only show it
}

// of returns the process of a session. findLatest must have been called before.
func (l *links) of(f *facts) claim {
	if f.next != nil {
		return l.ofNext(f)
	}
	c := l.ofTraces(f)
	if l.unread && f.open() == inTurn && (c.opensOnly || c.host == nil && c.doubt == "") {
		for _, h := range l.hosts {
			if !h.service && !f.activity.time().Add(slack).Before(h.began) && !h.beganAfter(f) {
				c.may = append(c.may, h)
			}
		}
		if len(c.may) > 0 {
			return claim{may: c.may, doubt: "the log could not be read, so it is not known which process runs it: " + pids(c.may) + " could"}
		}
	}
	return c
}

// ofTraces is of for a session of 1.x.
func (l *links) ofTraces(f *facts) claim {
	traces := l.traces(f)
	if f.last.ID == "" {
		return l.ofEmpty(f, l.choose(f, traces))
	}
	if f.open() != inTurn {
		return l.choose(f, traces)
	}
	own := slices.DeleteFunc(slices.Clone(traces), func(t trace) bool { return t.opens && t.host.beganAfter(f) })
	c := l.choose(f, own)
	if c.host != nil || c.doubt != "" || len(own) == len(traces) {
		return c
	}
	// The process of the open turn has ended, and a later one has the session open.
	c = l.choose(f, traces)
	c.opensOnly = c.host != nil
	return c
}

// beganAfter reports whether a process began after the last record of a session's open
// turn: OpenCode never continues a turn of another process (1.18.33).
func (h *host) beganAfter(f *facts) bool {
	at := f.last.Time.Created
	return f.open() == inTurn && at > 0 && at.time().Before(h.began)
}

// choose returns the process that the latest of the traces names.
func (l *links) choose(f *facts, traces []trace) claim {
	if len(traces) == 0 {
		return l.byFolder(f)
	}
	last := slices.MaxFunc(traces, func(a, b trace) int { return cmp.Or(a.at.Compare(b.at), a.known()-b.known()) })
	open := f.open() == inTurn
	if open && last.host == nil && !last.knows(f) {
		if c := l.byFolder(f); c.host != nil || c.doubt != "" {
			return c
		}
	}
	switch {
	case last.host != nil:
		return claim{host: last.host, why: last.why, run: last.run, over: last.over}
	case len(last.maybe) == 1 && last.maybe[0].resume == f.id && !last.maybe[0].fork:
		return claim{host: last.maybe[0], why: "its command line names the session", run: last.run, over: last.over}
	case len(last.maybe) > 0:
		return claim{may: last.maybe, doubt: "its log does not say which process wrote it: " + pids(last.maybe) + " or one that has ended"}
	}
	for _, t := range traces {
		// It is open in a second terminal, or the turn stayed open there.
		if t.host != nil && (!open || t.isLatest(f.id)) {
			return claim{host: t.host, why: t.why, run: t.run, over: t.over, opensOnly: open && last.knows(f)}
		}
	}
	why := "log run " + last.run.id + " is that of a process that has ended"
	if may := l.unlogged(last.run); len(may) > 0 && (open || may[0].SetBack) {
		return claim{may: may, doubt: why + ", or of " + pids(may) + ", which has none, if the clock was set since its start"}
	}
	return claim{why: why}
}

// unlogged returns the processes that can have written a run but for its time.
func (l *links) unlogged(r *run) (list []*host) {
	for _, h := range l.hosts {
		if (h.SetBack && l.written[h] == nil || l.isUnlogged(h)) && h.fitsRun(r, nil) {
			list = append(list, h)
		}
	}
	return list
}

// isUnlogged reports whether the log has no run that a process began at its start, although it should: the clock may have been set since.
func (l *links) isUnlogged(h *host) bool {
	if l.shared == nil || h.role == server || h.continues() || l.written[h] != nil || l.now.Sub(h.Started) < startLimit {
		return false
	}
	for _, r := range l.shared {
		if h.canHaveBegun(r, lateLimit) {
			return false
		}
	}
	return true
}

// known returns 1 for a trace whose process lives, and 0 for any other. The log has milliseconds: of
// two lines of the same one, the later line may be that of either run.
func (t trace) known() int {
	if t.host != nil {
		return 1
	}
	return 0
}

// isLatest reports whether the process has worked on no other session since.
func (t trace) isLatest(session string) bool {
	if t.run == nil {
		return true
	}
	for id, m := range t.run.sessions {
		if id != session && m.at.After(t.at) {
			return false
		}
	}
	return true
}

// knows reports whether a trace can belong to a session's open turn: each step is
// logged after the prompt is stored, and before the answer is begun. A step that is older than the
// prompt, and one whose loop ended before the answer, are of an earlier turn, which another process may have run.
func (t trace) knows(f *facts) bool {
	begun := f.last.Time.Created
	if f.last.Role == "assistant" {
		if t.over.After(t.at) && t.over.Before(begun.time()) {
			return false
		}
		begun = cmp.Or(f.prompted, begun-millis(stepLead.Milliseconds()))
	}
	return !t.at.Before(begun.time())
}

// findLatest finds the sessions that --continue resumed: the latest session of each
// folder at the start of the process.
func (l *links) findLatest(sessions map[string]*facts) {
	l.latest = map[string]*host{}
	for _, h := range l.hosts {
		if !h.latest || h.fork || h.resume != "" {
			continue
		}
		var best *facts
		for _, f := range sessions {
			if f.parent == "" && h.at(f.directory) && !f.created.time().After(h.began.Add(slack)) &&
				(best == nil || f.updated > best.updated) {
				best = f
			}
		}
		if best != nil {
			l.latest[best.id] = h
		}
	}
}

// traces returns the signs of where a session ran.
func (l *links) traces(f *facts) []trace {
	var list []trace
	owners := map[*run]*host{}
	for h, r := range l.runs.runOf {
		owners[r] = h
	}
	for _, r := range l.shared {
		m, ok := r.sessions[f.id]
		if !ok {
			continue
		}
		t := trace{at: m.at, over: m.over, host: owners[r], run: r, why: "log run " + r.id}
		if t.host == nil {
			t.maybe = l.runs.may[r]
		}
		list = append(list, t)
	}
	for _, h := range l.hosts {
		if h.resume == f.id && !h.fork {
			list = append(list, trace{at: h.began, host: h, run: l.runs.runOf[h], why: "its command line names the session", opens: true})
		}
		if l.latest[f.id] == h {
			list = append(list, trace{at: h.began, host: h, run: l.runs.runOf[h], why: "its command line continues the folder's latest", opens: true})
		}
		if s := l.serverAnswers[h]; s != nil && s.names(f.id) {
			list = append(list, trace{at: l.now.Add(time.Hour), host: h, run: l.runs.runOf[h], why: "its server names the session"})
		}
	}
	return list
}

// byFolder returns the process of a session that no log names, by its folder.
func (l *links) byFolder(f *facts) claim {
	if h := l.creator(f); h != nil {
		return claim{host: h, run: l.runs.runOf[h], why: "the process in " + f.directory + " that has no other session"}
	}
	var sure, may []*host
	for _, h := range l.hosts {
		switch l.fits(h, f) {
		case yes:
			sure = append(sure, h)
		case maybe:
			may = append(may, h)
		}
	}
	switch {
	case len(sure) == 1 && len(may) == 0:
		return claim{host: sure[0], run: l.runs.runOf[sure[0]], why: "the only process in " + f.directory}
	case len(sure)+len(may) == 0:
		return claim{}
	}
	may = append(sure, may...)
	return claim{may: may, doubt: "no log says which process runs it: " + pids(may) + " could"}
}

// fit reports whether a session can belong to a process.
type fit int

const (
	no fit = iota
	maybe
	yes
)

func (l *links) fits(h *host, f *facts) fit {
	switch {
	case f.activity.time().Add(slack).Before(h.began), h.beganAfter(f), l.isStarting(h), h.service:
		return no
	case h.role == oneShot && !h.continues() && !h.canCreate(f):
		return no
	case h.role == terminal && f.byRun && !f.created.time().Before(h.began):
		return no
	case h.CWD != "" && h.role != server && !h.mayHaveBegunIn(f.directory):
		return no
	}
	if l.runs.runOf[h] != nil || h.role == server && l.serverAnswers[h] != nil {
		switch {
		case l.recent(f, logLag):
		case l.recent(f, startLimit) && !l.caughtUp(h, f):
			return maybe
		default:
			return no
		}
	}
	if h.CWD == "" || h.role != server && !h.at(f.directory) {
		return maybe
	}
	return yes
}

// creator finds the `opencode run` that made a session: each makes exactly one.
func (l *links) creator(f *facts) *host {
	var found *host
	for _, h := range l.hosts {
		if h.role != oneShot || h.continues() || !f.byRun || !h.at(f.directory) || !h.canCreate(f) {
			continue
		}
		if r := l.runs.runOf[h]; r != nil && len(r.sessions) > 0 {
			continue
		}
		if found != nil {
			return nil
		}
		found = h
	}
	return found
}

// canCreate reports whether `opencode run` can have made a session.
func (h *host) canCreate(f *facts) bool {
	return h.mayHavePrompt(f.lastPrompt) && !f.created.time().Add(startSlack).Before(h.began)
}

// caughtUp reports whether a process has logged something since the last write to a
// session.
func (l *links) caughtUp(h *host, f *facts) bool {
	r := l.runs.runOf[h]
	return r != nil && r.last.After(f.activity.time().Add(slack))
}

// recent reports whether the last write to a session is so recent that the log may not name the
// session yet.
func (l *links) recent(f *facts, within time.Duration) bool {
	age := l.now.Sub(f.activity.time())
	return age < within && age > -time.Minute
}

// continues reports whether a process was started to continue a session, or a copy of one.
// Until the process does so, the session's last prompt is an earlier one.
func (h *host) continues() bool { return h.resume != "" || h.latest || h.fork }

// mayHavePrompt reports whether a prompt can come from the arguments of `opencode run`,
// which are followed by the text from its standard input.
func (h *host) mayHavePrompt(prompt string) bool {
	if h.prompt == "" || prompt == "" {
		return true
	}
	return strings.HasPrefix(prompt, unquotePrompt(h.prompt)) || strings.HasPrefix(prompt, cut(h.prompt))
}

func pids(hosts []*host) string {
	list := make([]string, len(hosts))
	for i, h := range hosts {
		list[i] = fmt.Sprint(h.PID)
	}
	if len(list) == 1 {
		return "process " + list[0]
	}
	return "processes " + strings.Join(list, ", ")
}

// isStarting reports whether a process has not opened its store yet, so that it has written
// nothing in it. It returns false for a process of which no open file is known.
func (l *links) isStarting(h *host) bool { return len(h.files) > 0 && !h.hasOpen(l.databases) }

// hasOpen reports whether a process has a database open, of these or of any other folder.
func (h *host) hasOpen(databases []string) bool {
	return slices.ContainsFunc(h.files, func(f string) bool {
		return h.product.isDatabase(filepath.Base(f)) || slices.Contains(databases, f)
	})
}
