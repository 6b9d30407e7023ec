package agentproc

import (
	"path/filepath"
	"slices"
	"strings"

	"rollcall/proc"
)

// IsInterpreter reports whether a process with that name runs a script of Node.js or Bun. A script can give its process another
// name, and Node.js 24 names the process after its main thread.
func IsInterpreter(comm string) bool {
	return slices.Contains([]string{"node", "nodejs", "bun", "MainThread", "node-MainThread", "node.exe", "bun.exe"}, comm)
}

// withValue lists the options of Node.js and Bun whose value is the next argument. withoutScript lists those that run the program in their value.
var (
	withValue = []string{"-r", "--require", "--import", "--preload", "--loader", "--experimental-loader", "-C", "--conditions", "--cwd", "--env-file",
		"--max-old-space-size", "--title"}
	withoutScript = []string{"-e", "--eval", "-p", "--print", "-pe"}
)

// Script returns the script in the command line of an interpreter, as the command line names it, and the arguments after it. The
// script is empty if there is none.
func Script(line []string) (script string, args []string) {
	for i := 1; i < len(line); i++ {
		switch arg := line[i]; {
		case slices.Contains(withoutScript, arg):
			return "", nil
		case slices.Contains(withValue, arg):
			i++
		case !strings.HasPrefix(arg, "-") && arg != "run":
			return arg, line[i+1:]
		}
	}
	return "", nil
}

// RealScript returns the path to which a script leads, through links such as those that npm makes. A relative script is in the folder
// cwd. It returns the script as it is if it can't be followed.
func RealScript(script, cwd string) string {
	path := script
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	if target, err := EvalSymlinks(path); err == nil {
		return target
	}
	return script
}

// maxWrappers is the largest number of wrappers between a command and its agent: npm's, that of a version manager, and the agent's own.
const maxWrappers = 3

// Inner returns the agent that the process outer was started for: the nearest descendant that isAgent accepts, where each process in
// between is an interpreter, like outer. rows is the process table. ok is false if outer is no such wrapper.
func Inner(rows []proc.Process, outer proc.Process, isAgent func(proc.Process) bool) (inner proc.Process, ok bool) {
	if !IsInterpreter(outer.Comm) {
		return proc.Process{}, false
	}
	level := []proc.Process{outer}
	for range maxWrappers {
		var below []proc.Process
		for _, p := range rows {
			if !slices.ContainsFunc(level, func(parent proc.Process) bool { return parent.PID == p.PPID && p.PID != p.PPID }) {
				continue
			}
			if isAgent(p) {
				return p, true
			}
			if IsInterpreter(p.Comm) {
				below = append(below, p)
			}
		}
		level = below
	}
	return proc.Process{}, false
}
