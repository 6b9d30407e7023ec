package agentproc

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/bounded"
	"rollcall/proc"
)

// Kind is what a process is to an agent.
type Kind uint8

// The kinds of processes.
const (
	Foreign      Kind = iota // no process of the agent, or one that only started it
	Helper                   // of the agent, and no conversation: a daemon, another sub-command, a tool in the same program
	Conversation             // it holds a conversation, or will
)

// Program is the table by which the processes of one agent are known. An entry of Commands, Flags or Tools that ends with "*" is the beginning of a word.
type Program struct {
	Names    []string               // of its program, and of links to its script
	Prefixes []string               // of names that end with the system that they are made for
	Titles   []string               // further names of its processes, whose executable then has one of Names
	Versions []string               // folders of an installer in which a program is named by its version, such as "claude/versions"
	Packages []string               // folders of packages with a script that is the agent; none: a script only starts it
	Not      []string               // parts of the paths of packages with the same name
	Script   func(path string) bool // reports whether a file in Packages is the agent; nil: every one is

	Tools    []string // names in the first argument under which the program is something else
	Commands []string // sub-commands that hold no conversation
	Flags    []string // options of processes that hold none, in any place before "--"
	Valued   []string // options whose value is the next argument; none: they are not known, and a sub-command is the first argument only
	Lists    []string // options whose values are all arguments up to the next option
	// OwnName reports that the first argument always names the agent: under another name the same program is a tool.
	OwnName bool
}

// Seen is what a process shows of itself.
type Seen struct {
	Kind   Kind
	As     string   // what makes a helper of it: a word of its command line
	Script string   // that an interpreter runs; empty: the program is native
	Args   []string // after the program or the script
	Line   []string // the whole command line; nil: it can't be read
	Err    error    // why it can't be read
}

// MayBe reports whether a process can be the agent's by its name, before anything else of it is read.
func (g *Program) MayBe(comm string) bool {
	return g.named(comm) || len(g.Packages) > 0 && IsInterpreter(comm) || len(g.Versions) > 0 && versionName.MatchString(comm) || slices.Contains(g.Titles, comm)
}

// Identify returns what a process is: by its name, which Linux takes from the file that was executed, by its executable and by its script. Its command
// line, which begins with any name that its starter chose, never makes it the agent's; it shows which kind of process it is.
func (g *Program) Identify(table proc.Details, p proc.Process) Seen {
	if !g.MayBe(p.Comm) {
		return Seen{}
	}
	seen := Seen{}
	seen.Line, seen.Err = table.Args(p.Identity)
	exe, _ := table.Exe(p.Identity)
	if !g.isProgram(table, p, exe, &seen) {
		return Seen{}
	}
	seen.Kind = Conversation
	if seen.As == "" {
		seen.As = g.helper(seen.Args)
	}
	if seen.As != "" {
		seen.Kind = Helper
	}
	return seen
}

// Runs reports whether a process runs the agent's program, in whatever role.
func (g *Program) Runs(table proc.Details, p proc.Process) bool {
	return g.Identify(table, p).Kind != Foreign
}

// isProgram reports whether a process runs the agent's program or script, and adds its arguments to what is seen of it.
func (g *Program) isProgram(table proc.Details, p proc.Process, exe string, seen *Seen) bool {
	program := FileName(exe)
	words, titled := g.title(seen.Line)
	switch {
	case IsInterpreterFile(program) || IsInterpreter(p.Comm) && !g.named(program):
		if len(g.Packages) == 0 {
			return false // a script only starts the agent
		}
		script, args := Script(seen.Line)
		if script != "" && g.isScript(table, script, p.Identity) {
			seen.Script, seen.Args = script, args
			return true
		}
		if !titled || !g.named(p.Comm) { // a process of Node.js that named itself has lost its command line
			return false
		}
	case IsShell(program), len(p.Comm) >= cutName && program != "" && !g.named(program) && !g.isVersion(exe):
		return false // the name of the process may have been cut, that of its program was not
	case !g.named(p.Comm) && !g.named(program) && !g.isVersion(exe):
		return false
	}
	first := seen.first()
	if matches(g.Tools, first) || g.OwnName && !titled && first != strings.TrimSuffix(program, ".exe") && !versionName.MatchString(first) {
		seen.As = first
	}
	seen.Args = slices.Concat(words, seen.Line[min(1, len(seen.Line)):])
	return true
}

// first returns the name of the program in the command line.
func (s *Seen) first() string {
	if len(s.Line) == 0 {
		return ""
	}
	return strings.TrimSuffix(FileName(s.Line[0]), ".exe")
}

