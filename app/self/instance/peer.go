package instance

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"rollcall/proc"
)

// ErrOutside reports that the two processes do not run under the same conditions: one of them is in a container or sandbox, and the other is
// not. Neither carries out what the other asks, since a process in a sandbox could have things done outside of it.
var ErrOutside = errors.New("the running Rollcall and this process are not in the same container or sandbox")

// outside returns the error for a process that proc.CheckBoundary refused.
func outside(err error) error {
	reason := strings.TrimPrefix(err.Error(), proc.ErrForeign.Error()+": ")
	return fmt.Errorf("%w (%s): run both inside or both outside of it, or give the one inside folders of its own (XDG_STATE_HOME and XDG_RUNTIME_DIR)", ErrOutside, reason)
}

// rejection is the answer to a process that is refused, as a line of JSON.
type rejection struct {
	Error   string `json:"error"`
	Outside bool   `json:"outside,omitempty"` // the error is ErrOutside
}

// err returns the error that the other process reported, or nil.
func (r rejection) err() error {
	switch text, isOutside := strings.CutPrefix(r.Error, ErrOutside.Error()); {
	case r.Error == "":
		return nil
	case r.Outside && isOutside:
		return fmt.Errorf("%w%s", ErrOutside, text)
	default:
		return errors.New(r.Error)
	}
}

// maxRefusals is the number of reasons that are logged.
const maxRefusals = 100

// refusals logs why processes were refused, each reason once: whoever is refused can ask again and again.
type refusals struct {
	log *slog.Logger

	mu   sync.Mutex
	seen map[string]bool
}

func (r *refusals) add(claim string, p proc.Process, reason error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := reason.Error()
	if r.seen[text] || len(r.seen) == maxRefusals {
		return
	}
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	r.seen[text] = true
	r.log.Warn("a request was refused; others with the same reason are not logged", "to", claim, "pid", p.PID, "program", p.Comm, "reason", text)
}
