package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
)

// Command is a program that runs on its own: it outlives its starter, has no terminal,
// and gets none of the starter's signals.
type Command struct {
	Path string   // of the program
	Args []string // without the program's own name; never through a shell
	Dir  string
	Env  []string // all of it, "NAME=value"; see ChildEnv
	// Stdin is a file to read; empty: there is nothing to read. It is opened
	// before Start returns, so that it may be removed then.
	Stdin string
	// Pipe is a named pipe (Unix) that becomes the standard input. The process holds both of its
	// ends, so that its input does not end while the process lives. Start first writes what
	// Stdin has into the pipe.
	Pipe string
	// Output is a file that output and errors are appended to; it is made for
	// the user alone. Empty: they are dropped.
	Output string
	// Errors is a file like Output for the errors alone. Empty: they go to Output.
	Errors string
}

// Child is a process that Start started.
type Child struct {
	// Identity is zero if the process had ended before it could be seen.
	Identity Identity

	// Input is why not all of Stdin could be written into Pipe.
	Input error

	cmd    *exec.Cmd
	once   sync.Once
	code   int
	signal string
	err    error
}

// Start starts the program in a new session (Windows: in a new process group, without a
// window, outside the starter's job where that permits it). The caller should call
// Wait, or the process stays a zombie while the caller lives. Errors of Start mean that
// nothing runs.
func Start(c Command) (*Child, error) {
	cmd := &exec.Cmd{Path: c.Path, Args: append([]string{c.Path}, c.Args...), Dir: c.Dir, Env: c.Env, SysProcAttr: detachedAttr()}
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would mean the starter's
	}
	files, err := connect(cmd, &c)
	defer func() {
		for _, f := range files {
			_ = f.Close()
		}
	}()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	if err := startDetached(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	child := &Child{cmd: cmd}
	if c.Pipe != "" {
		_ = files[0].Close() // only the process may hold the end for reading
		child.Input = fill(c.Pipe, c.Stdin)
	}
	if p, err := openOwn().Find(cmd.Process.Pid); err == nil {
		child.Identity = p.Identity
	}
	return child, nil
}

// connect opens the files of a command. The first file is the standard input, if there is one.
func connect(cmd *exec.Cmd, c *Command) (files []io.Closer, err error) {
	in, open := c.Stdin, openInput
	if c.Pipe != "" {
		in, open = c.Pipe, openPipe
	}
	for _, one := range []struct {
		path string
		open func(path string) (*os.File, error)
		use  func(f *os.File)
	}{
		{in, open, func(f *os.File) { cmd.Stdin = f }},
		{c.Output, openOutput, func(f *os.File) { cmd.Stdout, cmd.Stderr = f, f }},
		{c.Errors, openOutput, func(f *os.File) { cmd.Stderr = f }},
	} {
		if one.path == "" {
			continue
		}
		f, err := one.open(one.path)
		if err != nil {
			return files, err
		}
		one.use(f)
		files = append(files, f)
	}
	return files, nil
}

func openOutput(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
}

// PID returns the process's id. The id is certain to be this process's until Wait has
// returned.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Wait waits for the end of the process and returns its exit code. For a process that a
// signal ended the code is 128 + the number of the signal, as in shells.
func (c *Child) Wait() (code int, err error) {
	c.once.Do(func() {
		err := c.cmd.Wait()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			c.err = err
			return
		}
		c.code, c.signal = exitCode(c.cmd.ProcessState), exitSignal(c.cmd.ProcessState)
	})
	return c.code, c.err
}

// Signal returns the name of the signal that ended the process, such as "SIGKILL", or "" if none did. It waits for the
// end of the process as Wait does.
func (c *Child) Signal() string {
	_, _ = c.Wait()
	return c.signal
}
