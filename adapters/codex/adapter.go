// Package codex reports the sessions of OpenAI's Codex CLI.
//
// A session is a thread with a rollout file. Its facts come from the beginning and the
// end of that file. It is live if a process has the file or its lock open. For threads
// in the shared daemon (0.169 starts one for its terminal interfaces), the daemon's
// socket shows whether they wait for the user. The SQLite databases add names and
// parents.
//
// The live status is determined for Codex 0.137 and later. Facts were learned from Codex 0.142.5, 0.147.0, 0.154.0,
// 0.158.0, 0.166.0, 0.169.0 and 0.171.0, and from codex-acp 0.16.0 with Codex 0.137.0 inside, on Linux. Of older versions, from 0.32
// on, the stored sessions are listed.
package codex

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/bounded"
)

// Adapter implements adapters.Adapter and adapters.Watcher. It keeps the facts
// of files that did not change in memory, never a status.
type Adapter struct {
	*kit.Base

	rollouts cache
	folders  folders
	names    names
	states   states
	limits   kit.Limits
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
	adapters.Prompter
	adapters.Limiter
} = (*Adapter)(nil)

// New makes the adapter. It reads nothing yet.
func New(cfg adapters.Config) *Adapter {
	a := &Adapter{Base: kit.NewBase(cfg, description)}
	a.rollouts.saved = kit.NewSaved[savedRollout](cfg.Facts, string(Name), factsFormat)
	return a
}

// Name is the agent's name, on the command line and in JSON.
const Name adapters.Name = "codex"

var description = adapters.Register(adapters.Description{
	Name: Name, Title: "Codex", Short: "codex", Folders: []string{".codex"},
	Program: "codex", Install: "npm install -g @openai/codex", Unarchive: "codex unarchive", Processes: agentproc.NamesOf("codex", "codex"),
	Children: adapters.ChildVariables{Session: "CODEX_THREAD_ID", OfCommands: true}, Runs: program.Runs,
}, (*Adapter)(nil))

// Discover implements adapters.Adapter. Query.Totals changes nothing: Codex counts
// tokens cumulatively, so the end of a rollout has them. Prompts, titles and errors are
// cut at 4 KiB. When the daemon's socket does not answer, Discover takes at most a
// second longer than the files take.
func (a *Adapter) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	return a.Ask(ctx, q, a.look, func(cfg adapters.Config) kit.Looker { return New(cfg).look })
}

func (a *Adapter) look(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	d := &discovery{adapter: a, query: q, now: a.Now(), answer: kit.NewAnswer(),
		mainThreads: map[*host]int{}, attended: map[string]bool{}, shownBy: map[string]*host{}}
	var roots []*root
	var absent bool
	d.running, roots, absent = a.inUse(ctx, d.answer)
	if absent {
		return d.answer.Absent()
	}
	roots = slices.DeleteFunc(roots, func(r *root) bool {
		sessions := filepath.Join(r.path, "sessions")
		answers := bounded.Answers(sessions)
		if !answers {
			d.answer.Problem(adapters.Unresponsive(sessions))
		}
		return !answers
	})
	for _, r := range roots {
		d.readRoot(ctx, r)
	}
	d.settle(roots)
	for _, r := range roots {
		d.addRoot(ctx, r)
	}
	d.addUnresponsive()
	d.addEphemeral()
	a.Watch.Set(d.answer.Watched())
	a.rollouts.endQuestion(&q)
	if q.Once { // the caches only save reading at the next call
		a.rollouts.forget()
		a.states.Forget()
		a.folders.known.Forget()
		a.folders.swept.Forget()
	}
	return d.answer.Result(ctx, "Codex")
}

// inUse returns the processes of Codex and the homes in use, and whether nothing of Codex is here.
func (a *Adapter) inUse(ctx context.Context, answer *kit.Answer) (c agentProcesses, roots []*root, absent bool) {
	rows, ok := a.Processes(ctx, answer)
	c = readProcesses(a.Table, rows)
	c.unread = !ok && len(rows) == 0
	roots = a.roots(c, answer)
	return c, roots, len(roots) == 0 && len(c.hosts) == 0 && len(answer.Problems()) == 0
}

// watchRoot adds the folders of a root that should be watched: today's folder of rollouts, the folders in which the next ones
// appear, and the writer locks.
func (d *discovery) watchRoot(r *root) {
	sessions := filepath.Join(r.path, "sessions")
	if _, err := os.Stat(sessions); err != nil {
		d.answer.Watch(r.path)
		return
	}
	today := d.now.Local()
	year := filepath.Join(sessions, today.Format("2006"))
	month := filepath.Join(year, today.Format("01"))
	d.answer.Watch(sessions, year, month, filepath.Join(month, today.Format("02")),
		filepath.Join(r.path, lockFolder))
}
