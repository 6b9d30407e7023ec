// Package termclient runs the clients of terminals (tmux, screen, kitty, WezTerm) against a server that an agent's environment names. A
// server may make its client execute a program, so a client runs only if the server is known: it is an ancestor of the agent, runs
// where Rollcall runs, and is the program that Rollcall itself would start. On Linux the client connects to the socket that was
// checked, and can neither execute another program nor write files where the kernel has Landlock.
package termclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/bounded"
	"rollcall/proc"
	"rollcall/proc/localsocket"
)

// Kind is a kind of terminal.
type Kind struct {
	Name    string   // for the user: "tmux"
	servers []string // the programs that listen on the socket
}

// The kinds.
var (
	Tmux    = &Kind{"tmux", []string{"tmux"}}
	Screen  = &Kind{"screen", []string{"screen"}}
	Kitty   = &Kind{"kitty", []string{"kitty"}}
	WezTerm = &Kind{"WezTerm", []string{"wezterm-gui", "wezterm-mux-server"}}
)

// Server is a server that was found behind a socket.
type Server struct {
	Process proc.Identity
	kind    *Kind
	socket  string
}

// ErrOther reports that a socket is not that of the terminal in which the agent runs.
var ErrOther = errors.New("its socket leads to another program")

// Find returns the server behind a socket, one of the given ancestors of an agent. The agent must have passed proc.CheckBoundary. A socket
// that begins with "@" is an abstract one.
func Find(ctx context.Context, kind *Kind, socket string, ancestors []proc.Identity) (*Server, error) {
	pinned, err := pin(socket)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind.Name, err)
	}
	defer pinned.close()
	id, err := localsocket.Listener(ctx, pinned.here)
	if err != nil || !slices.Contains(ancestors, id) {
		return nil, fmt.Errorf("%s: %w", kind.Name, ErrOther)
	}
	s := &Server{Process: id, kind: kind, socket: socket}
	return s, s.check()
}

// check returns an error unless the server may be asked.
func (s *Server) check() error {
	if err := proc.CheckBoundary(s.Process); err != nil {
		return fmt.Errorf("the server of %s (process %d) %w", s.kind.Name, s.Process.PID, err)
	}
	return s.kind.checkProgram(s.Process)
}

// checkProgram returns an error unless a process runs one of the server's programs: the file that PATH leads to, or one of root's by that
// name.
func (k *Kind) checkProgram(id proc.Identity) error {
	table := proc.Open()
	file, err := table.ExeInfo(id)
	if err != nil {
		return fmt.Errorf("the program of the server of %s (process %d) cannot be read: %w", k.Name, id.PID, err)
	}
	if isRemoved(file) {
		return fmt.Errorf("the program of %s was replaced after process %d had started, perhaps by an update: start %s again", k.Name, id.PID, k.Name)
	}
	path, _ := table.Exe(id)
	for _, name := range k.servers {
		if ofRoot(file) && strings.Contains(filepath.Base(path), name) {
			return nil
		}
		found, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if info, err := os.Stat(found); err == nil && os.SameFile(info, file) {
			return nil
		}
	}
	return fmt.Errorf("process %d, which it names as its %s, runs another program (%s)", id.PID, k.Name, path)
}

const (
	// answerLimit is how long a client may take, if the caller allows no less.
	answerLimit = 10 * time.Second
	// maxAnswer is far above the length of any answer, in bytes.
	maxAnswer = 4 << 20
)

// variables are those that a client gets, besides LC_*.
var variables = []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TMPDIR", "XDG_RUNTIME_DIR"}

// Client is a call of a client.
type Client struct {
	Program string
	// Args returns the arguments for a socket, Env the variables that the client needs besides. nil: none.
	Args func(socket string) []string
	Env  func(socket string) []string
}

// KittyClient returns a call of kitty's client: kitten, or before 0.27 kitty itself, which makes its folder of settings unless one is named.
func KittyClient(command ...string) Client {
	c := Client{Program: "kitten", Env: func(string) []string { return []string{"KITTY_CONFIG_DIRECTORY=/"} },
		Args: func(socket string) []string { return append([]string{"@", "--to", "unix:" + socket}, command...) }}
	if _, err := exec.LookPath(c.Program); err != nil {
		c.Program = "kitty"
	}
	return c
}

// Run runs a client without a shell if the same server is still behind the socket, and returns what it printed. An error of the client has the first line of its
// error output, and wraps ErrFailed.
func (s *Server) Run(ctx context.Context, c Client) ([]byte, error) {
	pinned, err := pin(s.socket)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.kind.Name, err)
	}
	defer pinned.close()
	if now, err := localsocket.Listener(ctx, pinned.here); err != nil || now != s.Process {
		return nil, fmt.Errorf("%s: %w", s.kind.Name, ErrOther)
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	path, err := exec.LookPath(c.Program)
	if err != nil {
		return nil, fmt.Errorf("%s is not installed", c.Program)
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	cmd := proc.WithoutWindow(exec.CommandContext(ctx, path, c.Args(pinned.client)...))
	cmd.Env = environment()
	if c.Env != nil {
		cmd.Env = append(cmd.Env, c.Env(pinned.client)...)
	}
	cmd.ExtraFiles = pinned.files
	return answer(ctx, cmd, c.Program)
}

// ErrFailed is wrapped by the error of a client that reported one.
var ErrFailed = errors.New("it failed")

// answer runs a confined client.
func answer(ctx context.Context, cmd *exec.Cmd, name string) ([]byte, error) {
	out, failed := bounded.Buffer{Max: maxAnswer}, bounded.Buffer{Max: maxAnswer}
	cmd.Stdout, cmd.Stderr = &out, &failed
	cmd.WaitDelay = answerLimit / 20
	err := startConfined(cmd)
	if err == nil {
		err = cmd.Wait()
	}
	switch {
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return out.Bytes(), nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s did not answer", name)
	}
	first, _, _ := strings.Cut(cmp.Or(strings.TrimSpace(failed.String()), strings.TrimSpace(out.String()), err.Error()), "\n")
	return nil, fmt.Errorf("%s: %w: %s", name, ErrFailed, strings.ToValidUTF8(first[:min(len(first), 200)], "?"))
}

// environment returns what a client gets of this process's variables.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return !slices.Contains(variables, name) && !strings.HasPrefix(name, "LC_")
	})
}
