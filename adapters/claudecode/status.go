package claudecode

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// addRows adds the sessions to the answer, the live ones first, and says how many transcripts were not read.
func (d *discovery) addRows() {
	d.findContinued()
	d.answer.Expect(len(d.wanted) + len(d.table.claudes))
	for _, s := range d.wanted {
		late := adapters.IsOutOfTime(s.err) || s.file != nil && kit.IsOver(d.ctx)
		if late {
			d.isLate(s.file)
		}
		if s.file != nil && !s.maybeLive() {
			if late || errors.Is(s.err, fs.ErrNotExist) {
				continue
			}
			if f := &s.facts; s.err == nil && s.endedEntry == nil && f.started.IsZero() && f.cwd == "" && f.turn.state == noTurn {
				continue // an empty file, one of no known form, or one without a conversation
			}
		}
		row := d.build(s)
		d.addWork(s, &row)
		d.addRow(row)
	}
	for _, row := range d.sessionless() {
		d.addRow(row)
	}
	d.answer.NotRead(d.projects, "transcripts", d.late, d.found)
}

func (d *discovery) addRow(s adapters.Session) {
	if d.answer.Add(s); s.Version != "" {
		d.answer.CountVersion(s.Version)
	}
}

func (d *discovery) build(s *session) adapters.Session {
	f := &s.facts
	out := adapters.Session{
		ID: s.id, Agent: Name, Model: f.model, Version: f.version, Parent: d.leadOf(s), ContinuedIn: s.next.id, Continues: s.continues,
		State: kit.WithLimit(d.decide(s), f.turn.apiStatus == http.StatusTooManyRequests, f.turn.said, f.turn.at),
		Place: adapters.Place{CWD: f.cwd, Branch: f.branch},
		Topic: adapters.Topic{FirstPrompt: f.firstPrompt, LastPrompt: cmp.Or(f.lastPrompt, f.namedPrompt)},
		Spent: adapters.Spent{Context: adapters.Context{Used: f.context}, CostUSD: f.cost},
		Times: adapters.Times{StartedAt: f.started, LastActivityAt: f.active, TurnStartedAt: f.promptAt},
	}
	if out.Limited && f.turn.resets != 0 {
		out.LimitedUntil = time.Unix(f.turn.resets, 0)
	}
	setEntrypoint(&out, f.entrypoint)
	out.Doing, out.DoingSince = f.turn.doing()
	s.addSums(&out)
	if s.file != nil {
		out.Files = append(out.Files, s.file.path)
		if out.LastActivityAt.IsZero() {
			out.LastActivityAt = s.file.info.ModTime()
		}
	}
	switch {
	case len(s.live) > 0:
		e := &s.live[0]
		fill(&out, &e.entry)
		out.Process = e.process.Identity
		setEntrypoint(&out, d.entrypointNow(out.Process, e.entrypoint))
		set(&out.Version, e.version)
	case s.foreignEntry != nil:
		fill(&out, s.foreignEntry)
	case s.endedEntry != nil:
		fill(&out, s.endedEntry)
	}
	if s.spent != nil {
		out.Usage = s.spent.Usage
	}
	d.addPromptsFromHistory(s, &out)
	if s.owner != nil {
		out.Process = s.owner.Identity
		setEntrypoint(&out, cmp.Or(s.owner.recorded, s.owner.entrypoint, f.entrypoint))
		out.Headless = out.Headless && (s.owner.oneShot || s.owner.hosted || s.owner.entrypoint != "" || s.owner.recorded != "")
		out.CWD = cmp.Or(out.CWD, s.owner.cwd)
	}
	if out.Process.IsZero() && out.Host == hosts[typeScript] {
		out.Host = "" // an editor whose adapter uses the SDK is recorded in the same way, and only its process shows it
	}
	out.ResumeIn = s.resumeIn()
	if len(out.Files) > 0 {
		out.Home = rootOf(out.Files[0])
	}
	return out
}

