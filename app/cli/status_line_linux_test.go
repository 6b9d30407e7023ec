package cli

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/internal/must"
)

// TestStatusLine: the program is the status line of an agent, keeps what it is told for usage --limits, and goes on with the user's own status line. What
// it can't keep, it says in the line.
func TestStatusLine(t *testing.T) {
	home := t.TempDir()
	line := func(input string, args ...string) string {
		t.Helper()
		cmd := exec.Command(program(t), append([]string{"statusline"}, args...)...)
		cmd.Env = []string{"HOME=" + home, "XDG_STATE_HOME=" + filepath.Join(home, "state"), "PATH=/usr/bin:/bin"}
		cmd.Stdin = strings.NewReader(input)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	at := time.Now().Add(time.Hour)
	told, err := json.Marshal(map[string]any{"transcript_path": filepath.Join(home, ".claude", "projects", "-x", "y.jsonl"), "cwd": "/home/me/shop\x1b[31m",
		"model": map[string]string{"display_name": "Opus"}, "rate_limits": map[string]any{"five_hour": map[string]any{"used_percentage": 23.4, "resets_at": at.Unix()}}})
	must.Do(t, err)
	if got, want := line(string(told)), "Opus · shop · 5 h 23 %, resets "+at.Format("15:04")+"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := line(string(told), "--then", "wc -c; echo mine"); got != line(string(told), "--then", "cat | wc -c && echo mine") || !strings.HasSuffix(got, "\nmine\n") {
		t.Errorf("%q", got)
	}
	if got := line(string(told), "--then", "exit 3"); got != "exit 3: exit status 3\n" {
		t.Errorf("%q", got)
	}
	if got := line("nothing"); got != "limits not kept: Claude Code: it is not what an agent hands to its status line\n" {
		t.Errorf("%q", got)
	}
	cmd := exec.Command(program(t), "usage", "--limits", "--agent", "claude-code", "--json")
	cmd.Env = []string{"HOME=" + home, "XDG_STATE_HOME=" + filepath.Join(home, "state"), "PATH=/usr/bin:/bin", "HOST_PROC=" + t.TempDir()}
	out, _ := cmd.Output()
	if !strings.Contains(string(out), `"used_percent":23.4`) || !strings.Contains(string(out), filepath.Join(home, ".claude")) {
		t.Errorf("%s", out)
	}
}
