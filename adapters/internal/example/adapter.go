// Package example is the adapter of docs/adding-an-agent.md: a small but complete one, for an
// agent that exists only in tests. It passes the conformance suite, and is not part of the
// program.
//
// The agent keeps one file per session, ~/.example/sessions/<id>.jsonl, and appends one record
// per line: session, process, prompt, ask, answer. The record "process" has the pid and start
// time of each process that opens or resumes the session.
package example

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/proc"
)

// Adapter implements adapters.Adapter and the optional interfaces below. It keeps
// nothing between two calls. An adapter whose agent has many sessions keeps what it
// parsed of each file, but never a status.
type Adapter struct {
	home  string
	table proc.Lister
	now   func() time.Time
}

var (
	_ adapters.Adapter      = (*Adapter)(nil)
	_ adapters.Describer    = (*Adapter)(nil)
	_ adapters.Watcher      = (*Adapter)(nil)
	_ adapters.ProcessOwner = (*Adapter)(nil)
	_ adapters.Peeker       = (*Adapter)(nil)
	_ adapters.Launcher     = (*Adapter)(nil)
)

// Name is the agent's name, on the command line and in JSON.
const Name adapters.Name = "example"

var description = adapters.Register(adapters.Description{
	Name: Name, Title: "Example", Short: "ex", Folders: []string{".example"},
	Program: "example", Install: "npm install -g example-agent", Processes: []string{"example"},
}, (*Adapter)(nil))

// New makes the adapter. It reads nothing yet.
func New(cfg adapters.Config) *Adapter {
	cfg = cfg.WithDefaults()
	return &Adapter{home: cfg.Home, table: cfg.Table, now: cfg.Now}
}

// Name implements adapters.Adapter.
func (a *Adapter) Name() adapters.Name { return Name }

// Describe implements adapters.Describer.
func (a *Adapter) Describe() adapters.Description { return description }

func (a *Adapter) store() string { return filepath.Join(a.home, ".example", "sessions") }

// WatchPaths implements adapters.Watcher: each step of a session appends to a file
// in this folder.
func (a *Adapter) WatchPaths() []string {
	if info, err := os.Stat(a.store()); err != nil || !info.IsDir() {
		return nil
	}
	return []string{a.store()}
}

// OwnsProcess implements adapters.ProcessOwner.
func (a *Adapter) OwnsProcess(p proc.Process) bool { return p.Comm == "example" }

// Discover implements adapters.Adapter.
func (a *Adapter) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	return agentproc.Ask(ctx, a.table, func() (adapters.Roll, error) { return a.look(ctx, q) })
}

// look reads the process table first and the files after it. agentproc.Ask repeats it
// when a session changed in between.
func (a *Adapter) look(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	answer := kit.NewAnswer()
	answer.LookedIn(a.store())
	running, err := a.processes(ctx)
	if err != nil {
		answer.Problem(problem("process table", err))
	}
	entries, err := os.ReadDir(a.store())
	if errors.Is(err, fs.ErrNotExist) {
		return answer.Absent()
	}
	if err != nil {
		answer.Problem(adapters.Unreadable(a.store(), err))
	}
	slices.SortFunc(entries, newestFirst) // if time runs out, those written last are listed
	skipped := map[string]int{}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".jsonl" {
			continue
		}
		path := filepath.Join(a.store(), e.Name())
		f, err := readFile(ctx, path, skipped)
		if err != nil {
			answer.Problem(problem(path, err))
			continue
		}
		if s := a.session(f, running); f.id != "" && wanted(&s, q) {
			answer.Add(s)
		}
	}
	answer.SkipAll(skipped)
	return answer.Result(ctx, description.Title)
}

func newestFirst(a, b fs.DirEntry) int { return written(b).Compare(written(a)) }

func written(e fs.DirEntry) time.Time {
	info, err := e.Info()
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// processes returns the live processes by pid. It is nil when they are not known.
func (a *Adapter) processes(ctx context.Context) (map[int]proc.Process, error) {
	list, err := a.table.List(ctx)
	if err != nil {
		return nil, err
	}
	running := make(map[int]proc.Process, len(list))
	for _, p := range list {
		running[p.PID] = p
	}
	return running, nil
}

// wanted reports whether a query asks for a session.
func wanted(s *adapters.Session, q adapters.Query) bool {
	if q.IDs != nil {
		return slices.Contains(q.IDs, s.ID)
	}
	return s.Live() || !s.LastActivityAt.Before(q.Since)
}

// problem returns err, a failure to read the file at path, as an *adapters.Problem.
func problem(path string, err error) error {
	if errors.Is(err, errUnknownForm) {
		return adapters.Unrecognised(path, "%w", err)
	}
	return adapters.AsProblem(path, err)
}