// addSums adds the title to a row, and the tokens and costs where they were summed up.
func (s *session) addSums(out *adapters.Session) {
	custom, ai := s.facts.customTitle, s.facts.aiTitle
	if s.sums != nil {
		set(&custom, s.sums.customTitle)
		set(&ai, s.sums.aiTitle)
		out.CostUSD = max(out.CostUSD, s.sums.cost)
		if !s.sums.unsure {
			tokens := s.sums.tokens
			out.Tokens = &tokens
		}
	}
	out.Title = cmp.Or(custom, ai, s.summary)
}

// resumeIn returns the folder in which the session must be resumed, if that is another one than its last: up to 2.1.42 at least,
// Claude Code finds a session only in the folder to which its transcript belongs.
func (s *session) resumeIn() string {
	f := &s.facts
	if s.file == nil || f.firstCWD == f.cwd || kit.AtLeast(f.version, floor.Version) {
		return ""
	}
	name, isPrefix := projectName(f.firstCWD)
	if base := filepath.Base(s.file.dir); base == name || isPrefix && strings.HasPrefix(base, name) {
		return f.firstCWD
	}
	return ""
}

// fill adds the facts that are in a registry entry and not in the transcript.
func fill(out *adapters.Session, e *entry) {
	out.Files = append(out.Files, e.path)
	if out.CWD == "" || e.cwd != "" && e.started.After(out.LastActivityAt) { // resumed elsewhere
		out.CWD = e.cwd
	}
	out.Title, out.Version = cmp.Or(out.Title, e.name), cmp.Or(out.Version, e.version)
	if e.entrypoint != "" { // a session of an SDK can be resumed in a terminal
		setEntrypoint(out, e.entrypoint)
	}
	if out.StartedAt.IsZero() {
		out.StartedAt = e.started
	}
	for _, at := range []time.Time{e.started, e.since} {
		if at.After(out.LastActivityAt) {
			out.LastActivityAt = at
		}
	}
}

func (d *discovery) decide(s *session) adapters.State {
	switch {
	case len(s.live) > 0:
		return d.decideLive(s)
	case s.foreignEntry != nil && d.now.Sub(s.lastSign(s.foreignEntry)) < unseenLimit:
		return kit.Unknown(fmt.Sprintf(
			"%s belongs to another machine or container (%s), whose processes can't be seen from here; it last wrote %s",
			filepath.Base(s.foreignEntry.path), shorten(s.foreignEntry.domain), d.ago(s.lastSign(s.foreignEntry))))
	case s.unknownBecause != "":
		return kit.Unknown(s.unknownBecause + "; " + d.lastRecord(s))
	case s.owner != nil && s.owner.team != "":
		return d.decideMate(s)
	case s.owner != nil:
		return d.decideByFolder(s)
	case len(s.maybe) > 0:
		return d.decideMaybe(s)
	case s.next.id != "":
		return d.decideContinued(s)
	case d.table.unread && floor.IsOlder(s.facts.version) && s.file != nil && d.now.Sub(s.file.info.ModTime()) < unseenLimit:
		return kit.Unknown("the process table could not be read; " + d.lastRecord(s))
	}
	return d.decideStopped(s)
}

// unseenLimit is the time after its last recorded activity for which a session whose process
// can't be seen may still be running.
const unseenLimit = 24 * time.Hour

// lastSign returns the time of the last activity of a session on another machine.
func (s *session) lastSign(e *entry) time.Time {
	at := e.modified
	if s.file != nil && s.file.info.ModTime().After(at) {
		at = s.file.info.ModTime()
	}
	return at
}

// rank returns the rank of an entry among those of processes that share a session: the entry
// that the user must see first has the lowest rank.
func rank(e liveEntry) int {
	order := []string{"waiting", "busy", "shell", "idle"}
	if i := slices.Index(order, e.status); i >= 0 {
		return i
	}
	return len(order)
}

func (d *discovery) decideLive(s *session) adapters.State {
	slices.SortStableFunc(s.live, func(a, b liveEntry) int { return rank(a) - rank(b) })
	e := &s.live[0]
	v := d.decideEntry(s, e)
	for _, other := range s.live[1:] {
		v.Evidence += fmt.Sprintf("; also open in pid %d (%s)", other.pid, shorten(other.status))
	}
	return v
}

