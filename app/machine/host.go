// Package machine shows the sessions of other machines: it starts the user's own ssh, or the command that leads into a container, reads the stream
// of the Rollcall there (rollcall watch --json --snapshot), and keeps the last roll of each machine.
//
// What comes from another machine is untrusted: lines, rows and texts are bounded and cleaned, and nothing of it is ever a command, a
// path or a process of this machine.
package machine

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"time"

	"rollcall/app/settings"
)

const (
	// connectLimit is how long ssh may take to connect and to agree on keys.
	connectLimit = 10 * time.Second
	// killGrace is the time after which a connection that was told to end is killed.
	killGrace = 2 * time.Second
)

// Host is one machine, and how it is reached.
type Host struct {
	settings.Machine
	// Environ is the environment of ssh or the command; nil: that of this process.
	Environ []string
	// Heartbeat is the interval at which the other side shall send heartbeats; 0: 15 s.
	Heartbeat time.Duration
}

// target returns the machine's name in messages to the user: what the user would type.
func (h *Host) target() string {
	if h.SSH != "" {
		return h.SSH
	}
	return strings.Join(h.Exec, " ")
}

// noRollcall is the exit code of a shell that does not find the program.
const noRollcall = 127

// program returns the shell script that executes Rollcall on the other machine. A shell that is not a login shell seldom has ~/.local/bin in its PATH.
func (h *Host) program() string {
	path := h.Path
	switch {
	case path == "":
		return `PATH="$PATH:$HOME/.local/bin"; export PATH; exec rollcall "$@"`
	case strings.HasPrefix(path, "~/"):
		return `exec "$HOME"/` + shellWord(path[2:]) + ` "$@"`
	}
	return "exec " + shellWord(path) + ` "$@"`
}

// rollcall returns the program and arguments that run a command of Rollcall on the machine.
func (h *Host) rollcall(terminal bool, args ...string) (string, []string) {
	if h.SSH == "" {
		return h.Exec[0], append(append([]string{}, h.Exec[1:]...), args...)
	}
	return h.sshCommand(terminal, h.program(), args...)
}

// command returns a command that is killed with its process group when ctx is done. It has no terminal, so that nothing can ask for a password on it.
func (h *Host) command(ctx context.Context, name string, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = h.environ()
	cmd.WaitDelay = killGrace // a ControlMaster in the background may keep the standard error open
	detach(cmd)
	return cmd
}

func (h *Host) environ() []string {
	env := h.Environ
	if env == nil {
		env = os.Environ()
	}
	return append(env[:len(env):len(env)], "SSH_ASKPASS_REQUIRE=never")
}
