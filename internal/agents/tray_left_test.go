//go:build agents && linux

package agents

import (
	"testing"
	"time"

	"rollcall/internal/desktoptest"
)

// killTray ends the tray as a crash does, and waits until its icon is gone.
func killTray(t *tray) {
	t.s.t.Helper()
	t.s.Kill(t.Process)
	t.icons(0)
}

// withdrawn waits until a notification is no longer on the screen.
func (t *tray) withdrawn(index int, why string) {
	t.s.t.Helper()
	var last desktoptest.Notification
	err := poll(20*time.Second, func() bool {
		last = t.desktop.Shown()[index]
		return !last.Withdraw.IsZero() && !last.Closed.IsZero()
	})
	if err != nil {
		t.s.t.Errorf("%s: not withdrawn: %+v", why, last)
	}
}

// The notification that an agent waits stays while it waits, though the tray that
// sent it was killed, and goes when the wait is over: at once if a tray runs, else
// at its next start.
func TestTrayKilledWhileAgentWaits(t *testing.T) {
	desktop := newDesktop(t)
	s := NewSandbox(t)
	first := startTray(s, desktop)
	terminal, agent := openClaude(s, ClaudeNewest, uuid(t))
	first.Shows("proj")
	before := len(desktop.Shown())
	asked := terminal.PromptUntil("need it [[bash touch asked.txt]]", "Do you want to proceed?")
	first.notified(before, asked, time.Now())
	killTray(first)

	second := startTray(s, desktop)
	second.Shows("proj", "touch asked.txt")
	second.quiet(before+1, "for a wait that the tray before told")
	if n := desktop.Shown()[before]; !n.Withdraw.IsZero() {
		t.Errorf("withdrawn while the agent waits: %+v", n)
	}
	terminal.Answer("1", "Done.")
	second.withdrawn(before, "answered while another tray runs")

	asked = terminal.PromptUntil("and again [[bash touch again.txt]]", "Do you want to proceed?")
	second.notified(before+1, asked, time.Now())
	killTray(second)
	terminal.Close()
	s.Gone(agent)
	third := startTray(s, desktop)
	third.withdrawn(before+1, "closed while no tray ran")
	third.quiet(before+2, "for waits that are over")
	third.stop()
}
