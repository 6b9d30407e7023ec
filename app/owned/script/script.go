// Package script runs short shell commands of the user's: hooks of launches and scripts of fuses.
package script

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"rollcall/bounded"
)

// MaxOutput is the size of the output that is kept, from its end.
const MaxOutput = 16 << 10

// Succeeded is the result of a script that ended with exit code 0.
const Succeeded = "exit 0"

// Run runs a command in the system's shell, in dir and with env as its whole environment. If dir does not exist or its file system does not
// answer, it runs the command in a new empty folder, since it must not affect any other folder, and result reports that. After limit it kills
// the command and the processes that the command started. result describes how the command ended. output is the end of its
// output.
func Run(ctx context.Context, command, dir string, env []string, limit time.Duration) (result, output string) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := shell(ctx, command)
	cmd.Dir, cmd.Env = dir, env
	if why := unusable(dir); why != "" {
		empty, err := os.MkdirTemp("", "rollcall-")
		if err != nil {
			return "not run: its folder " + why + ", and " + err.Error(), ""
		}
		cmd.Dir = empty
		defer func() {
			_ = os.RemoveAll(empty)
			result += " (its folder " + why + "; it ran in an empty folder)"
		}()
	}
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

// unusable returns why nothing can run in a folder; empty: it can. To start a program in a folder that does not answer would hold up every other start.
func unusable(dir string) string {
	if !bounded.Answers(dir) {
		return "did not answer"
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "did not exist"
	}
	return ""
}
