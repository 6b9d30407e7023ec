package agents

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// The model of the agents that take any provider.
const (
	mockProvider = "mock"
	mockModel    = "mock-1"
	mockWindow   = 128000 // tokens
)

// seedOpenCode has it, and Kilo, ask before they run "touch asked…", and nothing else.
func (s *Sandbox) seedOpenCode() error {
	settings := map[string]any{
		"autoupdate": false, "share": "disabled",
		"model": mockProvider + "/" + mockModel, "small_model": mockProvider + "/" + mockModel,
		"provider": map[string]any{mockProvider: map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": "Mock",
			"options": map[string]any{"baseURL": s.Server.URL() + "/v1", "apiKey": mockKey},
			"models": map[string]any{mockModel: map[string]any{
				"name": "Mock", "tool_call": true, "limit": map[string]int{"context": mockWindow, "output": 8192}}},
		}},
		"permission": map[string]any{"bash": map[string]string{"*": "allow", "touch asked*": "ask"}},
	}
	return errors.Join(writeJSON(filepath.Join(s.Home, ".config", "opencode", "opencode.json"), settings),
		writeJSON(filepath.Join(s.Home, ".config", "kilo", "kilo.json"), settings))
}

// seedPi has it try a failed request again twice, after 1.5 and 3 s.
func (s *Sandbox) seedPi() error {
	dir := filepath.Join(s.Home, ".pi", "agent")
	err := writeJSON(filepath.Join(dir, "models.json"), map[string]any{"providers": map[string]any{
		mockProvider: map[string]any{"baseUrl": s.Server.URL() + "/v1", "api": "openai-completions", "apiKey": mockKey,
			"models": []any{mockModelEntry()}},
	}})
	if err != nil {
		return err
	}
	return writeJSON(filepath.Join(dir, "settings.json"), map[string]any{
		"defaultProvider": mockProvider, "defaultModel": mockModel,
		"retry": map[string]any{"enabled": true, "maxRetries": 2, "baseDelayMs": 1500},
	})
}

// seedCopilot has it trust the project.
func (s *Sandbox) seedCopilot() error {
	return writeJSON(filepath.Join(s.Home, ".copilot", "config.json"), map[string]any{"trustedFolders": []string{s.Project}})
}

// copilotEnv returns the variables with which Copilot CLI needs no login.
func copilotEnv(server string) []string {
	return []string{"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_PROVIDER_BASE_URL=" + server + "/v1", "COPILOT_PROVIDER_TYPE=openai",
		"COPILOT_PROVIDER_API_KEY=" + mockKey, "COPILOT_MODEL=" + mockModel}
}

// seedCline has it use the mock model, and show no advertisements over its prompt.
func (s *Sandbox) seedCline() error {
	dir := filepath.Join(s.Home, ".cline", "data", "settings")
	err := writeJSON(filepath.Join(dir, "cli-notices.json"), map[string]any{"shown": map[string]bool{"cline-cli-cline-pass-intro": true, "cline-cli-desktop-launch": true}})
	if err != nil {
		return err
	}
	return writeJSON(filepath.Join(dir, "providers.json"), map[string]any{
		"version": 1, "lastUsedProvider": "openai-compatible", "providers": map[string]any{"openai-compatible": map[string]any{
			"settings":  map[string]any{"provider": "openai-compatible", "apiKey": mockKey, "model": mockModel, "baseUrl": s.Server.URL() + "/v1"},
			"updatedAt": time.Now().UTC().Format(time.RFC3339), "tokenSource": "manual"}},
	})
}

// seedGemini names the model server, and answers the questions of the first start.
func (s *Sandbox) seedGemini() error {
	dir := filepath.Join(s.Home, ".gemini")
	err := writeJSON(filepath.Join(dir, "settings.json"), map[string]any{
		"security":  map[string]any{"auth": map[string]string{"selectedType": "gemini-api-key"}, "folderTrust": map[string]bool{"enabled": false}},
		"privacy":   map[string]bool{"usageStatisticsEnabled": false},
		"general":   map[string]bool{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
		"telemetry": map[string]bool{"enabled": false},
	})
	env := fmt.Sprintf("GEMINI_API_KEY=%s\nGOOGLE_GEMINI_BASE_URL=%s\n", mockKey, s.Server.URL())
	return errors.Join(err, os.WriteFile(filepath.Join(dir, ".env"), []byte(env), 0o600))
}

// seedQwen names the model server, and answers the questions of the first start.
func (s *Sandbox) seedQwen() error {
	dir := filepath.Join(s.Home, ".qwen")
	err := writeJSON(filepath.Join(dir, "settings.json"), map[string]any{
		"security":  map[string]any{"auth": map[string]string{"selectedType": "openai"}, "folderTrust": map[string]bool{"enabled": false}},
		"privacy":   map[string]bool{"usageStatisticsEnabled": false},
		"general":   map[string]bool{"enableAutoUpdate": false},
		"telemetry": map[string]bool{"enabled": false},
	})
	env := fmt.Sprintf("OPENAI_API_KEY=%s\nOPENAI_BASE_URL=%s/v1\nOPENAI_MODEL=%s\n", mockKey, s.Server.URL(), mockModel)
	return errors.Join(err, os.WriteFile(filepath.Join(dir, ".env"), []byte(env), 0o600))
}

// seedGrok names the model server. Grok Build needs no login with a model of the user's own.
func (s *Sandbox) seedGrok() error {
	config := fmt.Sprintf(`[models]
default = "mock"
session_summary = "mock"

[model.mock]
model = %q
base_url = "%s/v1"
name = "Mock One"
api_key = %q
context_window = %d

[cli]
auto_update = false

[telemetry]
enabled = false
`, mockModel, s.Server.URL(), mockKey, mockWindow)
	dir := filepath.Join(s.Home, ".grok")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "config.toml"), []byte(config), 0o600)
}

