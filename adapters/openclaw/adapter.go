// Package openclaw reports the sessions of OpenClaw gateways.
//
// A gateway is asked over its WebSocket protocol, version 4, at every question.
// Its sessions have no separate processes: while it answers, a session works, waits or
// is idle as its row says (hasActiveRun) and as the gateway's lists of pending
// approvals and questions say. Gateways are found through the user's settings, the
// environment, the state folders (~/.openclaw and those of profiles) and the running
// processes; the failure of one does not affect the others. The sessions of a gateway
// on this machine that does not run, or that refuses to answer, are read from its state folder instead.
//
// Facts were learned from OpenClaw 2026.9.6, 2026.7.1 and 2026.6.1 on Linux.
package openclaw

import (
	"context"
	"slices"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
)

// Gateway is a gateway that the user named in the settings.
type Gateway struct {
	URL   string // ws://, wss://, http:// or https://
	Token string // gateway.auth.token, or the password of a gateway that requires one
	Name  string // shown as the session's Remote; the URL if empty
}

// Config holds where to look for gateways, and which other ones to ask.
type Config struct {
	adapters.Config
	// Gateways lists the gateways to ask in addition to those that are found. One that
	// is also found is asked once, with the token given here.
	Gateways []Gateway
	// AllowPlaintext permits sending tokens without TLS to gateways on other machines.
	AllowPlaintext bool
}

// Adapter implements adapters.Adapter, adapters.Watcher, adapters.Pusher, adapters.Stopper,
// adapters.Peeker and adapters.ProcessOwner. It keeps no status. It keeps in memory which gateway has
// which session, the first prompts, and, while Push runs, one connection for each gateway.
type Adapter struct {
	*kit.Base
	cfg   Config
	limit time.Duration // answerLimit

	ids       sessionIDs
	prompts   prompts
	usages    usages
	databases databases
	pusher    pusher
}

var _ interface {
	adapters.Adapter
	adapters.Describer
	adapters.Watcher
	adapters.Pusher
	adapters.Stopper
	adapters.Peeker
	adapters.ProcessOwner
	adapters.Searcher
	adapters.Answerer
	adapters.Prompter
} = (*Adapter)(nil)

// New makes the adapter. It reads and connects to nothing yet.
func New(cfg Config) *Adapter {
	cfg.Config = cfg.WithDefaults()
	base := kit.NewBase(cfg.Config, description)
	base.Table = cfg.Table // a container's gateway is reached by its port, not by its files
	return &Adapter{Base: base, cfg: cfg, limit: answerLimit}
}

// Name is the agent's name, on the command line and in JSON.
const Name adapters.Name = "openclaw"

var description = adapters.Register(adapters.Description{
	Name: Name, Title: "OpenClaw", Short: "claw", Folders: []string{".openclaw", ".clawdbot", ".moltbot"},
	Program: "openclaw", Install: "npm install -g openclaw", Processes: agentproc.NamesOf("openclaw", "openclaw-gateway"),
}, (*Adapter)(nil))

// Discover implements adapters.Adapter. Every gateway has 3.5 s at most, so that a gateway
// that hangs does not delay the others. The sessions of a gateway on this machine that
// does not run have stopped. That it does not run is an error only if the user named it. Without Query.Totals
// the tokens and costs of only a few sessions are asked for in one call; those of sessions
// at work are not known.
func (a *Adapter) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	return a.Current.Ask(ctx, func(ctx context.Context, home string) {
		New(Config{Config: kit.Config(home, a.Table)}).find(ctx)
	}, func() (adapters.Roll, error) { return a.look(ctx, q) })
}

func (a *Adapter) look(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	f := a.find(ctx)
	a.Watch.Set(f.answer.Watched())
	a.pusher.sync(f.targets)
	if len(f.targets) == 0 && len(f.answer.Problems()) == 0 && !f.installed {
		return f.answer.Absent()
	}
	answers := make([]answer, len(f.targets))
	var asked sync.WaitGroup
	for i, t := range f.targets {
		asked.Go(func() { answers[i] = a.ask(ctx, t, q) })
	}
	asked.Wait()
	for i := range answers {
		same := func(t *target) bool { return t.name == f.targets[i].name }
		if slices.ContainsFunc(f.targets[:i], same) || slices.ContainsFunc(f.targets[i+1:], same) {
			answers[i].remote = "" // the user gave several gateways this name
		}
		answers[i].addTo(f.answer, q)
	}
	if len(f.answer.Problems()) > 0 { // the problems name the gateways that did not answer
		ctx = context.WithoutCancel(ctx)
	}
	return f.answer.Result(ctx, "OpenClaw")
}

// addTo adds a gateway's answer to that of all gateways.
func (ans *answer) addTo(all *kit.Answer, q adapters.Query) {
	all.SkipAll(ans.skipped)
	all.Problem(ans.problems...)
	if ans.remote != "" {
		all.AddRemote(ans.remote)
	}
	for _, s := range ans.sessions {
		if kit.Asked(q, s.ID) {
			all.Add(s)
			all.CountVersion(s.Version)
		}
	}
}
