package adapters

import (
	"cmp"
	"time"

	"rollcall/proc"
)

// State is what a session does at the time of the question, how its last turn ended, and how that is known. In the answer of an adapter, Status and Evidence are
// set, and each other field is set only with the statuses that its comment names. The fields hold together: what changes Status sets the others again.
type State struct {
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
}

// Live reports whether the session belongs on the list of live ones. An Unknown session belongs
// there too: it may be at work.
func (s *State) Live() bool { return s.Status != Stopped }

// InTurn reports whether a turn is open for certain.
func (s *State) InTurn() bool { return s.Status == Working || s.Status == Waiting }

// Until returns s with the time from which it differs although nothing changes.
func (s State) Until(t time.Time) State {
	s.AskAgain = t
	return s
}

// Become sets another status than that of the agent's own records, which do not have the reason: why goes before Evidence. It keeps the outcome of a turn that
// was over, and clears what held for the former status alone. A caller that sets Waiting sets WaitingFor afterwards.
func (s *State) Become(status Status, why string) {
	was := *s
	*s = State{Status: status, Evidence: why + was.Evidence, AskAgain: was.AskAgain,
		MayAsk: was.MayAsk && status == Stopped, Suspended: was.Suspended && status != Stopped}
	if status == Idle {
		s.Decision, s.Background = was.Decision, was.Background
	}
	if !was.InTurn() && !s.InTurn() {
		s.Outcome = was.Outcome
		s.Limited, s.LimitedUntil = was.Limited, was.LimitedUntil
	}
}

// Owner is what has a session: its process, the terminal that shows it, and the program that started it. Process and Terminal are set only where they are certain,
// and only for processes of this machine: Process may be watched and, unless it is Shared, signalled.
type Owner struct {
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
	Host     string // the program in which the agent runs, where it is not a terminal: the nearest known one that started it, or the client of an adapter of ACP, else what the agent records ("VS Code", "SDK (Python)")
	// Headless reports that no person is at the session: an SDK, a script or a command for one run (claude -p, codex exec, opencode run) started it. For a live
	// session that is known of its process, for a stopped one of its record, if at all.
	Headless bool
}

// Where returns where the user finds the session: "in its terminal", or "in Zed" for one that another program runs.
func (o *Owner) Where() string {
	if o.Host != "" {
		return "in " + o.Host
	}
	return "in its terminal"
}

// Place is where a session works, and where its agent keeps it. Its paths are those of the machine or container that Remote and Container name: see
// HasLocalFolder before they are used here.
type Place struct {
	CWD       string // as the agent last recorded it; never decoded from a folder name
	ResumeIn  string // the folder in which the agent must be started to continue it; empty: CWD
	Branch    string
	Home      string // the agent's home that the session is stored in, as Limit.Home; empty where it is not known
	Remote    string // machine or gateway that runs it, when it isn't this one
	Container string // set when it runs here in a container with separate files, see HasLocalFolder
}

// HasLocalFolder reports whether CWD names a folder of this machine. It returns false for a
// session on another machine, and for one in a container, whose paths lead to the container's
// own files. Container is the number of its mount namespace, as lsns lists it, or its root
// folder where it has no such namespace. Unlike a remote session, a session in a container has
// a Process here, which can be watched, stopped and seen suspended.
func (p *Place) HasLocalFolder() bool {
	return p.CWD != "" && p.Remote == "" && p.Container == ""
}

// Topic is what a session is about, in the words of the user and the agent: its names, its prompts, and what it says that it does. The texts are untrusted, and an
// adapter may cut them.
type Topic struct {
	// Name is the user's own name for the session, which Rollcall keeps. The core sets it; an adapter leaves it empty.
	Name        string
	Title       string // as the agent or the user named it; empty if it has no name
	FirstPrompt string
	LastPrompt  string
	// Doing is what the session does now, as its records say it: the call of a tool that has no result yet, with its most important
	// argument ("make test"), or else the beginning of the last reply. It is empty where that is not known, and has at most MaxDoing
	// bytes. DoingSince is the time of that call or reply.
	Doing      string
	DoingSince time.Time
}

// Prompt records a prompt of the user. Nothing is done for it yet.
func (t *Topic) Prompt(text string) {
	t.FirstPrompt, t.LastPrompt = cmp.Or(t.FirstPrompt, text), text
	t.Doing, t.DoingSince = "", time.Time{}
}

// Spent is what a session used, as its agent recorded it: nothing in it is an estimate. How much of it is read depends on Query.Totals and Query.Usage.
type Spent struct {
	// Tokens are those of the answers that the session's own record holds. They include answers that an agent copied there when the session was forked or
	// continued from another one. It is nil where the agent recorded none.
	Tokens  *Tokens
	Context Context
	CostUSD float64 // only as the agent states it
	// Usage is what counts for the session, by time and place, the oldest first. Each answer counts once on the whole machine, for the session in which it
	// was given or, if that no longer exists, for one that holds a copy. Answers of sub-agents that are no sessions are included. It is nil where
	// Query.Usage is not set, where Tokens is nil, and where the agent records no times of use.
	Usage []Usage
}

// Turns returns how many prompts of the user the session answered. ok is false where Usage was not asked for or is
// not known.
func (s *Spent) Turns() (turns int, ok bool) {
	for i := range s.Usage {
		turns += s.Usage[i].Turns
	}
	return turns, s.Usage != nil
}

// Times are when a session and its last turn began, and when it was last active. Each is zero where it is not known.
type Times struct {
	StartedAt      time.Time
	LastActivityAt time.Time
	// TurnStartedAt is the time at which the last turn began, that of LastPrompt. It is zero
	// where that is not known. StartedAt is much earlier in a session that was resumed, or
	// whose terminal has been open for days.
	TurnStartedAt time.Time
}
