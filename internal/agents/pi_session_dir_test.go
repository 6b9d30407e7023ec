//go:build agents && linux

package agents

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"rollcall/internal/must"
)

// Sessions in a folder that the user names: in the project's settings, and on the command line, which Pi erases.
func TestPiSessionDir(t *testing.T) {
	for name, part := range map[string]func(*testing.T, *Sandbox, Release){"of the project": piProjectDir, "of the command line": piFlagDir} {
		t.Run(name, func(t *testing.T) { each(t, []Release{PiNewest}, part) })
	}
}

func piProjectDir(t *testing.T, s *Sandbox, r Release) {
	dir := filepath.Join(s.Project, ".pi")
	must.Do(t, os.MkdirAll(dir, 0o755))
	must.Do(t, os.WriteFile(filepath.Join(dir, "settings.json"), []byte(`{"sessionDir": "kept"}`), 0o600))
	terminal := s.Open(s.Argv(r)...)
	terminal.Shows("Trust project folder?")
	terminal.Answer("Enter", "/128k")
	agent := s.Descendant(terminal.PID(), "pi")
	if working := terminal.Works(byPrompt("kept by the project"), "kept by the project [[delay 4]]"); working.PID != agent.PID {
		t.Errorf("pid %d, want %d", working.PID, agent.PID)
	}
	s.Becomes(byPrompt("kept by the project"), time.Now(), soon, "idle/completed")
	terminal.Leave("/quit", agent)
	s.Becomes(byPrompt("kept by the project"), time.Now(), soon, "stopped/completed")
}

func piFlagDir(t *testing.T, s *Sandbox, r Release) {
	terminal := s.Open(s.Argv(r, "--session-dir", filepath.Join(s.Home, "notes"))...)
	terminal.Shows("/128k")
	agent := s.Descendant(terminal.PID(), "pi")
	row := s.Becomes(byPID(agent.PID), time.Now(), soon, "idle", "unknown")
	t.Logf("before the first prompt: %s; it has written %s bytes", row.Evidence, wroteBytes(agent))
	terminal.PromptUntil("kept elsewhere", "Mock answer to: kept elsewhere")
	row = s.Becomes(byPID(agent.PID), time.Now(), soon, "unknown", "idle/completed")
	t.Logf("after it: %s; it has written %s bytes", row.Evidence, wroteBytes(agent))
	terminal.Prompt("with a tool [[bash sleep 6]]")
	if working := s.Becomes(byPrompt("kept elsewhere"), time.Now(), soon, "working"); working.PID != agent.PID {
		t.Errorf("pid %d, want %d", working.PID, agent.PID)
	}
	s.Becomes(byPrompt("kept elsewhere"), time.Now(), 2*soon, "idle/completed")
	terminal.Leave("/quit", agent)
	s.Becomes(byPrompt("kept elsewhere"), time.Now(), soon, "stopped/completed")
}

// wroteBytes returns how much a process has written, for the log.
func wroteBytes(p Process) string {
	data, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.PID), "io"))
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "wchar: "); ok {
			return strings.TrimSpace(rest)
		}
	}
	return "?"
}
