//go:build linux

// Command show runs Rollcall's tray on a virtual desktop, opens its menu, keeps
// a screenshot, prints its path and ends: what `make run` does on a machine
// without a display. The sessions are the user's own.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"image"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"rollcall/internal/desktoptest"
)

func main() {
	binary := flag.String("binary", "build/rollcall", "the desktop application")
	out := flag.String("out", "build/shots", "folder for the screenshot")
	panel := flag.String("panel", desktoptest.XfcePanel, "panel that hosts the tray")
	dark := flag.Bool("dark", false, "dark theme")
	window := flag.Bool("window", false, "open the window instead of the menu")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	path, err := show(ctx, *binary, *out, *window, desktoptest.Options{Panel: *panel, Dark: *dark})
	if err != nil {
		fmt.Fprintln(os.Stderr, "show:", err)
		os.Exit(1)
	}
	fmt.Println("Rollcall ran in the tray of a virtual desktop. Its picture:", path)
}

func show(ctx context.Context, binary, out string, window bool, o desktoptest.Options) (path string, err error) {
	d, err := desktoptest.Start(ctx, o)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	var log bytes.Buffer
	tray := exec.CommandContext(ctx, binary)
	tray.Env = environment(d.Env())
	tray.Stdout = &log
	tray.Stderr = &log
	tray.Cancel = func() error { return tray.Process.Signal(syscall.SIGTERM) }
	tray.WaitDelay = 5 * time.Second
	if err := tray.Start(); err != nil {
		return "", err
	}
	defer func() {
		_ = tray.Process.Signal(syscall.SIGTERM) // it may have ended
		if werr := tray.Wait(); err != nil {
			err = fmt.Errorf("%w\nrollcall: %s\n%s", err, fmt.Sprint(werr), log.String())
		}
	}()
	at, err := d.TrayIcon(ctx)
	if err != nil {
		return "", fmt.Errorf("no icon in the tray: %w", err)
	}
	const left, right = 1, 3
	button := right
	if window {
		button = left
	}
	if err := click(ctx, d, at, button); err != nil {
		return "", err
	}
	if window {
		if err := waitForWindow(ctx, d); err != nil {
			return "", err
		}
	}
	path, err = filepath.Abs(filepath.Join(out, "run.png"))
	if err != nil {
		return "", err
	}
	return path, d.Screenshot(path)
}

// environment returns the desktop's, with the user's own home: that is where the
// agents are.
func environment(desktop []string) []string {
	env := slices.DeleteFunc(desktop, func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return name == "HOME" || name != "XDG_RUNTIME_DIR" && strings.HasPrefix(name, "XDG_") && strings.HasSuffix(name, "_HOME")
	})
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "HOME", "USER", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "CODEX_SQLITE_HOME",
			"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "HOST_PROC", "HOST_ETC":
			env = append(env, v)
		}
	}
	return env
}

// waitForWindow waits until Rollcall's window is visible, and its contents stand still for 3 s: on a busy machine it appears
// before they do.
func waitForWindow(ctx context.Context, d *desktoptest.Desktop) error {
	var last *image.RGBA
	still := 0
	for still < 12 {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the window did not appear: %w", ctx.Err())
		case <-time.After(250 * time.Millisecond):
		}
		search := exec.CommandContext(ctx, "xdotool", "search", "--onlyvisible", "--name", "^Rollcall$")
		search.Env = d.Env()
		if search.Run() != nil { // status 1: none
			continue
		}
		now, err := d.Image()
		if err != nil {
			return err
		}
		if last != nil && bytes.Equal(now.Pix, last.Pix) {
			still++
		} else {
			still = 0
		}
		last = now
	}
	return nil
}

// click clicks with a button and waits until the screen has changed and stands still.
func click(ctx context.Context, d *desktoptest.Desktop, at image.Point, button int) error {
	before, err := d.Image()
	if err != nil {
		return err
	}
	if err := d.Click(at.X, at.Y, button); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	last, still := before, 0
	for still < 4 {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the click changed nothing: %w", ctx.Err())
		case <-tick.C:
		}
		now, err := d.Image()
		if err != nil {
			return err
		}
		if bytes.Equal(now.Pix, last.Pix) && !bytes.Equal(now.Pix, before.Pix) {
			still++
		} else {
			still = 0
		}
		last = now
	}
	return nil
}
