package cli

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"rollcall/app"
	"rollcall/app/machine"
	"rollcall/app/present"
	"rollcall/app/settings"
)

// testLimit is how long a machine may take to answer a test.
const testLimit = 30 * time.Second

func newMachine(e *env) *cobra.Command {
	return newGroup("machine", "Show the sessions of other machines beside those of this one",
		`Manage the other machines, containers and users whose sessions are listed and
watched, and appear in notifications, like those of this machine. Rollcall reaches
a machine by your own ssh, with its configuration, agent, ProxyJump and ControlPath;
it never asks for a password and stores none. It needs Rollcall on that machine; add
can copy it there.

Machines are those that add keeps, and each [[machine]] of config.toml:

  [[machine]]
  name = "devbox"
  ssh = "user@devbox"

  [[machine]]
  name = "dev"
  exec = ["docker", "exec", "-i", "dev", "rollcall"]

A session of such a machine is named devbox:ID, and -H devbox runs a command there.`,
		newMachineAdd(e), newMachineList(e), newMachineTest(e), newMachineRemove(e))
}

type machineAdd struct {
	*env
	name, there, binary string
	yes, update         bool
}

func newMachineAdd(e *env) *cobra.Command {
	c := &machineAdd{env: e}
	return command(&cobra.Command{
		Use:   "add USER@HOST | add --name NAME -- COMMAND…",
		Short: "Add a machine: test the connection, and copy Rollcall there if it has none",
		Long: `Add a machine that ssh reaches, or one that a command leads to. The connection is
tested first. If the machine has no Rollcall, or with --update an older one, you are
asked, and this program is copied to ~/.local/bin/rollcall on it. That needs the static
build for that system; if this program is another build, name one with --binary. The
SHA-256 of the copy is checked on the machine before the copy replaces anything.`,
		Example: `  rollcall machine add user@devbox
  rollcall machine add --name dev -- docker exec -i dev rollcall
  rollcall machine add --name wsl -- wsl.exe -d Debian -- rollcall`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usageError("machine add takes user@host, or --name NAME -- COMMAND…\n  see: %s --help", cmd.CommandPath())
			case len(args) > 1 && c.name == "":
				return usageError("a machine that a command leads to needs a name: use --name NAME")
			case len(args) > 1 && (c.there != "" || c.binary != "" || c.update):
				return usageError("--path, --binary and --update are for machines that ssh reaches")
			}
			return nil
		},
		RunE: withArgs(c.run),
	},
		withFlag(&c.name, "name", "its `name` in lists and ids (default: the host's)"),
		withFlag(&c.there, "path", "the `path` of Rollcall there (default: from PATH, or ~/.local/bin/rollcall)"),
		withFlag(&c.binary, "binary", "the static `file` to copy if there is no Rollcall"),
		withFlag(&c.update, "update", "copy it even if the machine has one"),
		yesFlag(&c.yes),
	)
}

// notInName are the characters that a name can't have.
var notInName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// wanted returns the machine that the arguments describe, and whether it is configured already.
func (c *machineAdd) wanted(args []string) (m settings.Machine, known bool, err error) {
	if h := c.machines().Find(args[0]); h != nil && len(args) == 1 {
		return h.Machine, true, nil
	}
	m = settings.Machine{Name: c.name, SSH: args[0], Path: c.there}
	if len(args) > 1 {
		m = settings.Machine{Name: c.name, Exec: args}
	}
	if m.Name == "" {
		host := args[0][strings.LastIndex(args[0], "@")+1:]
		m.Name = strings.Trim(notInName.ReplaceAllString(strings.TrimPrefix(host, "ssh://"), "-"), "-._")
		m.Name = present.Begin(m.Name, 40)
	}
	if err := m.Check(); err != nil {
		return m, false, usageError("%w", err)
	}
	if h := c.machines().Find(m.Name); h != nil && (h.SSH != m.SSH || !slices.Equal(h.Exec, m.Exec)) {
		return m, false, fmt.Errorf("there is a machine %s already; use --name for another name, or: rollcall machine remove %s", m.Name, m.Name)
	} else if h != nil {
		return h.Machine, true, nil
	}
	return m, false, nil
}

func (c *machineAdd) run(args []string) error {
	m, known, err := c.wanted(args)
	if err != nil {
		return err
	}
	h := &machine.Host{Machine: m}
	if m.SSH != "" {
		if err := c.prepare(h); err != nil {
			return err
		}
	}
	roll, version, err := h.Test(c.ctx, 0, testLimit)
	if err != nil {
		return machineError(m.Name, err)
	}
	if !known {
		_, kept, err := c.deps.Machines()
		if kept == nil {
			return err
		}
		if err := kept.Add(c.ctx, m); err != nil {
			return err
		}
	}
	c.printMachine(&roll, version)
	return nil
}

