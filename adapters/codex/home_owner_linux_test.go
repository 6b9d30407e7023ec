package codex

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/must"
	"rollcall/proc"
)

// Root lists the agents of all users, from the homes that their processes name.
func TestAgentsOfOtherUsers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can start processes of other users")
	}
	const someone = 65534
	for name, env := range map[string]func(home string) string{
		"HOME":       func(home string) string { return "HOME=" + home },
		"CODEX_HOME": func(home string) string { return "CODEX_HOME=" + filepath.Join(home, ".codex") },
	} {
		t.Run(name, func(t *testing.T) {
			theirs := home(t)
			for path := theirs; path != os.TempDir() && path != "/"; path = filepath.Dir(path) {
				if err := os.Chmod(path, 0o755); err != nil { // they reach their home
					t.Fatal(err)
				}
			}
			rollout := filepath.Join(theirs, ".codex", "sessions", "2026", "11", "21", "rollout-2026-11-21T05-00-00-"+threadA+".jsonl")
			p := startCodex(t, "codex", []string{fmt.Sprintf("CODEX_TEST_UID=%d", someone), env(theirs)})
			write(t, rollout, begunNow("0.169.0").text())
			must.Do(t, filepath.WalkDir(theirs, func(path string, _ os.DirEntry, err error) error {
				if err != nil {
					return err
				}
				return os.Chown(path, someone, someone)
			}))
			p.do("open", rollout)
			row, err := proc.Open().Find(p.cmd.Process.Pid)
			must.Do(t, err)
			if uid, err := proc.Open().UID(row.Identity); err != nil || uid != someone {
				t.Fatalf("the process is of user %d, %v", uid, err)
			}
			roll, err := atNow(home(t)).Discover(t.Context(), adapters.Query{IDs: []string{threadA}})
			if err != nil || len(roll.Sessions) != 1 {
				t.Fatalf("%+v, %v", roll.Sessions, err)
			}
			want(t, roll.Sessions[0], adapters.Working, "", p.cmd.Process.Pid)
		})
	}
}
