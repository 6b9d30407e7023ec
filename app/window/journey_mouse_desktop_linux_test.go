//go:build desktop && !headless

package window

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rollcall/internal/desktoptest"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// place returns where in the window a text is, which may begin with "last "; empty: it is not in sight.
func (p *process) place(text string) []string {
	p.d.t.Helper()
	if _, err := fmt.Fprintln(p.stdin, "where", text); err != nil {
		p.d.t.Fatal(err)
	}
	return strings.Fields(p.says("where "))
}

// press moves the pointer to a place in the window, and presses and releases a button there, several times.
func (p *process) press(at []string, times int, button string) {
	p.d.xdotool("mousemove", "--window", p.id, at[0], at[1], "click", "--repeat", fmt.Sprint(times), "--delay", "5", button)
}

// click clicks on a text as soon as it is in sight and does not move, and where it is a button, enabled.
func (p *process) click(text string) {
	p.d.t.Helper()
	var was []string
	eventually.True(p.d.t, "the text "+text, func() bool {
		at := p.place(text)
		isStill := len(at) == 2 && slices.Equal(at, was)
		was = at
		if isStill {
			p.press(at, 1, "1")
		}
		return isStill
	})
}

// The buttons of the pointer that the wheel presses.
const wheelUp, wheelDown = "4", "5"

// TestDesktopJourneyByMouse: with the mouse, and keys for texts alone, the user allows, denies with a message, reads a long conversation to its ends and finds in it,
// launches, searches, reads the usage of a year, changes a setting, and comes back. Fyne logs nothing.
func TestDesktopJourneyByMouse(t *testing.T) {
	p, work := journey(t, desktoptest.Options{})
	d := p.d
	t.Cleanup(func() {
		if t.Failed() {
			d.shoot("mouse-failed")
		}
	})
	long := "claude-code · " + journeyTitle // the second line of its row; the agent has no other name here
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
	over := p.place("Message 5000 says little.")
	eventually.True(t, "the first of 500 messages by the wheel", func() bool {
		p.press(over, 100, wheelUp)
		if len(p.place("Show earlier messages")) == 2 {
			p.click("Show earlier messages")
			eventually.True(t, "the earlier messages above those in sight", func() bool { return len(p.place("Show earlier messages")) == 0 })
		}
		return len(p.place("Message 4501 says little.")) == 2
	})
	eventually.True(t, "the last message by the wheel", func() bool {
		p.press(over, 100, wheelDown)
		return len(p.place("Message 5000 says little.")) == 2
	})
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
	const prompt = "Find out why the parser test fails once in twenty runs, and fix the cause."
	p.click(prompt)
	p.focusIs(prompt) // Fyne waits whether a second click follows
	must.Do(t, d.Type(d.ctx, "begin"))
	p.click("Launch")
	eventually.True(t, "the launch", isThere(filepath.Join(work, "launched"), "begin"))
	d.shootSoon("mouse-launch")

	p.click("Search")
	p.focusIs("retry the upload")
	must.Do(t, d.Type(d.ctx, "canary"))
	p.click(" first.") // what follows the hit
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
