//go:build agents && linux

package agents

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"golang.org/x/sys/unix"

	"rollcall/internal/desktoptest"
	"rollcall/internal/pressure"
)

// tray is a running tray process of Rollcall.
type tray struct {
	Process
	s       *Sandbox
	desktop *desktoptest.Desktop
}

// newDesktop starts a desktop with a panel and a notification daemon.
func newDesktop(t *testing.T) *desktoptest.Desktop {
	t.Helper()
	return newDesktopWith(t, false)
}

// newDesktopWith is newDesktop with a dark theme or a light one.
func newDesktopWith(t *testing.T, dark bool) *desktoptest.Desktop {
	t.Helper()
	Need(t)
	if os.Getenv("ROLLCALL_DESKTOP") == "skip" {
		if os.Getenv("CI") == "true" {
			t.Fatal("ROLLCALL_DESKTOP=skip")
		}
		t.Skip("ROLLCALL_DESKTOP=skip")
	}
	built(t, desktopBinary)
	built(t, headlessBinary)
	return desktoptest.For(t, desktoptest.Options{Panel: desktoptest.XfcePanel, Notifications: true, Dark: dark})
}

// tellEach makes Rollcall tell of each event by itself and at once, as these tests count them: by default waits are
// gathered, and the reply of a turn is told where it took long.
func tellEach(s *Sandbox, home string) {
	s.t.Helper()
	folder := filepath.Join(home, ".config", "rollcall")
	if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, "config.toml"), []byte(eachEvent+s.Wants), 0o600)); err != nil {
		s.t.Fatal(err)
	}
}

// trayEnv returns the environment of the tray. OpenCode's data are below HOME.
func trayEnv(s *Sandbox, desktop *desktoptest.Desktop) []string {
	return append(desktop.Env(), "HOME="+s.Home, "ROLLCALL_SANDBOX="+s.dir, "XDG_DATA_HOME=")
}

// startTray starts the tray and returns when its icon is there.
func startTray(s *Sandbox, desktop *desktoptest.Desktop) *tray {
	s.t.Helper()
	s.terminals++
	log, err := os.Create(fmt.Sprintf("%s/tray%d", s.dir, s.terminals))
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	tellEach(s, desktop.Home())
	cmd := exec.Command(desktopBinary)
	cmd.Dir = s.Home
	cmd.Env = trayEnv(s, desktop)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() { _ = cmd.Wait() }() // ended by the test or with it
	t := &tray{Process: Process{PID: cmd.Process.Pid, Comm: "rollcall", Args: cmd.Args}, s: s, desktop: desktop}
	name := log.Name()
	s.t.Cleanup(func() {
		if text, err := os.ReadFile(name); err == nil && s.t.Failed() {
			s.t.Logf("tray:\n%.4000s", text)
		}
	})
	began := time.Now()
	err = poll(20*time.Second, func() bool {
		items, err := desktop.TrayItems()
		return err == nil && len(items) == 1
	})
	if err != nil {
		text, _ := os.ReadFile(name)
		s.t.Fatalf("no icon in the tray: %v\n%s", err, text)
	}
	s.t.Logf("icon in the tray after %v", time.Since(began).Round(time.Millisecond))
	return t
}

// stop ends the tray as a logout does.
func (t *tray) stop() {
	t.s.t.Helper()
	t.s.Signal(t.Process, unix.SIGTERM)
	t.s.Gone(t.Process)
	err := poll(10*time.Second, func() bool {
		items, err := t.desktop.TrayItems()
		return err == nil && len(items) == 0
	})
	if err != nil {
		t.s.t.Fatalf("the icon of an ended tray: %v", err)
	}
}

// menuNode is an item of a menu as D-Bus has it.
type menuNode struct {
	ID         int32
	Properties map[string]dbus.Variant
	Children   []dbus.Variant
}

// menu returns the labels that the tray's menu has now.
func (t *tray) menu() ([]string, error) {
	items, err := t.desktop.TrayItems()
	if err != nil || len(items) != 1 {
		return nil, fmt.Errorf("tray icons %q: %w", items, err)
	}
	name, _, _ := strings.Cut(items[0], "/")
	var revision uint32
	var root menuNode
	err = t.desktop.Bus().Object(name, "/StatusNotifierItem/menu").
		Call("com.canonical.dbusmenu.GetLayout", 0, int32(0), int32(-1), []string{}).Store(&revision, &root)
	if err != nil {
		return nil, err
	}
	var labels []string
	for _, child := range root.Children {
		var node menuNode
		if err := dbus.Store([]any{child.Value()}, &node); err != nil {
			return nil, err
		}
		visible, set := node.Properties["visible"].Value().(bool)
		if label, ok := node.Properties["label"].Value().(string); ok && (visible || !set) && !strings.HasPrefix(label, "■") { // "■": what ended before
			labels = append(labels, label)
		}
	}
	return labels, nil
}

