package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/internal/modelserver"
	"rollcall/internal/must"
	"rollcall/internal/pressure"
)

// The branch and the models that a sandbox's sessions have.
const (
	branch     = "feature/x"
	codexModel = "gpt-5.5"
)

const mockKey = "sk-ant-mock-key-for-tests-0000000000"

// Sandbox is a HOME with a project in it and a model server. Its agents are
// ended with the test.
type Sandbox struct {
	More    []string // further variables of the environment
	Wants   string   // further settings of the tray
	t       *testing.T
	dir     string // everything of the sandbox
	Home    string
	Project string // a git checkout, on branch
	Server  *modelserver.Server

	cache       string // where the agents are installed
	terminals   int
	gatewayPort int // of OpenClaw, once one was started
	began       time.Time
}

// NewSandbox makes a sandbox. The test is skipped where agents can't be run.
func NewSandbox(t *testing.T) *Sandbox {
	t.Helper()
	Need(t)
	pressure.Watch()
	dir := must.Get(os.MkdirTemp("", "box-"))(t)
	s := &Sandbox{t: t, dir: dir, Home: filepath.Join(dir, "home"), cache: os.Getenv(cacheKey), began: time.Now()}
	s.Project = filepath.Join(s.Home, "proj")
	t.Cleanup(s.close)
	s.Server = must.Get(modelserver.Start("127.0.0.1:0"))(t)
	for _, err := range []error{s.makeProject(s.Project), s.seedClaude(), s.seedCodex(), s.seedOpenCode(), s.seedPi(), s.seedCopilot(), s.seedCline(), s.seedGemini(),
		s.seedQwen(), s.seedGrok(), s.seedKimi(), s.seedOmp()} {
		must.Do(t, err)
	}
	return s
}

// makeProject makes a checkout with one commit.
func (s *Sandbox) makeProject(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"},
		{"-c", "user.name=Dev", "-c", "user.email=dev@example.com", "commit", "--quiet", "--allow-empty", "--message=start"},
		{"checkout", "--quiet", "-b", branch},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, s.Env()
		if output, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w\n%s", args[0], err, output)
		}
	}
	return nil
}

// seedClaude answers the questions that Claude Code asks at its first start.
func (s *Sandbox) seedClaude() error {
	settings := map[string]any{
		"hasCompletedOnboarding": true, "numStartups": 5, "theme": "dark", "fullscreenUpsellSeenCount": 3,
		// It remembers the last 20 characters of an approved key.
		"customApiKeyResponses": map[string]any{"approved": []string{mockKey[len(mockKey)-20:]}, "rejected": []string{}},
		"projects": map[string]any{s.Project: map[string]any{
			"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "allowedTools": []string{}}},
	}
	data, err := json.Marshal(settings)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.Home, ".claude.json"), data, 0o600)
}

func (s *Sandbox) seedCodex() error {
	config := fmt.Sprintf(`model = %q
model_provider = "mock"
approval_policy = "on-request"
sandbox_mode = "workspace-write"
check_for_update_on_startup = false

[model_providers.mock]
name = "mock"
base_url = "%s/v1"
env_key = "MOCK_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false

[projects.%q]
trust_level = "trusted"

[notice.model_migrations]
%q = "gpt-6-sol"

[tui]
screen_reader_detection_done = true
`, codexModel, s.Server.URL(), s.Project, codexModel)
	dir := filepath.Join(s.Home, ".codex")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := linkTree(codexPackages, filepath.Join(dir, "packages")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "config.toml"), []byte(config), 0o600)
}

// codexPackages keeps what Codex unpacks into its home for its daemon (400 MB),
// so that only the first sandbox waits for that.
const codexPackages = "/tmp/codex-packages"

// keepPackages saves the daemon's programs for the sandboxes to come.
func (s *Sandbox) keepPackages() {
	from := filepath.Join(s.Home, ".codex", "packages")
	if _, err := os.Stat(codexPackages); err == nil {
		return
	}
	if err := linkTree(from, codexPackages); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.t.Logf("keep the daemon's programs: %v", err)
	}
}

// linkTree copies a tree, its files as hard links.
func linkTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(path, from))
		switch {
		case entry.IsDir():
			return os.MkdirAll(target, 0o755)
		case entry.Type()&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(strings.Replace(link, from, to, 1), target)
		}
		return os.Link(path, target)
	})
}

// Env returns the whole environment of the sandbox's programs.
func (s *Sandbox) Env() []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.Home, "TERM=xterm-256color", "LANG=C.UTF-8", "SHELL=/bin/bash",
		"XDG_RUNTIME_DIR=" + filepath.Join(s.dir, "run"),
		"ANTHROPIC_API_KEY=" + mockKey, "MOCK_KEY=" + mockKey,
		"DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"OPENCODE_DISABLE_AUTOUPDATE=1", "PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1",
		"XAI_API_KEY=" + mockKey, "GROK_DISABLE_AUTOUPDATER=1", "KIMI_CODE_NO_AUTO_UPDATE=1", "KIMI_DISABLE_TELEMETRY=1",
		"NODE_COMPILE_CACHE=" + filepath.Join(s.cache, "compiled"), // half of a gateway's start is compiling
		"GIT_CONFIG_NOSYSTEM=1", "ROLLCALL_SANDBOX=" + s.dir,
	}
	if s.Server != nil {
		env = append(env, "ANTHROPIC_BASE_URL="+s.Server.URL())
		env = append(env, copilotEnv(s.Server.URL())...)
	}
	return append(env, s.More...)
}

