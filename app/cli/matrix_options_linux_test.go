package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// TestMatrixWithOptions: options beside a matrix file count.
func TestMatrixWithOptions(t *testing.T) {
	repo := oneCommit(t)
	d := launchDeps(t, &writer{agentname.ClaudeCode})
	dir := t.TempDir()
	matrix := filepath.Join(dir, "m.yaml")
	spec := filepath.Join(dir, "spec.md")
	file := filepath.Join(dir, "file.md")
	for path, text := range map[string]string{matrix: "prompt: do it\ncwd: /nowhere\nspec: none.md\nmatrix:\n  - agent: claude-code\n",
		spec: "the specification\n", file: "the file\n"} {
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	}
	r := run(t, d, "launch", "--matrix", matrix, "--cwd", repo, "--spec", spec, "--file", file, "--group", "g-00aa11",
		"--on-create", "echo created", "--on-complete", "echo done", "--force")
	if r.code != Done || !strings.Contains(r.out, ": started l-") {
		t.Fatalf("%+v", r)
	}
	l := must.Get(d.Launches())(t)
	list, err := l.List()
	if err != nil || len(list) != 1 || list[0].Spec != spec || len(list[0].Hooks) != 2 || list[0].Hooks[0].Command != "echo created" {
		t.Errorf("the record is %+v, %v", list, err)
	}
	readme := filepath.Join(filepath.Dir(repo), "app-try-g-00aa11-cc", "readme")
	eventually.True(t, "the prompt with both files", func() bool {
		text, _ := os.ReadFile(readme)
		return strings.Contains(string(text), "the specification") && strings.Contains(string(text), "the file") && strings.Contains(string(text), "by ")
	})
	// Without --force a lock on the new worktree's place refuses; with it it doesn't.
	eventually.True(t, "the agent's end, and the lock", func() bool { return run(t, d, "lock", filepath.Dir(repo)).code == Done })
	for group, force := range map[string]string{"g-00aa12": "--force=false", "g-00aa13": "--force"} {
		r := run(t, d, "launch", "--matrix", matrix, "--cwd", repo, "--spec", spec, "--group", group, force)
		if started := strings.Contains(r.out, ": started l-"); started != (force == "--force") {
			t.Errorf("%s: %+v", force, r)
		}
	}
}
