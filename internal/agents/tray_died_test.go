//go:build agents && linux

package agents

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// A prompt that the user takes back before its first answer is no death, whatever
// way he leaves by right after it.
func TestTrayPromptTakenBack(t *testing.T) {
	desktop := newDesktop(t)
	s := NewSandbox(t)
	tray := startTray(s, desktop)
	for name, way := range waysOut {
		before := len(desktop.Shown())
		id := uuid(t)
		terminal, agent := openClaude(s, ClaudeNewest, id)
		takeBack(s, terminal, id, "taken back")
		left := time.Now()
		way(s, terminal, agent)
		s.Gone(agent)
		n := tray.notified(before, left, time.Now())
		if text := strings.ToLower(n.Summary + " " + n.Body); strings.Contains(text, "died") || !strings.Contains(text, "stopped by you") {
			t.Errorf("%s: told %q, %q", name, n.Summary, n.Body)
		}
	}
	tray.stop()
}

// A turn that was killed died once: opening its session again, and closing it
// without a prompt, is told as an end, and as no second death.
func TestTrayReopenedAndClosed(t *testing.T) {
	nightly(t)
	desktop := newDesktop(t)
	s := NewSandbox(t)
	tray := startTray(s, desktop)
	for _, c := range []struct {
		release Release
		reopen  func(id string) []string
		leave   string
	}{
		{ClaudeNewest, func(id string) []string { return []string{"--resume", id, "--permission-mode", "default"} }, "/exit"},
		{CodexNewest, func(id string) []string { return []string{"resume", "--no-daemon", id} }, "/quit"},
		{OpenCodeNewest, func(id string) []string { return []string{"-s", id} }, "/exit"},
	} {
		before := len(desktop.Shown())
		prompt := "tray " + c.release.Version
		_, agent := detach(s, c.release, prompt+" [[delay 90]]")
		working := s.Becomes(byPrompt(prompt), time.Now(), soon, "working")
		tray.Shows("◐ proj", shownName(c.release))
		if n := tray.ended(before, agent); !strings.Contains(n.Body, "ied in mid-turn") {
			t.Errorf("%v: told %q, %q", c.release, n.Summary, n.Body)
		}
		terminal := s.Open(s.Argv(c.release, c.reopen(working.ID)...)...)
		terminal.Shows(prompt)
		again := s.Descendant(terminal.PID(), programNames[c.release.Agent])
		idle := s.Becomes(byID(working.ID), time.Now(), soon, "idle/died")
		if idle.PID != again.PID {
			t.Errorf("%v: pid %d, want %d", c.release, idle.PID, again.PID)
		}
		tray.waits(15*time.Second, "the session of "+c.release.Agent, func(labels []string) bool {
			return slices.ContainsFunc(labels, func(label string) bool {
				return containsAll(label, []string{"○ proj", shownName(c.release)}) && !strings.Contains(label, "no session yet")
			})
		})
		left := time.Now()
		terminal.Enter(c.leave)
		s.Gone(again)
		n := tray.notified(before+1, left, time.Now())
		if text := strings.ToLower(n.Summary + " " + n.Body); !strings.Contains(text, "ended in proj") || strings.Contains(text, "died") {
			t.Errorf("%v: closed, and told %q, %q", c.release, n.Summary, n.Body)
		}
	}
	tray.stop()
}
