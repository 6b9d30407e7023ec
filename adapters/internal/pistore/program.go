package pistore

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
	"rollcall/bounded"
)

// agentOf returns which agent a process is, and "" for neither. Pi runs in Node.js or
// Bun; as a single binary it has its package.json next to it. Scripts in args are
// relative to cwd.
func agentOf(comm, exe, cwd string, args []string) adapters.Name {
	base := agentproc.FileName(exe)
	if agentproc.IsInterpreter(comm) { // a system without process titles, or one that has just begun
		script, _ := agentproc.Script(args)
		if script != "" && !filepath.IsAbs(script) {
			script = filepath.Join(cwd, script)
		}
		if len(args) > 0 && (args[0] == "pi" || args[0] == "pi-rpc") || isPiScript(script) {
			return Pi
		}
		return ""
	}
	switch {
	case agentproc.IsInterpreterFile(base), exe == "", besidePackage(exe):
		return Pi
	case agentproc.IsShell(base): // a script of the user's with that name
		return ""
	case !adapters.IsNamed(comm, "pi"):
		return Pi
	case !adapters.IsNamed(base, "pi") && (len(args) == 0 || filepath.Base(args[0]) != "pi"):
		return ""
	}
	return PiRust
}

// isPiScript reports whether a script is Pi's program, by its place, also through the
// link that npm makes to it. In a container only the link's name can be seen.
func isPiScript(script string) bool {
	if script == "" {
		return false
	}
	if isInPi(script) {
		return true
	}
	if !isNamedPi(filepath.Base(script)) {
		return false
	}
	if !bounded.Answers(script) { // only its name is known
		return true
	}
	target, err := filepath.EvalSymlinks(script)
	return err == nil && isInPi(target) || errors.Is(err, fs.ErrNotExist)
}

// isInPi reports whether a file is in Pi's package. That of oh-my-pi, whose sessions are elsewhere and in another form, has the same name in another scope.
func isInPi(path string) bool {
	path = filepath.ToSlash(path)
	return strings.Contains(path, "/pi-coding-agent/dist/") && !strings.Contains(path, "/@oh-my-pi/")
}

// besidePackage reports whether the binary is Pi built with Bun.
func besidePackage(exe string) bool {
	f, _, err := agentfile.OpenUntouched(filepath.Join(filepath.Dir(exe), "package.json"))
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 512)
	n, _ := f.Read(head)
	return strings.Contains(string(head[:n]), "pi-coding-agent")
}

// readArgs reads a command line without the program. Both agents have the same options.
func (p *process) readArgs(args []string) {
	if p.agent == PiRust && len(args) > 0 && slices.Contains(notSessions, args[0]) {
		p.ignore = true
	}
	for i, arg := range args {
		value := ""
		if i+1 < len(args) {
			value = args[i+1]
		}
		switch arg {
		case "-p", "--print":
			p.headless = p.agent == PiRust // Pi erases its command line at some time after its start
		case "--no-session":
			p.noSession = true
		case "--session":
			if filepath.IsAbs(value) {
				p.file = value
			}
		case "--session-dir":
			p.flagDir = value
			if p.agent == PiRust && filepath.IsAbs(value) {
				p.namedFolders = append(p.namedFolders, value)
				p.places = append(p.places, value)
			}
		}
	}
}
