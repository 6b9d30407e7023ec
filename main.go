// Rollcall calls the roll of the coding agents on a machine: who is working, who
// waits for the user, who is done.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"sync"
	"syscall"

	"golang.org/x/term"

	"rollcall/adapters"
	"rollcall/adapters/all"
	"rollcall/adapters/openclaw"
	"rollcall/app/cli"
	"rollcall/app/fuse"
	"rollcall/app/instance"
	"rollcall/app/launch"
	"rollcall/app/settings"
	"rollcall/app/store"
	"rollcall/proc"
)

// version is set by the linker: -ldflags "-X main.version=0.1.0".
var version = ""

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends what does not end by itself
	deps := cli.Deps{Open: open, Launches: launches, Fuses: fuses, Settings: userSettings, Version: buildVersion(), Getenv: os.Getenv}
	desktop(&deps)
	attachConsole()
	return cli.Execute(ctx, os.Args[1:], streams(), deps)
}

func open() ([]adapters.Adapter, proc.Lister) {
	table := proc.Open()
	set, _ := userSettings()
	cfg := all.Config{AllowPlaintext: set.OpenClaw.AllowPlaintext}
	for _, g := range set.OpenClaw.Gateways {
		cfg.Gateways = append(cfg.Gateways, openclaw.Gateway{URL: g.URL, Token: g.Token, Name: g.Name})
	}
	return all.New(table, cfg), table
}

// userSettings are read once. With an error they are those that could be
// understood.
var userSettings = sync.OnceValues(func() (settings.Settings, error) {
	path, err := settings.Path()
	if err != nil {
		return settings.Settings{}, err
	}
	return settings.Load(path)
})

// launches are what Rollcall keeps of its launches. Nothing is made on disk.
func launches() (*launch.Launches, error) {
	state, err := instance.StatePath()
	if err != nil {
		return nil, err
	}
	return launch.In(state, proc.Open()), nil
}

// fuses are the user's fuses. Nothing is made on disk.
func fuses() (*fuse.Fuses, error) {
	state, err := instance.StatePath()
	if err != nil {
		return nil, err
	}
	return fuse.In(store.In(filepath.Join(state, "fuses"))), nil
}

func streams() cli.Streams {
	s := cli.Streams{Out: os.Stdout, Err: os.Stderr}
	if term.IsTerminal(int(os.Stdin.Fd())) {
		s.In = os.Stdin
	}
	fd := int(os.Stdout.Fd())
	if !term.IsTerminal(fd) {
		return s
	}
	s.Color = enableColor(fd)
	s.Width = 80
	if width, _, err := term.GetSize(fd); err == nil && width > 0 {
		s.Width = width
	}
	return s
}

// buildVersion is what the linker and the Go tool know of this build.
func buildVersion() cli.Version {
	v := cli.Version{Version: version, Build: build}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if v.Version == "" {
		v.Version = info.Main.Version
	}
	dirty := false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.time":
			v.Date = s.Value
		case "vcs.modified":
			dirty = s.Value == "true"
		}
	}
	if dirty && v.Commit != "" {
		v.Commit = fmt.Sprintf("%.12s+changes", v.Commit)
	}
	return v
}
