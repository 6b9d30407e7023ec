// Package script runs short shell commands of the user's: hooks of launches and scripts of fuses.
package script

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"rollcall/bounded"
)

// MaxOutput is the size of the output that is kept, from its end.
const MaxOutput = 16 << 10

// Succeeded is the result of a script that ended with exit code 0.
const Succeeded = "exit 0"

// Filter runs a command in the system's shell in the present folder and environment, with input as its input. Its output goes to out. After limit Filter kills
// the command and the processes that the command started.
func Filter(ctx context.Context, command string, input io.Reader, out io.Writer, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := shell(ctx, command)
	cmd.Stdin, cmd.Stdout = input, out
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("killed after its limit of %s", limit)
	}
	return err
}

// Run runs a command in the system's shell, with env as its whole environment. dir is a folder of Rollcall's own, never one in which an agent works: programs
// read settings and code from the folder in which they start, so that python3 -c 'import json' would run the agent's json.py. After limit Run kills the command
// and the processes that the command started. result describes how the command ended. output is the end of its output.
func Run(ctx context.Context, command, dir string, env []string, limit time.Duration) (result, output string) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := shell(ctx, command)
	cmd.Dir, cmd.Env = dir, env
	said := bounded.Tail{Max: MaxOutput}
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
