//go:build desktop && !headless

package window

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/internal/desktoptest"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// journey opens a window over sessions that ask, and one with a long conversation. It returns the folder that a launch can work in.
func journey(t *testing.T, o desktoptest.Options, env ...string) (*process, string) {
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
	p := d.open(append(env, fmt.Sprint(walkVariable, "=", agent.Process.Pid), settingsVariable+"="+filepath.Join(folder, "config.toml"), journeyVariable+"="+folder)...)
	p.activate()
	d.drawn()
	return p, work
}

// sees waits until a text is in sight.
func (p *process) sees(text string) {
	p.d.t.Helper()
	eventually.True(p.d.t, "the text "+text, p.has(text))
}

// place returns where in the window a text is, and whether a click there reaches it; empty: it is not in sight.
func (p *process) place(text string) []string {
	p.d.t.Helper()
	return strings.Fields(p.ask("where", text))
}

func (p *process) has(text string) func() bool {
	return func() bool { return len(p.place(text)) > 0 }
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
	p, work := journey(t, desktoptest.Options{}, "FYNE_CACHE=1s") // as if a page had been out of sight for a minute
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
