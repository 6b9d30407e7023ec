package adapters

import "strings"

// ChildVariables names the variables by which the processes that an agent starts name the session, or the process of the agent, from which they come. An empty
// name is one that the agent does not set.
type ChildVariables struct {
	Session string // its value is the id of the session
	Process string // its value is the pid of the agent's own process
	// OfCommands reports that the agent runs commands as children of its own process that have Session.
	OfCommands bool
	// Shell are the arguments of the shell before the script of a command, where other children have Session, too, such as MCP servers.
	Shell []string
	// TurnFollows is that of the Background of these commands.
	TurnFollows bool
}

// Values returns what an environment says about the agent that made it; empty where it says nothing.
func (v ChildVariables) Values(env []string) (session, process string) {
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		switch name {
		case "":
		case v.Session:
			session = value
		case v.Process:
			process = value
		}
	}
	return session, process
}
