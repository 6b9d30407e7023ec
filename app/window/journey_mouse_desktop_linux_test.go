//go:build desktop && !headless

package window

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"rollcall/internal/desktoptest"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// place returns where on the screen a text is, which may begin with "last "; ok is false if it is not in sight.
func (p *process) place(text string) (x, y int, ok bool) {
	p.d.t.Helper()
	if _, err := fmt.Fprintln(p.stdin, "where", text); err != nil {
		p.d.t.Fatal(err)
	}
	n, _ := fmt.Sscan(p.says("where "), &x, &y)
	left, top, _, _ := p.bounds()
	return left + x, top + y, n == 2
}

// bounds returns where the window is on the screen.
func (p *process) bounds() (x, y, width, height int) {
	p.d.t.Helper()
	var id, screen int
	shown := p.d.xdotool("getwindowgeometry", "--shell", p.id)
	if n, err := fmt.Sscanf(shown, "WINDOW=%d\nX=%d\nY=%d\nWIDTH=%d\nHEIGHT=%d\nSCREEN=%d", &id, &x, &y, &width, &height, &screen); n < 5 {
		p.d.t.Fatalf("the window's place: %v in %q", err, shown)
	}
	return x, y, width, height
}

// click clicks on a text as soon as it is in sight, and where it is a button, enabled.
func (p *process) click(text string) {
	p.d.t.Helper()
	eventually.True(p.d.t, "the text "+text, func() bool {
		x, y, ok := p.place(text)
		if ok {
			must.Do(p.d.t, p.d.Click(x, y, 1))
		}
		return ok
	})
}

// The buttons of the pointer that the wheel presses.
const wheelUp, wheelDown = 4, 5

// wheelTo turns the wheel over the conversation until a text is in sight.
func (p *process) wheelTo(button int, text string) {
	p.d.t.Helper()
	left, top, width, height := p.bounds()
	eventually.True(p.d.t, "the text "+text+" by the wheel", func() bool {
		for range 30 {
			must.Do(p.d.t, p.d.Click(left+width*3/4, top+height*2/3, button))
		}
		_, _, ok := p.place(text)
		return ok
	})
}

// TestDesktopJourneyByMouse: with the mouse, and keys for texts alone, the user allows, denies with a message, reads a long conversation to its ends and finds in it,
// launches, searches, reads the usage of a year, changes a setting, and comes back. Fyne logs nothing.
func TestDesktopJourneyByMouse(t *testing.T) {
	p, work := journey(t, desktoptest.Options{})
	d := p.d
	long := "Claude Code · " + journeyTitle // the second line of its row
	p.click("Needs you")
	p.click("Allow once (A)")
	p.click("Yes, allow it once (Y)")
	p.says("asks-0 allow []")
	p.click("Deny… (D)")
	p.focusIs("Why not, for the agent: Enter sends the denial, Esc leaves it")
	must.Do(t, d.Type(d.ctx, "use npm"))
	d.shootSoon("mouse-deny")
	p.click("Send the denial (Enter)")
	p.says("asks-1 deny use npm[]")

	p.click("All sessions")
	p.click(long)
	p.sees("Message 5000 says little.")
	for _, oldest := range []string{"4951", "4801", "4651", "4501"} {
		p.wheelTo(wheelUp, "Message "+oldest+" says little.")
		if oldest != "4501" {
			p.click("Show earlier messages")
		}
	}
	p.wheelTo(wheelDown, "Message 5000 says little.")
	p.click("last icon more")
	p.click("Find (Ctrl+F)")
	p.focusIs("Find in this conversation")
	must.Do(t, d.Type(d.ctx, "needle"))
	p.sees("5 of 5 in the last 500 messages")
	p.click("icon up")
	p.sees("4 of 5 in the last 500 messages")
	d.shootSoon("mouse-find")
	p.click("icon opened")
	p.sees("5 of 5 in the last 500 messages")
	p.click("icon clear")

	p.click("New agent")
	p.click("/home/me/project")
	p.focusIs("/home/me/project")
	d.key("ctrl+a")
	must.Do(t, d.Type(d.ctx, work))
	p.click("Find out why the parser test fails once in twenty runs, and fix the cause.")
	must.Do(t, d.Type(d.ctx, "begin"))
	p.click("Launch")
	eventually.True(t, "the launch", isThere(filepath.Join(work, "launched"), "begin"))
	d.shootSoon("mouse-launch")

	p.click("Search")
	p.focusIs("retry the upload")
	must.Do(t, d.Type(d.ctx, "canary"))
	p.click("canary")
	p.says("the hit is read")
	p.sees("1 of 1")
	d.shootSoon("mouse-search")
	p.click("Usage")
	p.says("usage of ")
	p.click("Last 30 days")
	p.click("Last year")
	p.says("usage of 36")
	d.shootSoon("mouse-usage")
	p.click("More")
	p.click("Settings")
	p.click("Same as the desktop")
	p.click("Dark")
	eventually.True(t, "the setting", func() bool {
		text, _ := os.ReadFile(filepath.Join(filepath.Dir(work), "config.toml"))
		return string(text) == "theme = \"dark\"\n"
	})
	eventually.True(t, "the dark window", d.isDark)
	d.shootSoon("mouse-settings")
	p.click("All sessions")
	p.sees(long)
	d.key("ctrl+w")
	p.end()
}
