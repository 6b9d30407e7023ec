//go:build !headless

package window

import (
	"context"
	"errors"
	"fmt"
	"os"

	"fyne.io/fyne/v2"
	fyneapp "fyne.io/fyne/v2/app"

	"rollcall/app/instance"
	"rollcall/app/ui"
)

// ID names the application to the desktop; FyneApp.toml and the .desktop file
// have the same one.
const ID = "io.github.rollcall.Rollcall"

// ErrNoDisplay says that there is no display to open a window on.
var ErrNoDisplay = errors.New("no display (DISPLAY and WAYLAND_DISPLAY are not set); use “rollcall list” here")

// ErrDisplay says that there is a display, and that it could not be used.
var ErrDisplay = errors.New("the display could not be opened; use “rollcall list” here")

// Core is what the window needs of the core; *app.Core is one.
type Core interface {
	ui.Core
	// Run keeps the core's picture up to date until ctx is done.
	Run(ctx context.Context) error
}

// Options are what Run needs beside the core.
type Options struct {
	Session string // open at this session: its id, or an unambiguous start of it
	Launch  bool   // open the launch page
	// Instance, when set, brings the wishes of later starts: to be raised, to
	// show a session, to open the launch page. Run does not close it.
	Instance *instance.Instance
	Icon     []byte // PNG or SVG; nil: the desktop's default
	// Content is what the window's content needs beside the core: how far back it
	// lists sessions, and what can be launched, locked and cleaned up. Its Window
	// is set by Run.
	Content ui.Options
}

// Run opens the window and returns when it was closed or ctx is done. It must
// be called from the process's main goroutine, at most once: Fyne can do
// neither otherwise. It runs core.Run meanwhile.
//
// Run returns ErrNoDisplay where there is none, and ErrDisplay where it can't be
// opened. A display without OpenGL can't be told beforehand: there Fyne logs the
// reason to stderr and ends the process with exit code 1.
func Run(ctx context.Context, core Core, o Options) error {
	if err := checkDisplay(); err != nil {
		return err
	}
	keepBusAsItIs()
	if dir, err := os.UserCacheDir(); err == nil {
		_ = os.MkdirAll(dir, 0o700) // Fyne makes only its own folder there
	}
	a := fyneapp.NewWithID(ID)
	a.Settings().SetTheme(ui.Theme{})
	win := a.NewWindow("Rollcall")
	if len(o.Icon) > 0 {
		icon := fyne.NewStaticResource("rollcall", o.Icon)
		a.SetIcon(icon)
		win.SetIcon(icon)
	}
	o.Content.Window = win
	content := ui.New(core, o.Content)
	win.SetPadded(false)
	win.SetContent(content.Content())
	win.SetMaster()
	win.Resize(lastSize())
	win.CenterOnScreen()
	receive(content, instance.Message{Verb: verb(o), Session: o.Session})

	coreCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	closed := make(chan struct{})
	win.SetOnClosed(func() {
		close(closed)
		if err := rememberSize(win.Canvas().Size()); err != nil {
			fmt.Fprintln(os.Stderr, "rollcall: the window's size is not remembered:", err)
		}
		content.Close() // before Fyne's loop ends: nothing may reach it later
	})
	ended := make(chan error, 1)
	a.Lifecycle().SetOnStarted(func() {
		// Not before: what hands work to Fyne's goroutine waits for its loop.
		go func() { ended <- runCore(coreCtx, core, content) }()
		go listen(closed, o.Instance, content, win)
		go func() {
			select {
			case <-ctx.Done():
				fyne.Do(win.Close)
			case <-closed:
			}
		}()
	})
	defer content.Close()
	if err := show(win); err != nil {
		return err
	}
	a.Run()
	cancel()
	return coreError(ended)
}

// show shows the window for the first time. Fyne panics if the display can't
// be opened; a panic later on is a fault, and no business of show's.
func show(win fyne.Window) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w (%v)", ErrDisplay, p)
		}
	}()
	win.Show()
	return nil
}

// runCore runs the core, and says in the window when it ends on its own: what
// is shown then no longer follows what happens.
func runCore(ctx context.Context, core Core, content *ui.UI) error {
	err := core.Run(ctx)
	if err != nil && ctx.Err() == nil {
		content.Warn("The list is no longer kept up to date; use Refresh. " + err.Error())
	}
	return err
}

// coreError is what the core's Run ended with, if anything but its context.
func coreError(ended <-chan error) error {
	select {
	case err := <-ended:
		if errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	default:
		return nil // never started, or still on its way out: the process ends
	}
}

func verb(o Options) string {
	if o.Launch {
		return instance.Launch
	}
	return instance.Show
}

// listen passes on what other processes ask of this window.
func listen(closed <-chan struct{}, i *instance.Instance, content *ui.UI, win fyne.Window) {
	if i == nil {
		return
	}
	for {
		select {
		case <-closed:
			return
		case msg, ok := <-i.Messages():
			if !ok {
				return
			}
			fyne.Do(func() {
				receive(content, msg)
				win.Show() // out of the dock
				win.RequestFocus()
			})
		}
	}
}

func receive(content *ui.UI, msg instance.Message) {
	switch msg.Verb {
	case instance.Show:
		content.Show(msg.Session)
	case instance.Launch:
		content.ShowLaunch()
	}
}
