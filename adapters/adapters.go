// Package adapters defines the interface to the coding agents: the Adapter interface that each
// agent's package implements, the Session that it answers with, and the errors that distinguish
// "not installed" from "could not be read".
//
// Adapters are the only source of facts about sessions: everything in a Session is derived, at
// the time of the question, from the agent's own files, processes or gateway. Nothing here is
// stored.
package adapters

import (
	"context"
	"math"
	"strings"
	"time"

	"rollcall/proc"
)

// Name names an agent, in JSON and on the command line. Each agent's package declares its own.
type Name string

// Status is the current state of a session.
type Status string

// The statuses. A status is never guessed: what can't be known is Unknown, and
// the session's Evidence says why.
const (
	Working Status = "working" // alive, in a turn
	Waiting Status = "waiting" // alive, needs the user; see WaitingFor
	Idle    Status = "idle"    // alive, its turn is over
	Stopped Status = "stopped" // no process
	Unknown Status = "unknown" // can't be known; Evidence has the reason
)

// WaitingFor is the kind of answer that a waiting session needs from the user.
type WaitingFor string

// What a session can wait for.
const (
	ForPermission WaitingFor = "permission"
	ForQuestion   WaitingFor = "question"
)

// Outcome is the result of a session's last turn. It is empty while a turn is open.
type Outcome string

// The outcomes.
const (
	Completed   Outcome = "completed"
	Interrupted Outcome = "interrupted" // by the user
	Failed      Outcome = "failed"      // an error that the agent recorded
	Died        Outcome = "died"        // no process, turn left open
)

// Tokens counts the tokens of a whole session, each message once.
type Tokens struct {
	Input      int64 `json:"input"` // not served from a cache
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cache_read"`
	CacheWrite int64 `json:"cache_write"`
	Reasoning  int64 `json:"reasoning"` // part of Output, but for agents with Description.ReasoningApart
}

// Add adds the tokens of o. A count never wraps around: what an agent records may be any number.
func (t *Tokens) Add(o Tokens) {
	*t = t.Combine(o, func(a, b int64) int64 {
		if a > 0 && b > math.MaxInt64-a {
			return math.MaxInt64
		}
		return a + b
	})
}

// Minus returns t without the tokens of o.
func (t Tokens) Minus(o Tokens) Tokens { return t.Combine(o, func(a, b int64) int64 { return a - b }) }

// Combine returns the result of f for each count of t and the same count of o.
func (t Tokens) Combine(o Tokens, f func(a, b int64) int64) Tokens {
	return Tokens{Input: f(t.Input, o.Input), Output: f(t.Output, o.Output), CacheRead: f(t.CacheRead, o.CacheRead),
		CacheWrite: f(t.CacheWrite, o.CacheWrite), Reasoning: f(t.Reasoning, o.Reasoning)}
}

// Context is the use of the model's context window at the last answer, in tokens.
type Context struct {
	Used   int64 `json:"used,omitempty"`
	Window int64 `json:"window,omitempty"` // 0 where the agent doesn't state it
}

