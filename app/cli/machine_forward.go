package cli

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"rollcall/app"
	"rollcall/app/machine"
	"rollcall/app/present"
)

// machineLimit is how long list waits for other machines.
const machineLimit = 5 * time.Second

// openMachines returns the user's other machines, and reports those that cannot be used.
func (e *env) openMachines() *machine.Machines {
	e.settings() // reports what is wrong with config.toml
	m, _, err := e.deps.Machines()
	if err != nil {
		e.warn(err.Error())
	}
	return m
}

// notAsked returns the names of the other machines, for a command that reads this one only. It says so, unless its document does.
func (e *env) notAsked(command string, inDocument bool) (names []string) {
	names = e.machineNames()
	if len(names) > 0 && !inDocument {
		e.warn(strings.Join(names, ", ") + ifelse(len(names) == 1, " was", " were") + " not asked: " + command + " reads this machine only")
	}
	return names
}

func (e *env) machineNames() (names []string) {
	for _, h := range e.machines().Hosts() {
		names = append(names, h.Name)
	}
	return names
}

// findMachine returns the machine with this name. If there is none, the error lists the names of all machines.
func (e *env) findMachine(name string) (*machine.Host, error) {
	if h := e.machines().Find(name); h != nil {
		return h, nil
	}
	names := e.machineNames()
	if len(names) == 0 {
		return nil, usageError("no machine %q: no other machine is configured; to add one: rollcall machine add user@host", name)
	}
	return nil, usageError("no machine %q; machines: %s", name, strings.Join(names, ", "))
}

// asked returns the machines whose sessions the flags ask for.
func (c *listCommand) asked() (*machine.Machines, error) {
	switch {
	case c.machine != "":
		h, err := c.findMachine(c.machine)
		if err != nil {
			return nil, err
		}
		return machine.Of(h), nil
	case c.here || c.dir != "": // a folder of this machine
		return machine.New(nil, nil), nil
	}
	return c.machines(), nil
}

// warnMachines prints a line for each machine that did not answer in full, and reports whether one did not.
func (e *env) warnMachines(snap *app.Snapshot) (failed bool) {
	for _, m := range snap.Machines {
		if m.State != app.Failed {
			continue
		}
		failed = true
		e.warnProblems(m.Name, m.Problems, "rollcall machine test "+m.Name)
	}
	return failed
}

// machineJSON is how another machine answered.
type machineJSON struct {
	Name      string           `json:"name"`
	State     app.AdapterState `json:"state"`
	Error     string           `json:"error,omitempty"`
	ElapsedMS int64            `json:"elapsed_ms"`
}

func machineAsJSON(m *app.MachineHealth) machineJSON {
	return machineJSON{Name: m.Name, State: m.State, Error: strings.Join(m.Problems, "; "), ElapsedMS: m.Elapsed.Milliseconds()}
}

// forwarded has the commands that can be run on another machine. The value is true for a command whose argument is a session id that may name the
// machine (devbox:0198).
var forwarded = map[string]bool{
	"status": true, "peek": true, "changes": true, "stop": true, "resume": true, "logs": true, "focus": true, "compare": false, "launch": false, "lock": false, "unlock": false, "locks": false,
}

// forwardCommands lets commands run on another machine: the same command runs there, and its output is printed here.
func forwardCommands(e *env, root *cobra.Command) {
	for _, cmd := range root.Commands() {
		byID, can := forwarded[cmd.Name()]
		if !can {
			continue
		}
		name := cmd.Flags().StringP("machine", "H", "", "run the command on this other `machine`; paths are paths on that machine")
		check, run := cmd.Args, cmd.RunE
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if h, _, err := e.forwardedTo(*name, byID, args); h != nil || err != nil {
				return err
			}
			return check(cmd, args)
		}
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			h, there, err := e.forwardedTo(*name, byID, args)
			if err != nil {
				return err
			}
			if h == nil {
				return run(cmd, args)
			}
			return e.forward(h, cmd, there)
		}
	}
}

// forwardedTo returns the machine that a command is for, and its arguments there; nil: it is for this machine.
func (e *env) forwardedTo(name string, byID bool, args []string) (*machine.Host, []string, error) {
	if byID && len(args) == 1 && strings.Contains(args[0], ":") {
		if h, id := e.machines().Split(args[0]); h != nil && (name == "" || name == h.Name) {
			return h, []string{id}, nil
		}
	}
	if name == "" {
		return nil, args, nil
	}
	h, err := e.findMachine(name)
	return h, args, err
}

// forward runs the command on a machine. Its exit code there is the exit code here.
func (e *env) forward(h *machine.Host, cmd *cobra.Command, args []string) error {
	words := []string{cmd.Name()}
	var in io.Reader
	terminal := false
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch value := f.Value.String(); {
		case f.Name == "machine" || f.Name == "color":
		case f.Name == "prompt" && value == "-":
			words, in = append(words, "--prompt=-"), os.Stdin
		case f.Name == "prompt" && !cmd.Flags().Changed("terminal"): // a command line has a limit, and is shown by ps
			words, in = append(words, "--prompt=-"), strings.NewReader(value)
		default:
			terminal = terminal || (f.Name == "terminal" || f.Name == "attach") && value == "true"
			words = append(words, flagWords(f)...)
		}
	})
	words = append(append(words, "--color=never", "--"), args...)
	if terminal {
		return e.forwardHere(h, words)
	}
	code, err := h.Run(e.ctx, in, e.streams.Out, e.streams.Err, words...)
	if err != nil {
		return machineError(h.Name, err)
	}
	if code != Done {
		return &exitError{code: code}
	}
	return nil
}

// forwardHere replaces this process with the command there, on this terminal.
func (e *env) forwardHere(h *machine.Host, words []string) error {
	if e.streams.In == nil || e.streams.Width == 0 {
		return usageError("--terminal and --attach need a terminal")
	}
	name, argv := h.Terminal(words...)
	path, err := exec.LookPath(name)
	if err != nil {
		return fmt.Errorf("%s is not installed on this machine", present.Line(name))
	}
	return replace(path, argv, ".", os.Environ())
}

// flagWords returns a flag as it was given.
func flagWords(f *pflag.Flag) (words []string) {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		for _, value := range list.GetSlice() {
			words = append(words, "--"+f.Name+"="+value)
		}
		return words
	}
	return []string{"--" + f.Name + "=" + f.Value.String()}
}
