// Package machine shows the sessions of other machines: it starts the user's own ssh, or the command that leads into a container, reads the stream
// of the Rollcall there (rollcall watch --json --snapshot), and keeps the last roll of each machine.
//
// What comes from another machine is untrusted: lines, rows and texts are bounded and cleaned, and nothing of it is ever a command, a
// path or a process of this machine.
package machine

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
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

// sshOptions returns options that keep ssh from asking for input, from forwarding anything, and from waiting forever. They also keep it from becoming the
// master of a shared connection (ControlMaster auto), because the user's own sessions would then end with Rollcall's; it still uses a master that runs. All
// else is as the user's configuration says: keys, agent, ports, ProxyJump, ControlPath.
func sshOptions() []string {
	seconds := strconv.Itoa(int(connectLimit / time.Second))
	return []string{"-o", "BatchMode=yes", "-o", "ConnectTimeout=" + seconds, "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3",
		"-o", "ClearAllForwardings=yes", "-o", "ForwardAgent=no", "-o", "ForwardX11=no", "-o", "PermitLocalCommand=no", "-o", "RemoteCommand=none",
		"-o", "ControlMaster=no", "-o", "LogLevel=ERROR"}
}

// noRollcall is the exit code of a shell that does not find the program.
const noRollcall = 127

// unpack is a shell script that runs the script in its first argument, which printfWord has encoded.
const unpack = `eval "$(printf %b "$1")"`

// sshCommand returns the program and arguments that run a shell script with arguments on the other machine.
func (h *Host) sshCommand(terminal bool, script string, args ...string) (string, []string) {
	var whole strings.Builder
	whole.WriteString("set --")
	for _, a := range args {
		whole.WriteString(" " + shellWord(a))
	}
	whole.WriteString("\n" + script)
	tty := "-T"
	if terminal {
		tty = "-t"
	}
	// ssh hands the joined words to the login shell there, which may be any.
	words := "sh -c '" + unpack + "' rollcall '" + printfWord(whole.String()) + "'"
	return "ssh", append(append([]string{tty}, sshOptions()...), "--", h.SSH, words)
}

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

// shellWord quotes s as one word of a POSIX shell.
func shellWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// printfWord encodes s for printf %b, so that the result between single quotes is one word with the same meaning in every shell. csh interprets line ends and
// exclamation marks even between single quotes, fish to a backslash before a quote or another backslash, and csh may not take bytes that its locale does not
// know.
func printfWord(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' || c == '\'' || c == '\\' || c == '!' {
			fmt.Fprintf(&b, `\0%03o`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
