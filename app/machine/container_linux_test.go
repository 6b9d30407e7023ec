package machine

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/app"
	"rollcall/app/settings"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// podman is a container engine with a store of its own.
type podman struct {
	t    *testing.T
	argv []string
}

// newPodman returns the engine. It skips the test where podman is missing or cannot run a container; in CI it fails.
func newPodman(t *testing.T) *podman {
	t.Helper()
	give := t.Skipf
	if os.Getenv("CI") == "true" {
		give = t.Fatalf
	}
	for _, name := range []string{"podman", "crun", "busybox"} {
		if _, err := exec.LookPath(name); err != nil {
			give("%s is not installed (packaging/setup installs it)", name)
		}
	}
	// crun takes the unified hierarchy only; podman's locks are shared memory of the whole machine.
	_ = unix.Unmount("/sys/fs/cgroup", unix.MNT_DETACH)
	for _, m := range []struct{ kind, at string }{{"cgroup2", "/sys/fs/cgroup"}, {"tmpfs", "/dev/shm"}, {"tmpfs", "/var/lib/containers"}} {
		if err := os.MkdirAll(m.at, 0o755); err != nil {
			give("%s: %v", m.at, err)
		}
		if err := unix.Mount(m.kind, m.at, m.kind, 0, ""); err != nil {
			give("%s cannot be mounted here: %v", m.kind, err)
		}
	}
	dir, err := os.MkdirTemp("", "podman-") // what podman cleans up late must not fail the test: the folder goes with the namespace
	must.Do(t, err)
	p := &podman{t, []string{"podman", "--root", dir + "/store", "--runroot", dir + "/run", "--tmpdir", dir + "/tmp", "--storage-driver", "vfs",
		"--runtime", "crun", "--cgroup-manager", "cgroupfs", "--events-backend", "none"}}
	t.Setenv("TMPDIR", dir)
	archive := filepath.Join(dir, "image.tar")
	p.image(archive)
	if _, err := p.run("import", archive, "localhost/box:1"); err != nil {
		give("%v", err)
	}
	if _, err := p.start("probe"); err != nil {
		give("podman cannot run a container here: %v", err)
	}
	return p
}

// image makes the archive of an image with busybox and the static program.
func (p *podman) image(archive string) {
	p.t.Helper()
	root := p.t.TempDir()
	busybox := must.Get(exec.LookPath("busybox"))(p.t)
	script := `set -e; cd "$1"; mkdir bin tmp etc root; chmod 1777 tmp; cp "$2" bin/busybox; cp "$3" bin/rollcall; for a in sh sleep ps; do ln -s busybox bin/$a; done; tar -cf "$4" .`
	if out, err := exec.Command("sh", "-c", script, "sh", root, busybox, insideProgram, archive).CombinedOutput(); err != nil {
		p.t.Fatalf("%v: %s", err, out)
	}
}

