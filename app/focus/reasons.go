package focus

import (
	"fmt"
	"runtime"
	"strings"
)

const (
	noteBackground = "it runs in the background: no terminal shows it"
	noteGNOME      = "GNOME on Wayland lets no program raise another one's window"
)

// whyNoWindow returns why no window of a place is known.
func (r *request) whyNoWindow(p *Place) string {
	terminal, err := r.table.Terminal(p.Process)
	known := err == nil
	from, _, _ := strings.Cut(p.vars["SSH_CONNECTION"], " ")
	switch {
	case known && terminal == "":
		return noteBackground
	case strings.HasPrefix(terminal, "/dev/tty") && runtime.GOOS == "linux":
		number := strings.TrimPrefix(terminal, "/dev/tty")
		return fmt.Sprintf("it runs on the text console %s: press Ctrl+Alt+F%s", number, number)
	case from != "" && !strings.ContainsFunc(from, func(c rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF.:%", c) }):
		return "it runs in a login over SSH from " + from + ": its terminal is there"
	case r.failed != nil:
		return r.failed.Error()
	case len(r.desktops) == 0 && runtime.GOOS == "linux" && r.getenv("WAYLAND_DISPLAY") == "":
		return "Rollcall runs outside of a desktop here: DISPLAY is not set"
	}
	return r.whyNotListed()
}

// whyNotListed returns why the desktop does not list a window that is there.
func (r *request) whyNotListed() string {
	if runtime.GOOS != "linux" || r.getenv("WAYLAND_DISPLAY") == "" {
		return "no window of its terminal is known here"
	}
	desktop := strings.ToUpper(r.getenv("XDG_CURRENT_DESKTOP"))
	switch {
	case strings.Contains(desktop, "GNOME"):
		return noteGNOME
	case len(r.desktops) == 0 || len(r.desktops) == 1 && r.desktops[0].Name() == x11Name:
		return "this Wayland desktop lets no program raise another one's window"
	}
	return "no window of its terminal is known here"
}
