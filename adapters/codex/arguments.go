package codex

import (
	"path/filepath"
	"slices"
	"strings"

	"rollcall/adapters/internal/uuid"
	"rollcall/proc"
)

// OwnsProcess implements adapters.ProcessOwner: terminal interfaces, `codex exec`
// and app-servers are Codex's processes; the node wrapper, the sandbox around a
// command, the daemon's updater and commands such as `codex login` are not.
func (a *Adapter) OwnsProcess(p proc.Process) bool {
	if !isCodex(p.Comm) {
		return false
	}
	args, err := a.table.Args(p.Identity)
	return err == nil && len(args) > 0 && (&host{args: args}).readArgs()
}

// isCodex reports whether a process can be Codex by its name: npm's binary is "codex",
// a downloaded one "codex-x86_64-unknown-linux-musl" (cut to 15 bytes).
func isCodex(comm string) bool {
	return comm == "codex" || strings.HasPrefix(comm, "codex-x86_64") ||
		strings.HasPrefix(comm, "codex-aarch64") || strings.HasPrefix(comm, "codex-arm64")
}

// notHosts lists the names under which the binary runs as something else than a host:
// the sandbox around a command is such a process, although its name is codex as well.
var notHosts = []string{"codex-linux-sandbox", "apply_patch", "applypatch", "codex-execve-wrapper"}

// hostCommands maps the subcommands of Codex that host threads, or show them in a
// terminal, to the role of their process. Without one Codex is a terminal interface,
// and the first argument is its prompt (0.45.0 to 0.169.0).
var hostCommands = map[string]role{
	"": terminal, "resume": terminal, "fork": terminal,
	"exec": run, "e": run, "review": run,
	"app-server": server, "mcp-server": server, "agents": server,
}

// otherCommands lists the subcommands that host no thread.
var otherCommands = []string{
	"login", "logout", "mcp", "plugin", "completion", "update", "doctor", "sandbox", "debug", "apply", "a", "queue",
	"archive", "unarchive", "delete", "migrate-rollouts", "migrate-nfs-db", "cloud", "cloud-tasks", "exec-server",
	"features", "help", "execpolicy", "remote-control", "responses-api-proxy", "stdio-to-uds",
}

// role is the kind of host that a process is.
type role uint8

const (
	anyRole  role = iota // its command line is not known, as for a process that is ending
	terminal             // an interface in a terminal
	run                  // one turn without a terminal
	server               // hosts threads that are not its own
)

// valued lists the options that take the next argument as their value.
var valued = []string{
	"-c", "--config", "--enable", "--disable", "--remote", "--remote-auth-token-env", "-i", "--image", "-m", "--model",
	"--local-provider", "-p", "--profile", "-s", "--sandbox", "-C", "--cd", "--add-dir", "-a", "--ask-for-approval",
}

// readArgs reports whether the command line is that of a host.
func (h *host) readArgs() bool {
	if len(h.args) == 0 {
		return true
	}
	if slices.Contains(notHosts, strings.TrimSuffix(filepath.Base(h.args[0]), ".exe")) {
		return false
	}
	command, rest := h.subcommand(h.args[1:])
	if command == "" { // an option that is not known here may have a value
		if at := slices.IndexFunc(h.args, isServerCommand); at >= 0 {
			command, rest = h.args[at], h.args[at+1:]
		}
	}
	if slices.Contains(otherCommands, command) {
		return false
	}
	h.role = hostCommands[command]
	if command == "app-server" {
		if slices.Contains(rest, "daemon") || slices.Contains(rest, "proxy") {
			return false // start, stop, pid-update-loop
		}
		h.daemon = slices.Contains(rest, "--managed-daemon") || slices.ContainsFunc(rest, func(a string) bool {
			return strings.HasPrefix(a, "unix:") || strings.HasPrefix(a, "--listen=unix:")
		})
	}
	h.reopens = command == "resume" || command == "fork" || h.role == run && slices.Contains(rest, "resume")
	if h.reopens && command != "fork" {
		if at := slices.IndexFunc(rest, uuid.Is); at >= 0 {
			h.resumes = rest[at]
		}
	}
	return true
}

func isServerCommand(arg string) bool { return arg == "app-server" || arg == "mcp-server" }

// subcommand returns the first argument that is neither an option nor the value of one,
// if it is a known command, and the arguments after it. It records the options before
// and after it that Rollcall needs.
func (h *host) subcommand(args []string) (command string, rest []string) {
	known := false
	for i := 0; i < len(args); i++ {
		option, value, joined := strings.Cut(args[i], "=")
		switch {
		case option == "--":
			return command, rest
		case option == "--ephemeral":
			h.ephemeral = true
		case option == "--no-daemon":
			h.noDaemon = true
		case option == "--worktree":
			h.otherFolder = true
		case slices.Contains(valued, option):
			if !joined && i+1 < len(args) {
				i++
				value = args[i]
			}
			if option == "-C" || option == "--cd" {
				h.cd = value
			}
			h.otherFolder = h.otherFolder || option == "--remote"
		case strings.HasPrefix(option, "-") || known:
		default:
			known = true
			if _, hosts := hostCommands[args[i]]; hosts || slices.Contains(otherCommands, args[i]) {
				command, rest = args[i], args[i+1:]
			}
		}
	}
	return command, rest
}
