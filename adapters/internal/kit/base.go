package kit

import (
	"context"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/proc"
)

// Base is what adapters of agents with files in a home have in common: they embed it. It implements adapters.Adapter but for Discover,
// adapters.Describer, and Program of adapters.Launcher.
type Base struct {
	Home  string // of the user
	Env   func(string) string
	Table proc.Lister
	Now   func() time.Time
	Named func() []string // homes that the user named

	Recent  *Recent // homes that processes named
	Current List
	Watch   Watch

	description adapters.Description
}

// NewBase returns the base of an adapter with the places in which the agent keeps its files.
func NewBase(cfg adapters.Config, d adapters.Description, own ...agentproc.Own) *Base {
	cfg = cfg.WithDefaults()
	return &Base{Home: cfg.Home, Env: cfg.Env, Table: agentproc.Table(cfg.Table, cfg.Home, own...), Now: cfg.Now, Named: cfg.Homes,
		Recent: NewRecent(cfg.Places, d.Name), description: d}
}

// Name implements adapters.Adapter.
func (b *Base) Name() adapters.Name { return b.description.Name }

// Describe implements adapters.Describer.
func (b *Base) Describe() adapters.Description { return b.description }

// Program implements adapters.Launcher.
func (b *Base) Program(look func(string) (string, error)) (string, error) {
	return b.description.FindProgram(look)
}

// Looker answers one question about sessions.
type Looker func(ctx context.Context, q adapters.Query) (adapters.Roll, error)

// Ask returns what look answers, as List.Ask and agentproc.Ask have it. alone makes an adapter that reads one home alone.
func (b *Base) Ask(ctx context.Context, q adapters.Query, look Looker, alone func(adapters.Config) Looker) (adapters.Roll, error) {
	return b.Current.Ask(ctx, func(ctx context.Context, home string) {
		_, _ = alone(Config(home, b.Table))(ctx, Query(q))
	}, func() (adapters.Roll, error) {
		return agentproc.Ask(ctx, b.Table, func() (adapters.Roll, error) { return look(ctx, q) })
	})
}

// WatchPaths implements adapters.Watcher: the folders that the last question set, as far as they still exist. It reads nothing else, since the answer to
// a question is complete only once it has returned.
func (b *Base) WatchPaths() []string { return Folders(b.Watch.Folders()) }

// Processes returns the process table, and adds the problem where it can't be read. ok is false then: a process
// that is missing may have any session.
func (b *Base) Processes(ctx context.Context, answer *Answer) (rows []proc.Process, ok bool) {
	rows, err := b.Table.List(ctx)
	if err != nil {
		answer.Problem(&adapters.Problem{Kind: adapters.ErrUnreadable, Path: "process table", Err: err,
			Fix: "without it, running sessions can't be recognised"})
	}
	return rows, err == nil
}
