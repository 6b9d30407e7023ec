// Package claudecode reports the sessions of Claude Code (versions 1.0.128 to 2.1.329
// were examined) from its own files: the registry of running processes in sessions/,
// and the transcripts in projects/. It writes nothing there and never opens the *.key
// files, which are secrets.
//
// The status comes from the registry entry of a live process. For versions without a
// registry, or whose registry has no status, it is derived from the transcript's last
// records and the process table; the evidence then says so.
package claudecode

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/consistentread"
	"rollcall/adapters/internal/container"
	"rollcall/adapters/internal/factcache"
	"rollcall/adapters/internal/homes"
	"rollcall/adapters/internal/incremental"
	"rollcall/adapters/internal/report"
	"rollcall/proc"
)

// Adapter is Claude Code's adapter. Between calls it keeps what it parsed of the
// transcripts, and checks each file's identity, size and time at every call. It never
// keeps a status.
type Adapter struct {
	home  string
	env   func(string) string
	table proc.Lister
	now   func() time.Time
	named func() []string // homes that the user named

	mu      sync.Mutex
	seen    map[proc.Identity]claude
	entries map[proc.Identity]entry // of live processes, as they were read last
	// innerEntries are the entries, by path, whose processes have another pid here.
	innerEntries    map[string]entry
	transcriptCache incremental.Cache[*transcript]
	saved           *savedTranscripts
	history         map[string]*history      // by root
	indexes         map[string]*projectIndex // by root
	lastLive        map[string]time.Time     // when each session was seen live last; old times are dropped
	paths           map[string]string        // where the transcripts of answered sessions were seen last
	homesUsed       report.Recent            // homes elsewhere
	current         homes.List
	commands        report.Memo[proc.Identity, ranCommand]
	watch           []string
}

var (
	_ adapters.Adapter      = (*Adapter)(nil)
	_ adapters.Describer    = (*Adapter)(nil)
	_ adapters.Watcher      = (*Adapter)(nil)
	_ adapters.ProcessOwner = (*Adapter)(nil)
	_ adapters.Namer        = (*Adapter)(nil)
	_ adapters.Peeker       = (*Adapter)(nil)
	_ adapters.Searcher     = (*Adapter)(nil)
	_ adapters.Answerer     = (*Adapter)(nil)
	_ adapters.Piped        = (*Adapter)(nil)
)

// New makes the adapter. It reads nothing yet.
func New(cfg adapters.Config) *Adapter {
	cfg = cfg.WithDefaults()
	return &Adapter{home: cfg.Home, env: cfg.Env, table: container.Table(cfg.Table, cfg.Home), now: cfg.Now, named: cfg.Homes,
		saved: factcache.Of[savedTranscript](cfg.Facts, string(adapters.ClaudeCode), factsFormat),
		seen:  make(map[proc.Identity]claude), lastLive: make(map[string]time.Time),
		indexes: make(map[string]*projectIndex), history: make(map[string]*history)}
}

var description = adapters.Register(adapters.Description{
	Name: adapters.ClaudeCode, Title: "Claude Code", Short: "cc",
	Program: "claude", Install: "npm install -g @anthropic-ai/claude-code", Processes: []string{"claude"},
}, (*Adapter)(nil))

// Describe implements adapters.Describer.
func (a *Adapter) Describe() adapters.Description { return description }

// Name implements adapters.Adapter.
func (a *Adapter) Name() adapters.Name { return adapters.ClaudeCode }

// Discover implements adapters.Adapter. Prompts and titles are cut after 4 KB.
// Tokens are exact or nil; with q.Totals a sum that could not be finished before
// ctx ends is nil, counted in Roll.Skipped, and finished by later calls.
func (a *Adapter) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	return a.current.Ask(ctx, func(ctx context.Context, home string) {
		_, _ = New(homes.Config(home, a.table)).ask(ctx, homes.Query(q), false)
	}, func() (adapters.Roll, error) {
		return consistentread.Ask(ctx, a.table, func() (adapters.Roll, error) { return a.ask(ctx, q, false) })
	})
}

