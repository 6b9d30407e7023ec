//go:build !headless

package desktop

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/cli"
	"rollcall/app/control/answer"
	"rollcall/app/machine"
	"rollcall/app/owned/keep"
	"rollcall/app/owned/launch"
	"rollcall/app/owned/marks"
	"rollcall/app/settings"
	"rollcall/proc"
)

// Add adds the tray and the window to the command line.
func Add(deps *cli.Deps) {
	deps.Tray = func(ctx context.Context) error { return runTray(ctx, deps) }
	deps.Window = func(ctx context.Context, o cli.WindowOptions) error { return runWindow(ctx, deps, o, false) }
}

func logger() *slog.Logger { return slog.New(slog.NewTextHandler(os.Stderr, nil)) }

// parts are the parts that the tray and the window have in common.
type parts struct {
	deps     *cli.Deps
	core     *app.Core
	agents   []adapters.Adapter
	table    proc.Lister
	log      *slog.Logger
	launches *launch.Launches // nil: the state folder is not known
	marks    *marks.Marks     // nil: the state folder is not known
	watcher  *proc.Watcher    // nil: ends of processes are noticed on refresh only
	live     *settings.Live   // nil: there are no settings
	troubles *troubles
	machines *machine.Machines
	kept     *machine.Kept // the machines of machine add; nil: not known
}

// newParts returns the parts. The caller closes them.
func newParts(deps *cli.Deps, since time.Duration, totals bool) parts {
	log := logger()
	p := parts{deps: deps, log: log}
	p.agents, p.table = deps.Open()
	cfg := app.Config{Adapters: p.agents, Table: p.table, Since: since, Totals: totals, Log: log, Acting: deps.Acting}
	cfg.Account = func(agent adapters.Name, home string, several bool) string {
		set := p.settings()
		return set.NameAccount(agent, home, several)
	}
	if _, err := p.deps.Settings(); err != nil {
		log.Warn("some settings are not used", "error", err)
	}
	var err error
	if p.live, err = deps.Live(); err != nil {
		log.Warn("changes of the settings are not noticed", "error", err)
	}
	if p.machines, p.kept, err = deps.Machines(); err != nil {
		log.Warn("some machines are not used", "error", err)
	}
	cfg.Machines = p.machines
	if p.launches, err = p.deps.Launches(); err != nil {
		log.Warn("launches are not known", "error", err)
	} else {
		cfg.Launches = p.launches
	}
	if p.marks, err = deps.Marks(); err != nil {
		log.Warn("names of sessions are not known", "error", err)
	} else {
		cfg.Marks = p.marks
	}
	if p.watcher, err = proc.NewWatcher(proc.Open()); err != nil {
		log.Warn("ends of processes are noticed on refresh only", "error", err)
	} else {
		cfg.Watch = p.watcher
	}
	p.core = app.New(cfg)
	p.troubles = &troubles{show: p.core.ShowTroubles}
	p.applySettings()
	return p
}

// answers returns the Answers that answer the requests of sessions. Each answer must be allowed by the user's settings at that time.
func (p *parts) answers() *answer.Answers {
	return answer.New(p.core, func() settings.Answering {
		if p.live != nil {
			return p.live.Answering()
		}
		return p.settings().Answering
	})
}

// settings returns the settings as they are now.
func (p *parts) settings() settings.Settings {
	get := p.deps.Settings
	if p.live != nil {
		get = p.live.Get
	}
	set, _ := get()
	return set
}

func (p *parts) close() {
	if p.watcher != nil {
		_ = p.watcher.Close()
	}
}

// serve does the background work of a long-running process until ctx is done: it refreshes the agents of launches that
// other processes made, and starts a keeper whenever a launch, hook or fuse needs one.
func (p *parts) serve(ctx context.Context, running *sync.WaitGroup) {
	if p.launches == nil {
		return
	}
	running.Go(func() { report(p.log, p.launches.Observe(ctx, p.core)) })
	running.Go(func() { report(p.log, p.attend(ctx)) })
}

// followMachines shows the sessions of the other machines until ctx is done. It connects to the machines that the settings or machine add name, and
// follows changes of both.
func (p *parts) followMachines(ctx context.Context, running *sync.WaitGroup, since time.Duration) {
	changed := p.settingsChanges()
	running.Go(func() { p.machines.Run(ctx, since, p.core) })
	running.Go(func() {
		configured := func() []settings.Machine { return p.settings().Machines }
		report(p.log, p.machines.Follow(ctx, machine.Sources{Settings: configured, Changed: changed, Kept: p.kept, Report: p.showMachineTrouble}))
	})
}

// showMachineTrouble shows which machines of machine add are not used, and why.
func (p *parts) showMachineTrouble(err error) {
	if err == nil {
		p.troubles.set(ofMachines, nil)
		return
	}
	p.log.Warn("some machines are not used", "error", err)
	p.troubles.set(ofMachines, strings.Split(err.Error(), "\n"))
}

// attend starts a keeper whenever one is needed, and shows the keeper's troubles.
func (p *parts) attend(ctx context.Context) error {
	if p.deps.Keeper == nil {
		return nil
	}
	f, err := p.deps.Fuses()
	if err != nil {
		return err
	}
	show := func(list []string) { p.troubles.set(ofKeeper, list) }
	return p.deps.Keeper.Attend(ctx, keep.Attendance{Launches: p.launches, Fuses: f, Settings: p.deps.Settings, Changed: p.settingsChanges(), Show: show})
}

// settingsChanges returns a channel that receives when the settings have changed; nil: never.
func (p *parts) settingsChanges() <-chan struct{} {
	if p.live == nil {
		return nil
	}
	return p.live.Changes()
}
