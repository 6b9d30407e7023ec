package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
)

// owner is an agent that knows its processes by a name of theirs.
type owner struct {
	*agent
	comm string
}

func (o owner) OwnsProcess(p proc.Process) bool { return p.Comm == o.comm }

// named starts a process with that name, of a user.
func named(t *testing.T, name string, uid int) proc.Process {
	t.Helper()
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if uid != os.Getuid() {
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
	}
	return startNamed(t, name, attr, os.Environ())
}

// startNamed starts a process with that name, in namespaces or as a user that attr
// names.
func startNamed(t *testing.T, name string, attr *syscall.SysProcAttr, env []string) proc.Process {
	t.Helper()
	sleep, err := exec.LookPath("sleep")
	must.Do(t, err)
	data := must.Get(os.ReadFile(sleep))(t)
	dir := must.Get(os.MkdirTemp("", "rollcall-others"))(t) // t.TempDir is for this user alone
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	file := filepath.Join(dir, name)
	must.Do(t, os.WriteFile(file, data, 0o755))
	must.Do(t, os.Chmod(dir, 0o755))
	cmd := exec.Command(file, "60")
	cmd.Dir = "/"
	cmd.SysProcAttr, cmd.Env = attr, env
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	var p proc.Process
	eventually.True(t, "the name of the process, which comes a moment after the exec that its parent sees", func() bool {
		p, err = proc.OpenAt("/proc", "/etc").Find(cmd.Process.Pid)
		return err == nil && p.Comm == name
	})
	return p
}

// users is a table that knows the user of a process by its pid; 0: unknown.
type users map[int]int

func (u users) UID(id proc.Identity) (int, error) {
	if uid := u[id.PID]; uid != 0 {
		return uid, nil
	}
	return 0, proc.ErrUnsupported
}

func TestAgentsOfOtherUsersAreCounted(t *testing.T) {
	var list []proc.Process
	for i, comm := range []string{"codex", "claude", "strange", "sleep", "pi", "node"} {
		list = append(list, proc.Process{Identity: proc.Identity{PID: i + 1, Start: 1}, Comm: comm})
	}
	known := []adapters.Adapter{codex(), owner{agent: claude(), comm: "strange"}}
	if n := findAgentProcesses(list, known).ofOthers(users{1: 501, 2: 502, 3: 502, 4: 502, 6: 502}, 501); n != 2 {
		t.Errorf("%d agents of others, want claude and strange", n)
	}
	if got := othersDetail(1); got != "1 agent process of another user is not listed; run rollcall as root to list it" {
		t.Errorf("doctor says %q", got)
	}
}

func TestAgentsOfOtherUsers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can start processes of other users")
	}
	const someone = 65534
	table := proc.OpenAt("/proc", "/etc")
	list := []proc.Process{named(t, "codex", someone), named(t, "codex", 0), named(t, "sleep", someone), named(t, "strange", someone)}
	known := []adapters.Adapter{codex(), owner{agent: claude(), comm: "strange"}}
	if n := findAgentProcesses(list, known).ofOthers(table, 0); n != 2 {
		t.Errorf("root sees %d, want codex and strange", n)
	}
	if n := findAgentProcesses(list, known).ofOthers(table, someone); n != 1 {
		t.Errorf("the other user sees %d, want root's codex", n)
	}
	gone := list[0]
	gone.Start++
	if n := findAgentProcesses([]proc.Process{gone}, known).ofOthers(table, 0); n != 0 {
		t.Errorf("a process that has ended counts: %d", n)
	}
}
