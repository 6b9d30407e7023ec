// Package pane reads what the pane of a terminal shows, and presses one key in it if the pane still shows the same. It supports
// tmux and kitty, which can do both in one step. WezTerm is not supported: its commands only read or only press.
package pane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"rollcall/adapters/internal/environ"
	"rollcall/proc"
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

// Find returns the pane in which a process runs, by its environment. The process must be below the program of that pane, and the
// terminal's socket must belong to this user.
func Find(ctx context.Context, table proc.Lister, id proc.Identity) (Pane, error) {
	env, err := table.Env(id)
	if err != nil {
		return nil, fmt.Errorf("%w: its environment can't be read: %w", ErrNoPane, err)
	}
	// A kitty that was started in a pane of tmux passes tmux's variables on. In tmux no process is below a kitty.
	switch k, err := findKitty(ctx, table, env, id); {
	case err == nil:
		return k, nil
	case environ.Get(env, "TMUX") == "":
		return nil, err
	}
	t, err := findTmux(ctx, table, env, id)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// isBelow reports whether a process is the process with that pid, or is below it. It returns false if no process has the pid any more.
func isBelow(ctx context.Context, table proc.Lister, pid int, id proc.Identity) (bool, error) {
	list, err := table.List(ctx)
	if err != nil && len(list) == 0 {
		return false, err
	}
	i := slices.IndexFunc(list, func(r proc.Process) bool { return r.PID == pid })
	return i >= 0 && (list[i].Identity == id ||
		slices.ContainsFunc(proc.Descendants(list, list[i].Identity), func(r proc.Process) bool { return r.Identity == id })), nil
}

// output runs a program of a terminal, without the variables that begin with prefix, and returns what it prints.
func output(ctx context.Context, terminal, prefix, program string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, prefix) })
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("%w: %s: %s", ErrNoPane, terminal, strings.TrimSpace(string(exit.Stderr)))
	}
	return out, err
}
