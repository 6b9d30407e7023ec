package app

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/app/present"
)

// commandPoll is how often a session that left commands running is looked at again: the end of a command is no event.
const commandPoll = 30 * time.Second

// addCommands adds the commands that run in a session whose turn is over to its row, for agents that name the session in the environment of their commands: the children of the session's process that have it. A shell without a script waits for the next command, and what began after the session's last record
// is a hook.
func (r *quietReader) addCommands(x *Session) {
	d, _ := adapters.Describe(x.Agent)
	if x.Status != adapters.Idle || x.Container != "" || !d.Children.OfCommands || len(x.Background) > 0 {
		return
	}
	for _, p := range r.processes() {
		if p.PPID != x.Process.PID || p.Start < x.Process.Start || p.Started.After(x.LastActivityAt) {
			continue
		}
		args, err := r.table.Args(p.Identity)
		env, err2 := r.table.Env(p.Identity)
		id, _ := d.Children.Values(env)
		command, waits := commandOf(args)
		inForm := len(d.Children.Shell) == 0 || len(args) > 1 && slices.Equal(args[1:len(args)-1], d.Children.Shell)
		if err == nil && err2 == nil && id == x.ID && inForm && !waits && (d.Runs == nil || !d.Runs(r.table, p)) {
			x.Background = append(x.Background, adapters.Background{Kind: adapters.Running, What: adapters.CutTo(command, adapters.MaxDoing), Since: p.Started,
				TurnFollows: d.Children.TurnFollows})
		}
	}
	if len(x.Background) == 0 {
		return
	}
	slices.SortFunc(x.Background, func(a, b adapters.Background) int { return a.Since.Compare(b.Since) })
	x.Evidence += fmt.Sprintf("; it runs %d in the background, the first since %s", len(x.Background), x.Background[0].Since.Local().Format("15:04:05"))
	if next := r.at.Add(commandPoll); x.AskAgain.IsZero() || next.Before(x.AskAgain) {
		x.AskAgain = next
	}
}

// shells are the programs by which agents run commands.
var shells = []string{"bash", "sh", "zsh", "dash", "fish"}

// commandOf returns the command of a process: the script of a shell, "bash -lc SCRIPT", or the command line of another program, such as one that replaced its
// shell. waits reports that it is a shell without a script.
func commandOf(args []string) (command string, waits bool) {
	if len(args) == 0 || !slices.Contains(shells, filepath.Base(args[0])) {
		return present.CommandLine(args), len(args) == 0
	}
	for i, arg := range args {
		if strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.HasSuffix(arg, "c") && i+1 < len(args) {
			return args[i+1], false
		}
	}
	return "", true
}
