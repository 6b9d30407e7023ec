// Package describe returns in words what the core knows, for surfaces that show more than a line: the facts of a session, the health of the agents, the messages of
// a conversation, and what a stop or a clean-up does. Package present has the words for parts of these. Its functions have no side effects.
package describe

import (
	"fmt"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

// MaxText is the number of bytes of a text that a row uses.
const MaxText = 600

// Title returns the topic of a session, or else the name of its folder.
func Title(s *app.Session) string {
	if topic := present.Topic(present.Brief(s.Session).Topic); topic != "" {
		return topic
	}
	return present.Project(s.CWD)
}

// Subtitle returns the line below the title. What may be cut in a narrow window is what the list shows, too.
func Subtitle(s *app.Session, now time.Time) string {
	parts := []string{present.Status(s.Session)}
	if age := present.Ago(s.LastActivityAt, now); age != "" {
		parts = append(parts, "active "+age)
	}
	parts = append(parts, strings.TrimSpace(present.AgentName(s.Agent)+" "+Account(s)), Folder(s)+present.When(s.Remote != "", " · "+OnMachine(s)))
	return strings.Join(parts, " · ")
}

// Stale returns since when a session could not be read, and why; empty: it could.
func Stale(s *app.Session) string {
	if s.Stale == nil {
		return ""
	}
	return "Last seen" + present.When(!s.Stale.Since.IsZero(), " at "+s.Stale.Since.Local().Format("15:04:05")) + ": " + present.Short(strings.TrimPrefix(s.Stale.Reason, string(s.Agent)+": "))
}

// Account returns the name of a session's account; empty: the agent has one account here.
func Account(s *app.Session) string {
	return present.Cut(present.Line(present.Begin(s.Account, MaxText)), 30)
}

// Usage returns the model of a session, how much of its context is used, and how many tokens it took.
func Usage(s *app.Session) string {
	var parts []string
	if s.Model != "" {
		parts = append(parts, present.Cut(present.Line(present.Begin(s.Model, MaxText)), 24))
	}
	if s.Context.Used > 0 && s.Context.Window > 0 {
		parts = append(parts, fmt.Sprintf("%.0f %%", 100*float64(s.Context.Used)/float64(s.Context.Window)))
	}
	if t := s.Tokens; t != nil {
		parts = append(parts, present.ShortCount(float64(t.Input+adapters.Written(s.Agent, *t)+t.CacheRead+t.CacheWrite))+" tokens")
	}
	return strings.Join(parts, " · ")
}

// Machine returns the machine or gateway that runs a session, or both if it is a gateway of another machine; empty: this machine.
func Machine(s *app.Session) string {
	if s.Machine != "" && s.Remote != s.Machine {
		return s.Machine + ", " + s.Remote
	}
	return s.Remote
}

// OnMachine returns the machine or gateway that runs a session, as in "on devbox".
func OnMachine(s *app.Session) string {
	return "on " + present.Cut(present.Line(present.Begin(Machine(s), MaxText)), 30)
}

// Folder returns the name of the folder of a session, for a line.
func Folder(s *app.Session) string { return present.Project(present.Tail(s.CWD, MaxText)) }

// Who returns a session by its agent and its folder: "Claude Code in webshop".
func Who(s *app.Session) string {
	return present.AgentName(s.Agent) + " in " + present.Cut(Folder(s), 40)
}
