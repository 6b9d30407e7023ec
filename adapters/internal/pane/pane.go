// Package pane reads what the pane of a terminal shows, and presses one key in it if the pane still shows the same. It supports
// tmux and kitty, which can do both in one step. WezTerm is not supported: its commands only read or only press.
package pane

import (
	"context"
	"errors"
	"fmt"

	"rollcall/adapters/internal/kit"
	"rollcall/proc"
	"rollcall/proc/termclient"
)

// Pane is the part of a terminal in which an agent runs.
type Pane interface {
	// Name returns the pane's name for the user.
	Name() string
	// Screen returns the lines that the pane's program shows now, from the top, without the blanks at their ends. The history above
	// them is not part of it. Screen returns ErrRefused if the pane shows something other than its program, such as its history.
	Screen(ctx context.Context) ([]string, error)
	// Press presses a key if the pane shows all the given rows of a screen where they were, shows no history, and no key was pressed
	// under this name before. The terminal decides and presses in one step. Press returns ErrRefused if no key was pressed.
	Press(ctx context.Context, key, name string, screen []string, rows []int) error
}

var (
	// ErrNoPane reports that a process does not run in a pane that can be used.
	ErrNoPane = errors.New("it runs in no pane of tmux or kitty")
	// ErrRefused reports that no key was pressed because of what the pane shows now. The reason follows.
	ErrRefused = errors.New("no key can be pressed in the pane now")
)

// Find returns the pane in which a process runs, by its environment. The process must be below the program of that pane and in the boundary
// of this process (proc.CheckBoundary), and package termclient must accept the terminal's server.
func Find(ctx context.Context, table proc.Lister, id proc.Identity) (Pane, error) {
	if err := proc.CheckBoundary(id); err != nil {
		return nil, fmt.Errorf("%w that can be used: it %w", ErrNoPane, err)
	}
	env, err := table.Env(id)
	if err != nil {
		return nil, fmt.Errorf("%w: its environment can't be read: %w", ErrNoPane, err)
	}
	x, err := table.Find(id.PID)
	if err != nil || x.Identity != id {
		return nil, fmt.Errorf("%w: %w", ErrNoPane, proc.ErrGone)
	}
	ancestors := proc.Ancestors(table, x)
	// A kitty that was started in a pane of tmux passes tmux's variables on. In tmux no process is below a kitty.
	switch k, err := findKitty(ctx, env, ancestors); {
	case err == nil:
		return k, nil
	case kit.Get(env, "TMUX") == "":
		return nil, err
	}
	t, err := findTmux(ctx, env, x, ancestors)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// ask runs a terminal's client. Its errors wrap ErrNoPane.
func ask(ctx context.Context, server *termclient.Server, client termclient.Client) ([]byte, error) {
	out, err := server.Run(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("%w that can be used: %w", ErrNoPane, err)
	}
	return out, nil
}
