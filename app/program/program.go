// Package program assembles the program: it opens what the commands work with, as the
// user's settings say, and runs the command line.
package program

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"rollcall/adapters"
	"rollcall/adapters/all"
	"rollcall/adapters/openclaw"
	"rollcall/app/cli"
	"rollcall/app/fuse"
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
	addDesktop(&deps)
	return cli.Execute(ctx, os.Args[1:], cli.Console(), deps)
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
