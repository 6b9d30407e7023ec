//go:build desktop && !headless

package window

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"rollcall/internal/desktoptest"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// point moves the pointer to a place in the window, and presses and releases a button there, several times.
func (p *process) point(at []string, times int, button string) {
	p.d.t.Helper()
	cmd := exec.CommandContext(p.d.ctx, "xdotool", "mousemove", "--window", p.id, at[0], at[1], "click", "--repeat", fmt.Sprint(times), "--delay", "5", button)
	cmd.Env = p.d.Env()
	out, err := cmd.CombinedOutput()
	if err != nil || len(out) > 0 {
		p.d.t.Fatalf("xdotool: %v\n%s", err, out)
	}
}

// click clicks once on a text, as soon as it is in sight, does not move, and a click reaches it, and waits for what that leads to.
func (p *process) click(text string, led func() bool) {
	p.d.t.Helper()
	var at []string
	eventually.True(p.d.t, "a click on "+text+" to reach it", func() bool {
		was := at
		at = p.place(text)
		return len(at) > 0 && at[2] == "true" && slices.Equal(at, was)
	})
	p.point(at, 1, "1")
	eventually.True(p.d.t, "what a click on "+text+" leads to", led)
}

func (p *process) lacks(text string) func() bool {
	return func() bool { return len(p.place(text)) == 0 }
}

func (p *process) focuses(want string) func() bool {
	return func() bool {
		_, text := p.focus()
		return text == want
	}
}

// hears reports whether the window process has said a line with this beginning.
func (p *process) hears(begin string) func() bool {
	return func() bool {
		p.focus() // its answer comes after the line
		_, ok := p.kept(begin)
		return ok
	}
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
	const long = "claude-code · " + journeyTitle // the second line of its row; the agent has no other name here
	const first, last, earlier = "Message 4501 says little.", "Message 5000 says little.", "Show earlier messages"
	p.click("Needs you", p.has("Allow once (A)"))
	p.click("Allow once (A)", p.has("Yes, allow it once (Y)"))
	p.click("Yes, allow it once (Y)", p.hears("asks-0 allow []"))
	p.click("Deny… (D)", p.focuses("Why not, for the agent: Enter sends the denial, Esc leaves it"))
	must.Do(t, d.Type(d.ctx, "use npm"))
	d.shoot("mouse-deny")
	p.click("Send the denial (Enter)", p.hears("asks-1 deny use npm[]"))

	p.click("All sessions", p.has(long))
	p.click(long, p.has(last))
	over := p.place(last)
	eventually.True(t, "the first of 500 messages by the wheel", func() bool {
		p.point(over, 100, wheelUp)
		if len(p.place(earlier)) > 0 {
			p.click(earlier, p.lacks(earlier))
		}
		return len(p.place(first)) > 0
	})
	eventually.True(t, "the last message by the wheel", func() bool {
		p.point(over, 100, wheelDown)
		return len(p.place(last)) > 0
	})
	p.click("last icon more", p.has("Find (Ctrl+F)"))
	p.click("Find (Ctrl+F)", p.focuses("Find in this conversation"))
	must.Do(t, d.Type(d.ctx, "needle"))
	p.sees("5 of 5 in the last 500 messages")
	p.click("icon up", p.has("4 of 5 in the last 500 messages"))
	d.shoot("mouse-find")
	p.click("icon opened", p.has("5 of 5 in the last 500 messages"))
	p.click("icon clear", p.lacks("icon up"))

	const folder, prompt = "/home/me/project", "Find out why the parser test fails once in twenty runs, and fix the cause."
	p.click("New agent", p.has(folder))
	p.click(folder, p.focuses(folder))
	d.key("ctrl+a")
	must.Do(t, d.Type(d.ctx, work))
	p.click(prompt, p.focuses(prompt))
	must.Do(t, d.Type(d.ctx, "begin"))
	p.click("Launch", isThere(filepath.Join(work, "launched"), "begin"))
	d.shoot("mouse-launch")

	p.click("Search", p.focuses("retry the upload"))
	must.Do(t, d.Type(d.ctx, "canary"))
	p.click(" first.", p.hears("the hit is read")) // what follows the hit
	p.sees("1 of 1")
	d.shoot("mouse-search")
	p.click("Usage", p.hears("usage of "))
	p.click("Last 30 days", p.has("Last year"))
	p.click("Last year", p.hears("usage of 36"))
	d.shoot("mouse-usage")
	p.click("More", p.has("Settings"))
	p.click("Settings", p.has("Same as the desktop"))
	p.click("Same as the desktop", p.has("Dark"))
	p.click("Dark", func() bool {
		text, _ := os.ReadFile(filepath.Join(filepath.Dir(work), "config.toml"))
		return string(text) == "theme = \"dark\"\n"
	})
	eventually.True(t, "the dark window", d.isDark)
	d.shoot("mouse-settings")
	p.click("All sessions", p.has(long))
	d.key("ctrl+w")
	p.end()
}
