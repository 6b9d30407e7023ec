package opencode

import (
	"context"
	"fmt"

	"rollcall/adapters"
)

// Attach implements adapters.Attacher for sessions of a process that serves on a port of this machine: `opencode attach URL
// --session ID` (1.1.65 to 1.18.33). A password must be in the terminal's environment, OPENCODE_SERVER_PASSWORD.
func (a *Adapter) Attach(ctx context.Context, program string, s adapters.Session) (adapters.Command, error) {
	c, err := a.serverOf(ctx, s)
	if err != nil {
		return adapters.Command{}, fmt.Errorf("%w: %w", adapters.ErrNoAttach, err)
	}
	args := []string{"attach", c.base, "--session", s.ID}
	if s.CWD != "" {
		args = append(args, "--dir", s.CWD)
	}
	return adapters.Command{Path: program, Args: args, Session: s.ID}, nil
}
