package ui

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	machines "rollcall/app/machine"
	"rollcall/app/owned/launch"
	"rollcall/app/settings"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

// otherMachines is a machine devbox whose Rollcall is a script, and what that was given.
type otherMachines struct {
	*machines.Machines
	t        *testing.T
	recorded string
}

// newOtherMachines returns the machine. script runs after the arguments and the standard input were recorded.
func newOtherMachines(t *testing.T, script string) *otherMachines {
	t.Helper()
	dir := t.TempDir()
	m := &otherMachines{t: t, recorded: filepath.Join(dir, "recorded")}
	path := filepath.Join(dir, "rollcall")
	text := "#!/bin/sh\n{ printf '<%s>' \"$@\"; cat; echo; } >>'" + m.recorded + "'\n" + script
	must.Do(t, os.WriteFile(path, []byte(text), 0o755))
	m.Machines = machines.New([]settings.Machine{{Name: "devbox", Exec: []string{path}}}, nil)
	return m
}

// given returns what the Rollcall there was given, and forgets it.
func (m *otherMachines) given() string {
	m.t.Helper()
	text, err := os.ReadFile(m.recorded)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		m.t.Fatal(err)
	}
	_ = os.Remove(m.recorded)
	return string(text)
}

// away is a snapshot with a stopped session of devbox.
func away() *app.Snapshot {
	return &app.Snapshot{At: clock, Generation: 1, Adapters: []app.Health{{Name: agentname.ClaudeCode, State: app.OK}},
		Machines: []app.MachineHealth{{Name: "devbox", State: app.OK}},
		Own: []app.Session{{Machine: "devbox", Session: adapters.Session{
			ID: "devbox:s1", Agent: agentname.ClaudeCode,
			State: adapters.State{Status: adapters.Stopped, Outcome: adapters.Completed, Evidence: "its file"},
			Place: adapters.Place{CWD: "/src/shop", Remote: "devbox"},
			Topic: adapters.Topic{FirstPrompt: "Fix the login"},
			Times: adapters.Times{LastActivityAt: ago(time.Hour)},
		}}}}
}

// openAway opens a window that shows the machine.
func openAway(t *testing.T, m launch.Machines, snap *app.Snapshot) *window {
	t.Helper()
	return openWith(t, &fakeCore{snapshot: snap}, Options{Agents: usualAgents(), Machines: m, Program: "/opt/rollcall"})
}

// TestResumeThere: a session of another machine is resumed by the Rollcall there, which gets the message by its standard input; what it
// refuses is shown, and can be insisted on.
func TestResumeThere(t *testing.T) {
	m := newOtherMachines(t, `case "$*" in *--force*) echo 'started Claude Code'; exit 0;; esac; echo 'rollcall: /src/shop is in use' >&2; exit 10`)
	w := openAway(t, m, away())
	s := w.core.Snapshot().Sessions()[0]
	if !w.ui.launch.CanResume(&s) {
		t.Fatal("can't be resumed")
	}
	w.ui.launch.Resume(s)
	sheet := w.ui.host.Sheet.Popup
	typeInto(t, sheet, "Also add a test for an empty file.", "it's on")
	w.until("the command", func() bool {
		return slices.Contains(shownTexts(sheet), `rollcall resume --machine=devbox '--prompt=it'\''s on' -- s1`)
	})
	shows(t, sheet, "Rollcall on devbox launches it, with its own settings, and refuses what it cannot do.")
	tap(t, sheet, "Resume")
	w.until("the refusal", func() bool { return strings.Contains(strings.Join(shownTexts(sheet), "\n"), "/src/shop is in use") })
	if got := m.given(); got != "<resume><--prompt=-><--><s1>it's on\n" {
		t.Errorf("%q", got)
	}
	tap(t, sheet, "Launch anyway")
	w.until("the start", func() bool { return strings.Contains(strings.Join(shownTexts(sheet), "\n"), "Started on devbox.") })
	if got := m.given(); got != "<resume><--prompt=-><--force><--><s1>it's on\n" {
		t.Errorf("%q", got)
	}
	shows(t, sheet, "started Claude Code")
}

// TestNoResumeThere: what the other machine cannot resume, or cannot be asked about, has no Resume button.
func TestNoResumeThere(t *testing.T) {
	w := openAway(t, newOtherMachines(t, ""), away())
	for name, change := range map[string]func(s *app.Session){
		"stale":     func(s *app.Session) { s.Stale = &app.Stale{Reason: "connection refused"} },
		"gateway":   func(s *app.Session) { s.Remote = "wss://gateway" },
		"container": func(s *app.Session) { s.Container = "dev" },
		"sub-agent": func(s *app.Session) { s.Parent = "devbox:s0" },
		"no folder": func(s *app.Session) { s.CWD = "" },
	} {
		s := away().Sessions()[0]
		if change(&s); w.ui.launch.CanResume(&s) {
			t.Errorf("%s: can be resumed", name)
		}
	}
	w = openAway(t, nil, away())
	if s := away().Sessions()[0]; w.ui.launch.CanResume(&s) {
		t.Error("without machines")
	}
}

