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
	State
	Owner
	Place
	Topic
	Spent
	Times

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
	Model    string
	Parent   string // id of the session that spawned this one
	// ContinuedIn is the id of the session that goes on with this one, which has no process of its own any more (Claude Code 2.1.332, /bg): no end of it is
	// told. Once that session has begun, an answer about all sessions leaves this one out, and that session has its id in Continues.
	ContinuedIn, Continues string
	Version                string // of the agent that wrote the session last
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
