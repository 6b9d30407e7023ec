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
	"rollcall/adapters/internal/busy"
	"rollcall/adapters/internal/report"
	"rollcall/proc"
)

// rows returns the sessions for the answer, the live ones first.
func (d *discovery) rows() []adapters.Session {
	list := d.list()
	out := make([]adapters.Session, 0, len(list)+len(d.table.claudes))
	for _, s := range list {
		if s.file != nil && !s.maybeLive() {
			if !s.read || errors.Is(s.err, fs.ErrNotExist) || adapters.IsOutOfTime(s.err) {
				continue
			}
			if s.err == nil && s.facts.records == 0 && s.endedEntry == nil && len(s.facts.skipped) == 0 {
				continue // an empty file
			}
		}
		out = append(out, d.build(s))
	}
	return out
}

func (d *discovery) build(s *session) adapters.Session {
	v := d.decide(s)
	f := &s.facts
	out := adapters.Session{
		ID: s.id, Agent: adapters.ClaudeCode,
		Status: v.Status, WaitingFor: v.WaitingFor, Outcome: v.Outcome, Limited: v.Outcome == adapters.Failed && f.turn.apiStatus == http.StatusTooManyRequests, Evidence: v.Evidence,
		CWD: f.cwd, Branch: f.branch, Model: f.model, Version: f.version,
		FirstPrompt: cmp.Or(f.firstPrompt, f.queuedPrompt), LastPrompt: cmp.Or(f.lastPrompt, f.namedPrompt),
		Context: adapters.Context{Used: f.context}, CostUSD: f.cost,
		StartedAt: f.started, LastActivityAt: f.active, TurnStartedAt: f.promptAt,
	}
	custom, ai := f.customTitle, f.aiTitle
	if s.sums != nil {
		set(&custom, s.sums.customTitle)
		set(&ai, s.sums.aiTitle)
		out.CostUSD = max(out.CostUSD, s.sums.cost)
		if !s.sums.unsure {
			tokens := s.sums.tokens
			out.Tokens = &tokens
		}
	}
	out.Title = cmp.Or(custom, ai, s.title)
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
		set(&out.Version, e.version)
	case s.foreignEntry != nil:
		fill(&out, s.foreignEntry)
	case s.endedEntry != nil:
		fill(&out, s.endedEntry)
	}
	if d.query.Usage && out.Tokens != nil {
		out.Usage = s.sums.log.Steps(*out.Tokens, out.CostUSD, out.LastActivityAt)
	}
	d.addPromptsFromHistory(s, &out)
	if len(s.owners) == 1 && !s.ambiguous {
		out.Process = s.owners[0].Identity
	}
	if len(s.owners) > 0 && out.CWD == "" {
		out.CWD = s.owners[0].cwd
	}
	return out
}

// fill adds the facts that are in a registry entry and not in the transcript.
func fill(out *adapters.Session, e *entry) {
	out.Files = append(out.Files, e.path)
	if out.CWD == "" || e.cwd != "" && e.started.After(out.LastActivityAt) { // resumed elsewhere
		out.CWD = e.cwd
	}
	out.Title, out.Version = cmp.Or(out.Title, e.name), cmp.Or(out.Version, e.version)
	if out.StartedAt.IsZero() {
		out.StartedAt = e.started
	}
	for _, at := range []time.Time{e.started, e.since} {
		if at.After(out.LastActivityAt) {
			out.LastActivityAt = at
		}
	}
}

func (d *discovery) decide(s *session) report.Verdict {
	switch {
	case len(s.live) > 0:
		return d.decideLive(s)
	case s.foreignEntry != nil && d.now.Sub(s.lastSign(s.foreignEntry)) < unseenLimit:
		return report.Unknown(fmt.Sprintf(
			"%s belongs to another machine or container (%s), whose processes can't be seen from here; it last wrote %s",
			filepath.Base(s.foreignEntry.path), shorten(s.foreignEntry.domain), d.ago(s.lastSign(s.foreignEntry))))
	case s.unknownBecause != "":
		return report.Unknown(s.unknownBecause + "; " + d.lastRecord(s))
	case len(s.owners) > 0:
		return d.decideOwned(s)
	}
	return d.decideStopped(s)
}

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
	if i := slices.Index(order, e.status); i >= 0 && e.broken == "" {
		return i
	}
	return len(order)
}

func (d *discovery) decideLive(s *session) report.Verdict {
	slices.SortStableFunc(s.live, func(a, b liveEntry) int { return rank(a) - rank(b) })
	e := &s.live[0]
	v := d.decideEntry(s, e)
	for _, other := range s.live[1:] {
		v.Evidence += fmt.Sprintf("; also open in pid %d (%s)", other.pid, shorten(other.status))
	}
	return v
}