// Session is one conversation of one agent, as the agent's own files, processes or
// gateway describe it. It is a value: a receiver may keep it, and no code changes it.
// Empty fields are not known. Texts come from the agent unchanged and are untrusted:
// clean them (app/present) before they are shown.
type Session struct {
	ID    string
	Agent Name

	Status     Status
	WaitingFor WaitingFor // with Waiting only
	Outcome    Outcome
	// Decision is what an idle session has left to the user's decision, in a few words ("a plan"): its last turn is over, and its agent shows a choice until
	// the user makes it or closes it, which is not recorded (Codex 0.171.0 in plan mode). It is empty in all other cases.
	Decision string
	// MayAsk reports, with Idle, that the turn is over or the session waits for the user: the agent does not record which (Gemini CLI 0.61.0: the text of an
	// answer is recorded before its calls, which wait then). With Unknown it reports that a call is open which waits for the user, or runs without a process.
	// With Stopped it reports that the turn was over, or waited, when its process ended. There is no Outcome.
	MayAsk bool
	// Limited reports, with Outcome Failed, that the provider refused the turn because the user had reached a usage limit (Codex 0.169.0: usage_limit_exceeded,
	// Claude Code 2.1.329: an API error 429, Pi 1.5.2: the same). With Working it reports that the turn was refused so, and is tried again at LimitedUntil (OpenCode
	// 1.18.33, as its server says). Other agents do not record this, or try again.
	Limited bool
	// LimitedUntil is the time at which that limit is reset, or the turn is tried again; zero where the agent has not recorded it.
	LimitedUntil time.Time
	// Evidence is the reason for Status, in words for the user: "registry 18068.json:
	// busy, 3 s ago". Never empty.
	Evidence string

	// AskAgain is the time from which the adapter's answer differs although nothing changes, since it waits for what its agent may write until then: the
	// end of a turn, the process of a command. It is zero where only a change can. An outcome that is empty until then is not decided yet.
	AskAgain time.Time
	// Background is what goes on, or is to, although the turn is over: with Idle only, and only what is certain. A command whose process has ended is not in it.
	Background []Background
	// Quiet is how long, with Working, there was no sign of life when this was asked: no record, and nothing that runs below Process was on a processor, as what
	// prints or computes is. The core sets it; 0: there was one, or that is not known.
	Quiet time.Duration
	// Suspended reports that Process is stopped by SIGSTOP or Ctrl-Z (Windows: all
	// its threads are suspended). The core sets it from the process table and
	// turns an open turn into Idle; an adapter leaves it false.
	Suspended bool

	// Process is the agent's own process, never a wrapper. It is zero for a
	// session without a live process here. Several sessions can share one
	// (Codex's daemon; a resumed session's first owner).
	Process proc.Identity
	// Shared reports that Process hosts other sessions as well and must never be
	// signalled on behalf of this one (Codex's app-server daemon).
	Shared bool
	// Unattended reports that Process continues the session although no terminal shows
	// it any more (a thread of Codex's daemon whose terminal was closed): the user
	// learns of the end of its turn only through a notification.
	Unattended bool
	// Terminal is the process whose terminal shows the session, where that is not Process but is certain (the interface of
	// a thread of Codex's daemon). It is zero where Process is in that terminal itself, or none is known.
	Terminal proc.Identity
	// Name is the user's own name for the session, which Rollcall keeps. The core sets it; an adapter leaves it empty.
	Name string
	// Archived reports that the user put the session away in the agent. An agent with Description.Unarchive resumes it only after it was taken
	// out again.
	Archived bool
	// NoResume is why the agent refuses to resume the session; empty: it does not, or that is not known.
	NoResume string
	// Review reports that a model judges the requests of Parent in it: it is no session that a user started.
	Review bool
	// Unstored reports that the agent stores nothing of this run (codex exec --ephemeral). The
	// session is derived from the process alone, and how the run ended can't be known.
	Unstored bool

	CWD         string // as the agent last recorded it; never decoded from a folder name
	ResumeIn    string // the folder in which the agent must be started to continue it; empty: CWD
	Branch      string
	Model       string
	Title       string // as the agent or the user named it; empty if it has no name
	FirstPrompt string
	LastPrompt  string
	// Doing is what the session does now, as its records say it: the call of a tool that has no result yet, with its most important
	// argument ("make test"), or else the beginning of the last reply. It is empty where that is not known, and has at most MaxDoing
	// bytes. DoingSince is the time of that call or reply.
	Doing      string
	DoingSince time.Time
	Parent     string // id of the session that spawned this one
	// ContinuedIn is the id of the session that goes on with this one, which has no process of its own any more (Claude Code 2.1.332, /bg): no end of it is
	// told. Once that session has begun, an answer about all sessions leaves this one out, and that session has its id in Continues.
	ContinuedIn, Continues string
	Home                   string // the agent's home that the session is stored in, as Limit.Home; empty where it is not known
	Remote                 string // machine or gateway that runs it, when it isn't this one
	Container              string // set when it runs here in a container with separate files, see HasLocalFolder
	Host                   string // the program in which the agent runs, where it is not a terminal: the nearest known one that started it, or the client of an adapter of ACP, else what the agent records ("VS Code", "SDK (Python)")
	// Headless reports that no person is at the session: an SDK, a script or a command for one run (claude -p, codex exec, opencode run) started it. For a live
	// session that is known of its process, for a stopped one of its record, if at all.
	Headless bool
	Version  string // of the agent that wrote the session last

	// Tokens are those of the answers that the session's own record holds. They include answers that an agent copied there when the session was forked or
	// continued from another one. It is nil where the agent recorded none.
	Tokens  *Tokens
	Context Context
	CostUSD float64 // only as the agent states it
	// Usage is what counts for the session, by time and place, the oldest first. Each answer counts once on the whole machine, for the session in which it
	// was given or, if that no longer exists, for one that holds a copy. Answers of sub-agents that are no sessions are included. It is nil where
	// Query.Usage is not set, where Tokens is nil, and where the agent records no times of use.
	Usage []Usage

	StartedAt      time.Time
	LastActivityAt time.Time
	// TurnStartedAt is the time at which the last turn began, that of LastPrompt. It is zero
	// where that is not known. StartedAt is much earlier in a session that was resumed, or
	// whose terminal has been open for days.
	TurnStartedAt time.Time

	// Files are the agent's own files that describe this session, the transcript
	// first.
	Files []string
}

