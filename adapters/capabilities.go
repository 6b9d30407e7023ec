package adapters

import (
	"context"
	"errors"
	"time"

	"rollcall/proc"
)

// Watcher is implemented by adapters whose sessions change with files.
type Watcher interface {
	// WatchPaths returns the existing folders whose direct entries change when a session
	// starts, ends, waits or takes a turn. The caller calls it again after each Discover,
	// because folders are created and removed.
	WatchPaths() []string
}

// ProcessOwner is implemented by adapters whose agents run as processes of this
// machine.
type ProcessOwner interface {
	// OwnsProcess reports whether p is a process of this agent: by its executable, or by its
	// script and arguments. It returns false for wrappers, for tools that the agent starts and
	// for processes that host no session by design. It is called on any goroutine, for every
	// new process of the machine, so it decides from p alone wherever it can and reads the
	// process's details only when p.Comm can be that of this agent. An unreadable process is
	// not owned.
	OwnsProcess(p proc.Process) bool
}

// Pusher is implemented by adapters whose agent reports changes over a connection that
// the adapter keeps while a caller listens.
type Pusher interface {
	// Push calls changed whenever the next Discover may answer differently, and returns
	// when ctx is done, not before: after a lost connection it connects again, with
	// growing pauses. changed must return at once; Push calls it on any goroutine.
	// Changes from before Push was called are not reported.
	Push(ctx context.Context, changed func())
}

// Namer is implemented by adapters that can name their sessions without reading
// them.
type Namer interface {
	// Named returns the ids that begin with prefix, of sessions of any age, in no
	// particular order. If Named also returns an error, some may be missing.
	Named(ctx context.Context, prefix string) ([]string, error)
}

// Stopper is implemented by adapters whose agent can be asked to end what a
// session does. No process is signalled.
type Stopper interface {
	// Stop asks the agent to end the turn of s, which must be a session from this
	// adapter, and returns once the agent has agreed. Stop returns nil if the turn is
	// over already. An error says in words what the user can do.
	Stop(ctx context.Context, s Session) error
}

// StopChecker is implemented by a Stopper that reaches only some of its agent's sessions.
type StopChecker interface {
	// CanStop returns nil if Stop reaches the process of s, a session from this adapter. The error says in words why not.
	// Nothing is sent.
	CanStop(ctx context.Context, s Session) error
}

// Ender is implemented by adapters whose agents should be ended by other signals than a single
// Terminate.
type Ender interface {
	// EndBy returns the signals by which the process of s, a session from this adapter,
	// is asked to end, the politest first. The caller adds Kill. An error says why no
	// signal may be sent, and what the user can do instead.
	EndBy(s Session) ([]proc.Signal, error)
}

// Role is the author of a message.
type Role string

// The roles.
const (
	FromUser  Role = "user"
	FromAgent Role = "assistant"
	FromTool  Role = "tool"   // a call of a tool, together with its result
	FromNote  Role = "system" // a note of the agent: an error, an interruption, a compaction
)

// ToolState is the progress of a tool call.
type ToolState string

// The states of a call.
const (
	ToolRunning ToolState = "running" // or waiting to be allowed
	ToolDone    ToolState = "done"
	ToolFailed  ToolState = "failed" // also refused by the user
)

// Message is one entry of a session's conversation. Its texts come from the
// agent unchanged and are untrusted.
type Message struct {
	// Key identifies the message within its session, and is the same in the next
	// answer. A message that grows, or a call that ends, keeps it.
	Key  string
	Role Role
	// Text is the text of the message; for a tool its most important argument, such as the
	// command or the file. It has at most MaxText bytes.
	Text  string
	Tool  string    // with FromTool: its name, as the agent gives it
	State ToolState // with FromTool
	// Plan reports, with FromTool, that the call presents a plan, which is Markdown.
	Plan bool
	At   time.Time // zero where the agent doesn't record it
}

// MaxText bounds a Message's Text, in bytes. A longer text is cut at a character's boundary and
// ends with "…".
const MaxText = 16 << 10

// Peeker is implemented by adapters that can show a conversation.
type Peeker interface {
	// Peek returns the last n messages of s, a session from this adapter, the oldest first. It
	// reads as little as it can, from the end. Like Discover it may return messages and an
	// error.
	Peek(ctx context.Context, s Session, n int) ([]Message, error)
}

// Cut shortens a message's text to MaxText.
func Cut(text string) string {
	if len(text) <= MaxText {
		return text
	}
	return CutTo(text, MaxText-len("…")) + "…"
}

// CutTo shortens a text to at most limit bytes, at a character's boundary.
func CutTo(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && text[limit]&0xC0 == 0x80 {
		limit--
	}
	return text[:limit]
}

// ErrNoAttach reports that a running session can't be shown in another terminal than its own. An error that wraps it says why.
var ErrNoAttach = errors.New("it can't be shown in another terminal")

// Attacher is implemented by adapters whose agent can show a running session in another terminal, such as one that runs in the
// background.
type Attacher interface {
	// Attach returns the command that shows s, a live session from this adapter, in a terminal. program is what Launcher.Program
	// returned. The session continues when that terminal is closed.
	Attach(ctx context.Context, program string, s Session) (Command, error)
}
