package machine

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// sshOptions returns options that keep ssh from asking for input, from forwarding anything, and from waiting forever. They also keep it from becoming the
// master of a shared connection (ControlMaster auto), because the user's own sessions would then end with Rollcall's; it still uses a master that runs. All
// else is as the user's configuration says: keys, agent, ports, ProxyJump, ControlPath.
func sshOptions() []string {
	seconds := strconv.Itoa(int(connectLimit / time.Second))
	return []string{"-o", "BatchMode=yes", "-o", "ConnectTimeout=" + seconds, "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3",
		"-o", "ClearAllForwardings=yes", "-o", "ForwardAgent=no", "-o", "ForwardX11=no", "-o", "PermitLocalCommand=no", "-o", "RemoteCommand=none",
		"-o", "ControlMaster=no", "-o", "LogLevel=ERROR"}
}

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
