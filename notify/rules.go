package notify

import (
	"time"

	"rollcall/adapters"
	"rollcall/app"
)

// Kind is the kind of a notification.
type Kind string

// The kinds.
const (
	Permission Kind = "permission" // a session needs permission
	Question   Kind = "question"   // a session asks the user something
	Reply      Kind = "reply"      // a turn is over, and the agent waits for the next prompt
	Failed     Kind = "failed"     // a turn or a process ended with an error, or in mid-turn
	Limit      Kind = "limit"      // a turn failed because a limit of the provider was reached
	Ended      Kind = "ended"      // an agent's own process ended in any other way
)

// Manner is how notifications of a kind are sent.
type Manner string

// The manners. The zero value is a notification without a sound.
const (
	WithSound Manner = "sound"
	Off       Manner = "off"
	// WhenNothingRuns, of replies alone, is a notification without a sound but for a session in which a command still runs whose end begins a turn: the reply of that turn is told.
	WhenNothingRuns Manner = "when nothing runs"
)

// Rules are the user's settings for notifications. With the zero value there is a notification for every event and no
// reminder, and waits do not share notifications.
type Rules struct {
	Kinds map[Kind]Manner // of a kind that is missing, notifications have no sound
	// Sounds are the sounds of notifications with a sound, by agent or kind: a file, or a name of the desktop's sound theme. Only Linux plays them.
	Sounds map[string]string
	// ReplyAfter is the length of the shortest turn that has a Reply notification.
	ReplyAfter time.Duration
	// Together is the time within which successive waits share a notification; 0: each wait has its own.
	Together time.Duration
	// Pause is the shortest time between two notifications of a session whose state changes quickly; 0: there is none.
	Pause time.Duration
	// RemindAfter is the time after which the user is reminded of a wait, once; 0: never.
	RemindAfter time.Duration
	// AwayAfter is the time after which Options.Away is called for a wait; negative: never.
	AwayAfter time.Duration
	// Headless determines whether ends and replies of headless sessions have notifications. Their waits always have.
	Headless app.Headless
	// Muted reports whether sessions in a folder have no notifications; nil: no folder is muted.
	Muted func(folder string) bool
}

// quick is the time below which a wait counts as one that ended without the user: see Rules.Pause.
const quick = 10 * time.Second

// wants reports whether the user wants notifications of a kind for a session: one that is muted has none.
func (r Rules) wants(k Kind, s *app.Session) bool {
	muted := r.Muted != nil && s.HasLocalFolder() && r.Muted(s.CWD)
	return r.Kinds[k] != Off && !muted && !s.Muted
}

// waitKind returns the kind of the notification for the wait of s.
func waitKind(s *app.Session) Kind {
	if s.WaitingFor == adapters.ForQuestion {
		return Question
	}
	return Permission
}

// endKind returns the kind of the notification for the end of the last turn, or of the process, of a session.
func endKind(s *adapters.State) Kind {
	switch {
	case s.Outcome == adapters.Failed && s.Limited:
		return Limit
	case s.Outcome == adapters.Failed, s.Outcome == adapters.Died:
		return Failed
	}
	return Ended
}

// look describes the user's state at one moment: whether notifications are withheld, and which sessions the user looks at.
type look struct {
	now     time.Time
	quiet   bool            // the user must not be disturbed
	focused map[string]bool // ids of the sessions that the user looks at
	acted   map[string]bool // ids of the sessions that the user has just ended, or whose turn
}
