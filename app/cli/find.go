package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"rollcall/app"
	"rollcall/app/present"
)

// oneID is what commands about one session take.
func oneID(cmd *cobra.Command, args []string) error {
	if len(args) != 1 || args[0] == "" {
		return wrong("%s takes one session id, or its beginning\n  see: %s --help", cmd.Name(), cmd.CommandPath())
	}
	return nil
}

// find returns the session with this id, or with the only id that begins so, and
// the core that found it. Its errors carry exit codes.
func (c *command) find(id string, totals bool) (app.Session, *app.Snapshot, *app.Core, error) {
	core, err := c.core(app.All, totals)
	if err != nil {
		return app.Session{}, nil, nil, err
	}
	s, snap, err := core.Find(c.ctx, id)
	if c.ctx.Err() != nil {
		return s, snap, core, c.ctx.Err()
	}
	// The found one counts even when another agent's adapter failed.
	_ = c.failures(snap, false)
	var many *app.AmbiguousError
	switch {
	case errors.As(err, &many):
		err = wrong("%s", c.ambiguous(many))
	case errors.Is(err, app.ErrNoSession):
		err = &exitError{NoSession, fmt.Errorf("%w: %q%s", err, id, unasked(snap))}
	}
	return s, snap, core, err
}

// unasked says that the session may belong to an agent that could not be asked.
func unasked(snap *app.Snapshot) string {
	var failed []string
	for _, h := range snap.Adapters {
		if h.State == app.Failed {
			failed = append(failed, string(h.Name))
		}
	}
	if failed == nil {
		return ""
	}
	return " (not everything of " + strings.Join(failed, ", ") + " could be read)"
}

// ambiguous lists the sessions that an id's beginning fits.
func (c *command) ambiguous(e *app.AmbiguousError) string {
	const most = 20
	var b strings.Builder
	b.WriteString(e.Error() + ":")
	for i, s := range e.Matches {
		if i == most {
			fmt.Fprintf(&b, "\n  and %d more", len(e.Matches)-most)
			break
		}
		fmt.Fprintf(&b, "\n  %s  %s, %s, %s", s.ID, s.Agent, present.Status(s.Session), present.Project(s.CWD))
	}
	return b.String()
}