// machineError names the machine in an error.
func machineError(name string, err error) error { return fmt.Errorf("%s: %w", name, err) }

// prepare installs Rollcall on the machine if the machine has no usable one.
func (c *machineAdd) prepare(h *machine.Host) error {
	system, err := h.System(c.ctx)
	if err != nil {
		return machineError(h.Name, err)
	}
	_, version, err := h.Test(c.ctx, 0, testLimit)
	var why *machine.Error
	missing := errors.As(err, &why) && (why.Missing || why.Old && c.update)
	if !missing && !c.update {
		return nil // the caller's test reports the error
	}
	if h.Path != "" {
		return machineError(h.Name, fmt.Errorf("there is no Rollcall at %s: copy it there, or leave out the path", h.Path))
	}
	binary, err := machine.FindBinary(c.binary, system)
	if err != nil {
		return machineError(h.Name, err)
	}
	there := "has no Rollcall"
	if version != "" || why != nil && why.Old {
		there = strings.TrimSpace("has an older or other Rollcall " + version)
	}
	c.printf("%s (%s) %s\n", h.Name, system, there)
	c.printf("  to copy: %s (%s, SHA-256 %s)\n", c.path(binary.Path), humanize.Bytes(uint64(binary.Size)), binary.Sum)
	if err := c.confirm(fmt.Sprintf("Copy it to %s:~/.local/bin/rollcall?", h.SSH), c.yes, "nothing was copied, and the machine was not added"); err != nil {
		return err
	}
	if err := h.Install(c.ctx, binary); err != nil {
		return machineError(h.Name, err)
	}
	c.printf("  copied to %s:~/.local/bin/rollcall\n", h.SSH)
	return nil
}

// printMachine shows how a machine answered.
func (e *env) printMachine(r *app.MachineRoll, version string) {
	live := 0
	for i := range r.Sessions {
		if r.Sessions[i].Live() {
			live++
		}
	}
	e.printf("%s: Rollcall %s, %s\n", r.Name, version, plural(live, "live session"))
	for _, p := range r.Problems {
		e.printf("  %s\n", present.Line(p))
	}
}

func newMachineList(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the machines, and how they are reached",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			hosts := e.machines().Hosts()
			if len(hosts) == 0 {
				e.printf("no other machine; to add one: rollcall machine add user@host\n")
			}
			for _, h := range hosts {
				how := ifelse(h.SSH == "", strings.Join(h.Exec, " "), "ssh "+h.SSH)
				e.printf("%s  %s  (%s)\n", h.Name, present.Line(how), ifelse(e.hasInSettings(h.Name), "config.toml", "machine add"))
			}
			return nil
		},
	}
}

// hasInSettings reports whether config.toml has a machine with this name.
func (e *env) hasInSettings(name string) bool {
	return slices.ContainsFunc(e.settings().Machines, func(m settings.Machine) bool { return m.Name == name })
}

func newMachineTest(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "test [NAME…]",
		Short: "Test the connection to all machines, or to those named, and show how each answers",
		RunE: func(_ *cobra.Command, args []string) error {
			hosts := e.machines().Hosts()
			if len(args) > 0 {
				hosts = nil
			}
			for _, name := range args {
				h, err := e.findMachine(name)
				if err != nil {
					return err
				}
				hosts = append(hosts, h)
			}
			failed := 0
			for _, h := range hosts {
				roll, version, err := h.Test(e.ctx, 0, testLimit)
				if e.ctx.Err() != nil {
					return e.ctx.Err()
				}
				if err != nil {
					failed++
					e.printf("%s: %s\n", h.Name, present.Line(err.Error()))
					continue
				}
				e.printMachine(&roll, version)
			}
			return cmp.Or(e.flush(), someFailed(failed, len(hosts), "machine", "did not answer"))
		},
	}
}

func newMachineRemove(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a machine that machine add stored; Rollcall stays installed on it",
		Args:  exactlyOne("the name of one machine"),
		RunE: func(_ *cobra.Command, args []string) error {
			_, kept, err := e.deps.Machines()
			if kept == nil {
				return err
			}
			found, err := kept.Remove(e.ctx, args[0])
			switch {
			case err != nil:
				return err
			case found:
				e.printf("removed %s; Rollcall stays installed on it\n", args[0])
				return nil
			}
			if e.hasInSettings(args[0]) {
				return fmt.Errorf("machine %s is in config.toml: remove its [[machine]] there", args[0])
			}
			_, err = e.findMachine(args[0])
			return err
		},
	}
}