// Command makes a command in the sandbox's environment and project, that lives
// no longer than the test.
func (s *Sandbox) Command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(s.t.Context(), name, args...)
	cmd.Dir, cmd.Env = s.Project, s.Env()
	return cmd
}

// Program returns the path of an agent's command.
func (s *Sandbox) Program(r Release) string { return r.Program(s.cache) }

// Argv returns the command line of an agent with these arguments.
func (s *Sandbox) Argv(r Release, args ...string) []string { return r.Argv(s.cache, args...) }

// ByName returns the command line that starts an agent by its name on the PATH, as a user does.
func (s *Sandbox) ByName(r Release, name string, args ...string) []string {
	return append([]string{"env", pathWith(s, r), name}, args...)
}

// Renamed returns the command line that starts an agent's native program under another name, as the wrappers of some package managers do.
func (s *Sandbox) Renamed(r Release, name string, args ...string) []string {
	s.t.Helper()
	program := s.Program(r)
	if r.Agent == CodexNewest.Agent { // what is linked is a script
		found, err := filepath.Glob(filepath.Join(r.prefix(s.cache), "lib/node_modules/@openai/codex-linux-*/vendor/*/bin/codex"))
		if err != nil || len(found) != 1 {
			s.t.Fatalf("programs of %v: %q, %v", r, found, err)
		}
		program = found[0]
	}
	dir := filepath.Join(s.dir, "wrapped")
	must.Do(s.t, os.MkdirAll(dir, 0o755))
	link := filepath.Join(dir, name)
	if err := os.Symlink(program, link); err != nil && !errors.Is(err, fs.ErrExist) {
		s.t.Fatal(err)
	}
	return append([]string{link}, args...)
}

// pathWith returns the variable PATH with the folders of an agent's program and its Node.js.
func pathWith(s *Sandbox, r Release) string {
	return "PATH=" + strings.Join([]string{filepath.Dir(s.Program(r)), filepath.Dir(s.Program(Node)), os.Getenv("PATH")}, ":")
}

// run makes a command that runs an agent: see Command.
func (s *Sandbox) run(r Release, args ...string) *exec.Cmd {
	argv := s.Argv(r, args...)
	return s.Command(argv[0], argv[1:]...)
}

// StopAgents ends every process of the sandbox and returns when they are gone.
func (s *Sandbox) StopAgents() {
	s.t.Helper()
	s.stopAgents(func(Process) bool { return true })
}

// stopAgents stops some of the processes, like StopAgents.
func (s *Sandbox) stopAgents(which func(Process) bool) {
	s.t.Helper()
	err := poll(20*time.Second, func() bool {
		mine := slices.DeleteFunc(s.Processes(), func(p Process) bool { return !which(p) })
		for _, p := range mine {
			p.kill()
		}
		return len(mine) == 0
	})
	if err != nil {
		s.t.Errorf("processes that do not end: %v", s.Processes())
	}
}

func (s *Sandbox) close() {
	s.keepPackages()
	if s.t.Failed() {
		s.logState()
	}
	s.StopAgents()
	if s.Server != nil {
		if err := s.Server.Close(); err != nil {
			s.t.Errorf("model server: %v", err)
		}
	}
	if err := os.RemoveAll(s.dir); err != nil {
		s.t.Errorf("remove the sandbox: %v", err)
	}
}

// logState logs the sandbox's state for a test that failed.
func (s *Sandbox) logState() {
	for _, p := range s.Processes() {
		s.t.Logf("process %v", p)
	}
	if s.Server != nil {
		for _, r := range s.Server.Requests() {
			s.t.Logf("request %s %s %d prompt=%.80q side=%v tool=%v",
				r.At.Sub(s.began).Round(time.Millisecond), r.Path, r.Status, r.Prompt, r.Side, r.Tool)
		}
	}
	if _, err := os.Stat(headlessBinary); err != nil {
		return
	}
	cmd := exec.CommandContext(context.Background(), headlessBinary, "doctor")
	cmd.Dir, cmd.Env = s.Project, s.Env()
	output, err := cmd.CombinedOutput()
	s.t.Logf("doctor (%v):\n%s", err, output)
}

// poll asks ok until it says so; an error says that the time is over. A machine
// that is too busy gets up to five times as long.
func poll(limit time.Duration, ok func() bool) error {
	began := time.Now()
	for !ok() {
		if took := time.Since(began); took > limit && took > limit+min(pressure.StalledSince(began), 4*limit) {
			return fmt.Errorf("not within %v", took.Round(time.Millisecond))
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}