// named reports whether the name of a process or file is the agent's.
func (g *Program) named(name string) bool {
	return slices.ContainsFunc(g.Names, func(n string) bool { return adapters.IsNamed(name, n) }) ||
		slices.ContainsFunc(g.Prefixes, func(n string) bool { return strings.HasPrefix(strings.TrimPrefix(name, "."), n) })
}

// cutName is the length to which Linux cuts the name of a process.
const cutName = 15

// versionName matches the name of a program that is named by its version: "2.1.332".
var versionName = regexp.MustCompile(`^v?[0-9]+\.[0-9]+\.[0-9]+`)

// isVersion reports whether a program is one that an installer named by its version.
func (g *Program) isVersion(exe string) bool {
	dir := filepath.ToSlash(filepath.Dir(exe))
	return versionName.MatchString(FileName(exe)) && slices.ContainsFunc(g.Versions, func(v string) bool { return strings.HasSuffix(dir, "/"+v) })
}

// title reports whether the first argument names the agent, and returns the words that follow the name in it: Claude Code 2.1.332 calls itself
// "claude bg-pty-host". An empty command line names it, too.
func (g *Program) title(line []string) (words []string, named bool) {
	if len(line) == 0 || g.named(FileName(line[0])) {
		return nil, true
	}
	words = strings.Fields(line[0])
	i := slices.IndexFunc(words, func(word string) bool { return g.named(FileName(word)) })
	if i < 0 {
		return nil, false
	}
	return slices.Clone(words[i+1:]), true
}

// helper returns the word of a command line that makes a process hold no conversation; empty: it holds one.
func (g *Program) helper(args []string) string {
	plain := false
	for i := 0; i < len(args); i++ {
		name, _, joined := strings.Cut(args[i], "=")
		switch {
		case name == "--":
			return ""
		case matches(g.Flags, name):
			return name
		case joined:
		case slices.Contains(g.Valued, name):
			i += min(1, values(args[i+1:]))
		case slices.Contains(g.Lists, name):
			i += values(args[i+1:])
		case name == "", strings.HasPrefix(name, "-"):
		case !plain && matches(g.Commands, name) && (i == 0 || len(g.Valued) > 0):
			return name
		default:
			plain = true
		}
	}
	return ""
}

// values returns how many arguments stand before the next option.
func values(args []string) int {
	n := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") })
	if n < 0 {
		return len(args)
	}
	return n
}

func matches(list []string, word string) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		begin, isBegin := strings.CutSuffix(entry, "*")
		return word == entry || isBegin && strings.HasPrefix(word, begin)
	})
}

// isScript reports whether a script is the agent: by its place in a package, also through the link that npm makes. Of a script that is gone, or in a
// container, only the name of the link is known.
func (g *Program) isScript(table proc.Details, script string, id proc.Identity) bool {
	if g.inPackage(script) {
		return true
	}
	byName := g.named(FileName(script))
	path := script
	if !filepath.IsAbs(path) {
		cwd, err := table.CWD(id)
		if err != nil {
			return byName
		}
		path = filepath.Join(cwd, path)
	}
	if !bounded.Answers(path) {
		return byName
	}
	if _, err := os.Lstat(path); err != nil {
		return byName && errors.Is(err, os.ErrNotExist)
	}
	return (byName || !filepath.IsAbs(script)) && g.inPackage(RealScript(path, ""))
}

// inPackage reports whether a file is the agent's script in one of its packages. Nix has the name and the version of a package in one folder.
func (g *Program) inPackage(path string) bool {
	slashed := filepath.ToSlash(path)
	if slices.ContainsFunc(g.Not, func(part string) bool { return strings.Contains(slashed, part) }) || g.Script != nil && !g.Script(slashed) {
		return false
	}
	return slices.ContainsFunc(g.Packages, func(name string) bool {
		return strings.Contains(slashed, "/"+name+"/") || strings.HasPrefix(slashed, "/nix/store/") && strings.Contains(slashed, "-"+name+"-")
	})
}

// FileName returns the name of a program's file. The system appends a word to the path of one that was removed or replaced.
func FileName(path string) string {
	path = strings.TrimSuffix(filepath.ToSlash(path), " (deleted)")
	return path[strings.LastIndexByte(path, '/')+1:]
}

// IsInterpreterFile reports whether a program is Node.js, Bun or Deno.
func IsInterpreterFile(name string) bool { return adapters.IsNode(name) }

// IsShell reports whether a program is a shell or another interpreter of scripts: a script with an agent's name is not the agent.
func IsShell(name string) bool { return adapters.IsShell(name) }