// Shows waits until a row of the menu has all of the texts.
func (t *tray) Shows(texts ...string) {
	t.s.t.Helper()
	t.waits(10*time.Second, fmt.Sprintf("a row with %q", texts), func(labels []string) bool {
		return slices.ContainsFunc(labels, func(label string) bool { return containsAll(label, texts) })
	})
}

// waits waits until the labels of the menu are as they should be.
func (t *tray) waits(limit time.Duration, what string, ok func(labels []string) bool) {
	t.s.t.Helper()
	var labels []string
	var last error
	err := poll(limit, func() bool {
		labels, last = t.menu()
		return last == nil && ok(labels)
	})
	if err != nil {
		t.s.t.Fatalf("not %s in the menu: %v %v\n%s", what, err, last, strings.Join(labels, "\n"))
	}
}

// notified waits for exactly one more notification than before, sent after the
// one moment and soon after the other, and returns it. A second one within a
// second fails the test.
func (t *tray) notified(before int, after, event time.Time) desktoptest.Notification {
	t.s.t.Helper()
	return t.notifiedWithin(soon, before, after, event)
}

// notifiedWithin is notified with another limit.
func (t *tray) notifiedWithin(limit time.Duration, before int, after, event time.Time) desktoptest.Notification {
	t.s.t.Helper()
	if err := poll(2*soon, func() bool { return len(t.desktop.Shown()) > before }); err != nil {
		t.s.t.Fatalf("no notification: %v", err)
	}
	n := t.desktop.Shown()[before]
	t.s.t.Logf("notification after %v: %q %q", n.At.Sub(after).Round(100*time.Microsecond), n.Summary, n.Body)
	if n.At.Before(after) || n.At.Sub(event) > limit+pressure.StalledSince(event) {
		t.s.t.Errorf("notification %v after the event, want within %v", n.At.Sub(event), limit)
	}
	if got, more := t.notifiedMore(before + 1); more {
		t.s.t.Errorf("more than one notification: %q", got)
	}
	return n
}

// ended is notified for a process that the test kills.
func (t *tray) ended(before int, p Process) desktoptest.Notification {
	t.s.t.Helper()
	killed := time.Now()
	t.s.Signal(p, unix.SIGKILL)
	t.s.Gone(p) // a large process takes its time
	return t.notified(before, killed, time.Now())
}

// notifiedMore reports whether there are more notifications than that, given time.
func (t *tray) notifiedMore(before int) ([]string, bool) {
	err := poll(time.Second, func() bool { return len(t.desktop.Shown()) > before })
	var texts []string
	for _, n := range t.desktop.Shown() {
		texts = append(texts, n.Summary+": "+n.Body)
	}
	return texts, err == nil
}

// quiet fails the test when there are other notifications than before.
func (t *tray) quiet(before int, why string) {
	t.s.t.Helper()
	if got, more := t.notifiedMore(before); more {
		t.s.t.Errorf("notified %s: %q", why, got)
	}
}

// The death of a wrapper is not the death of the agent, across restarts of
// Rollcall too; the death of the agent is told once.
func TestTrayWrapperThenAgentKilled(t *testing.T) {
	desktop := newDesktop(t)
	for _, release := range chosen([]Release{ClaudeNewest, ClaudeFloor, CodexNewest, CodexFloor, OpenCodeNewest, OpenCodeFloor, PiNewest}) {
		t.Run(release.String(), func(t *testing.T) {
			s := NewSandbox(t)
			before := len(desktop.Shown())
			const prompt = "tray [[delay 90]]"
			choose := byPrompt(prompt)
			wrapper, agent := detach(s, release, prompt)
			first := startTray(s, desktop)
			first.Shows("proj")
			first.quiet(before, "on the first scan")
			s.Kill(wrapper)
			if release.Agent == CodexNewest.Agent {
				script := s.Agent("node", "exec")
				s.Kill(script)
			}
			first.quiet(before, "for a wrapper")
			s.Becomes(choose, time.Now(), soon, "working")

			first.stop()
			second := startTray(s, desktop)
			second.Shows("proj")
			second.quiet(before, "after a restart")
			second.ended(before, agent)
			s.Becomes(choose, time.Now(), soon, "stopped/died")
			second.stop()
		})
	}
}

// detach starts a headless run of any agent below a wrapper, and returns both when
// its turn has begun.
func detach(s *Sandbox, r Release, prompt string) (wrapper, agent Process) {
	s.t.Helper()
	switch r.Agent {
	case ClaudeNewest.Agent:
		id := uuid(s.t)
		wrapper, agent, _ = detachClaude(s, r, id, prompt)
		written(s, id, "tray")
	case CodexNewest.Agent:
		wrapper, agent, _ = detachCodex(s, r, prompt)
	case OpenCodeNewest.Agent:
		wrapper, agent, _ = detachOpenCode(s, r, prompt)
	case PiNewest.Agent:
		wrapper, agent, _ = detachPi(s, r, prompt)
	}
	return wrapper, agent
}

