//go:build headless

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"rollcall/app/cli"
)

const build = "headless"

// addDesktop adds the tray and the window of the desktop program, if its file is next to this one: the installer puts this
// program, which has a console, into the same folder as rollcall.com. A command prompt finds rollcall.com before
// rollcall.exe, waits for it and shows what it prints, as it does not for a program that has a window.
func addDesktop(deps *cli.Deps) {
	self, err := os.Executable()
	if err != nil || !strings.EqualFold(filepath.Ext(self), ".com") {
		return
	}
	desktop := strings.TrimSuffix(self, filepath.Ext(self)) + ".exe"
	if _, err := os.Stat(desktop); err != nil {
		return
	}
	start := func() error {
		if err := exec.Command(desktop, os.Args[1:]...).Start(); err != nil { // this program's own arguments
			return fmt.Errorf("cannot start %s: %w", desktop, err)
		}
		return nil
	}
	deps.Tray = func(context.Context) error { return start() }
	deps.Window = func(context.Context, cli.WindowOptions) error { return start() }
}
