// Package script runs short commands of the user's: hooks of launches, scripts of
// fuses.
package script

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// MaxOutput is how much of what a script says is kept: the end of it.
const MaxOutput = 16 << 10

// Succeeded is the result of a script that ended with exit code 0.
const Succeeded = "exit 0"

// Run runs a command in the system's shell, in a folder, with env as its whole
// environment. When the folder is gone it is an empty one made for the purpose,
// and result says so: what was meant for the folder must not hit another one.
// After limit it is killed with all that it started. result says in words how it
// ended, output has the end of what it said.
func Run(ctx context.Context, command, dir string, env []string, limit time.Duration) (result, output string) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := shell(ctx, command)
	cmd.Dir, cmd.Env = dir, env
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		if cmd.Dir, err = os.MkdirTemp("", "rollcall-"); err != nil {
			return "not run: its folder is gone, and " + err.Error(), ""
		}
		empty := cmd.Dir
		defer func() {
			_ = os.RemoveAll(empty)
			result += " (its folder is gone: it ran in an empty one)"
		}()
	}
	var said tail
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		result = fmt.Sprintf("killed after its limit of %s", limit)
	case errors.As(err, &exit):
		result = fmt.Sprintf("exit %d", exit.ExitCode())
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		result = err.Error()
	default:
		result = Succeeded
	}
	return result, said.String()
}

// tail keeps the end of what is written to it.
type tail struct{ b bytes.Buffer }

func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	t.b.Write(p[max(0, n-MaxOutput):])
	if over := t.b.Len() - MaxOutput; over > 0 {
		t.b.Next(over)
	}
	return n, nil
}

func (t *tail) String() string { return t.b.String() }
