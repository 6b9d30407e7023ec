package claudecode

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/proc"
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

// helpModes keeps the modes that the help of a program lists, until the program is replaced.
type helpModes struct {
	mu    sync.Mutex
	path  string
	stamp agentfile.Stamp
	read  chan struct{} // closed when modes is set
	modes []adapters.Mode
}

const (
	helpLimit = 10 * time.Second // for `claude --help`
	helpPause = 2 * time.Second  // for which Modes waits for it
)

// Modes implements adapters.Launcher. The modes are those of `claude --help` of the program that is installed, which it runs once
// for each version; "default" is accepted by all versions. A mode that is not known here counts as unsafe. If the program has not printed them
// after two seconds, or is not in PATH, Modes returns those that are known here.
func (a *Adapter) Modes() []adapters.Mode {
	path, err := a.Program(exec.LookPath)
	if err != nil {
		return slices.Clone(knownModes)
	}
	info, err := os.Stat(path)
	if err != nil {
		return slices.Clone(knownModes)
	}
	h := &a.help
	h.mu.Lock()
	if stamp := agentfile.StampOf(path, info); h.read == nil || h.path != path || h.stamp != stamp {
		h.path = path
		h.stamp = stamp
		h.read = make(chan struct{})
		go h.run(path, h.read)
	}
	read := h.read
	h.mu.Unlock()
	select {
	case <-read:
	case <-time.After(helpPause):
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.modes == nil {
		return slices.Clone(knownModes)
	}
	return slices.Clone(h.modes)
}

func (h *helpModes) run(path string, read chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), helpLimit)
	defer cancel()
	cmd := proc.WithoutWindow(exec.CommandContext(ctx, path, "--help"))
	cmd.WaitDelay = time.Second
	help, _ := cmd.Output()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.read == read { // the program was not replaced meanwhile
		h.modes = parseModes(string(help))
	}
	close(read)
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
