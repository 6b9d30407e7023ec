package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"

	"golang.org/x/sys/windows"

	"rollcall/proc"
)

// attachConsole connects the desktop build, which has no console of its own, to the
// console that it was started from. It is compiled, and was never run.
func attachConsole() {
	if h, err := windows.GetStdHandle(windows.STD_OUTPUT_HANDLE); err == nil && h != 0 && h != windows.InvalidHandle {
		return // a console program, or redirected into a file
	}
	const parent = ^uintptr(0)
	attach := windows.NewLazySystemDLL("kernel32.dll").NewProc("AttachConsole")
	if ok, _, _ := attach.Call(parent); ok == 0 {
		return // started from the desktop
	}
	if console, err := os.OpenFile("CONOUT$", os.O_RDWR, 0); err == nil {
		os.Stdout, os.Stderr = console, console
	}
}

// enableColor makes a console show colours and reports whether it can: consoles
// before Windows 10 cannot.
func enableColor(fd int) bool {
	console := windows.Handle(fd)
	var mode uint32
	if err := windows.GetConsoleMode(console, &mode); err != nil {
		return false
	}
	return windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}

// readerGone returns ctx: on Windows only the next write fails when the output is no longer read.
func readerGone(ctx context.Context, _ io.Writer) context.Context { return ctx }

// replace runs a program as this process's only task, since Windows has no exec,
// and ends this process with its exit code. It returns only on failure.
func replace(path string, args []string, dir string, env []string) error {
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = dir, env
	cmd.Stdin = os.Stdin
	cmd.Stdout = os.Stdout
	cmd.Stderr = os.Stderr
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
