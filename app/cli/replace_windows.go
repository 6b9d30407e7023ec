package cli

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"

	"rollcall/proc"
)

// replace runs a program as this process's only task, since Windows has no exec,
// and ends this process with its exit code. It returns only on failure.
func replace(path string, args []string, dir string, env []string) error {
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = dir, env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := proc.Batch(cmd); err != nil {
		return err
	}
	// The console sends Ctrl-C to both, and the agent handles it: if this process ended,
	// the shell would read the console while the agent still does.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		os.Exit(0)
	case errors.As(err, &exit):
		os.Exit(exit.ExitCode())
	}
	signal.Reset(os.Interrupt)
	return err
}
