package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/owned/launch"
	"rollcall/app/present"
	"rollcall/app/store/lock"
)

// completionLimit is the time that an agent may take to list its sessions for a shell, whose user waits.
const completionLimit = 1500 * time.Millisecond

// addCompletions registers what a shell can complete: the arguments of each command by its path, and the values of each
// flag by its name, which means the same in all commands. Other arguments and flags have no completion. The shells choose the values that begin
// with the typed text.
func addCompletions(e *env, root *cobra.Command) {
	c := &completions{e}
	recently := func() []cobra.Completion { return c.sessions(week) }
	recent, live := first(recently), first(func() []cobra.Completion { return c.sessions(0) })
	folders := cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	files := cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	arguments := map[string]cobra.CompletionFunc{
		"rollcall launch": several(c.agents), "rollcall status": recent, "rollcall peek": recent, "rollcall changes": recent, "rollcall resume": recent, "rollcall mark": recent, "rollcall rename": recent,
		"rollcall stop": live, "rollcall pending": live, "rollcall answer": live, "rollcall send": live,
		"rollcall interrupt": live, "rollcall focus": live, "rollcall logs": first(c.launches), "rollcall hook retry": first(c.launches),
		"rollcall compare": first(c.groups), "rollcall lock": folders, "rollcall unlock": first(c.locked),
		"rollcall fuse set": folders, "rollcall fuse extend": first(c.fused), "rollcall fuse cancel": first(c.fused), "rollcall fuse retry": first(c.fused),
	}
	flags := map[string]cobra.CompletionFunc{
		"agent": several(c.agents), "mode": c.modes, "group": several(c.groups), "session": several(recently),
		"status": words("working", "waiting", "needs you", "idle", "stopped", "unknown"), "by": words("day", "project", "agent", "model", "branch", "group", "home", "session"), "since": words("1h", "12h", "7d", "4w", "all"),
		"color": words("auto", "always", "never"), "cwd": folders, "repo": folders, "prompt-file": files, "spec": files, "file": files, "textfile": files,
		"matrix": cobra.FixedCompletions([]cobra.Completion{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt),
	}
	for _, cmd := range allCommands(root) {
		if complete, ok := arguments[cmd.CommandPath()]; ok {
			cmd.ValidArgsFunction = complete
		} else if cmd.ValidArgsFunction == nil && !cmd.HasSubCommands() {
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			complete := flags[f.Name]
			if complete == nil {
				complete = words()
			}
			if f.Value.Type() != "bool" {
				_ = cmd.RegisterFlagCompletionFunc(f.Name, complete) // no error: each flag is visited once
			}
		})
	}
}

// addCompletionCommand adds cobra's command that prints the completion scripts for shells. Wrong usage gets this program's error messages.
func addCompletionCommand(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	cmd, _, _ := root.Find([]string{"completion"}) // no error: the line above created the command
	cmd.Short = "Print a script with which a shell completes commands, ids, agents and folders"
	cmd.Args = noCommand
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	for _, shell := range cmd.Commands() {
		shell.Args = noArgs
	}
}

// allCommands returns a command and all commands below it.
func allCommands(cmd *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{cmd}
	for _, sub := range cmd.Commands() {
		list = append(list, allCommands(sub)...)
	}
	return list
}

const noFiles = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder

// words returns the completion for a fixed list.
func words(list ...cobra.Completion) cobra.CompletionFunc {
	return cobra.FixedCompletions(list, noFiles)
}

// several returns the completion for a command with any number of arguments. It leaves out the values that are already among the arguments.
func several(list func() []cobra.Completion) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return slices.DeleteFunc(list(), func(x cobra.Completion) bool {
			word, _, _ := strings.Cut(x, "\t")
			return slices.Contains(args, word)
		}), noFiles
	}
}

// first returns the completion for a command with one argument.
func first(list func() []cobra.Completion) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, noFiles
		}
		return list(), noFiles
	}
}

// completions makes the lists of values that depend on this machine. What cannot be read is left out: a shell has no place
// for messages.
type completions struct{ *env }

