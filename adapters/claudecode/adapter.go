// Package claudecode reports the sessions of Claude Code (versions 1.0.128 to
// 2.1.329 were looked at) from its own files: the registry of running processes
// in sessions/, and the transcripts in projects/. It writes nothing there and
// never opens the *.key files, which are secrets.
//
// A registry entry whose process lives tells the status. Versions without a
// registry, or whose registry has no status, are judged by the transcript's last
// records and the process table; the evidence then says so.
package claudecode

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/steady"
	"rollcall/proc"
)

// Adapter is Claude Code's adapter. Between questions it keeps what it parsed of
// the transcripts, checked against each file's identity, size and time at every
// question; never a status.
type Adapter struct {
	home  string
	env   func(string) string
	table proc.Lister
	clock func() time.Time

	mu      sync.Mutex
	seen    map[proc.Identity]claude
	entries map[proc.Identity]entry // of live processes, as they were read last
	cache   cache
	history map[string]*history  // by root
	shelves map[string]*shelf    // by root
	lived   map[string]time.Time // when sessions were seen live last, of late
	paths   map[string]string    // where the transcripts of answered sessions were seen last
	watch   []string
}

var (
	_ adapters.Adapter = (*Adapter)(nil)
	_ adapters.Watcher = (*Adapter)(nil)
)

// New makes the adapter. It reads nothing yet.
func New(cfg adapters.Config) *Adapter {
	cfg = cfg.WithDefaults()
	return &Adapter{home: cfg.Home, env: cfg.Env, table: cfg.Table, clock: cfg.Now,
		seen: make(map[proc.Identity]claude), lived: make(map[string]time.Time)}
}

// Name implements adapters.Adapter.
func (a *Adapter) Name() adapters.Name { return adapters.ClaudeCode }

// Discover implements adapters.Adapter. Prompts and titles are cut after 4 KB.
// Tokens are exact or nil; with q.Totals a sum that could not be finished before
// ctx ends is nil, counted in Roll.Skipped, and finished by later calls.
func (a *Adapter) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	return steady.Ask(ctx, func() (adapters.Roll, error) { return a.ask(ctx, q) })
}

func (a *Adapter) ask(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	c := &call{Adapter: a, ctx: ctx, q: q, at: a.clock(), skipped: make(map[string]int),
		sessions: make(map[string]*session), claimed: make(map[int]bool), blind: make(map[int]string)}
	t, err := a.readTable(ctx)
	c.table = t
	c.problem(err)
	roots := a.roots(t)
	if !exists(roots) && len(t.claudes) == 0 && t.err == nil {
		return adapters.Roll{LookedIn: lookedIn(roots)}, adapters.ErrAbsent
	}
	for _, root := range roots {
		c.registry(root)
	}
	loose, stuck := c.loose(), c.stuck()
	if len(loose) > 0 || len(stuck) > 0 || !c.byID() {
		// Which transcript is whose may take knowing all, as they are now.
		search := len(loose) > 0 || len(stuck) > 0 || t.err != nil
		for _, root := range roots {
			c.transcripts(root, search)
		}
		c.follow(stuck, loose, roots)
		c.ownersByTime(loose)
	}
	c.readAll()
	c.titleBySummaries()
	c.sumAll()
	roll := adapters.Roll{Sessions: c.answer(), LookedIn: lookedIn(roots), Skipped: c.skipped, Versions: make(map[string]int)}
	for i := range roll.Sessions {
		if v := roll.Sessions[i].Version; v != "" {
			roll.Versions[v]++
		}
	}
	a.remember(c, roots, stuck)
	return roll, errors.Join(c.problems...)
}

// remember keeps what the next question and WatchPaths start from.
func (a *Adapter) remember(c *call, roots []string, stuck []stuckEntry) {
	watch := registryFolders(roots)
	for i := range stuck { // history.jsonl tells where they went
		if root := stuck[i].root; !slices.Contains(watch, root) {
			watch = append(watch, root)
		}
	}
	entries := make(map[proc.Identity]entry)
	for _, s := range c.sessions {
		for _, e := range s.live {
			entries[e.process.Identity] = e.entry
		}
		if s.file != nil && (s.judgedByTranscript() || s.behind) && !slices.Contains(watch, s.file.dir) {
			watch = append(watch, s.file.dir)
		}
	}
	slices.Sort(watch)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.watch, a.entries = watch, entries
	a.outlive(c.sessions)
	if a.paths == nil || len(c.q.IDs) == 0 {
		a.paths = make(map[string]string, len(c.sessions))
	}
	for id, s := range c.sessions {
		if s.file != nil {
			a.paths[id] = s.file.path
		}
	}
	a.cache.trim()
}

func lookedIn(roots []string) []string {
	var places []string
	for _, root := range roots {
		places = append(places, filepath.Join(root, "sessions"), filepath.Join(root, "projects"))
	}
	return places
}

// exists says whether one of the folders is there, readable or not.
func exists(roots []string) bool {
	for _, root := range roots {
		if _, err := os.Stat(root); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// WatchPaths implements adapters.Watcher: the folders of the registry; the
// project folders of the live sessions that no registry tells the status of, or
// whose last answer is not written yet; and the roots of versions whose registry
// doesn't follow /clear.
func (a *Adapter) WatchPaths() []string {
	a.mu.Lock()
	known := a.watch
	a.mu.Unlock()
	if known == nil {
		known = registryFolders([]string{realPath(a.configDir())})
	}
	var there []string
	for _, path := range known {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			there = append(there, path)
		}
	}
	return there
}

// registryFolders are the folders in which a session's start shows first: the
// registry; or, before the first entry made it, the root, where older versions
// also write history.jsonl at each prompt.
func registryFolders(roots []string) []string {
	var paths []string
	for _, root := range roots {
		sessions := filepath.Join(root, "sessions")
		if _, err := os.Stat(sessions); err != nil {
			sessions = root
		}
		paths = append(paths, sessions)
	}
	return paths
}
