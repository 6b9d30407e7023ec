//go:build desktop && !headless

package window

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/internal/desktoptest"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// journey opens a window over sessions that ask, and one with a long conversation. It returns the folder that a launch can work in.
func journey(t *testing.T, o desktoptest.Options) (*process, string) {
	d := newScreen(t, o)
	folder := t.TempDir()
	work := filepath.Join(folder, "work")
	must.Do(t, os.Mkdir(work, 0o700))
	agent := exec.Command("sleep", "600")
	must.Do(t, agent.Start())
	t.Cleanup(func() {
		_ = agent.Process.Kill()
		_ = agent.Wait()
	})
	p := d.open(fmt.Sprint(walkVariable, "=", agent.Process.Pid), settingsVariable+"="+filepath.Join(folder, "config.toml"), journeyVariable+"="+folder)
	p.activate()
	d.drawn()
	return p, work
}

// place returns the place in the window, in pixels, of what has this text; ok is false while nothing in sight has it.
func (p *process) place(text string) (x, y int, ok bool) {
	p.d.t.Helper()
	if _, err := fmt.Fprintln(p.stdin, "where", text); err != nil {
		p.d.t.Fatal(err)
	}
	n, _ := fmt.Sscan(p.says("where"), &x, &y)
	return x, y, n == 2
}

// sees waits until a text is in sight.
func (p *process) sees(text string) {
	p.d.t.Helper()
	eventually.True(p.d.t, "the text "+text, func() bool {
		_, _, ok := p.place(text)
		return ok
	})
}

// point moves the pointer to what has this text, and presses a button of the mouse there, n times.
func (p *process) point(text string, button, n int) {
	p.d.t.Helper()
	p.sees(text)
	x, y, _ := p.place(text)
	var left, top int
	for line := range strings.Lines(p.d.xdotool("getwindowgeometry", "--shell", p.id)) {
		_, _ = fmt.Sscanf(line, "X=%d", &left)
		_, _ = fmt.Sscanf(line, "Y=%d", &top)
	}
	for range n {
		must.Do(p.d.t, p.d.Click(left+x, top+y, button))
	}
}

// clickUntil clicks what has this text until done reports that it had its effect: a button may not take clicks yet.
func (p *process) clickUntil(text, what string, done func() bool) {
	p.d.t.Helper()
	pause := time.Second // longer than a request must be in sight, and longer each time: each click that comes too early begins that time again
	eventually.True(p.d.t, what, func() bool {
		if _, _, ok := p.place(text); ok {
			p.point(text, 1, 1)
		}
		time.Sleep(pause)
		pause = pause * 3 / 2
		return done()
	})
}

func isThere(path, want string) func() bool {
	return func() bool {
		text, _ := os.ReadFile(path)
		return string(text) == want
	}
}