// agents returns the agents that can be launched or listed. Of those that are only seen, whose names are many, it returns what the settings name and what
// is installed.
func (c *completions) agents() (out []cobra.Completion) {
	list, _ := c.open()
	set := c.settings()
	for _, a := range list {
		isNamed := slices.ContainsFunc(set.Unread, func(u adapters.Unread) bool { return u.Name == a.Name() })
		if isUnread(a.Name()) && !isNamed {
			if _, err := c.program(a.Name()); err != nil {
				continue
			}
		}
		out = append(out, cobra.CompletionWithDesc(string(a.Name()), present.AgentName(a.Name())))
	}
	return out
}

// modes returns the permission modes of the agents among the arguments, or of all agents.
func (c *completions) modes(_ *cobra.Command, args []string, _ string) (out []cobra.Completion, _ cobra.ShellCompDirective) {
	list, _ := c.open()
	named := slices.ContainsFunc(list, func(a adapters.Adapter) bool { return slices.Contains(args, string(a.Name())) })
	for _, a := range list {
		if named && !slices.Contains(args, string(a.Name())) {
			continue
		}
		for _, m := range launch.Modes(list, a.Name()) {
			out = append(out, cobra.CompletionWithDesc(m.Name, present.AgentName(a.Name())+": "+m.Says))
		}
	}
	return out, noFiles
}

// sessions returns the sessions that are live or were active within since.
func (c *completions) sessions(since time.Duration) (out []cobra.Completion) {
	cfg, _ := c.config(since, false, "") // no error: no agent is named
	if cfg.Limit == 0 || cfg.Limit > completionLimit {
		cfg.Limit = completionLimit
	}
	ctx, cancel := context.WithTimeout(c.ctx, 2*completionLimit)
	defer cancel()
	snap := app.Ask(ctx, cfg, app.Once{Last: true})
	for s := range snap.All() {
		if since == 0 && !s.Live() {
			continue
		}
		text := present.Status(s.Session) + ", " + present.Project(s.CWD)
		if topic := present.Topic(s.Topic); topic != "" {
			text += ": " + topic
		}
		out = append(out, cobra.CompletionWithDesc(present.Line(s.ID), present.Cut(text, 70)))
	}
	return out
}

// records returns the launches, the newest first.
func (c *completions) records() []launch.Record {
	l, err := c.env.launches()
	if err != nil {
		return nil
	}
	list, _ := l.List()
	return list
}

func (c *completions) launches() (out []cobra.Completion) {
	for _, r := range c.records() {
		text := present.AgentName(r.Agent) + ", " + present.Project(r.Dir) + ": " + present.Line(present.Head(r.Prompt))
		out = append(out, cobra.CompletionWithDesc(r.ID, present.Cut(text, 70)))
	}
	return out
}

// groups returns the groups of the launches, the newest first.
func (c *completions) groups() (out []cobra.Completion) {
	count := map[string]int{}
	var names []string
	for _, r := range c.records() {
		if r.Group != "" && count[r.Group] == 0 {
			names = append(names, r.Group)
		}
		count[r.Group]++
	}
	for _, name := range names {
		out = append(out, cobra.CompletionWithDesc(present.Line(name), fmt.Sprintf("launches: %d", count[name])))
	}
	return out
}

// locked returns the folders that were locked by hand.
func (c *completions) locked() (out []cobra.Completion) {
	l, err := c.env.launches()
	if err != nil {
		return nil
	}
	list, _ := l.Locks().List()
	for _, k := range list {
		if k.Kind == lock.Manual {
			out = append(out, cobra.CompletionWithDesc(k.Path, present.Line(k.Holder())))
		}
	}
	return out
}

// fused returns the folders with a fuse.
func (c *completions) fused() (out []cobra.Completion) {
	f, err := c.deps.Fuses()
	if err != nil {
		return nil
	}
	list, _ := f.List()
	for i := range list {
		out = append(out, cobra.CompletionWithDesc(list[i].Path, present.Line(list[i].Note)))
	}
	return out
}
