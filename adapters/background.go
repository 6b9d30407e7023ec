package adapters

import "time"

// BackgroundKind is the kind of what goes on in the background.
type BackgroundKind string

// The kinds of Background.
const (
	Running BackgroundKind = "command" // a command that runs
	WakeUp  BackgroundKind = "wake-up" // the agent begins a turn by itself, at a time
)

// Background is what goes on, or is to, in a session whose turn is over.
type Background struct {
	Kind  BackgroundKind
	What  string    // the command, or the reason; at most MaxDoing bytes
	Since time.Time // when the command began
	At    time.Time // when the agent wakes up
	// TurnFollows reports that the agent begins a turn when the command ends.
	TurnFollows bool
}