// TestLaunchThere: the launch page offers the machines, suggests folders there, and launches by the Rollcall there; one that is too old says
// so.
func TestLaunchThere(t *testing.T) {
	m := newOtherMachines(t, `case "$*" in *--mode*) echo 'rollcall: unknown flag: --mode' >&2; exit 2;; esac; printf 'started \033[31mClaude Code\n  session 7\n'`)
	w := openAway(t, m, away())
	w.ui.ShowLaunch()
	page := w.launchPage()
	w.until("the agents", page.asked)
	shows(t, page.content, "Machine")
	page.machine.SetSelected("devbox")
	if page.folder.Text != "/src/shop" || page.browse.Visible() || page.shows("Advanced") {
		t.Errorf("folder %q, browse %v, advanced %v", page.folder.Text, page.browse.Visible(), page.shows("Advanced"))
	}
	page.folder.SetText("~/my shop")
	for _, c := range page.choices {
		c.check.SetChecked(c.check.Text == "Claude Code")
	}
	page.prompt.SetText("Fix it\nnow")
	w.until("the command", func() bool {
		return slices.Contains(shownTexts(page.content), "rollcall launch --machine=devbox '--cwd=~/my shop' '--prompt=Fix it\nnow' -- claude-code")
	})
	page.launch()
	w.until("the start", func() bool {
		return strings.Contains(strings.Join(shownTexts(page.content), "\n"), "Started on devbox.")
	})
	if got := m.given(); got != "<launch><--prompt=-><--cwd=~/my shop><--><claude-code>Fix it\nnow\n" {
		t.Errorf("%q", got)
	}
	shows(t, page.content, "started Claude Code\n  session 7")

	page.choices[0].mode.SetSelected(page.choices[0].mode.Options[1])
	w.until("the end", func() bool { return !page.busy() })
	page.launch()
	w.until("the refusal", func() bool {
		return strings.Contains(strings.Join(shownTexts(page.content), "\n"), "the Rollcall there is too old for this one: update it")
	})

	page.terminal.SetChecked(true)
	page.choices[0].mode.SetSelected("default mode")
	w.until("the end", func() bool { return !page.busy() })
	m.given()
	page.launch()
	w.until("the terminal", func() bool { return len(w.system.terminals()) == 1 })
	if got := w.system.terminals()[0][1:]; !slices.Equal(got, []string{"/opt/rollcall", "launch", "--machine=devbox", "--cwd=~/my shop", "--prompt=Fix it\nnow", "--terminal", "--", "claude-code"}) {
		t.Errorf("%q", got)
	}
	if got := m.given(); got != "" {
		t.Errorf("%q", got)
	}
}

// TestMachineIsGone: where the chosen machine is no longer configured, the launch page is that of this machine again.
func TestMachineIsGone(t *testing.T) {
	w := openAway(t, newOtherMachines(t, ""), away())
	w.ui.ShowLaunch()
	page := w.launchPage()
	w.until("the agents", page.asked)
	page.machine.SetSelected("devbox")
	snap := away()
	snap.Machines = nil
	snap.Own = nil
	snap.Generation = 2
	w.core.publish(snap)
	w.until("this machine", func() bool { return page.machine.Selected == "This machine" && !page.shows("Machine") })
	if page.folder.Text != "" || !page.browse.Visible() || !page.shows("Advanced") {
		t.Errorf("folder %q, browse %v, advanced %v", page.folder.Text, page.browse.Visible(), page.shows("Advanced"))
	}
}

// TestShotThere takes pictures of the launch page and of the resume sheet for another machine.
func TestShotThere(t *testing.T) {
	w := openAway(t, newOtherMachines(t, "echo 'Claude Code in /src/shop'; echo '  started: launch l-1, process 4711'"), away())
	w.ui.ShowLaunch()
	page := w.launchPage()
	w.until("the agents", page.asked)
	page.machine.SetSelected("devbox")
	page.choices[0].check.SetChecked(true)
	page.prompt.SetText("Fix the login")
	w.until("the command", func() bool {
		return strings.Contains(strings.Join(shownTexts(page.content), "\n"), "rollcall launch --machine=devbox")
	})
	w.shoot("launch-there")
	page.launch()
	w.until("the start", func() bool {
		return strings.Contains(strings.Join(shownTexts(page.content), "\n"), "Started on devbox.")
	})
	w.shoot("launched-there")
	w.ui.launch.Resume(w.core.Snapshot().Sessions()[0])
	typeInto(t, w.ui.host.Sheet.Popup, "Also add a test for an empty file.", "go on")
	w.until("the command", func() bool {
		return strings.Contains(strings.Join(shownTexts(w.ui.host.Sheet.Popup), "\n"), "rollcall resume --machine=devbox")
	})
	w.shoot("resume-there")
}
