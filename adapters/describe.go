package adapters

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/proc"
)

// Description holds what is known of an agent apart from its sessions. Every package
// outside adapters/ takes an agent's names and texts from it.
type Description struct {
	Name Name
	// Title is the agent's name as its makers write it: "Claude Code".
	Title string
	// Short names the agent in folders and branches. It has only a-z, 0-9 and "-".
	Short string
	// Program is the command that starts the agent. It may be another agent's as well.
	Program string
	// Install is a command that installs the agent.
	Install string
	// Unarchive is the command, without the session's id, that takes a session out of the agent's archive; empty: it needs
	// none, or has no archive.
	Unarchive string
	// Token is the command with which the user makes a token for Rollcall, with which more sessions take prompts; empty: the agent knows none.
	Token string
	// HomeFolder is the name that every home of the agent has, such as ".gemini"; empty: a home can have any name.
	HomeFolder string
	// Folders are the folders in the user's home that belong to the agent, with "/" between their parts. Nothing in them is ever removed.
	Folders []string
	// ReasoningApart: the agent does not count the tokens of reasoning as a part of the output.
	ReasoningApart bool
	// Processes are the names that the system keeps of the agent's processes, cut at 15
	// characters as on Linux. Where nothing else of a process can be read, such a name suggests
	// the agent, but does not prove it.
	Processes []string
	// Children are the variables that the agent sets for the processes that it starts.
	Children ChildVariables
	// Runs reports whether a process runs the agent's program, also one that holds no conversation, such as a daemon. nil: what adapters.ProcessOwner
	// owns is all that is known.
	Runs func(proc.Details, proc.Process) bool
	// Unread reports that Rollcall does not read the agent's files: see the type of this name. Folders is empty then.
	Unread bool
	// Can is set by Register.
	Can Capabilities
}

// Capabilities holds what an agent's adapter can do beyond reporting sessions: which of
// the optional interfaces it implements.
type Capabilities struct {
	Launch bool // Launcher: the agent can be started, and its sessions resumed
	Peek   bool // Peeker: its conversations can be shown
	Stop   bool // Stopper: a turn can be ended without a signal
	Answer bool // Answerer: requests of some of its sessions can be answered
	Prompt bool // Prompter: some of its running sessions take prompts
}

// CapabilitiesOf returns what an adapter can do.
func CapabilitiesOf(a Adapter) Capabilities {
	var c Capabilities
	_, c.Launch = a.(Launcher)
	_, c.Peek = a.(Peeker)
	_, c.Stop = a.(Stopper)
	_, c.Answer = a.(Answerer)
	_, c.Prompt = a.(Prompter)
	return c
}

// Describer is implemented by every adapter that is part of the program.
type Describer interface {
	// Describe returns what was given to Register.
	Describe() Description
}

// registered holds the descriptions, sorted by name. It is written only while packages are
// initialised, so readers need no lock.
var registered []Description

// Register makes an agent known to Describe and Described, and returns its description with the
// capabilities of its adapter. The package of an adapter calls it to initialise a variable. a
// may be a nil pointer: only its type matters. Register panics if the description is
// incomplete, or if its name is registered already.
func Register(d Description, a Adapter) Description {
	if d.Name == "" || d.Title == "" || d.Short == "" || d.Program == "" || d.Install == "" || len(d.Folders) == 0 || len(d.Processes) == 0 {
		panic(fmt.Sprintf("adapters: the description of %q is incomplete", d.Name))
	}
	d.Can = CapabilitiesOf(a)
	i, known := slices.BinarySearchFunc(registered, d.Name, func(r Description, n Name) int { return strings.Compare(string(r.Name), string(n)) })
	if known {
		panic(fmt.Sprintf("adapters: %q is registered twice", d.Name))
	}
	registered = slices.Insert(registered, i, d)
	return d
}

// Describe returns the description of an agent, and whether its adapter is part of
// the program, or it is only seen (Unread).
func Describe(name Name) (Description, bool) {
	is := func(d *Description) bool { return d.Name == name }
	if d, ok := first(registered, is); ok {
		return d, true
	}
	return first(unreadDescriptions(), is)
}

// Written returns the tokens that models wrote for an agent: the output with the reasoning.
func Written(agent Name, t Tokens) int64 {
	if d, _ := Describe(agent); d.ReasoningApart {
		t.Add(Tokens{Output: t.Reasoning})
	}
	return t.Output
}

// OfProcess returns the description of the first agent whose processes have a name. It reports false if none has.
func OfProcess(comm string) (Description, bool) {
	return first(registered, func(d *Description) bool {
		return slices.ContainsFunc(d.Processes, func(name string) bool { return IsNamed(comm, name) })
	})
}

func first(list []Description, is func(*Description) bool) (Description, bool) {
	for i := range list {
		if is(&list[i]) {
			return list[i], true
		}
	}
	return Description{}, false
}

// Described returns the descriptions of all agents whose adapters are part of the
// program, in the order of their names, without those that are only seen.
func Described() []Description { return slices.Clone(registered) }

// FindProgram returns the path of the agent's program. look is exec.LookPath or a function with
// the same result. The error says how the agent is installed.
func (d Description) FindProgram(look func(string) (string, error)) (string, error) {
	path, err := look(d.Program)
	if err != nil {
		return "", d.NotInstalled()
	}
	return path, nil
}

// NotInstalled returns the error for an agent whose program was not found.
func (d Description) NotInstalled() error {
	return &NotInstalledError{Program: d.Program, Install: d.Install}
}
