package adapters

import (
	"context"
	"crypto/rand"
)

// Task is the work for which an agent is started.
type Task struct {
	Dir    string // real path of the folder to work in
	Prompt string // empty: the agent waits for the user's first, in a terminal
	Model  string // as the agent names it; empty: its default
	Mode   string // the name of one of Modes; empty: the agent's default
	Resume string // the session to continue; empty: a new one
	// Home is the home of the agent to use, for a session to continue its Session.Home; empty: that of the environment.
	Home string
	// Terminal requests the interactive form, for a terminal of the user's; otherwise
	// the agent works through Prompt on its own and exits.
	Terminal bool
	// Answerable requests a form in which Rollcall can answer the session's requests and send
	// it prompts. In the background the agent then waits for the next prompt after each turn,
	// until it is stopped. In a terminal, an agent without such a form ignores Answerable.
	Answerable bool
}

// Command is the command that starts an agent for a task. It is never given to a shell.
type Command struct {
	Path string   // of the program
	Args []string // without the program's own name
	// Stdin is the standard input of the command: the prompt, if the agent accepts it
	// there, so that no process list shows it.
	Stdin string
	// Drop lists variables to remove from the command's environment. WhyDrop tells the user what they would do.
	Drop    []string
	WhyDrop string
	Session string // the session's id, where it is chosen or known before the start
	Home    string // the home that the agent will use; empty: that of the task
	// Before is called right before the command is started, and not for one that is only shown; nil: nothing is to be done. Nothing is started if it fails.
	Before func(ctx context.Context) error
	// Pipe requests a standard input that stays open and takes further lines after Stdin, as
	// the adapter's Talk makes them (Piped).
	Pipe bool
	// Set lists variables, as NAME=value, that replace those of the command's environment.
	Set []string
	// Unset lists variables to remove from the command's environment in any case.
	Unset []string
	// Secret is a variable to add to the command's environment. Rollcall chose its value for
	// this process alone, and keeps it until the process ends (Config.Password).
	Secret Secret
}

// Option adds an option with its value, unless the value is empty.
func (c *Command) Option(name, value string) {
	if value != "" {
		c.Args = append(c.Args, name, value)
	}
}

// Secret is an environment variable whose value no one else may see.
type Secret struct{ Name, Value string }

// IsZero reports whether there is no secret.
func (s Secret) IsZero() bool { return s.Name == "" }

// String returns the name of the variable, without the value.
func (s Secret) String() string { return s.Name }

// NewSecret returns a variable with a new random value of 26 letters and digits.
func NewSecret(name string) Secret { return Secret{name, rand.Text()} }

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

// Piped is implemented by a Launcher whose agent takes prompts and answers over its standard
// input, and prints its requests, line by line. Its command for a task with Task.Answerable has
// Command.Pipe set.
type Piped interface {
	// Talk returns a conversation with a process that was started by such a command, as it is
	// before the process has printed anything.
	Talk() Talk
}

// Talk understands what one process prints, and makes the lines for its standard input. What it
// returns has no line break at its end. It is not safe for concurrent use.
type Talk interface {
	// Read takes one line of the process's output. It ignores lines that it does not know.
	Read(line []byte)
	// Waiting returns the requests that the process has printed and not withdrawn, the oldest
	// first. The caller sets their Session and Folder.
	Waiting() []Request
	// Working reports whether a turn is open.
	Working() bool
	// Turns returns how many turns have begun.
	Turns() int
	// Prompt returns the lines that give the process a prompt. With queue, a process that works
	// starts with the prompt after its turn. nil: the process can't take a prompt now.
	Prompt(order, text string, queue bool) []byte
	// Answer returns the line that gives a decision on the request of Waiting with this id.
	Answer(id string, d Decision) ([]byte, error)
	// Withdrawn reports whether the process has withdrawn a request without a decision.
	Withdrawn(id string) bool
	// Interrupt returns the lines that end the open turn.
	Interrupt(order string) []byte
	// Replied returns what the process has printed in reply to an order; done is false before
	// that. A process may begin a turn (Turns) instead of a reply to a prompt.
	Replied(order string) (done bool, err error)
}

// TurnEnder is implemented by a Talk whose process prints how each turn ends, which its files need not have: a turn that was interrupted before its
// first word (Qwen Code 0.24.4), or while a permission was asked for (Gemini CLI 0.61.0).
type TurnEnder interface {
	// Ended returns how the last turn ended that is over; empty: that is not known.
	Ended() Outcome
}

// Opener is implemented by a Talk whose process opens its session before it takes a prompt. The prompt of the
// launch is then sent through Talk.Prompt, and is not part of Command.Stdin.
type Opener interface {
	// Opened returns the id of the session; "" while it is not open. The error says why the process can't open it.
	Opened() (session string, err error)
}

// Conversant answers, prompts and interrupts one session.
type Conversant interface {
	Answerer
	Prompter
	Stopper
}

// FailureReader is implemented by a Launcher whose agent prints more than a sentence for people.
type FailureReader interface {
	// Failure returns why a launch failed, in the agent's own words, from the end of what its process printed; empty: the
	// output does not have it. The first line of the output may be cut.
	Failure(output []byte) string
}