// MaxDoing bounds Session.Doing, in bytes.
const MaxDoing = 300

// Calling returns the Doing of a call: its argument alone for a tool that runs commands, and otherwise its name and the argument.
func Calling(tool, argument string, runs bool) string {
	if argument != "" && runs {
		return CutTo(argument, MaxDoing)
	}
	return CutTo(strings.TrimSpace(tool+" "+argument), MaxDoing)
}

// Live reports whether the session belongs on the list of live ones. An Unknown session belongs
// there too: it may be at work.
func (s *Session) Live() bool { return s.Status != Stopped }

// Where returns where the user finds the session: "in its terminal", or "in Zed" for one that another program runs.
func (s *Session) Where() string {
	if s.Host != "" {
		return "in " + s.Host
	}
	return "in its terminal"
}

// HasLocalFolder reports whether CWD names a folder of this machine. It returns false for a
// session on another machine, and for one in a container, whose paths lead to the container's
// own files. Container is the number of its mount namespace, as lsns lists it, or its root
// folder where it has no such namespace. Unlike a remote session, a session in a container has
// a Process here, which can be watched, stopped and seen suspended.
func (s *Session) HasLocalFolder() bool {
	return s.CWD != "" && s.Remote == "" && s.Container == ""
}

// Query selects the sessions and the details that the caller needs. An adapter reads only
// what is asked for, which keeps a refresh cheap, but its answer may hold more.
type Query struct {
	// Since leaves out stopped sessions that were last active before it. If Since is zero, none
	// is left out. Live sessions are never left out.
	Since time.Time
	// IDs, when set, restricts the answer to these sessions, whatever their age. Such a
	// query is cheap; the core sends it after an event of one session.
	IDs []string
	// Totals asks for exact Tokens, which for some agents takes reading the
	// whole transcript. Without it Tokens may be nil for a session whose totals
	// are not known yet; they are never wrong.
	Totals bool
	// Usage asks for Session.Usage. It has an effect only if Totals is set too. Copies are recognised among the
	// sessions that are answered, so it is for questions without IDs. For some agents
	// it takes reading the whole transcript even where Tokens does not.
	Usage bool
	// Once is set by a caller that is unlikely to ask again: the adapter then keeps nothing of
	// what it read, which with many sessions takes more memory than the answer.
	Once bool
	// Later, if set, takes work for which the answer need not wait: see AfterAnswer. Any goroutine may call it.
	Later func(do func())
}

