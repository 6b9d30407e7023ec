package claudecode

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
)

// knownModes describes modes of --permission-mode. They are also the modes of a program whose help can't be read.
var knownModes = []adapters.Mode{
	{Name: "manual", Says: "asks before each action"},
	{Name: "default", Says: "asks before each action"}, // as versions before 2.1.329 call it; later ones accept it as well
	{Name: "acceptEdits", Says: "edits files without asking"},
	{Name: "plan", Says: "makes a plan and changes nothing"},
	{Name: "auto", Says: "a model decides what needs your permission"},
	{Name: "dontAsk", Says: "refuses everything that needs permission"},
	{Name: "bypassPermissions", Says: "does everything without asking", Unsafe: true},
}

// helpLimit is how long `claude --help` may take.
const helpLimit = 3 * time.Second

// Modes implements adapters.Launcher. The modes are those of `claude --help` of the program that is installed, which it runs once
// for each version; "default" is accepted by all versions. A mode that is not known here counts as unsafe. If the program has not printed them
// after three seconds, or is not in PATH, Modes returns those that are known here.
func (a *Adapter) Modes() []adapters.Mode {
	var modes []adapters.Mode
	if path, err := a.Program(exec.LookPath); err == nil {
		help, _ := a.help.Of(path, helpLimit, "--help")
		modes = parseModes(help)
	}
	if modes == nil {
		modes = slices.Clone(knownModes)
	}
	return modes
}

// choices matches the description of --permission-mode in the help: (choices: "acceptEdits", "plan").
var choices = regexp.MustCompile(`(?s)--permission-mode <mode>.*?\(choices:([^)]*)\)`)

// parseModes returns the modes that a help text lists, and nil if there are none.
func parseModes(help string) (modes []adapters.Mode) {
	m := choices.FindStringSubmatch(help)
	if m == nil {
		return nil
	}
	for name := range strings.SplitSeq(m[1], ",") {
		name = strings.Trim(strings.TrimSpace(name), `"`)
		if name != "" {
			modes = append(modes, describeMode(name))
		}
	}
	if !slices.ContainsFunc(modes, func(m adapters.Mode) bool { return m.Name == "default" }) {
		modes = append(modes, describeMode("default"))
	}
	return modes
}

func describeMode(name string) adapters.Mode {
	if i := slices.IndexFunc(knownModes, func(m adapters.Mode) bool { return m.Name == name }); i >= 0 {
		return knownModes[i]
	}
	return adapters.Mode{Name: name, Says: "works in a mode that Rollcall does not know", Unsafe: true}
}
