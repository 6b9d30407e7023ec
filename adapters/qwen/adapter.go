// Package qwen reports the sessions of Qwen Code (npm @qwen-code/qwen-code).
//
// A session is a file of lines, ~/.qwen/projects/<folder>/chats/<id>.jsonl. Its last records show the state of the turn: a call
// is recorded when the model makes it. Which process has a session is in the registry (from about 0.23 on), in the
// environment of a tool or on the command line. Facts were learned from 0.24.4 and 0.15.6 on Linux.
package qwen

import (
	"cmp"
	"context"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/proc"
)

const (
	folderName      = ".qwen"
	homeVariable    = "QWEN_HOME"
	sessionVariable = "QWEN_CODE_SESSION_ID" // of the processes that it starts
	runtimeVariable = "QWEN_RUNTIME_DIR"     // moves the sessions, and not the registry (0.24.4)
	factsFormat     = 4                      // must be raised when the same facts get another meaning
)

// Name is the agent's name, on the command line and in JSON.
const Name adapters.Name = "qwen"

var description = adapters.Register(adapters.Description{
	Name: Name, Title: "Qwen Code", Short: "qwen", Folders: []string{".qwen"},
	Program: "qwen", Install: "npm install -g @qwen-code/qwen-code", Processes: agentproc.NamesOf("qwen", "qwen"),
	Children: adapters.ChildVariables{Session: sessionVariable}, Runs: finder.Runs,
	Token: "qwen sessions controllers add --label rollcall",
}, (*Adapter)(nil))

// Adapter implements adapters.Adapter and the optional interfaces that are named below. It is safe for concurrent use. It
// keeps what it read of files in memory, never a status. Prompts and titles are cut after 4 KB.
type Adapter struct {
	*kit.Base
	kit.Poll                                              // no file shows that a session of a server begins to wait, or that a prompt is taken back
	serves      func(netip.AddrPort, proc.Identity) error // reports with an error that an address is not served by a process
	token       func() string                             // returns the user's text with a controller token; empty: there is none
	transcripts *kit.Transcripts[facts, *facts]

	ranLock sync.Mutex
	ran     map[string]ran // by the session's file: a command that ran waits for no permission until its result is recorded
}

var _ interface {
	adapters.Watcher
	adapters.ProcessOwner
	adapters.Launcher
	adapters.Describer
	adapters.Peeker
	adapters.Searcher
	adapters.Piped
	adapters.Answerer
	adapters.Prompter
	adapters.Stopper
	adapters.StopChecker
	adapters.Pusher
} = (*Adapter)(nil)

// New makes the adapter. It reads nothing yet.
func New(cfg adapters.Config) *Adapter {
	a := &Adapter{Base: kit.NewBase(cfg, description, agentproc.Own{Variable: homeVariable, Store: folderName}, agentproc.Own{Variable: runtimeVariable}),
		serves: proc.CheckListenedBy, token: cfg.WithDefaults().Token, transcripts: kit.NewTranscripts[facts](cfg.Facts, Name, factsFormat)}
	if home, runtime := homesOf(a.Env, a.Home); runtime != home {
		named := a.Named
		a.Named = func() []string { return append([]string{home}, named()...) }
	}
	return a
}

// homesOf returns the home that an environment names, which has the registry and the settings, and the folder with the sessions: the same, unless
// QWEN_RUNTIME_DIR names another one. user is the user's home folder, and empty where it is not known.
func homesOf(env func(string) string, user string) (home, runtime string) {
	home = env(homeVariable)
	if home == "" && user != "" {
		home = filepath.Join(user, folderName)
	}
	return home, cmp.Or(env(runtimeVariable), home)
}

// Discover implements adapters.Adapter.
func (a *Adapter) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	return a.Ask(ctx, q, a.look, func(cfg adapters.Config) kit.Looker { return New(cfg).look })
}

// look reads the processes and then the files, once.
func (a *Adapter) look(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	d := a.begin(ctx, q)
	return d.Run(d.watchPaths, d.list, d.readEntries, d.read, d.match, d.askMore, d.addSessions)
}

// askMore asks servers and terminals what no file says, and has this asked again while it may change.
func (d *discovery) askMore() {
	open, goesOn := d.askServers(), d.readTitles()
	if len(d.Query.IDs) == 0 {
		isOpen := func(s *session) bool {
			return d.isNew(s) || s.owner != nil && (s.turn.state == called || s.turn.state == prompted)
		}
		d.Again(open || goesOn || slices.ContainsFunc(d.sessions, isOpen))
	}
}
