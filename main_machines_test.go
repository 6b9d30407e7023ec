//go:build desktop && linux && !headless

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rollcall/internal/adaptertest"
	"rollcall/internal/desktoptest"
	"rollcall/internal/must"
)

// otherMachine is another machine that a command leads to: a home and a process table of its own, with the real program.
type otherMachine struct {
	*adaptertest.Recording
	t            *testing.T
	waits, works string // what its session's registry entry says
}

func newOtherMachine(t *testing.T) *otherMachine {
	t.Helper()
	m := &otherMachine{Recording: adaptertest.Replay(t, "adapters/claudecode/testdata/recordings/claude-2.1.329-permission"), t: t}
	waits := must.Get(os.ReadFile(m.registry()))(t)
	m.waits = string(waits)
	m.works = strings.Replace(strings.Replace(m.waits, `"status":"waiting"`, `"status":"busy"`, 1), `,"waitingFor":"permission prompt"`, "", 1)
	return m
}

func (m *otherMachine) registry() string { return m.Home + "/.claude/sessions/9652.json" }

func (m *otherMachine) put(text string) {
	m.t.Helper()
	replace(m.t, m.registry(), text)
}

// block is the [[machine]] of the settings under a name.
func (m *otherMachine) block(name string) string {
	words := []string{strconv.Quote("env"), strconv.Quote("-i")}
	for _, word := range append(adaptertest.Env(m.Recording), asProgram+"=1", "GORACE=exitcode=0 atexit_sleep_ms=0", os.Args[0]) {
		words = append(words, strconv.Quote(word))
	}
	return fmt.Sprintf("[[machine]]\nname = %q\nexec = [%s]\n", name, strings.Join(words, ", "))
}

// streams returns how many processes below pid stream a machine's sessions.
func streams(pid int) (n int) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, thread := range threads {
		children, _ := os.ReadFile(thread)
		for _, child := range strings.Fields(string(children)) {
			if text, _ := os.ReadFile("/proc/" + child + "/cmdline"); strings.Contains(string(text), "--end-with-stdin") {
				n++
			}
		}
	}
	return n
}

// TestTrayFollowsMachines: a machine of config.toml is shown as soon as it stands there; under another name, and when it is removed, its
// rows go, the notification of its wait is withdrawn, and its connection ends.
func TestTrayFollowsMachines(t *testing.T) {
	d := desktoptest.For(t, desktoptest.Options{Panel: desktoptest.XfcePanel, Notifications: true})
	other := newOtherMachine(t)
	here := newOtherMachine(t).Recording // its process table, with another home
	p := newDesktopProgram(t, d, append(adaptertest.Env(here), "HOME="+t.TempDir())...)
	config := filepath.Join(d.Home(), ".config", "rollcall", "config.toml")
	put := func(text string) {
		t.Helper()
		replace(t, config, "[notifications]\npause = \"0s\"\ntogether = \"0s\"\n"+text)
	}
	other.put(other.works)
	put("")
	tray, _ := p.startTray()
	row := p.row
	none := func(text string) func() bool { return func() bool { return !row(text)() } }
	told := func() (out []string) {
		for _, n := range d.Notifications() {
			out = append(out, fmt.Sprintf("%s %v", n.Summary, !n.Withdraw.IsZero()))
		}
		return out
	}

	put(other.block("devbox"))
	p.until("the machine's session", row("◐ proj · devbox · Claude Code"))
	other.put(other.waits)
	const devbox, box = "Claude Code needs permission in proj on devbox ", "Claude Code needs permission in proj on box "
	p.until("the notification", func() bool { return slices.Equal(told(), []string{devbox + "false"}) })

	put(other.block("box"))
	p.until("the withdrawal", func() bool { return slices.Equal(told(), []string{devbox + "true"}) })
	p.until("the new name", row("◆ proj · box · Claude Code"))
	p.until("no old name", none("devbox"))
	p.until("one connection", func() bool { return streams(tray.Process.Pid) == 1 })
	other.put(other.works)
	p.until("work", row("◐ proj · box · Claude Code"))
	other.put(other.waits)
	p.until("the second notification", func() bool { return slices.Equal(told(), []string{devbox + "true", box + "false"}) })

	put("[[machine]]\nname = \"box\"\n")
	p.until("the mistake", row(`⚠ Rollcall: config.toml: line 4: machine "box" is ignored: ssh is missing`))
	if !row("◆ proj · box · Claude Code")() {
		t.Errorf("a mistake in the settings took the machine away: %q", p.labels())
	}
	put("")
	p.until("the second withdrawal", func() bool { return slices.Equal(told(), []string{devbox + "true", box + "true"}) })
	p.until("no row", none("box"))
	p.until("no connection", func() bool { return streams(tray.Process.Pid) == 0 })
	p.endTray(tray)
}
