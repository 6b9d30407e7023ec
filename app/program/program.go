// Package program assembles the program: it opens the adapters and records for the commands, according to the user's
// settings, and runs the command line.
package program

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"

	"rollcall/adapters"
	"rollcall/adapters/all"
	"rollcall/adapters/openclaw"
	"rollcall/app/cli"
	"rollcall/app/fuse"
	"rollcall/app/keep"
	"rollcall/app/launch"
	"rollcall/app/settings"
	"rollcall/app/store"
	"rollcall/proc"
)

// Run runs the program with this process's arguments and returns its exit code.
// version is the one that the linker set, or empty; build is "desktop" or "headless";
// addDesktop adds the tray and the window, where this build has them.
func Run(version, build string, addDesktop func(*cli.Deps)) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends what does not end by itself
	deps := cli.Deps{Open: openAdapters, Launches: openLaunches, Fuses: openFuses, Settings: loadSettings,
		Version: cli.BuildVersion(version, build), Getenv: os.Getenv, Leave: os.Exit}
	kept(&deps)
	addDesktop(&deps)
	code := cli.Execute(ctx, os.Args[1:], cli.Console(), deps)
	if ctx.Err() == nil {
		revive(&deps)
	}
	return code
}

// kept makes the user's keeper the parent of launches, and the one that fires fuses. It does nothing where Rollcall's
// state folder is not known, which every other command reports.
func kept(deps *cli.Deps) {
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
	deps.Keep = func(ctx context.Context) error { return runKeeper(ctx, state, deps.Version.Version) }
}

// runKeeper runs the keeper until it ends by itself or ctx is done.
func runKeeper(ctx context.Context, state, version string) error {
	launches, err := openLaunches()
	if err != nil {
		return err
	}
	fuses, err := openFuses()
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	set, err := loadSettings()
	if err != nil {
		log.Warn("some settings are not used", "error", err)
	}
	agents, table := openAdapters()
	return keep.Run(ctx, keep.Config{State: state, Launches: launches, Fuses: fuses, Agents: agents, Table: table, Webhook: set.Webhook,
		Version: version, Log: log})
}

// revive starts a keeper if the last one was killed while there was something to keep.
func revive(deps *cli.Deps) {
	if deps.Keeper == nil || slices.ContainsFunc(os.Args[1:], func(arg string) bool {
		return arg == "keep" || arg == "version" || arg == "prune" || strings.HasPrefix(arg, "__complete")
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
	deps.Keeper.Revive(launches, fuses)
}

// openAdapters returns the adapters of all agents, and the process table.
func openAdapters() ([]adapters.Adapter, proc.Lister) {
	table := proc.Open()
	set, _ := loadSettings()
	cfg := all.Config{AllowPlaintext: set.OpenClaw.AllowPlaintext}
	for _, g := range set.OpenClaw.Gateways {
		cfg.Gateways = append(cfg.Gateways, openclaw.Gateway{URL: g.URL, Token: g.Token, Name: g.Name})
	}
	return all.New(table, cfg), table
}

// loadSettings reads the user's settings once. With an error it returns the settings
// that could be understood.
var loadSettings = sync.OnceValues(func() (settings.Settings, error) {
	path, err := store.SettingsPath()
	if err != nil {
		return settings.Settings{}, err
	}
	return settings.Load(path)
})

// openLaunches opens the records of Rollcall's launches. It creates nothing on disk.
func openLaunches() (*launch.Launches, error) {
	state, err := store.StatePath()
	if err != nil {
		return nil, err
	}
	return launch.In(state, proc.Open()), nil
}

// openFuses opens the user's fuses. It creates nothing on disk.
func openFuses() (*fuse.Fuses, error) {
	state, err := store.StatePath()
	if err != nil {
		return nil, err
	}
	return fuse.In(store.Below(state, store.Fuses)), nil
}
