// Package opencode reports the sessions of OpenCode, and of agents that keep them in the same way.
//
// A session is a row of OpenCode's database, and its last messages show its state. OpenCode does not store which process runs it: the process
// is found by command lines, logs and folders, and if these leave a doubt, the status
// is unknown. A server on loopback is asked for the facts that are not stored.
//
// Facts were learned on Linux from OpenCode 1.17.11, 1.18.3 and 1.18.33. Of older versions
// the sessions in a database are listed, and a process is a row without a status.
package opencode

import (
	"context"
	"net/netip"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/proc"
)

// Adapter implements adapters.Adapter, Watcher, Peeker, Stopper and ProcessOwner. It keeps the
// facts of stores that did not change in memory, never a status.
type Adapter struct {
	*kit.Base
	product *Product
	// serves returns nil if the process listens at the address.
	serves func(netip.AddrPort, proc.Identity) error
	// password returns the password with which Rollcall launched a process, or "".
	password func(proc.Identity) string

	databases kit.Memo[string, *snapshot] // by path
	saved     *savedSessions              // the same between processes
	logs      kit.Memo[string, *logState] // by path
	versions  kit.Printed                 // of programs
}

var _ interface {
	adapters.Adapter
	adapters.Describer
	adapters.Watcher
	adapters.Peeker
	adapters.Stopper
	adapters.ProcessOwner
	adapters.Searcher
	adapters.Answerer
	adapters.Prompter
} = (*Adapter)(nil)

// New makes the adapter of OpenCode. It reads nothing yet.
func New(cfg adapters.Config) *Adapter { return For(openCode, cfg) }

// For makes the adapter of an agent that keeps its sessions as OpenCode does. It reads nothing yet.
func For(p *Product, cfg adapters.Config) *Adapter {
	cfg = cfg.WithDefaults()
	return &Adapter{Base: kit.NewBase(cfg, p.Description), product: p, serves: proc.CheckListenedBy, password: cfg.Password,
		saved: kit.NewSaved[facts](cfg.Facts, string(p.Name), factsFormat)}
}

// Discover implements adapters.Adapter. Query.Totals changes nothing: the rows state the sums, and those of versions up to 1.14 are
// added up in SQL. Tokens of a fork include those of the messages that it copied, as OpenCode itself counts. Prompts, titles and
// errors are cut at 4 KiB. Servers that do not answer delay the answer by a second at most.
func (a *Adapter) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	roll, err := a.Ask(ctx, q, a.look, func(cfg adapters.Config) kit.Looker { return For(a.product, cfg).look })
	if q.Once {
		a.databases.Forget() // it only saves reading at the next call
	}
	return roll, err
}

// begin reads the processes and finds the data folders.
func (a *Adapter) begin(ctx context.Context, q adapters.Query) *discovery {
	d := &discovery{adapter: a, query: q, now: a.Now(), answer: kit.NewAnswer()}
	rows, ok := a.Processes(ctx, d.answer)
	d.census, d.noTable = a.census(rows, d.now), !ok && len(rows) == 0
	d.roots = a.roots(d.census, d.now, d.answer)
	d.absent = len(d.roots) == 0 && len(d.census.hosts) == 0 && len(d.answer.Problems()) == 0
	return d
}

// look reads the processes and all stores, once.
func (a *Adapter) look(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	d := a.begin(ctx, q)
	for _, r := range d.roots {
		d.root(ctx, r)
	}
	q.AfterAnswer(func() { a.saved.Flush(q.Once) })
	d.addUnresponsive()
	if d.absent {
		return d.answer.Absent()
	}
	a.Watch.Set(d.answer.Watched())
	return d.answer.Result(ctx, a.product.Title)
}
