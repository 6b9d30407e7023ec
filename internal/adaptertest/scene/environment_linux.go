package scene

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/must"
	"rollcall/proc"
)

// Environment is a home folder and a machine of its own.
type Environment struct {
	testing.TB
	Home  string
	Procs *Procs
	Table proc.Lister // reads Procs

	// NextID is the id of the next session of Claude Code, whose caller may choose
	// it; empty: a random one.
	NextID string
	// Named are the homes that the user names in the settings.
	Named []string

	rng *rand.Rand
}

// NamedHomes returns Named, for adapters.Config.
func (w *Environment) NamedHomes() []string { return w.Named }

// OddHome is the name of a home folder that is no file pattern for itself.
const OddHome = "h[o]me *"

// New makes an empty environment in the test's temporary folder.
func New(t testing.TB) *Environment {
	t.Helper()
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	w := &Environment{TB: t, Home: filepath.Join(dir, OddHome), rng: rand.New(rand.NewPCG(1, 2))}
	w.check(os.Mkdir(w.Home, 0o755))
	w.Procs = newProcs(t, filepath.Join(dir, "machine"))
	w.Table = proc.OpenAt(w.Procs.Root(), w.Procs.Etc())
	return w
}

// On makes an empty environment in a home folder that exists, whose processes are real
// ones of this machine.
func On(t testing.TB, home string, r Runner) *Environment {
	return &Environment{TB: t, Home: home, Procs: &Procs{t: t, run: r}, Table: proc.Open(), rng: rand.New(rand.NewPCG(1, 2))}
}

// Env is an environment in which nothing is set.
func (w *Environment) Env(string) string { return "" }

// Path is a path below the home.
func (w *Environment) Path(parts ...string) string {
	return filepath.Join(append([]string{w.Home}, parts...)...)
}

// Write writes a whole file, and its folders.
func (w *Environment) Write(path, content string) {
	w.Helper()
	w.check(os.MkdirAll(filepath.Dir(path), 0o755))
	w.check(os.WriteFile(path, []byte(content), 0o644))
}

// Append adds lines to a file in one write each, as the agents do.
func (w *Environment) Append(path string, lines ...string) {
	w.Helper()
	w.check(os.MkdirAll(filepath.Dir(path), 0o755))
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	w.check(err)
	defer f.Close()
	for _, line := range lines {
		_, err := f.WriteString(line + "\n")
		w.check(err)
	}
}

func (w *Environment) check(err error) {
	w.Helper()
	must.Do(w, err)
}

// chosenID returns NextID, once, or a random UUID.
func (w *Environment) chosenID() string {
	id := w.NextID
	w.NextID = ""
	if id == "" {
		id = w.uuid(4)
	}
	return id
}

// uuid is a random UUID; of version 7 it begins with the time.
func (w *Environment) uuid(version int) string {
	high, low := w.rng.Uint64(), w.rng.Uint64()
	if version == 7 {
		high = uint64(time.Now().UnixMilli())<<16 | high&0x0fff
	}
	high = high&^0xf000 | uint64(version)<<12
	low = low&^(3<<62) | 2<<62
	s := fmt.Sprintf("%016x%016x", high, low)
	return strings.Join([]string{s[:8], s[8:12], s[12:16], s[16:20], s[20:]}, "-")
}

// stamp is a time as the agents write it.
func stamp() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000Z") }

// Agent plays one agent.
type Agent interface {
	Name() adapters.Name
	// Store is the folder of its sessions. Without it, and without a process,
	// the agent is not installed.
	Store() string
	// Install leaves what a first start leaves, without a session. Start calls
	// it as well.
	Install()
	// Start starts a process in a folder, which need not exist, and takes the
	// first prompt of a new session: it is Working from here on.
	Start(cwd, prompt string) *Session
}

// Truth is what a correct monitor says of a session.
type Truth struct {
	Status     adapters.Status
	WaitingFor adapters.WaitingFor
	Outcome    adapters.Outcome
}

func (t Truth) String() string {
	return strings.TrimSpace(fmt.Sprint(t.Status, " ", t.WaitingFor, t.Outcome))
}

// TruthOf is what an adapter says of one, in the same words. No agent of a scene asks for something after a text: where an adapter says that it may, the turn
// is complete.
func TruthOf(s *adapters.Session) Truth {
	if s.MayAsk {
		return Truth{s.Status, s.WaitingFor, adapters.Completed}
	}
	return Truth{s.Status, s.WaitingFor, s.Outcome}
}

// player writes what an agent writes at each step of a session.
type player interface {
	prompt(s *Session, text string)
	answer(s *Session, text string)
	exit(s *Session) // in good order, the turn is over
	kill(s *Session)
	resume(s *Session, prompt string)
	strange(s *Session) // a record of a type that Rollcall does not know
	forget(s *Session)  // what the user deletes
}

// asker is a player whose agent stores that it waits for the user.
type asker interface {
	waitsFor() adapters.WaitingFor
	ask(s *Session)
}