func (d *discovery) decideEntry(s *session, e *liveEntry) report.Verdict {
	if e.broken != "" {
		return report.Unknown(fmt.Sprintf("%s; pid %d is alive; %s", e.broken, e.pid, d.lastRecord(s)))
	}
	says := e.source() + ": " + shorten(e.status)
	if e.waitingFor != "" && e.status == "waiting" {
		says += " (" + shorten(e.waitingFor) + ")"
	}
	if !e.since.IsZero() {
		says += " for " + report.Span(d.now.Sub(e.since))
	}
	v := report.Verdict{Evidence: says}
	switch e.status {
	case "busy":
		v.Status = adapters.Working
		t := &s.facts.turn
		if !e.dated && e.interactive() && t.state == callsTools && !t.before(e.process) {
			v.Evidence += "; " + d.lastRecord(s) // 2.1.141 stays busy while it waits
			d.decideCalls(&v, t, e.process)
		}
	case "waiting":
		if e.waitingFor == dialogOpen && !d.asksInTurn(s, e) {
			v.Evidence += ", opened by the user"
			d.decideIdle(&v, s, e)
			break
		}
		v.Status, v.WaitingFor = adapters.Waiting, d.waitingFor(e.waitingFor)
		// 2.1.175 calls its questions permission prompts, too.
		if v.WaitingFor == adapters.ForPermission && s.facts.turn.onlyAsks() && !s.facts.turn.before(e.process) {
			v.WaitingFor = adapters.ForQuestion
			v.Evidence += "; " + d.lastRecord(s)
		}
	case "idle", "shell":
		d.decideIdle(&v, s, e)
	case "":
		v = d.decideTurn(s, e.process, e.source()+" has no status")
	default:
		d.answer.Skip("unknown status "+shorten(e.status)+" in the registry", 1)
		v.Status, v.Evidence = adapters.Unknown, says+": not a status that Rollcall knows"
	}
	return v
}

// decideCalls completes the verdict on a turn with unanswered tool calls: they run, or wait for
// a permission. These versions do not record that a call waits.
func (d *discovery) decideCalls(v *report.Verdict, t *turn, p proc.Process) {
	k, first := t.calling()
	age := d.now.Sub(t.at)
	known := !p.IsZero() && !first.IsZero()
	var children []proc.Process
	if known {
		children = d.table.startedSince(p.PID, first)
	}
	ended, ran := d.adapter.sinceCommand(p.Identity, first, len(children) > 0, d.now)
	switch {
	case k.asks:
		v.Status, v.WaitingFor = adapters.Waiting, adapters.ForQuestion
	case k.plan: // versions with a status call it a permission prompt
		v.Status, v.WaitingFor = adapters.Waiting, adapters.ForPermission
	case len(children) > 0:
		v.Status = adapters.Working
		v.Evidence += fmt.Sprintf("; pid %d (%s) has been running since", children[0].PID, shorten(children[0].Comm))
	case ran && ended < resultDelay:
		v.Status = adapters.Working
		v.Evidence += "; its command ran " + report.Span(ended) + " ago, and the result is not written yet"
	case known && !k.others && !k.children && (k.commands && d.isPast(age, commandDelay) || k.quick && d.isPast(age, writeDelay)):
		v.Status, v.WaitingFor = adapters.Waiting, adapters.ForPermission
		v.Evidence += "; nothing runs, so it waits for a permission"
	default:
		v.Status = adapters.Working
		if k.others && age > otherDelay {
			v.Status = adapters.Unknown
		}
		v.Evidence += "; it runs or waits for a permission: this version does not say which"
	}
}

// isPast reports whether an age is longer than the agent may need now. delay is what it needs
// on an idle machine; under load it is allowed more.
func (d *discovery) isPast(age, delay time.Duration) bool {
	return age > delay && age > busy.Delay(delay, d.table.Pressure())
}

// ranCommand is a command of a call that was seen running.
type ranCommand struct {
	call time.Time // when the oldest call without a result was made
	seen time.Time // when the command was seen last
}

// sinceCommand returns how long ago the process was last seen running a command. call is when the oldest call without a result was made: commands of earlier
// calls do not count. If running is set, a command is running now.
func (a *Adapter) sinceCommand(p proc.Identity, call time.Time, running bool, now time.Time) (ago time.Duration, ran bool) {
	if running {
		a.commands.Put(p, ranCommand{call, now})
		return 0, true
	}
	c, ok := a.commands.Get(p)
	return now.Sub(c.seen), ok && c.call.Equal(call)
}

// source returns the name of the entry, and how the entry is connected with this
// session.
func (e *liveEntry) source() string {
	if e.via != "" {
		return e.via + "; it"
	}
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
	case "input needed", dialogOpen, "goal proposal", "", "approve AskUserQuestion":
	default:
		if strings.HasPrefix(what, "approve ") { // and a tool's name, up to about 2.1.150
			return adapters.ForPermission
		}
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
		return report.Span(age) + " ago"
	}
	return at.Local().Format("2006-01-02 15:04")
}
