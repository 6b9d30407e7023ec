package adapters

// Task is the work for which an agent is started.
type Task struct {
	Dir    string // real path of the folder to work in
	Prompt string // empty: the agent waits for the user's first, in a terminal
	Model  string // as the agent names it; empty: its default
	Mode   string // the name of one of Modes; empty: the agent's default
	Resume string // the session to continue; empty: a new one
	// Terminal requests the interactive form, for a terminal of the user's; otherwise
	// the agent works through Prompt on its own and exits.
	Terminal bool
}

// Command is the command that starts an agent for a task. It is never given to a shell.
type Command struct {
	Path string   // of the program
	Args []string // without the program's own name
	// Stdin is the standard input of the command: the prompt, if the agent accepts it
	// there, so that no process list shows it.
	Stdin string
	// Drop lists variables to remove from the command's environment. WhyDrop tells the
	// user what they would do.
	Drop    []string
	WhyDrop string
	Session string // the session's id, where it is chosen or known before the start
}

// Mode is one of the ways in which an agent asks for permission, in its own
// words.
type Mode struct {
	Name string
	Says string // what it means, in a few words
	// Unsafe reports that the agent then does everything without asking. It is never a
	// default, and a user who chooses it is warned.
	Unsafe bool
}

// Launcher is implemented by adapters whose agent can be started.
type Launcher interface {
	// Program returns the path of the agent's program. look is exec.LookPath or a
	// function like it. The error says how the agent is installed.
	Program(look func(name string) (string, error)) (string, error)
	// Modes returns the agent's permission modes; nil: it has none.
	Modes() []Mode
	// Command returns the command that starts program for the task. An error names the
	// part of the task that the agent can't do.
	Command(program string, t Task) (Command, error)
}

// NotInstalledError reports that an agent's program was not found.
type NotInstalledError struct {
	Program string
	Install string // a command that installs it
}

func (e *NotInstalledError) Error() string {
	return e.Program + " is not installed (install it: " + e.Install + ")"
}

// Is reports whether target is ErrAbsent, for errors.Is.
func (e *NotInstalledError) Is(target error) bool { return target == ErrAbsent }
