//go:build agents && linux

package agents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"rollcall/internal/must"
)

// patchModel is a model to which OpenCode and Kilo offer apply_patch.
const patchModel = "gpt-5-mock"

// askForPatches has OpenCode and Kilo use that model, and ask before they change files.
func (s *Sandbox) askForPatches() {
	for _, path := range []string{filepath.Join("opencode", "opencode.json"), filepath.Join("kilo", "kilo.json")} {
		path = filepath.Join(s.Home, ".config", path)
		text := must.Get(os.ReadFile(path))(s.t)
		var settings map[string]any
		must.Do(s.t, json.Unmarshal([]byte(strings.ReplaceAll(string(text), mockModel, patchModel)), &settings))
		settings["permission"] = map[string]string{"edit": "ask"}
		must.Do(s.t, writeJSON(path, settings))
	}
}

// notes makes a file that the directive "move" can change, and returns its path and that of a hook of git.
func (s *Sandbox) notes() (file, hook string) {
	file, hook = filepath.Join(s.Project, "notes.md"), filepath.Join(s.Project, ".git", "hooks", "pre-commit")
	must.Do(s.t, os.WriteFile(file, []byte("hello\nworld\n"), 0o644))
	return file, hook
}

const moves = "tidy [[move notes.md .git/hooks/pre-commit]]"

// Where a patch moves a file is shown, marked, and takes more than one key.
func TestAnswerMove(t *testing.T) {
	each(t, []Release{OpenCodeNewest, KiloNewest}, func(t *testing.T, s *Sandbox, r Release) {
		s.askForPatches()
		s.More = []string{"KILO_SERVER_PASSWORD=secret"} // Kilo 7.7.9 makes one of its own otherwise
		file, hook := s.notes()
		terminal := s.Open(s.Argv(r, "--port", strconv.Itoa(freePort(s)))...)
		terminal.Shows("Ask anything")
		terminal.PromptUntil(moves, "Permission required")
		first := s.asks("notes.md")
		if first.Kind != "file_change" || !strings.Contains(first.Text, hook) || len(first.Dangers) == 0 || first.Harmless || !first.CanAllow || !first.CanDeny {
			t.Errorf("%+v", first)
		}
		if said, err := s.Command(headlessBinary, "answer", first.Session.ID, "--request", first.Request, "--allow").CombinedOutput(); err == nil {
			t.Errorf("one key allowed it: %s", said)
		}
		s.notMade(hook)
		s.answered(first, "--deny")
		s.notMade(hook)
		if text, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(text), "hello") {
			t.Errorf("%q, %v", text, err)
		}
	})
}

// What Codex is asked to allow is what its daemon would do.
func TestAnswerMoveCodex(t *testing.T) {
	each(t, []Release{CodexNewest}, func(t *testing.T, s *Sandbox, r Release) {
		_, moved := s.notes() // Codex never changes the folder of git without a question
		terminal := openCodex(s, r)
		terminal.PromptUntil(moves, "Would you like to make the following edits?")
		first := s.asks("notes.md")
		if first.Kind != "file_change" || !strings.Contains(first.Text, "*** Move to: "+moved) || !strings.Contains(first.Text, "+changed") || first.Harmless || !first.CanAllow || !first.CanDeny {
			t.Errorf("%+v", first)
		}
		s.notMade(moved)
		s.answered(first, "--allow")
		s.made(moved)
		s.stale(first)
	})
}
