package claudecode

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
)

// verdict is a session's status and what it rests on.
type verdict struct {
	status   adapters.Status
	waiting  adapters.WaitingFor
	outcome  adapters.Outcome
	evidence string
}

// answer builds the sessions, the live ones first.
func (c *call) answer() []adapters.Session {
	var out []adapters.Session
	for _, s := range c.list() {
		if s.file != nil && !s.maybeLive() {
			if !s.read || errors.Is(s.err, fs.ErrNotExist) || late(s.err) {
				continue
			}
			if s.err == nil && s.facts.records == 0 && s.gone == nil && len(s.facts.skipped) == 0 {
				continue // an empty file
			}
		}
		out = append(out, c.build(s))
	}
	return out
}

func (c *call) build(s *session) adapters.Session {
	v := c.judge(s)
	f := &s.facts
	out := adapters.Session{
		ID: s.id, Agent: adapters.ClaudeCode,
		Status: v.status, WaitingFor: v.waiting, Outcome: v.outcome, Evidence: v.evidence,
		CWD: f.cwd, Branch: f.branch, Model: f.model, Version: f.version,
		FirstPrompt: f.firstPrompt, LastPrompt: f.lastPrompt,
		Context: adapters.Context{Used: f.context}, CostUSD: f.cost,
		StartedAt: f.started, LastActivityAt: f.active,
	}
	if out.FirstPrompt == "" {
		out.FirstPrompt = f.queuedPrompt
	}
	if out.LastPrompt == "" {
		out.LastPrompt = f.namedPrompt
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
	for _, title := range []string{s.title, ai, custom} {
		set(&out.Title, title)
	}
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
	case s.foreign != nil:
		fill(&out, s.foreign)
	case s.gone != nil:
		fill(&out, s.gone)
	}
	c.saidLately(s, &out)
	if len(s.owners) == 1 && !s.unsure {
		out.Process = s.owners[0].Identity
	}
	if len(s.owners) > 0 && out.CWD == "" {
		out.CWD = s.owners[0].cwd
	}
	return out
}

