// Package program assembles the program: it opens the adapters and records for the commands, according to the user's
// settings, and runs the command line.
package program

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"rollcall/adapters"
	"rollcall/adapters/all"
	"rollcall/adapters/openclaw"
	"rollcall/app/cli"
	"rollcall/app/machine"
	"rollcall/app/owned/fuse"
	"rollcall/app/owned/keep"
	"rollcall/app/owned/launch"
	"rollcall/app/owned/marks"
	"rollcall/app/owned/told"
	"rollcall/app/present"
	"rollcall/app/self/instance"
	"rollcall/app/settings"
	"rollcall/app/store"
	"rollcall/app/store/homes"
	"rollcall/app/store/quiet"
	"rollcall/proc"
)

// The kernel gives a process's signals to its first thread, if that does not block them. In a call of a file system that does not answer a thread takes none, so that a
// keeper could not be terminated: nothing but the main goroutine runs on the first thread.
func init() { runtime.LockOSThread() }

// Run runs the program with this process's arguments and returns its exit code. version is the version that the linker set, or empty; build is "desktop" or
// "headless"; addDesktop adds the tray and the window, if this build has them.
func Run(version, build string, addDesktop func(*cli.Deps)) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process even if it does not end by itself
	set, _ := loadSettings()     // each command reports the errors itself
	all.Register(set.Unread)
	facts := &facts{}
	deps := cli.Deps{Open: func() ([]adapters.Adapter, proc.Lister) { return openAdapters(facts) }, WithoutCache: facts.turnOff, Launches: openLaunches, Fuses: openFuses, Settings: loadSettings, Live: liveSettings, Quiet: openQuiet, Marks: openMarks, Told: openTold, Acting: instance.TellActed, Machines: openMachines,
		Version: cli.BuildVersion(version, build), Getenv: os.Getenv, Leave: os.Exit}
	facts.version = deps.Version
	kept(&deps, build, facts)
	addDesktop(&deps)
	code := cli.Execute(ctx, os.Args[1:], cli.Console(), deps)
	if ctx.Err() == nil {
		revive(&deps)
	}
	return code
}

// kept makes the user's keeper the parent of launches and the process that fires fuses. It does nothing if the path of Rollcall's state folder is not known,
// which every other command reports.
func kept(deps *cli.Deps, build string, facts *facts) {
	state, err := store.StatePath()
	if err != nil {
		return
	}
	client := &keep.Client{State: state, Version: deps.Version.Version}
	deps.Keeper = client
	deps.Launches = func() (*launch.Launches, error) {
		l, err := openLaunches()
		if err == nil {
			l.KeptBy(client)
		}
		return l, err
	}
	deps.Fuses = func() (*fuse.Fuses, error) {
		f, err := openFuses()
		if err == nil {
			f.KeptBy(client.Ready)
		}
		return f, err
	}
	deps.Keep = func(ctx context.Context) error { return runKeeper(ctx, state, deps.Version.Version, build, facts) }
}

// runKeeper runs the keeper until it ends by itself or ctx is done.
func runKeeper(ctx context.Context, state, version, build string, facts *facts) error {
	launches, err := openLaunches()
	if err != nil {
		return err
	}
	fuses, err := openFuses()
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	agents, table := openAdapters(facts)
	return keep.Run(ctx, keep.Config{State: state, Launches: launches, Fuses: fuses, Agents: agents, Table: table, Settings: loadSettings,
		Version: version, Build: build, Log: log})
}

// revive starts a keeper if the last one was killed while there was something to keep, and says what is overdue.
func revive(deps *cli.Deps) {
	if deps.Keeper == nil || slices.ContainsFunc(os.Args[1:], func(arg string) bool {
		return arg == "keep" || arg == "version" || arg == "statusline" || arg == "prune" || arg == "uninstall" || strings.HasPrefix(arg, "__complete")
	}) {
		return
	}
	launches, err := openLaunches()
	if err != nil {
		return
	}
	fuses, err := openFuses()
	if err != nil {
		return
	}
	set, _ := loadSettings() // each command reports the errors itself
	if said := deps.Keeper.Revive(launches, fuses, &set); said != "" {
		fmt.Fprintln(os.Stderr, "rollcall: "+present.Line(said))
	}
}

// openAdapters returns the adapters of all agents, and the process table.
func openAdapters(facts *facts) ([]adapters.Adapter, proc.Lister) {
	table := proc.Open()
	set, _ := loadSettings()
	cfg := all.Config{AllowPlaintext: set.OpenClaw.AllowPlaintext, Facts: facts.cache(&set)}
	if live, err := liveSettings(); err == nil {
		cfg.Homes = func(agent adapters.Name) []string { // called at each question; uses the settings as they were last read
			now, _ := live.Get()
			return now.HomesOf(agent)
		}
		cfg.Unread = func() []adapters.Unread {
			now, _ := live.Get()
			return now.Unread
		}
		cfg.Programs = machine.Programs{}
		cfg.Token = func(agent adapters.Name) string {
			now, _ := live.Get()
			return now.Agents[agent].Token
		}
	}
	for _, g := range set.OpenClaw.Gateways {
		cfg.Gateways = append(cfg.Gateways, openclaw.Gateway{URL: g.URL, Token: g.Token, Name: g.Name})
	}
	if state, err := store.StatePath(); err == nil {
		cfg.Places = homes.In(state, slog.New(slog.NewTextHandler(os.Stderr, nil)))
		cfg.Told = told.In(state).Of
	}
	if launches, err := openLaunches(); err == nil { // without a state folder there is no launch
		cfg.Password, cfg.Outputs = launches.Password, launches.Outputs
	}
	return all.New(table, cfg), table
}

// liveSettings reads the user's settings once. Processes that run for long watch them.
var liveSettings = sync.OnceValues(func() (*settings.Live, error) {
	path, err := store.SettingsPath()
	if err != nil {
		return nil, err
	}
	return settings.NewLive(path, slog.New(slog.NewTextHandler(os.Stderr, nil))), nil
})

// loadSettings reads the user's settings as they are now: tray, watch and keeper run for days. With an error, it returns the settings that could be understood.
func loadSettings() (settings.Settings, error) {
	live, err := liveSettings()
	if err != nil {
		return settings.Settings{}, err
	}
	live.Read()
	return live.Get()
}

// openMachines opens the machines of the settings and those that machine add has stored. With an error it returns those that can be used.
func openMachines() (*machine.Machines, *machine.Kept, error) {
	state, err := store.StatePath()
	if err != nil {
		return machine.New(nil, nil), nil, err
	}
	set, _ := loadSettings()
	kept := machine.KeptIn(store.Below(state, store.Machines))
	list, err := machine.Open(set.Machines, kept)
	return machine.New(list, nil), kept, err
}

// What Rollcall has in its state folder. Opening it creates nothing on disk.
var (
	openQuiet    = inState(quiet.In)
	openMarks    = inState(marks.In)
	openTold     = inState(told.In)
	openLaunches = inState(func(state string) *launch.Launches { return launch.In(state, proc.Open()) })
	openFuses    = inState(func(state string) *fuse.Fuses { return fuse.In(store.Below(state, store.Fuses)) })
)

// inState returns a function that opens something in the state folder. Its error is that there is no such folder.
func inState[T any](open func(state string) T) func() (T, error) {
	return func() (opened T, err error) {
		state, err := store.StatePath()
		if err != nil {
			return opened, err
		}
		return open(state), nil
	}
}
