package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/app/present"
	"rollcall/internal/adaptertest"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
	"rollcall/internal/testfs"
)

// hangingStore is a home with sessions of an agent whose store lies on a file
// system of its own.
type hangingStore struct {
	agent adapters.Name
	env   []string
	id    string // of a session
	mount *testfs.FS
}

// recordedStores are the stores of all agents but OpenClaw, with recorded sessions
// and their processes.
var recordedStores = []struct {
	agent            adapters.Name
	recording, store string
}{
	{agentname.ClaudeCode, "claudecode/testdata/recordings/claude-2.1.329-permission", ".claude"},
	{agentname.Codex, "codex/testdata/recordings/codex-0.169.0-tui-daemon", ".codex"},
	{agentname.OpenCode, "opencode/testdata/recordings/opencode-1.18.33-working-tool", ".local/share/opencode"},
	{agentname.Pi, "pi/testdata/recordings/pi-1.5.2-working-tool", ".pi"},
}

func hangingStores(t *testing.T) []hangingStore {
	t.Helper()
	var out []hangingStore
	for _, r := range recordedStores {
		rec := adaptertest.Replay(t, filepath.Join("../../adapters", r.recording))
		out = append(out, hangingStore{r.agent, adaptertest.Env(rec), rec.Expect.Sessions[0].ID, testfs.Cover(t, filepath.Join(rec.Home, r.store))})
	}
	home, none := t.TempDir(), t.TempDir()
	state := filepath.Join(home, ".openclaw")
	for path, text := range map[string]string{"openclaw.json": "{}", "agents/main/sessions/sessions.json": "{}"} {
		path = filepath.Join(state, path)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "HOST_PROC=" + none, "HOST_ETC=" + none}
	return append(out, hangingStore{agentname.OpenClaw, env, "x", testfs.Cover(t, state)})
}

// With a store where nothing answers every command ends with what it has, and
// names the agent and the folder.
func TestStoreThatHangs(t *testing.T) {
	program(t)
	for _, s := range hangingStores(t) {
		s.mount.Hang(t)
		for _, line := range []string{"list", "list --all --json", "status ID", "peek ID", "stop ID", "resume ID -p more", "doctor", "doctor --json"} {
			t.Run(string(s.agent)+" "+line, func(t *testing.T) {
				t.Parallel()
				r := execute(t, s.env, strings.Fields(strings.ReplaceAll(line, "ID", s.id))...)
				said := r.err + r.out
				named := strings.Contains(said, string(s.agent)) || strings.Contains(said, present.AgentName(s.agent))
				if r.code < 0 || !named || !strings.Contains(said, s.mount.Path) || !strings.Contains(said, ": no answer") {
					t.Errorf("exit %d, %q, %q", r.code, r.out, r.err)
				}
			})
		}
	}
}

// With a folder in its only store where nothing answers an agent is reported with that store, and delays no other.
func TestFolderOfAStoreThatHangs(t *testing.T) {
	program(t)
	for _, r := range recordedStores {
		folder, has := map[adapters.Name]string{agentname.ClaudeCode: "projects", agentname.Codex: "sessions", agentname.Pi: "agent/sessions"}[r.agent]
		if !has { // it has a file
			continue
		}
		rec := adaptertest.Replay(t, filepath.Join("../../adapters", r.recording))
		testfs.Cover(t, filepath.Join(rec.Home, r.store, folder)).Hang(t)
		for _, line := range []string{"list", "list --all --json"} {
			t.Run(string(r.agent)+" "+line, func(t *testing.T) {
				t.Parallel()
				answer := execute(t, adaptertest.Env(rec), strings.Fields(line)...)
				said := answer.err + answer.out
				if answer.code < 0 || !strings.Contains(said, filepath.Join(rec.Home, r.store)) || !strings.Contains(said, ": no answer") || strings.Contains(answer.err, "internal error") {
					t.Errorf("exit %d, %q, %q", answer.code, answer.out, answer.err)
				}
			})
		}
	}
}

// Ctrl-C ends a command at once though a store does not answer.
func TestInterruptOfAStoreThatHangs(t *testing.T) {
	program(t)
	for _, s := range hangingStores(t) {
		s.mount.Hang(t)
		for _, line := range []string{"list", "watch --json", "status ID", "peek ID", "stop ID", "resume ID -p more", "doctor"} {
			t.Run(string(s.agent)+" "+line, func(t *testing.T) {
				interruptHanging(t, s.env, strings.Fields(strings.ReplaceAll(line, "ID", s.id)))
			})
		}
	}
}