// fill adds what a registry entry says and the transcript doesn't.
func fill(out *adapters.Session, e *entry) {
	out.Files = append(out.Files, e.path)
	if out.CWD == "" || e.cwd != "" && e.started.After(out.LastActivityAt) { // resumed elsewhere
		out.CWD = e.cwd
	}
	if out.Title == "" {
		out.Title = e.name
	}
	if out.Version == "" {
		out.Version = e.version
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

func (c *call) judge(s *session) verdict {
	switch {
	case len(s.live) > 0:
		return c.judgeLive(s)
	case s.foreign != nil && c.at.Sub(s.lastSign(s.foreign)) < plausible:
		return verdict{status: adapters.Unknown, evidence: fmt.Sprintf(
			"%s belongs to another machine or container (%s), whose processes can't be seen from here; last sign %s",
			filepath.Base(s.foreign.path), word(s.foreign.domain), c.ago(s.lastSign(s.foreign)))}
	case s.blind != "":
		return verdict{status: adapters.Unknown, evidence: s.blind + "; " + c.lastRecord(s)}
	case len(s.owners) > 0:
		return c.judgeOwned(s)
	}
	return c.judgeStopped(s)
}

// lastSign is when a session of another machine was last seen to do something.
func (s *session) lastSign(e *entry) time.Time {
	at := e.modified
	if s.file != nil && s.file.info.ModTime().After(at) {
		at = s.file.info.ModTime()
	}
	return at
}

// rank orders the processes that share a session: what the user must see first.
func rank(e liveEntry) int {
	order := []string{"waiting", "busy", "shell", "idle"}
	if i := slices.Index(order, e.status); i >= 0 && e.broken == "" {
		return i
	}
	return len(order)
}

func (c *call) judgeLive(s *session) verdict {
	slices.SortStableFunc(s.live, func(a, b liveEntry) int { return rank(a) - rank(b) })
	e := &s.live[0]
	v := c.judgeEntry(s, e)
	for _, other := range s.live[1:] {
		v.evidence += fmt.Sprintf("; also open in pid %d (%s)", other.pid, word(other.status))
	}
	return v
}

func (c *call) judgeEntry(s *session, e *liveEntry) verdict {
	if e.broken != "" {
		return verdict{status: adapters.Unknown, evidence: fmt.Sprintf("%s; pid %d lives; %s", e.broken, e.pid, c.lastRecord(s))}
	}
	says := e.source() + ": " + word(e.status)
	if e.waitingFor != "" && e.status == "waiting" {
		says += " (" + word(e.waitingFor) + ")"
	}
	if !e.since.IsZero() {
		says += " for " + span(c.at.Sub(e.since))
	}
	v := verdict{evidence: says}
	switch e.status {
	case "busy":
		v.status = adapters.Working
		t := &s.facts.turn
		if !e.dated && e.interactive() && t.state == callsTools && !e.process.Started.After(t.at.Add(clockSlack)) {
			v.evidence += "; " + c.lastRecord(s) // 2.1.141 stays busy while it waits
			c.judgeCalls(&v, t, e.process)
		}
	case "waiting":
		v.status, v.waiting = adapters.Waiting, c.waitingFor(e.waitingFor)
		// 2.1.175 calls its questions permission prompts, too.
		if v.waiting == adapters.ForPermission && s.facts.turn.onlyAsks() && !e.process.Started.After(s.facts.turn.at.Add(clockSlack)) {
			v.waiting = adapters.ForQuestion
			v.evidence += "; " + c.lastRecord(s)
		}
	case "idle", "shell":
		v.status = adapters.Idle
		if s.behind = c.isBehind(s, e); !s.behind {
			v.outcome = s.facts.turn.outcome(true, s.facts.version)
		}
		if e.status == "shell" {
			v.evidence += " (a shell command runs in the background)"
		}
		if v.outcome == adapters.Failed {
			v.evidence += "; " + c.lastRecord(s)
		}
	case "":
		v = c.judgeTurn(s, e.process, e.source()+" has no status")
	default:
		c.skip("unknown status "+word(e.status)+" in the registry", 1)
		v.status, v.evidence = adapters.Unknown, says+": not a status that Rollcall knows"
	}
	return v
}

// source names the entry, and how it comes to be about this session.
func (e *liveEntry) source() string {
	if e.via != "" {
		return e.via + "; it"
	}
	return "registry " + filepath.Base(e.path)
}

// isBehind says whether the turn that ended is not in the transcript yet: it is
// written up to 0.1 s after the registry says idle.
func (c *call) isBehind(s *session, e *liveEntry) bool {
	t := &s.facts.turn
	if e.since.IsZero() || c.at.Sub(e.since) > youngIdle || t.state == unreadable {
		return false
	}
	if t.state == awaitsModel || t.state == callsTools {
		return true
	}
	return e.interactive() && c.history(e.root(), e.started).prompt[s.id].at.After(t.at)
}

// youngIdle is for how long after a turn its end may not be written yet.
const youngIdle = 2 * time.Second

// waitingFor reads the registry's waitingFor.
func (c *call) waitingFor(what string) adapters.WaitingFor {
	switch what {
	case "permission prompt", "sandbox request", "worker request":
		return adapters.ForPermission
	case "input needed", "dialog open", "goal proposal", "", "approve AskUserQuestion":
	default:
		if strings.HasPrefix(what, "approve ") { // and a tool's name, up to about 2.1.150
			return adapters.ForPermission
		}
		c.skip("unknown waitingFor "+word(what)+" in the registry", 1)
	}
	return adapters.ForQuestion
}

// lastRecord says in words where the transcript ends.
func (c *call) lastRecord(s *session) string {
	switch {
	case s.file == nil:
		return "no transcript yet"
	case s.err != nil:
		return "transcript not readable"
	}
	t := &s.facts.turn
	what := ""
	switch t.state {
	case noTurn:
		return "no turn in the transcript"
	case unreadable:
		return "last record too long to read"
	case awaitsModel:
		what = "tool result"
		if t.prompt {
			what = "prompt"
		}
	case callsTools:
		what = "call of " + t.calls()
	case inAnswer:
		what = "a part of an answer"
	case brokenOff:
		what = "answer broken off (" + word(t.stop) + ")"
	case endedWell:
		what = "end of turn"
	case endedByUser:
		what = "interrupted by the user"
	case endedInError:
		what = "API error"
		if t.apiStatus != 0 {
			what += fmt.Sprintf(" %d", t.apiStatus)
		}
	}
	return "last record: " + what + ", " + c.ago(t.at)
}

// calls names the unanswered tool calls.
func (t *turn) calls() string {
	var names []string
	for _, u := range t.pending {
		if name := word(u.name); len(names) < 3 && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "a tool"
	}
	return strings.Join(names, ", ")
}

// ago says when something was: the age, or, of what is older, the date.
func (c *call) ago(at time.Time) string {
	if at.IsZero() {
		return "at an unknown time"
	}
	if age := c.at.Sub(at); age < 24*time.Hour {
		return span(age) + " ago"
	}
	return at.Local().Format("2006-01-02 15:04")
}

// span is a duration in one unit.
func span(d time.Duration) string {
	switch {
	case d < 0:
		return "0 s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
