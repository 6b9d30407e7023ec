package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"rollcall/app"
	"rollcall/app/present"
	"rollcall/proc"
)

const reportIntroduction = `What an issue about your system needs, to be read by you and pasted. It only reads. It prints, in this order:
 1. the system
 2. the agents' processes by name, and what the system lets Rollcall read of them
 3. how long the lists of processes and sessions take, and what the sessions do
 4. what doctor says
 5. what starts at login
 6. questions for you
Your home folder is printed as ~, your user's name as USER. Without --full it leaves out
command lines and what each status rests on.
An agent or two should be open in a terminal.
`

const reportQuestions = `Did a notification appear when an agent asked? Is the icon there, sharp, also in dark mode?
Does its menu open, list your agents, and stay right while it is open?
Did "Show terminal" raise the right window? Did a console window flash, or the system ask for a permission?
`

// report prints what an issue about a system on which Rollcall was never run needs.
func (c *doctorCommand) report() error {
	c.printf("%s", reportIntroduction)
	if err := c.flush(); err != nil {
		return err
	}
	c.printf("\n## 1 system\n%s/%s %s\n", runtime.GOOS, runtime.GOARCH, systemVersion())
	c.printf("\n## 2 processes\n")
	c.reportProcesses()
	c.printf("\n## 3 sessions\n")
	if err := c.reportSessions(); err != nil {
		return err
	}
	c.printf("\n## 4 doctor\n")
	c.reports = false
	begun := time.Now()
	if err := c.run(); err != nil {
		return err
	}
	c.printf("\nIt took %s.\n\n## 5 start at login\n", time.Since(begun).Round(time.Millisecond))
	if err := c.autostartStatus(false); err != nil {
		c.printf("%v\n", err)
	}
	c.printf("\n## 6 please answer\n%s", reportQuestions)
	text := withoutUser(c.out.String())
	c.out.Reset()
	c.printf("%s", text)
	return nil
}

// interpreters are the names of processes that may be an agent's which is not known by its name.
var interpreters = []string{"node", "bun", "MainThread"}

// reportProcesses prints the processes of agents and of what runs agents, with what can be read of each.
func (c *doctorCommand) reportProcesses() {
	agents, table := c.open()
	if table == nil {
		return
	}
	begun := time.Now()
	list, err := table.List(c.ctx)
	c.printf("%d processes in %s\n", len(list), time.Since(begun).Round(time.Millisecond))
	if err != nil {
		c.printf("not all: %v\n", err)
	}
	known := map[int]string{}
	for program, processes := range findAgentProcesses(list, agents) {
		for _, p := range processes {
			known[p.PID] = program
		}
	}
	slices.SortFunc(list, func(a, b proc.Process) int { return a.PID - b.PID })
	for _, p := range list {
		if known[p.PID] == "" && !slices.Contains(interpreters, p.Comm) {
			continue
		}
		agent := cmp.Or(known[p.PID], "of no known agent") + ifelse(p.Suspended, ", suspended", "")
		c.printf("%d, parent %d: %s, %s: %s\n", p.PID, p.PPID, present.Line(p.Comm), agent, readable(table, p.Identity))
		if args, err := table.Args(p.Identity); err == nil && c.full {
			c.printf("  %s\n", present.Line(strings.Join(args, " ")))
		}
	}
	c.printf("who has a file open: %s\n", holders(table))
}

// readable returns what the system lets this user read of a process.
func readable(table proc.Lister, id proc.Identity) string {
	var parts []string
	add := func(what string, n int, err error) {
		switch {
		case errors.Is(err, proc.ErrUnsupported):
			parts = append(parts, what+" unknown here")
		case err != nil:
			parts = append(parts, "no "+what+" ("+present.Line(err.Error())+")")
		default:
			parts = append(parts, fmt.Sprintf("%s %d", what, n))
		}
	}
	args, err := table.Args(id)
	add("arguments", len(args), err)
	env, err := table.Env(id)
	add("variables", len(env), err)
	exe, err := table.Exe(id)
	add("program", len(exe), err)
	cwd, err := table.CWD(id)
	add("folder", len(cwd), err)
	files, err := table.OpenFiles(id)
	add("files", len(files), err)
	return strings.Join(parts, ", ")
}

// holders returns whether the system says who has a file open, which is asked about a file of this process.
func holders(table proc.Lister) string {
	file, err := os.CreateTemp("", "rollcall-report-")
	if err != nil {
		return err.Error()
	}
	defer func() {
		_ = file.Close()
		_ = os.Remove(file.Name())
	}()
	list, err := table.Holders(file.Name())
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("known, %d others", len(list))
}

// reportSessions prints how many sessions there are by agent and status.
func (c *doctorCommand) reportSessions() error {
	begun := time.Now()
	_, snap, err := c.refresh(0, false)
	if err != nil {
		return err
	}
	c.printf("the live sessions in %s\n", time.Since(begun).Round(time.Millisecond))
	counts := map[string]int{}
	for s := range snap.All() {
		counts[fmt.Sprintf("%s %s", s.Agent, s.Status)]++
		if c.full {
			c.printf("  %s %s: %s\n", s.Agent, s.Status, present.Line(s.Evidence))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		c.printf("%d %s\n", counts[name], name)
	}
	for _, h := range snap.Adapters {
		if h.State != app.Absent {
			c.printf("%s answered in %s\n", h.Name, h.Elapsed.Round(time.Millisecond))
		}
	}
	return nil
}

// withoutUser returns a text without the home folder and the name of this user.
func withoutUser(text string) string {
	if home, err := os.UserHomeDir(); err == nil && len(home) > 1 {
		text = strings.ReplaceAll(text, home, "~")
		text = strings.ReplaceAll(text, filepath.ToSlash(home), "~")
	}
	if u, err := user.Current(); err == nil {
		name := u.Username[strings.LastIndex(u.Username, `\`)+1:] // Windows puts the machine before it
		text = strings.ReplaceAll(text, u.Username, "USER")
		text = strings.ReplaceAll(text, name, "USER")
	}
	return text
}