// TestDesktopJourneyByKeys: by keys alone the user allows, denies with a message, finds in a long conversation and reads it to its ends, launches, searches, reads the
// usage, changes a setting, and comes back. The focus is in sight at every step, and Fyne logs nothing.
func TestDesktopJourneyByKeys(t *testing.T) {
	p, work := journey(t, desktoptest.Options{})
	d := p.d
	d.key("ctrl+0")
	p.tabTo("*ui.sessionList")
	d.press(p, "a y", "asks-0 allow []")
	eventually.True(t, "the line for a message", func() bool {
		d.key("d")
		time.Sleep(time.Second)
		_, text := p.focus()
		return strings.HasPrefix(text, "Why not")
	})
	d.key("ctrl+a")
	must.Do(t, d.Type(d.ctx, "use npm"))
	d.shootSoon("journey-deny")
	d.press(p, "Return", "asks-1 deny use npm[]")

	d.key("ctrl+1")
	p.tabTo("*ui.sessionList")
	d.key("slash")
	must.Do(t, d.Type(d.ctx, journeyTitle))
	d.key("Return")
	p.focusIs("*ui.sessionList")
	d.key("Home", "Return")
	p.sees("Message 5000 says little.")
	d.key("ctrl+f")
	p.focusIs("Find in this conversation")
	must.Do(t, d.Type(d.ctx, "needle"))
	p.sees("5 of 5 in the last 500 messages")
	d.key("F3")
	p.sees("1 of 5 in the last 500 messages")
	p.sees("Message 4550 says little. Here is a needle.")
	d.shootSoon("journey-find")
	d.key("shift+F3")
	p.sees("5 of 5 in the last 500 messages")
	d.key("Escape")
	p.tabTo("Stop…")
	d.key("Home")
	p.sees("Message 4501 says little.")
	d.key("Next", "Next")
	d.key("End")
	p.sees("Message 5000 says little.")

	d.key("ctrl+n")
	must.Do(t, d.Type(d.ctx, "begin"))
	p.tabTo("/home/me/project")
	d.key("ctrl+a")
	must.Do(t, d.Type(d.ctx, work))
	d.key("ctrl+Return")
	eventually.True(t, "the launch", isThere(filepath.Join(work, "launched"), "begin"))
	d.shootSoon("journey-launch")

	d.key("ctrl+5")
	p.focusIs("retry the upload")
	must.Do(t, d.Type(d.ctx, "canary"))
	p.tabTo("*widgets.List")
	d.key("Return")
	p.says("the hit is read")
	p.sees("1 of 1")
	d.shootSoon("journey-search")
	d.key("ctrl+6")
	p.says("usage of ")
	p.tabTo("Last 30 days")
	d.key("ctrl+comma")
	p.tabTo("Same as the desktop")
	d.key("ctrl+1")
	p.tabTo("*ui.sessionList")
	d.key("ctrl+w")
	p.end()
}

// TestDesktopJourneyByMouse: by clicks and the wheel alone, but for what has to be typed, the same ways lead to the same ends.
func TestDesktopJourneyByMouse(t *testing.T) {
	p, work := journey(t, desktoptest.Options{Dark: true})
	d := p.d
	answered := func(want string) func() bool {
		return func() bool {
			for len(p.said) > 0 {
				p.heard = append(p.heard, <-p.said)
			}
			return slices.Contains(p.heard, want)
		}
	}
	p.point("Needs you", 1, 1)
	p.clickUntil("Allow once (A)", "the second question", func() bool { _, _, ok := p.place("Yes, allow it once (Y)"); return ok })
	p.clickUntil("Yes, allow it once (Y)", "the answer", answered("asks-0 allow []"))
	p.clickUntil("Deny… (D)", "the line for a message", func() bool { _, _, ok := p.place("Send the denial (Enter)"); return ok })
	must.Do(t, d.Type(d.ctx, "use npm"))
	p.clickUntil("Send the denial (Enter)", "the denial", answered("asks-1 deny use npm[]"))

	p.point("Idle", 1, 1)
	p.sees("Message 5000 says little.")
	p.point("Message 5000 says little.", 4, 60)
	p.sees("Show earlier messages")
	p.point("Show earlier messages", 1, 1)
	p.point("Search", 1, 1)
	must.Do(t, d.Type(d.ctx, "canary"))
	p.point("Deploy the shop to the ", 1, 1)
	p.says("the hit is read")
	p.sees("1 of 1")
	p.point("Usage", 1, 1)
	p.says("usage of ")
	p.point("More", 1, 1)
	p.point("Settings", 1, 1)
	p.sees("Same as the desktop")
	p.point("New agent", 1, 1)
	must.Do(t, d.Type(d.ctx, "begin"))
	p.point("/home/me/project", 1, 1)
	d.key("ctrl+a")
	must.Do(t, d.Type(d.ctx, work))
	p.clickUntil("Launch", "the launch", isThere(filepath.Join(work, "launched"), "begin"))
	d.shootSoon("journey-mouse-launch")
	p.point("All sessions", 1, 1)
	p.tabTo("*ui.sessionList")
	d.key("ctrl+w")
	p.end()
}
