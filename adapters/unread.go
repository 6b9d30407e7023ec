package adapters

import (
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
)

// Unread is an agent whose files Rollcall does not read: only its processes are known, by their names.
type Unread struct {
	Name  Name
	Title string
	// Programs are the names of its program. The first one is started.
	Programs []string
	// Packages are the folders of packages of Node.js in which every script is the agent.
	Packages []string
	// Source is the page of its project that names the program; empty: the user named it.
	Source string
	// Configured reports that the user entered it in the settings: its ends are told.
	Configured bool
	// Launch are the arguments with which it is started, and Resume those with which it continues its last conversation in a folder;
	// nil: it can't. PromptPlaceholder in one of them stands for the prompt; otherwise the prompt goes to standard input.
	Launch, Resume []string
	// Rows is the command of a program that lists its sessions: an absolute path and arguments; nil: none does.
	Rows []string
	// Requests is that of a program that lists what they ask of the user, and Answer that of one that takes the user's answers; nil: none does.
	Requests, Answer []string
	// Working and Waiting match titles of the terminal that say so; nil: none does.
	Working, Waiting *regexp.Regexp
}

// PromptPlaceholder stands for the prompt in the arguments of an Unread.
const PromptPlaceholder = "{prompt}"

// CanLaunch reports whether the agent can be started.
func (u *Unread) CanLaunch() bool { return u.Launch != nil || u.Resume != nil }

// CanAnswer reports whether requests of the agent's sessions can be answered.
func (u *Unread) CanAnswer() bool { return u.Requests != nil && u.Answer != nil }

// unread holds the descriptions of the agents that are only seen.
var unread atomic.Pointer[[]Description]

// SetUnread replaces the agents that Describe and Known return besides those with an adapter of their own.
func SetUnread(list []Unread) {
	out := make([]Description, 0, len(list))
	for i := range list {
		u := &list[i]
		out = append(out, Description{Name: u.Name, Title: u.Title, Short: string(u.Name), Program: u.Programs[0], Install: u.Source,
			Processes: u.Programs, Unread: true, Can: Capabilities{Launch: u.CanLaunch(), Answer: u.CanAnswer()}})
	}
	unread.Store(&out)
}

func unreadDescriptions() []Description {
	if list := unread.Load(); list != nil {
		return *list
	}
	return nil
}

// Known returns the descriptions of all agents: those of Described, and after them those that are only seen.
func Known() []Description { return slices.Concat(registered, unreadDescriptions()) }

// shells matches the names of programs that run scripts of users.
var shells = regexp.MustCompile(`^(ba|da|z|k|mk|a|c|tc|fi|pdk|y|o)?sh$|^(busybox|nu|elvish|xonsh|pwsh|perl|ruby|tclsh)$|^(python|perl|ruby)[0-9.]*$`)

// IsShell reports whether a program is a shell or another interpreter of scripts.
func IsShell(name string) bool { return shells.MatchString(name) }

// IsNode reports whether a program is Node.js, Bun or Deno.
func IsNode(name string) bool {
	name = strings.TrimSuffix(name, ".exe")
	return slices.Contains([]string{"node", "nodejs", "bun", "deno"}, name) || strings.HasPrefix(name, "node-") || strings.HasPrefix(name, "nodejs-")
}
