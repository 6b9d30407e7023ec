// Package claudecode reports the sessions of Claude Code from its own files: the registry of
// running processes in sessions/, and the transcripts in projects/. It writes nothing there and
// never opens the *.key files, which are secrets.
//
// The status comes from the registry entry of a live process, in versions from 2.1.151 on (2.1.329
// and 2.1.332 were examined). Of older versions the stored sessions are listed, and for a live
// process the one session of its folder that was written since its start (see older.go).
package claudecode

import (
	"context"
	"path/filepath"
	"slices"
	"sync"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
)

// Adapter is Claude Code's adapter. Between calls it keeps what it parsed of the
// transcripts, and checks each file's identity, size and time at every call. It never
// keeps a status.
type Adapter struct {
	*kit.Base
	outputs func() []adapters.Output
	told    func() []adapters.Limit

	mu              sync.Mutex
	transcriptCache agentfile.Cache[*transcript]
	saved           *savedTranscripts
	folders         kit.Memo[string, folderNames]
	limits          kit.Limits
	help            kit.Printed
}

var _ interface {
	adapters.Adapter
	adapters.Describer
	adapters.Watcher
	adapters.ProcessOwner
	adapters.Namer
	adapters.Peeker
	adapters.Searcher
	adapters.Answerer
	adapters.Limiter
	adapters.StatusLiner
	adapters.Piped
} = (*Adapter)(nil)

// New makes the adapter. It reads nothing yet.
func New(cfg adapters.Config) *Adapter {
	cfg = cfg.WithDefaults()
	a := &Adapter{Base: kit.NewBase(cfg, description), outputs: cfg.Outputs, told: cfg.Told,
		saved: kit.NewSaved[savedTranscript](cfg.Facts, string(Name), factsFormat)}
	a.Watch.Add(filepath.Join(a.configDir(), "sessions"))
	return a
}

// Name is the agent's name, on the command line and in JSON.
const Name adapters.Name = "claude-code"

var description = adapters.Register(adapters.Description{
	Name: Name, Title: "Claude Code", Short: "cc", Folders: []string{".claude", ".config/claude"},
	Program: "claude", Install: "npm install -g @anthropic-ai/claude-code", Processes: agentproc.NamesOf("claude-code", "claude"),
	Children: adapters.ChildVariables{Session: "CLAUDE_CODE_SESSION_ID", Process: "CLAUDE_PID"}, Runs: program.Runs, // 2.1.332; an MCP server has no CLAUDE_PID
}, (*Adapter)(nil))

// Discover implements adapters.Adapter. Prompts and titles are cut after 4 KB.
// Tokens are exact or nil; with q.Totals a sum that could not be finished before
// ctx ends is nil, counted in Roll.Skipped, and finished by later calls.
func (a *Adapter) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	return a.Ask(ctx, q, a.look, func(cfg adapters.Config) kit.Looker { return New(cfg).look })
}

func (a *Adapter) look(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	return a.ask(ctx, q, false)
}

// ask answers one query. If a home was moved during the reading, it reads once more, unless again is set.
func (a *Adapter) ask(ctx context.Context, q adapters.Query, again bool) (adapters.Roll, error) {
	d := &discovery{adapter: a, ctx: ctx, query: q, now: a.Now(), answer: kit.NewAnswer(),
		sessions: make(map[string]*session), claimed: make(map[int]bool)}
	var homes kit.Roots
	d.table, homes = a.homes(ctx, d.answer)
	roots := homes.Paths
	for _, root := range roots {
		d.answer.LookedIn(filepath.Join(root, "projects"))
	}
	if homes.Absent() {
		return d.answer.Absent()
	}
	places := placesOf(roots)
	for _, root := range roots {
		d.registry(root)
	}
	for _, root := range roots {
		d.transcripts(root)
	}
	d.assignByFolder(roots)
	d.readAll()
	d.doubtLate()
	if !again && places.moved(roots) {
		return a.ask(ctx, q, true)
	}
	d.sumAll()
	d.addSummaries()
	d.addRows()
	a.remember(d, homes.Names)
	q.AfterAnswer(func() { a.saved.Flush(q.Once) })
	if q.Once {
		a.mu.Lock()
		a.transcriptCache = agentfile.Cache[*transcript]{}
		a.mu.Unlock()
		a.folders.Forget()
	}
	return d.answer.Result(context.WithoutCancel(ctx), "Claude Code") // addRows reports what was not read in time
}

// remember stores the folders to watch until the next call: those of the registry, and the project folders of the live sessions
// whose status is not in a registry, or whose last answer is not written yet.
func (a *Adapter) remember(d *discovery, folders []string) {
	watch := registryFolders(folders)
	for _, s := range d.sessions {
		if s.file != nil && (s.owner != nil || len(s.maybe) > 0 || s.turnEndPending) {
			watch = kit.AppendNew(watch, s.file.dir)
		}
	}
	for _, p := range d.byFolder { // the transcript of its first prompt comes there
		if len(p.found) == 0 && p.root != "" && !p.unresponsive {
			dirs := projectsOf(d.ctx, p.root, p.cwd)
			if len(kit.Folders(dirs)) == 0 {
				dirs = []string{filepath.Join(p.root, "projects")}
			}
			watch = kit.AppendNew(watch, dirs...)
		}
	}
	slices.Sort(watch)
	a.Watch.Set(watch)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.transcriptCache.Trim()
}
