// Package script runs short shell commands of the user's: hooks of launches and scripts of fuses.
package script

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"rollcall/bounded"
)

// MaxOutput is the size of the output that is kept, from its end.
const MaxOutput = 16 << 10

// Succeeded is the result of a script that ended with exit code 0.
const Succeeded = "exit 0"

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
