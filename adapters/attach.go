package adapters

import (
	"context"
	"errors"
)

// ErrNoAttach reports that a running session can't be shown in another terminal than its own. An error that wraps it says why.
var ErrNoAttach = errors.New("it can't be taken into another terminal")

// Attacher is implemented by adapters whose agent can show a running session in another terminal, such as one that runs in the
// background.
type Attacher interface {
	// Attach returns the command that shows s, a live session from this adapter, in a terminal. program is what Launcher.Program
	// returned. The session goes on as it is when that terminal is closed.
	Attach(ctx context.Context, program string, s Session) (Command, error)
}