// ask answers one query. If a home was moved during the reading, it reads once more, unless again is set.
func (a *Adapter) ask(ctx context.Context, q adapters.Query, again bool) (adapters.Roll, error) {
	d := &discovery{adapter: a, ctx: ctx, query: q, now: a.now(), answer: report.NewAnswer(),
		sessions: make(map[string]*session), claimed: make(map[int]bool), registered: make(map[int]bool), unreadableEntries: make(map[int]string),
		histories: make(map[string]*history)}
	t, err := a.readTable(ctx)
	d.table = t
	d.answer.Problem(err)
	homeFolders, roots, absent := a.homes(t, d.answer, d.now)
	for _, root := range roots {
		d.answer.LookedIn(filepath.Join(root, "sessions"), filepath.Join(root, "projects"))
	}
	if absent {
		return d.answer.Absent()
	}
	for _, root := range roots {
		d.registry(root)
	}
	unregistered, outdated := d.unregistered(), d.outdatedEntries()
	if len(unregistered) > 0 || len(outdated) > 0 || !d.byID() {
		// Finding the owner of one transcript can require the present state of all transcripts.
		search := len(unregistered) > 0 || len(outdated) > 0 || t.err != nil
		for _, root := range roots {
			d.transcripts(root, search)
		}
		d.followClears(outdated, unregistered, roots)
		d.ownersByTime(unregistered)
	}
	d.readAll()
	if !again && d.homeWasMoved() {
		return a.ask(ctx, q, true)
	}
	d.titleBySummaries()
	d.sumAll()
	rows := append(d.rows(), d.sessionless()...)
	d.answer.Expect(len(rows))
	for _, found := range rows {
		if d.answer.Add(found); found.Version != "" {
			d.answer.CountVersion(found.Version)
		}
	}
	a.remember(d, homeFolders, outdated)
	a.saved.Flush(q.Once)
	if q.Once {
		a.forget()
	}
	return d.answer.Result(context.WithoutCancel(ctx), "Claude Code") // readAll reports what was not read in time
}

// remember stores the state that the next call and WatchPaths start from.
func (a *Adapter) remember(d *discovery, folders []string, outdated []outdatedEntry) {
	watch := registryFolders(folders)
	for i := range outdated { // history.jsonl shows in which sessions these processes continued
		watch = report.AppendNew(watch, outdated[i].root)
	}
	entries, insiders := make(map[proc.Identity]entry), make(map[string]entry)
	for _, s := range d.sessions {
		for _, e := range s.live {
			entries[e.process.Identity] = e.entry
			if e.pid != e.process.PID {
				insiders[e.path] = e.entry
			}
		}
		if s.endedEntry != nil && d.wasSeenHere(s.endedEntry) {
			insiders[s.endedEntry.path] = *s.endedEntry
		}
		if s.file != nil && (s.usesTranscript() || s.turnEndPending) {
			watch = report.AppendNew(watch, s.file.dir)
		}
	}
	slices.Sort(watch)
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range d.table.claudes { // whose entry was removed
		id := d.table.claudes[i].Identity
		if e, known := a.entries[id]; known && entries[id].id == "" {
			entries[id] = e
		}
	}
	a.watch, a.entries, a.innerEntries = watch, entries, insiders
	a.noteLive(d.sessions)
	if a.paths == nil || len(d.query.IDs) == 0 {
		a.paths = make(map[string]string, len(d.sessions))
	}
	for id, s := range d.sessions {
		if s.file != nil {
			a.paths[id] = s.file.path
		}
	}
	a.transcriptCache.Trim()
}

// forget drops the caches that only save reading at the next call.
func (a *Adapter) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.transcriptCache, a.paths = incremental.Cache[*transcript]{}, nil
	a.indexes, a.history = map[string]*projectIndex{}, map[string]*history{}
}

// WatchPaths implements adapters.Watcher. It returns the folders of the registry; the
// project folders of the live sessions whose status is not in a registry, or whose last
// answer is not written yet; and the roots of versions whose registry doesn't follow
// /clear.
func (a *Adapter) WatchPaths() []string {
	a.mu.Lock()
	known := a.watch
	a.mu.Unlock()
	if known == nil {
		known = registryFolders([]string{filepath.Clean(a.configDir())})
	}
	return report.Folders(known)
}