// seedKimi names the model server, and has Kimi Code trust the project.
func (s *Sandbox) seedKimi() error {
	dir := filepath.Join(s.Home, ".kimi-code")
	err := s.trustKimi(s.Project)
	settings := fmt.Sprintf(`default_model = %[1]q

[providers.%[1]s]
type = "openai"
base_url = "%[2]s/v1"
api_key = %[3]q

[models.%[1]s]
provider = %[1]q
model = %[4]q
max_context_size = %[5]d
`, mockProvider, s.Server.URL(), mockKey, mockModel, mockWindow)
	return errors.Join(err, os.WriteFile(filepath.Join(dir, "config.toml"), []byte(settings), 0o600))
}

// TrustKimi has Kimi Code trust a folder.
func (s *Sandbox) TrustKimi(folder string) {
	s.t.Helper()
	if err := s.trustKimi(folder); err != nil {
		s.t.Fatal(err)
	}
}

func (s *Sandbox) trustKimi(folder string) error {
	name := fmt.Sprintf("wd_%s_%.6x", filepath.Base(folder), sha256.Sum256([]byte(folder)))
	return writeJSON(filepath.Join(s.Home, ".kimi-code", "workspace-trust", name), map[string]any{"root": folder, "trustedAt": time.Now().UnixMilli()})
}

// seedOmp names the model server, has it ask before it runs commands, and answers the questions of the first start.
func (s *Sandbox) seedOmp() error {
	dir := filepath.Join(s.Home, ".omp", "agent")
	provider := map[string]any{"baseUrl": s.Server.URL() + "/v1", "api": "openai-completions", "apiKey": mockKey, "models": []any{mockModelEntry()}}
	return errors.Join(writeJSON(filepath.Join(dir, "models.yml"), map[string]any{"providers": map[string]any{mockProvider: provider}}), // JSON is YAML
		writeJSON(filepath.Join(dir, "config.yml"), map[string]any{"setupVersion": 99, "tools": map[string]string{"approvalMode": "always-ask"},
			"modelRoles": map[string]string{"default": mockProvider + "/" + mockModel, "smol": mockProvider + "/" + mockModel}}))
}

// SeedNanocoder names the model server, and has it trust the project.
func (s *Sandbox) SeedNanocoder() error {
	dir := filepath.Join(s.Home, ".config", "nanocoder")
	provider := map[string]any{"name": mockProvider, "baseUrl": s.Server.URL() + "/v1", "apiKey": mockKey, "models": []string{mockModel}}
	return errors.Join(writeJSON(filepath.Join(dir, "agents.config.json"), map[string]any{"nanocoder": map[string]any{"providers": []any{provider}}}),
		writeJSON(filepath.Join(dir, "nanocoder-preferences.json"), map[string]any{"trustedDirectories": []string{s.Project}}))
}

// mockModelEntry describes the model to Pi, and to OpenClaw, which is built on Pi.
func mockModelEntry() map[string]any {
	return map[string]any{"id": mockModel, "name": "Mock", "reasoning": false, "input": []string{"text"},
		"contextWindow": mockWindow, "maxTokens": 8192,
		"cost": map[string]int{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}
}

// writeJSON writes a settings file of an agent, and makes its folder.
func writeJSON(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

// linkPackages links the programs of Codex's daemon, which are there once a daemon ran.
func linkPackages(from, to string) error {
	if err := linkTree(from, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}

// eachEvent are the settings with which the tray tells of each event of each session by itself and at once.
const eachEvent = "headless = \"show\"\n[notifications]\nreply = \"off\"\ntogether = \"0s\"\npause = \"0s\"\n"
