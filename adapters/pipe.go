package adapters

// Piped is implemented by a Launcher whose agent takes prompts and answers over its standard
// input, and prints its requests, line by line. Its command for a task that is to be answered
// (Task.Answerable) has Command.Pipe set.
type Piped interface {
	// Talk returns a conversation with a process that was started by such a command, as it is
	// before the process has printed anything.
	Talk() Talk
}

// Talk understands what one process prints, and makes the lines for its standard input. The lines
// have no line break at their end. It is not safe for concurrent use.
type Talk interface {
	// Read takes one line of the process's output. It ignores lines that it does not know.
	Read(line []byte)
	// Waiting returns the requests that the process has printed and not withdrawn, the oldest
	// first. Their Session and Folder are the caller's to set.
	Waiting() []Request
	// Working reports whether a turn is open.
	Working() bool
	// Turns returns how many turns have begun.
	Turns() int
	// Prompt returns the line that gives the process a prompt. With queue, a process that works
	// takes it up after its turn.
	Prompt(order, text string, queue bool) []byte
	// Answer returns the line that gives a decision on the request of Waiting with this id.
	Answer(id string, d Decision) ([]byte, error)
	// Withdrawn reports whether the process has withdrawn a request without a decision.
	Withdrawn(id string) bool
	// Interrupt returns the line that ends the open turn.
	Interrupt(order string) []byte
	// Replied returns what the process has printed in reply to an order; done is false before
	// that. A process may begin a turn (Turns) instead of a reply to a prompt.
	Replied(order string) (done bool, err error)
}

// Conversant answers, prompts and interrupts one session.
type Conversant interface {
	Answerer
	Prompter
	Stopper
}