// AfterAnswer does what makes later answers faster, such as saving a cache, once this answer was given: on a busy machine it takes longer than the
// time that is left. Without Later it does it at once.
func (q *Query) AfterAnswer(do func()) {
	if q.Later == nil {
		do()
	} else {
		q.Later(do)
	}
}

// Roll is the answer of one adapter.
type Roll struct {
	Sessions []Session
	// Remotes are the machines and gateways, as Session.Remote names them, that answered
	// in full. A live session of theirs that is not listed no longer exists there.
	Remotes []string
	// LookedIn are the places that were searched: folders, files, sockets,
	// also those that do not exist.
	LookedIn []string
	// Versions counts the answered sessions by the version of the agent that
	// wrote them.
	Versions map[string]int
	// Skipped counts records and files that were skipped because their form was not
	// recognised, by a short reason ("unknown record type x"). A changed format shows
	// here; it is never an error.
	Skipped map[string]int
	// Ledger describes what the usage of the sessions is made of. It is complete with Query.Usage only.
	Ledger Ledger
}

// Ledger describes what the usage of an agent's sessions is made of.
type Ledger struct {
	Answers int            // that count
	Copies  int            // answers in the sessions' files that count for another session, in which they were given
	LeftOut map[string]int // the number of files that count nowhere, by reason: what is true of them ("not recognised")
	// LeftOutAnswers is how many answers these files are known to have, by the same reasons.
	LeftOutAnswers map[string]int
}

// Adapter reports the sessions one agent knows of. It is safe for concurrent
// use and writes nothing into the agent's folders.
//
// Discover may return sessions and an error: the sessions are right, the error
// says what is missing from them. Errors are *Problem values, joined with
// errors.Join when there are several; ErrAbsent alone means that the agent isn't
// installed. Discover returns soon after ctx is done.
type Adapter interface {
	Name() Name
	Discover(ctx context.Context, q Query) (Roll, error)
}

// NoBranch is what git calls a commit that is checked out without a branch. Agents record it like a name.
const NoBranch = "HEAD"

// UsageStep is the length of the time that one Usage covers. All present time zones differ from UTC by a multiple of
// UsageStep, so that the steps of a day add up to that day in any time zone.
const UsageStep = 15 * time.Minute

// Usage is what a session used within one step of time in one place: with one model, in one folder and on one branch.
type Usage struct {
	// At is the beginning of the step, in UTC: a multiple of UsageStep. It is zero in a
	// step whose time is not known.
	At time.Time
	// Model, CWD and Branch are those with which the answers were given, which can differ from those that the session had last. They are empty where they
	// are not known; Branch is NoBranch where there was none.
	Model, CWD, Branch string
	Home               string // as Session.Home, where it differs: the session went on in two homes
	Answers            int    // of a model
	Tokens             Tokens
	CostUSD            float64 // only as the agent states it, at the time of the record that states it
	// Turns counts the prompts of the user that were answered, each in the step of its first
	// answer. Several prompts before one answer are one turn.
	Turns int
}

// IsAt reports whether u and o are of the same step and place.
func (u *Usage) IsAt(o *Usage) bool {
	return u.At.Equal(o.At) && u.Model == o.Model && u.CWD == o.CWD && u.Branch == o.Branch && u.Home == o.Home
}

// Add adds what was used in the same step and place.
func (u *Usage) Add(o *Usage) {
	u.Tokens.Add(o.Tokens)
	u.CostUSD += o.CostUSD
	u.Answers += o.Answers
	u.Turns += o.Turns
}

// Turns returns how many prompts of the user the session answered. ok is false where Usage was not asked for or is
// not known.
func (s *Session) Turns() (turns int, ok bool) {
	for i := range s.Usage {
		turns += s.Usage[i].Turns
	}
	return turns, s.Usage != nil
}