// A run that ends by itself is told once, with how it ended.
func TestTrayRunEnds(t *testing.T) {
	desktop := newDesktop(t)
	s := NewSandbox(t)
	tray := startTray(s, desktop)
	before := len(desktop.Shown())
	_, agent, _ := detachClaude(s, ClaudeNewest, uuid(t), "ends [[delay 3]]")
	tray.Shows("proj")
	running := time.Now()
	s.Gone(agent)
	n := tray.notified(before, running, time.Now())
	if text := strings.ToLower(n.Summary + " " + n.Body); !strings.Contains(text, "proj") || !strings.Contains(text, "complete") {
		t.Errorf("the notification tells neither the project nor how it ended: %q %q", n.Summary, n.Body)
	}
	tray.stop()
}

// Who waits for the user is told once per wait. A dialog of the user's own is none.
func TestTrayPermission(t *testing.T) {
	desktop := newDesktop(t)
	s := NewSandbox(t)
	tray := startTray(s, desktop)
	id := uuid(t)
	terminal, agent := openClaude(s, ClaudeNewest, id)
	tray.Shows("proj")
	before := len(desktop.Shown())
	asked := terminal.PromptUntil("need it [[bash touch asked.txt]]", "Do you want to proceed?")
	n := tray.notified(before, asked, time.Now())
	if text := strings.ToLower(n.Summary + " " + n.Body); !strings.Contains(text, "proj") || !strings.Contains(text, "permission") && !strings.Contains(text, "wants to run") {
		t.Errorf("the notification tells neither the project nor what it waits for: %q %q", n.Summary, n.Body)
	}
	terminal.Answer("1", "Done.")
	s.Becomes(byID(id), time.Now(), soon, "idle", "idle/completed")
	typeCommand(terminal, "/config")
	registrySays(s, agent, `"waitingFor":"dialog open"`)
	tray.quiet(before+1, "for an answered question, and a dialog that the user opened")
	tray.ended(before+1, agent)
	tray.stop()
}

// A closed terminal of Codex is no end: the daemon goes on. Its own end ends all
// of its sessions, and is told once.
func TestTrayCodexDaemon(t *testing.T) {
	desktop := newDesktop(t)
	s := NewSandbox(t)
	first, second := openCodex(s, CodexNewest), openCodex(s, CodexNewest)
	first.Prompt("one [[delay 90]]")
	second.Prompt("two [[delay 90]]")
	tray := startTray(s, desktop)
	tray.Shows("proj")
	before := len(desktop.Shown())
	daemon := host(s, CodexNewest, first)
	first.Close()
	program := s.Descendant(second.PID(), "codex")
	s.Kill(program)
	tray.quiet(before, "for a closed terminal")
	s.Becomes(byPrompt("one"), time.Now(), soon, "working")
	s.Becomes(byPrompt("two"), time.Now(), soon, "working")
	tray.ended(before, daemon)
	s.Becomes(byPrompt("one"), time.Now(), soon, "stopped/died")
	s.Becomes(byPrompt("two"), time.Now(), soon, "stopped/died")
	tray.stop()
}

// The rows of a gateway that is gone stay, and say that they are old; its next
// start brings them back, once. What a run does is shown as it happens, also for
// the older gateway, which tells nobody who merely asks. A gateway that has just
// started answers late, so that only the order of things is tested here.
func TestTrayOpenClaw(t *testing.T) {
	nightly(t)
	desktop := newDesktop(t)
	for _, release := range chosen(openClaws) {
		t.Run(release.String(), func(t *testing.T) {
			s := NewSandbox(t)
			g := s.StartGateway(release)
			g.Send("agent:main:first", "is over")
			tray := startTray(s, desktop)
			rows := func(what string, count int, texts ...string) {
				t.Helper()
				tray.waits(60*time.Second, what, func(labels []string) bool {
					labels = slices.DeleteFunc(slices.Clone(labels), func(label string) bool { return !containsAll(label, texts) })
					return len(labels) == count
				})
			}
			rows("what is over", 1, "○", "OpenClaw", "is over")
			before := len(desktop.Shown())
			g.Send("agent:main:second", "a short one [[delay 15]]")
			rows("a run", 1, "◐", "OpenClaw") // the older one does not tell its prompt yet
			rows("its end", 1, "○", "OpenClaw", "a short one")
			g.Send("agent:main:third", "goes on [[delay 90]]")
			rows("a run", 1, "◐", "OpenClaw")

			s.Kill(g.Process)
			rows("no run", 0, "◐", "OpenClaw") // its stored sessions have stopped
			tray.quiet(before, "for a gateway that is gone")
			s.stopAgents(func(p Process) bool { return p.PID != tray.PID })
			s.StartGateway(release)
			rows("no trouble", 0, "⚠")
			rows("all sessions", 3, "· OpenClaw ·")
			tray.stop()
		})
	}
}