// run runs a command of podman.
func (p *podman) run(args ...string) (string, error) {
	cmd := exec.CommandContext(p.t.Context(), p.argv[0], append(p.argv[1:], args...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("podman %s: %w: %s", args[0], err, errs.String())
	}
	return string(out), nil
}

// must runs a command of podman that succeeds.
func (p *podman) must(args ...string) string {
	p.t.Helper()
	out := must.Get(p.run(args...))(p.t)
	return out
}

// start starts a container with these options until the test ends.
func (p *podman) start(name string, options ...string) (string, error) {
	p.t.Helper()
	p.t.Cleanup(func() {
		cmd := exec.Command(p.argv[0], append(p.argv[1:], "rm", "-f", "-t", "0", name)...)
		_ = cmd.Run() // it may not have begun; it ends with the namespace too
	})
	args := append([]string{"run", "-d", "--name", name, "--network", "none", "--cgroups", "disabled", "--ulimit", "nofile=1024:1024",
		"--ulimit", "nproc=1024:1024", "--pids-limit", "0"}, options...)
	return p.run(append(args, "localhost/box:1", "/bin/sleep", "600")...)
}

// exec returns the machine that is a container.
func (p *podman) exec(name, program string) *Host {
	argv := append(append([]string{}, p.argv...), "exec", "-i", name, program)
	return &Host{Machine: settings.Machine{Name: name, Exec: argv}, Heartbeat: time.Second}
}

// TestContainer: the sessions in a real container are shown, followed and asked about; nothing stays behind in it, and a container that is
// stopped, has no Rollcall or does not exist has its words.
func TestContainer(t *testing.T) {
	if !inside(t) {
		return
	}
	p := newPodman(t)
	w := scene.New(t)
	claude := scene.ClaudeCode(w)
	claude.Install()
	shared := filepath.Dir(w.Home)
	options := []string{"--volume", shared + ":" + shared, "--volume", w.Procs.Root() + ":" + w.Procs.Root(), "--volume", w.Procs.Etc() + ":" + w.Procs.Etc()}
	for _, v := range env(w, "/bin") {
		options = append(options, "--env", v)
	}
	if _, err := p.start("dev", options...); err != nil {
		t.Fatal(err)
	}
	work := claude.Start("/src/shop", "Fix the login")
	id := app.MachineID("dev", work.ID)
	t.Run("followed", func(t *testing.T) {
		s := run(t, p.exec("dev", "rollcall"))
		s.await(t, "dev", "ok with its session", func(r app.MachineRoll) bool { return isOK(r) && rowOf(r, id) != nil })
		work.Ask()
		s.await(t, "dev", "waiting", func(r app.MachineRoll) bool { return rowOf(r, id) != nil && rowOf(r, id).WaitingFor != "" })
		work.Answer("Done")
		work.Exit()
		s.await(t, "dev", "ended", func(app.MachineRoll) bool { return len(s.kinds(app.Ended)) == 1 })
	})
	eventually.Nil(t, "an empty container", func() error {
		if ps := p.must("exec", "dev", "ps"); strings.Contains(ps, "rollcall") {
			return errors.New(ps)
		}
		return nil
	})
	var config strings.Builder
	config.WriteString("[[machine]]\nname = \"dev\"\nexec = [")
	for _, word := range p.exec("dev", "rollcall").Exec {
		fmt.Fprintf(&config, "%q,", word)
	}
	config.WriteString("]\n")
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"list", "--all"}, 0, id},
		{[]string{"peek", id}, 0, "Fix the login"},
		{[]string{"status", "dev:nope"}, 4, "no such session"},
		{[]string{"lock", "-H", "dev", "/root", "--reason", "it's mine"}, 0, "locked"},
		{[]string{"machine", "test"}, 0, "dev: Rollcall 1.2.3, 0 live sessions"},
	} {
		if out, errs, code := rollcall(t, config.String(), tt.args...); code != tt.code || !strings.Contains(out+errs, tt.want) {
			t.Errorf("%q: exit code %d, want %d and %q\n%s%s", tt.args, code, tt.code, tt.want, out, errs)
		}
	}
	p.must("stop", "-t", "0", "dev")
	for _, tt := range []struct{ name, program, want string }{
		{"dev", "rollcall", "the container is not running: start it"},
		{"probe", "nothing", "there is no Rollcall on podman"},
		{"nope", "rollcall", "there is no such container"},
	} {
		if r := p.exec(tt.name, tt.program).ask(t.Context(), 0, 30*time.Second); !failedWith(tt.want)(r) {
			t.Errorf("%s %s: %+v", tt.name, tt.program, r.Problems)
		} else {
			t.Logf("%s %s: %s", tt.name, tt.program, r.Problems)
		}
	}
}

// TestWSL: what wsl.exe is given is its own arguments, then Rollcall's, and its standard input reaches Rollcall. WSL itself is not here: the
// stand-in records its arguments and runs the real program.
func TestWSL(t *testing.T) {
	if !inside(t) {
		return
	}
	w := scene.New(t)
	claude := scene.ClaudeCode(w)
	claude.Install()
	work := claude.Start("/src/shop", "Fix the login")
	dir := t.TempDir()
	recorded := filepath.Join(dir, "arguments")
	text := "#!/bin/sh\nprintf '<%s>' \"$@\" >>" + recorded + "; echo >>" + recorded + "\nshift 3\ncd /\nexec env -i '" + strings.Join(env(w, "/tmp/bin"), "' '") + "' \"$@\"\n"
	must.Do(t, os.WriteFile(filepath.Join(dir, "wsl.exe"), []byte(text), 0o755))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	config := "[[machine]]\nname = \"wsl\"\nexec = [\"wsl.exe\", \"-d\", \"My Debian\", \"--\", \"rollcall\"]\n"
	for _, tt := range []struct {
		args         []string
		code         int
		want, passed string
	}{
		{[]string{"list"}, 0, "wsl:" + work.ID, "<-d><My Debian><--><rollcall><watch><--json><--snapshot><--end-with-stdin>"},
		{[]string{"peek", "wsl:" + work.ID}, 0, "Fix the login", "<-d><My Debian><--><rollcall><peek><--color=never><--><" + work.ID + ">"},
		{[]string{"launch", "-H", "wsl", "claude-code", "-p", "it's \"x\"\n!", "--dry-run"}, 1, "claude", "<-d><My Debian><--><rollcall><launch><--dry-run=true><--prompt=-><--color=never><--><claude-code>"},
	} {
		_ = os.Remove(recorded)
		out, errs, code := rollcall(t, config, tt.args...)
		passed, _ := os.ReadFile(recorded)
		if code != tt.code || !strings.Contains(out+errs, tt.want) || !strings.HasPrefix(string(passed), tt.passed) {
			t.Errorf("%q: exit code %d, want %d and %q\n%s%s%s", tt.args, code, tt.code, tt.want, out, errs, passed)
		}
	}
}
