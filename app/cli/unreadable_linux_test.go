package cli

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rollcall/internal/agentname"
	"rollcall/internal/corpus"
	"rollcall/internal/must"
)

// asNobody executes the program as a user who owns nothing, where the tests run as
// root, who may read everything.
func asNobody(t *testing.T, env []string, args ...string) result {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program(t), args...)
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	r, _ := measured(t, cmd, env)
	return r
}

// measured executes a command and returns how many megabytes of memory it had.
func measured(t *testing.T, cmd *exec.Cmd, env []string) (result, int64) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Env = env
	cmd.Stdout = &out
	cmd.Stderr = &errs
	must.Do(t, cmd.Start())
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	// What the system says after the end counts the memory of the tests as well, from
	// before the program was executed in their copy.
	var most int64
	for tick := time.NewTicker(2 * time.Millisecond); ; {
		select {
		case <-done:
			tick.Stop()
			return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}, most >> 10
		case <-tick.C:
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			_, rest, _ := strings.Cut(string(status), "VmHWM:")
			var kilobytes int64
			if _, err := fmt.Sscan(rest, &kilobytes); err == nil {
				most = max(most, kilobytes)
			}
		}
	}
}

// letIn lets everybody enter the folders of a test.
func letIn(t *testing.T, dir string) {
	t.Helper()
	for up := dir; len(up) > len(os.TempDir()); up = filepath.Dir(up) {
		must.Do(t, os.Chmod(up, 0o755))
	}
}

// A Codex folder that hides a live session makes the list fail with --strict, and
// is named.
func TestCodexFolderUnreadable(t *testing.T) {
	letIn(t, filepath.Dir(program(t)))
	dir := filepath.Join(t.TempDir(), "corpus")
	if _, err := corpus.Write(dir, corpus.Options{Sessions: 20, Live: 20, Seed: 4, Now: time.Now(), Scale: 0.01}); err != nil {
		t.Fatal(err)
	}
	letIn(t, dir)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type()&fs.ModeSymlink == 0 && os.Geteuid() == 0 {
			err = os.Chown(path, 65534, 65534)
		}
		return err
	})
	must.Do(t, err)
	env := []string{"HOME=" + filepath.Join(dir, "home"), "HOST_PROC=" + filepath.Join(dir, "proc"), "HOST_ETC=" + filepath.Join(dir, "etc")}
	list := []string{"list", "--agent", string(agentname.Codex), "--strict"}
	before := asNobody(t, env, list...)
	if before.code != 0 || !strings.Contains(before.out, "Codex") {
		t.Fatalf("%+v", before)
	}
	for _, pattern := range []string{"*", "*/*", "*/*/*"} {
		days, err := filepath.Glob(filepath.Join(dir, "home/.codex/sessions", pattern))
		if err != nil || len(days) == 0 {
			t.Fatal(days, err)
		}
		for _, day := range days {
			must.Do(t, os.Chmod(day, 0))
		}
		closed := asNobody(t, env, list...)
		if closed.code != Incomplete || !strings.Contains(closed.err, "unreadable") || !strings.Contains(closed.err, ".codex/sessions") {
			t.Errorf("%s: %+v", pattern, closed)
		}
		for _, day := range days {
			must.Do(t, os.Chmod(day, 0o700))
		}
	}
}

// A session whose file has a line of 4 GB is listed, with the reason why nothing
// is known of it, and costs no more memory than others.
func TestLineOfGigabytes(t *testing.T) {
	const id = "01a20243-d702-7510-9dce-c3ad077dec6c"
	now := time.Now().UTC() // a list has what was active in the last days
	at := now.Format(time.RFC3339)
	head := map[string]string{
		"claude-code": `{"type":"user","uuid":"a","sessionId":"` + id + `","timestamp":"` + at + `","cwd":"/x","version":"2.1.270","message":{"role":"user","content":"hello"}}`,
		"codex": `{"timestamp":"` + at + `","type":"session_meta","payload":{"id":"` + id +
			`","timestamp":"` + at + `","cwd":"/x","originator":"codex_cli_rs","cli_version":"0.142.5","source":"cli"}}`,
		"pi": `{"type":"session","version":3,"id":"` + id + `","timestamp":"` + at + `","cwd":"/x"}`,
	}
	for agent, file := range map[string]string{
		"claude-code": ".claude/projects/-x/" + id + ".jsonl",
		"codex":       ".codex/sessions/2026/11/22/rollout-2026-11-22T05-26-25-" + id + ".jsonl",
		"pi":          ".pi/agent/sessions/--x--/" + now.Format("2006-01-02T15-04-05-000Z") + "_" + id + ".jsonl",
	} {
		for _, begins := range []string{"", head[agent] + "\n"} {
			for _, ends := range []string{"", "\n"} {
				t.Run(fmt.Sprintf("%s %d %d", agent, len(begins), len(ends)), func(t *testing.T) {
					home, empty := t.TempDir(), t.TempDir()
					path := filepath.Join(home, file)
					must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
					sparse(t, path, begins, 4<<30, ends)
					env := []string{"HOME=" + home, "HOST_PROC=" + empty, "HOST_ETC=" + empty}
					rest, least := measured(t, exec.Command(program(t), "list"), append(env, "HOME="+empty))
					if rest.code != 0 {
						t.Fatalf("%+v", rest)
					}
					for _, args := range [][]string{{"status", id}, {"status", "--json", id}, {"list", "--all", "--json"}} {
						r, most := measured(t, exec.Command(program(t), args...), env)
						if r.code != 0 || !strings.Contains(r.out, "format not recognised: a line of 4 GB") {
							t.Errorf("%v: %+v", args, r)
						}
						if most > least+64 {
							t.Errorf("%v: %d MB of memory, %d MB without sessions", args, most, least)
						}
					}
				})
			}
		}
	}
}

// sparse writes a file with a hole.
func sparse(t *testing.T, path, begins string, hole int64, ends string) {
	t.Helper()
	f, err := os.Create(path)
	if err == nil {
		defer f.Close()
		_, err = f.WriteString(begins)
	}
	if err == nil {
		err = f.Truncate(int64(len(begins)) + hole)
	}
	if err == nil {
		_, err = f.WriteAt([]byte(ends), int64(len(begins))+hole)
	}
	must.Do(t, err)
}
