//go:build !headless

package desktop

import (
	"cmp"
	"context"
	"fmt"
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
	"rollcall/app/owned/fuse"
	"rollcall/app/owned/keep"
	"rollcall/app/owned/launch"
	"rollcall/app/owned/marks"
	"rollcall/app/settings"
	"rollcall/app/store/quiet"
	"rollcall/notify"
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
	launches *launch.Launches
	fuses    *fuse.Fuses
	marks    *marks.Marks
	quiet    *quiet.Quiet
	live     *settings.Live
	watcher  *proc.Watcher // nil: ends of processes are noticed on refresh only
	troubles *troubles
	machines *machine.Machines
	kept     *machine.Kept // the machines of machine add

	windowFailed func(notify.Text) // notifies the user that a window of the tray ended with an error; the tray continues to run
}

// newParts returns the parts. The caller closes them. The error is that the folders of Rollcall's files are not known.
func newParts(deps *cli.Deps, since time.Duration, totals bool) (p parts, err error) {
	log := logger()
	p = parts{deps: deps, log: log}
	var errs [5]error
	p.live, errs[0] = deps.Live()
	p.launches, errs[1] = deps.Launches()
	p.fuses, errs[2] = deps.Fuses()
	p.marks, errs[3] = deps.Marks()
	p.quiet, errs[4] = deps.Quiet()
	if err := cmp.Or(errs[:]...); err != nil {
		return p, fmt.Errorf("the folders of Rollcall's files are not known: %w", err)
	}
	p.agents, p.table = deps.Open()
	cfg := app.Config{Adapters: p.agents, Table: p.table, Launches: p.launches, Marks: p.marks, Since: since, Totals: totals, Log: log, Acting: deps.Acting}
	cfg.Account = func(agent adapters.Name, home string, several bool) string {
		set := p.settings()
		return set.NameAccount(agent, home, several)
	}
	cfg.StalledAfter = func() time.Duration {
		set := p.settings()
		return set.Stalled()
	}
	if _, err := p.deps.Settings(); err != nil {
		log.Warn("some settings are not used", "error", err)
	}
	p.machines, p.kept, err = deps.Machines()
	if err != nil {
		log.Warn("some machines are not used", "error", err)
	}
	cfg.Machines = p.machines
	p.watcher, err = proc.NewWatcher(proc.Open())
	if err != nil {
		log.Warn("ends of processes are noticed on refresh only", "error", err)
	} else {
		cfg.Watch = p.watcher
	}
	p.core = app.New(cfg)
	p.troubles = &troubles{show: p.core.ShowTroubles}
	p.applySettings()
	return p, nil
}

// answers returns the Answers that answer the requests of sessions. Each answer must be allowed by the user's settings at that time.
func (p *parts) answers() *answer.Answers {
	answers := answer.New(p.core, p.live.Answering)
	answers.OneKey = p.live.OneKey
	return answers
}

// settings returns the settings as they are now.
func (p *parts) settings() settings.Settings {
	set, _ := p.live.Get()
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
	running.Go(func() { report(p.log, p.launches.Observe(ctx, p.core)) })
	running.Go(func() { report(p.log, p.attend(ctx)) })
}

// followMachines shows the sessions of the other machines until ctx is done. It connects to the machines that the settings or machine add name, and
// follows changes of both.
func (p *parts) followMachines(ctx context.Context, running *sync.WaitGroup, since time.Duration) {
	changed := p.live.Changes()
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
	show := func(list []string) { p.troubles.set(ofKeeper, list) }
	return p.deps.Keeper.Attend(ctx, keep.Attendance{Launches: p.launches, Fuses: p.fuses, Settings: p.deps.Settings, Changed: p.live.Changes(), Show: show})
}
