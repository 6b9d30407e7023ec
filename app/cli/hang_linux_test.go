package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"rollcall/internal/keepertest"
	"rollcall/internal/must"
	"rollcall/internal/testfs"
)

// hangingHome is a home whose folders lie on a file system that stops answering.
func hangingHome(t *testing.T, folder string) (env []string, mount *testfs.FS) {
	t.Helper()
	behind := t.TempDir()
	for _, dir := range []string{"state/rollcall/launches", "state/rollcall/locks", "state/rollcall/fuses", "config/rollcall", "claude/projects/-x", "claude/sessions"} {
		must.Do(t, os.MkdirAll(filepath.Join(behind, dir), 0o700))
	}
	must.Do(t, os.WriteFile(filepath.Join(behind, "config/rollcall/config.toml"), nil, 0o600))
	mount = testfs.Mount(t, behind)
	home := t.TempDir()
	places := map[string]string{"state": "XDG_STATE_HOME", "config": "XDG_CONFIG_HOME", "claude": "CLAUDE_CONFIG_DIR"}
	env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	if hostProc := os.Getenv("HOST_PROC"); hostProc != "" {
		env = append(env, "HOST_PROC="+hostProc)
	} else { // no process of this machine is any of the test's business
		empty := t.TempDir()
		env = append(env, "HOST_PROC="+empty, "HOST_ETC="+empty)
	}
	return append(env, places[folder]+"="+filepath.Join(mount.Path, folder)), mount
}

// With a state, settings or store folder where nothing answers every command ends
// with what it has, and names the folder.
func TestFolderThatHangs(t *testing.T) {
	program(t)
	for folder, says := range map[string]string{"state": "does not answer", "config": "does not answer", "claude": "no answer"} {
		t.Run(folder, func(t *testing.T) {
			env, mount := hangingHome(t, folder)
			if folder != "state" {
				t.Cleanup(func() { keepertest.End(t, program(t), env) }) // the fuse has started one
			}
			mount.Hang(t)
			for _, line := range []string{"status x", "peek x", "stop x", "resume x -p y", "list", "locks", "lock .", "fuse list", "fuse set . --script true"} {
				t.Run(line, func(t *testing.T) {
					t.Parallel()
					args := strings.Fields(line)
					r := execute(t, env, args...)
					own := args[0] == "lock" || args[0] == "locks" || args[0] == "fuse"
					uses := folder == "state" || !own // those need neither the settings nor an agent
					if r.code < 0 || uses && !strings.Contains(r.err, says) {
						t.Errorf("exit %d, %q, %q", r.code, r.out, r.err)
					}
				})
			}
		})
	}
}

// Ctrl-C ends a command at once though a file system does not answer.
func TestInterruptOfWhatHangs(t *testing.T) {
	program(t)
	for _, folder := range []string{"state", "config", "claude"} {
		t.Run(folder, func(t *testing.T) {
			env, mount := hangingHome(t, folder)
			mount.Hang(t)
			for _, line := range []string{"status x", "list", "watch --json", "peek x"} {
				interruptHanging(t, env, strings.Fields(line))
			}
		})
	}
}

// interruptHanging interrupts a command once a file system lets it wait, and holds
// it to end. Commands end by themselves too, within seconds: on a busy machine that
// may come before the interrupt, and then it is tried again.
func interruptHanging(t *testing.T, env, args []string) {
	t.Helper()
	var code int
	var said string
	for range 10 {
		code, said = interrupted(t, env, args)
		if code == Interrupted || t.Failed() {
			return
		}
	}
	t.Errorf("%s: exit %d: %s", args, code, said)
}

// interrupted runs a command until it waits for a file system, and interrupts it.
func interrupted(t *testing.T, env, args []string) (code int, said string) {
	t.Helper()
	cmd := exec.Command(program(t), args...)
	cmd.Env = env
	var errs bytes.Buffer
	cmd.Stderr = &errs
	must.Do(t, cmd.Start())
	done := make(chan struct{})
	go func() { _ = cmd.Wait(); close(done) }()
	if at := awaitHangingCall(cmd.Process.Pid, done); at != "" {
		t.Errorf("%s is in no call of a file system that hangs after 20 s, but in: %s", args, at)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Errorf("%s goes on after an interrupt", args)
		_ = cmd.Process.Kill()
		<-done
	}
	return cmd.ProcessState.ExitCode(), errs.String()
}

// awaitHangingCall waits until a thread of the process is in a call of FUSE, or the
// process is done. After 20 s it says where the threads are instead.
func awaitHangingCall(pid int, done <-chan struct{}) (elsewhere string) {
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); {
		files, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/wchan")
		elsewhere = "no thread"
		for _, file := range files {
			at, err := os.ReadFile(file)
			if err == nil && (strings.Contains(string(at), "request_wait_answer") || strings.Contains(string(at), "fuse")) {
				return ""
			}
			elsewhere += " " + string(at)
		}
		select {
		case <-done:
			return ""
		case <-time.After(5 * time.Millisecond):
		}
	}
	return elsewhere
}