func (d *discovery) decideEntry(s *session, e *liveEntry) adapters.State {
	says := e.source() + ": " + shorten(e.status)
	if e.waitingFor != "" && e.status == "waiting" {
		says += " (" + shorten(e.waitingFor) + ")"
	}
	if !e.since.IsZero() {
		says += " for " + kit.Span(d.now.Sub(e.since))
	}
	v := adapters.State{Evidence: says}
	switch e.status {
	case "busy":
		v.Status = adapters.Working
	case "waiting":
		if e.waitingFor == dialogOpen && !d.asksInTurn(s, e) {
			v.Evidence += ", opened by the user"
			d.decideIdle(&v, s, e)
			break
		}
		v.Status, v.WaitingFor = adapters.Waiting, d.waitingFor(e.waitingFor)
		// 2.1.175 calls its questions permission prompts, too.
		if v.WaitingFor == adapters.ForPermission && s.facts.turn.onlyAsks() && !s.facts.turn.before(e) {
			v.WaitingFor = adapters.ForQuestion
			v.Evidence += "; " + d.lastRecord(s)
		}
	case "idle", "shell":
		d.decideIdle(&v, s, e)
	default:
		d.answer.Skip("unknown status "+shorten(e.status)+" in the registry", 1)
		v.Status, v.Evidence = adapters.Unknown, says+": not a status that Rollcall knows"
	}
	return v
}

// onlyAsks reports whether all unanswered calls are questions to the user.
func (t *turn) onlyAsks() bool {
	other := func(u toolUse) bool { return u.name != questionTool }
	return t.state == callsTools && len(t.pending) > 0 && !slices.ContainsFunc(t.pending, other)
}

// source returns the name of the entry, for evidence.
func (e *liveEntry) source() string {
	if e.pid != e.process.PID {
		return fmt.Sprintf("registry %s (pid %d here)", filepath.Base(e.path), e.process.PID)
	}
	return "registry " + filepath.Base(e.path)
}

// waitingFor reads the registry's waitingFor.
func (d *discovery) waitingFor(what string) adapters.WaitingFor {
	switch what {
	case "permission prompt", "sandbox request", "worker request":
		return adapters.ForPermission
	case "input needed", dialogOpen, "goal proposal", "":
	default:
		d.answer.Skip("unknown waitingFor "+shorten(what)+" in the registry", 1)
	}
	return adapters.ForQuestion
}

// recordWords has the words for the last record of a turn, by the turn's state.
var recordWords = map[turnState]string{awaitsModel: "tool result", inAnswer: "a part of an answer", brokenOff: "answer broken off",
	endedWell: "end of turn", endedByUser: "interrupted by the user", endedInError: "API error"}

// lastRecord describes the last record of the transcript, for evidence.
func (d *discovery) lastRecord(s *session) string {
	switch {
	case s.file == nil:
		return "no transcript yet"
	case s.err != nil:
		return "transcript not readable"
	}
	t := &s.facts.turn
	what := recordWords[t.state]
	switch {
	case t.state == noTurn:
		return "no turn in the transcript"
	case t.state == unreadable:
		return "last record too long to read, format not recognised: " + s.facts.longLine
	case t.state == awaitsModel && t.prompt:
		what = "prompt"
	case t.state == callsTools:
		what = "call of " + t.calls()
	case t.state == brokenOff:
		what += " (" + shorten(t.stop) + ")"
	case t.state == endedInError && t.apiStatus != 0:
		what += fmt.Sprintf(" %d", t.apiStatus)
	}
	return "last record: " + what + ", " + d.ago(t.at)
}

// calls returns the names of at most three unanswered tool calls.
func (t *turn) calls() string {
	var names []string
	for _, u := range t.pending {
		if name := shorten(u.name); len(names) < 3 && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "a tool"
	}
	return strings.Join(names, ", ")
}

// ago returns the age of a moment, and its date where it is more than a day ago.
func (d *discovery) ago(at time.Time) string {
	if at.IsZero() {
		return "at an unknown time"
	}
	if age := d.now.Sub(at); age < 24*time.Hour {
		return kit.Span(age) + " ago"
	}
	return at.Local().Format("2006-01-02 15:04")
}
