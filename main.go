// Rollcall calls the roll of the coding agents on a machine: who is working, who
// waits for the user, who is done.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"golang.org/x/term"

	"rollcall/adapters"
	"rollcall/adapters/all"
	"rollcall/app/cli"
	"rollcall/proc"
)

// version is set by the linker: -ldflags "-X main.version=0.1.0".
var version = ""

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends what does not end by itself
	deps := cli.Deps{Open: open, Version: buildVersion(), Getenv: os.Getenv}
	desktop(&deps)
	attachConsole()
	return cli.Execute(ctx, os.Args[1:], streams(), deps)
}

func open() ([]adapters.Adapter, proc.Lister) {
	table := proc.Open()
	return all.New(table), table
}

func streams() cli.Streams {
	s := cli.Streams{Out: os.Stdout, Err: os.Stderr}
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
