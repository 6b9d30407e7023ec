//go:build !headless

package window

import (
	"context"
	"errors"
	"fmt"
	"os"

	"fyne.io/fyne/v2"
	fyneapp "fyne.io/fyne/v2/app"
	"fyne.io/fyne/v2/driver"

	"rollcall/app/self/instance"
	"rollcall/app/ui"
)

// ID identifies the application to the desktop. FyneApp.toml and the .desktop file contain the same ID.
const ID = "io.github.rollcall.Rollcall"

// ErrNoDisplay is returned if there is no display.
var ErrNoDisplay = errors.New("no display (DISPLAY and WAYLAND_DISPLAY are not set); use “rollcall list” here")

// ErrOpenGL is returned if OpenGL does not work on the display. The toolkit has logged the reason to standard error.
var ErrOpenGL = errors.New("the window needs OpenGL, which does not work on this display; use “rollcall list” here")

// ErrDisplay is returned if there is a display, but it could not be opened.
var ErrDisplay = errors.New("the display could not be opened; use “rollcall list” here")

// Core is the part of the core that the window requires; *app.Core implements it.
type Core interface {
	ui.Core
	// Run keeps the core's snapshot up to date until ctx is done.
	Run(ctx context.Context) error
}

// Options contains what Run requires in addition to the core.
type Options struct {
	// Open is what the window shows at first, in the form of the requests that Instance receives. Without a verb it is
	// the list of sessions. Where it only raises the window, the first window of this user opens at the introduction.
	Open instance.Message
	// Instance receives the requests of processes that are started later: to raise the window, to show a session, or to
	// open the launch page. It may be nil. Run does not close it.
	Instance *instance.Instance
	Icon     []byte // PNG or SVG; nil: the desktop's default
	// Content configures the window's content. Run sets its Window.
	Content ui.Options
}

// Run opens the window and calls core.Run. It returns when the window was closed or ctx is done. Fyne requires that it
// is called on the process's main goroutine, and at most once.
//
// Run returns ErrNoDisplay if there is no display, ErrDisplay if it cannot be opened, and ErrOpenGL if it has no working OpenGL.
func Run(ctx context.Context, core Core, o Options) error {
	if err := checkDisplay(); err != nil {
		return err
	}
	startNoBus()
	if dir, err := os.UserCacheDir(); err == nil {
		_ = os.MkdirAll(dir, 0o700) // Fyne creates only its own folder, not the one above it
		spareShaderCache(dir)
	}
	followScale()
	a := newApp()
	coreCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	desktop := watchScheme(coreCtx)
	isDark, known := firstScheme(desktop)
	a.Settings().SetTheme(currentTheme(o.Content.Live, isDark, known))
	win, content := newWindow(a, core, &o)
	closed := make(chan struct{})
	win.SetOnClosed(func() {
		close(closed)
		if err := storeSize(win.Canvas().Size()); err != nil {
			fmt.Fprintln(os.Stderr, "rollcall: cannot store the window's size:", err)
		}
		content.Close() // closed before Fyne's loop ends: the content must run nothing on it later
		// Fyne 2.8.1 forgets that the window is closing if Close is called again before the loop's next step, and then continues.
		a.Driver().Quit()
	})
	ended := make(chan error, 1)
	a.Lifecycle().SetOnStarted(func() {
		// Started only now, since fyne.Do waits until the loop runs.
		go func() { ended <- runCore(coreCtx, core, content) }()
		go listen(closed, o.Instance, content, win)
		go followTheme(coreCtx, a, o.Content.Live, desktop, isDark, known)
		go closeAtEnd(ctx, win, closed)
		go redrawAfterSleep(closed, win)
	})
	defer content.Close()
	if err := show(win); err != nil {
		return err
	}
	a.Run()
	cancel()
	return coreError(ended)
}

// newWindow makes the window with its content, which shows the requested page.
func newWindow(a fyne.App, core Core, o *Options) (fyne.Window, *ui.UI) {
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
	last, first := lastSize()
	win.Resize(last)
	win.CenterOnScreen()
	open(content, o, first)
	return win, content
}

// closeAtEnd closes the window when ctx is done.
func closeAtEnd(ctx context.Context, win fyne.Window, closed <-chan struct{}) {
	select {
	case <-ctx.Done():
		fyne.Do(win.Close)
	case <-closed:
	}
}

// newApp returns Fyne's application, which looks up the goroutine of a call only in a build with the race detector, as the tests have: that is three
// quarters of the time of a large refresh. The application stores no preferences, so it need not write any when it stops: Fyne 2.8.1
// writes them on a queue that it closes at the same time, which on a busy machine ends the process with a panic.
func newApp() fyne.App {
	fyneapp.SetMetadata(fyne.AppMetadata{ID: ID, Migrations: map[string]bool{"fyneDo": !checksCalls}})
	a := fyneapp.NewWithID(ID)
	if l, ok := a.Lifecycle().(interface{ SetOnStoppedHookExecuted(func()) }); ok {
		l.SetOnStoppedHookExecuted(nil)
	}
	return a
}

// open opens the requested page. A first window without such a request opens the introduction.
func open(content *ui.UI, o *Options, first bool) {
	receive(content, o.Open)
	if first && o.Open == (instance.Message{Verb: instance.Show}) {
		content.ShowIntroduction()
	}
	if first { // the introduction opens once, also if this window is killed
		if err := storeSize(defaultSize); err != nil {
			fmt.Fprintln(os.Stderr, "rollcall: cannot store the window's size:", err)
		}
	}
}

// show shows the window for the first time. It returns ErrDisplay if the display cannot be opened, in which case Fyne panics. It
// returns ErrOpenGL if no window exists afterwards: Fyne 2.8.1 would continue without one, and this process would keep others from
// opening one. A later panic is a bug, which show does not hide.
func show(win fyne.Window) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w (%v)", ErrDisplay, p)
		}
	}()
	win.Show()
	if native, ok := win.(driver.NativeWindow); ok {
		native.RunNative(func(window any) {
			if !hasHandle(window) {
				err = ErrOpenGL
			}
		})
	}
	return err
}

// hasHandle reports whether the system has created the window for Fyne's window. It returns true for a kind of window that it does not know.
func hasHandle(window any) bool {
	switch w := window.(type) {
	case driver.X11WindowContext:
		return w.WindowHandle != 0
	case driver.WindowsWindowContext:
		return w.HWND != 0
	case driver.MacWindowContext:
		return w.NSWindow != 0
	}
	return true
}

// runCore runs the core. If the core ends before ctx, it shows a warning in the window, because the list is then no
// longer updated.
func runCore(ctx context.Context, core Core, content *ui.UI) error {
	err := core.Run(ctx)
	if err != nil && ctx.Err() == nil {
		content.Warn("The list is no longer updated automatically; use Refresh. " + err.Error())
	}
	return err
}

// coreError returns the error of the core's Run, unless its context was cancelled.
func coreError(ended <-chan error) error {
	select {
	case err := <-ended:
		if errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	default:
		return nil // the core has not started or is still ending; the process ends anyway
	}
}

// listen handles requests from other processes until the window is closed.
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
	case instance.Show, "":
		content.Show(msg.Session)
	case instance.Launch:
		content.ShowLaunch()
	case instance.Settings:
		content.ShowSettings()
	case instance.Queue:
		content.ShowRequest(msg.Session)
	}
}
