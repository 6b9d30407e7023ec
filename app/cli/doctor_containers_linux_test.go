package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/must"
	"rollcall/proc"
)

// contained starts a process with that name in a pid and mount namespace of its
// own.
func contained(t *testing.T, name, home string) proc.Process {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can make namespaces everywhere")
	}
	return startNamed(t, name, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS},
		[]string{"HOME=" + home})
}

func TestContainersWhoseFilesCannotBeRead(t *testing.T) {
	table := proc.OpenAt("/proc", "/etc")
	list := []proc.Process{contained(t, "claude", t.TempDir()), named(t, "claude", 0), contained(t, "sleep", "/nowhere/at/all")}
	known := []adapters.Adapter{codex(), owner{agent: claude(), comm: "strange"}}
	if check, ok := findAgentProcesses(list, known).takeContained(table); ok {
		t.Errorf("readable ones count: %+v", check)
	}
	list = append(list, contained(t, "claude", "/nowhere/at/all"))
	check, ok := findAgentProcesses(list, known).takeContained(table)
	if want := "1 claude process in a container whose files can't be read"; !ok || check != (checkJSON{"containers", "ok", want}) {
		t.Errorf("%+v, want %q", check, want)
	}
	list = append(list, contained(t, "codex", "/nowhere/at/all"), contained(t, "codex", "/nowhere"), contained(t, "strange", "/nowhere"))
	check, _ = findAgentProcesses(list, known).takeContained(table)
	if want := "1 claude process, 1 claude-code process, 2 codex processes in containers whose files can't be read"; check.Detail != want {
		t.Errorf("%q, want %q", check.Detail, want)
	}
	gone := list[3]
	gone.Start++
	if check, ok := findAgentProcesses([]proc.Process{gone}, known).takeContained(table); ok {
		t.Errorf("a process that has ended counts: %+v", check)
	}
}

// A user without rights sees of root's container no more than the names and the
// pids of its processes: it is reported as a container, not as another user's.
func TestContainersOfRoot(t *testing.T) {
	if pids := os.Getenv("ROLLCALL_TEST_LOOK_AT"); pids != "" {
		lookAt(t, pids)
		return
	}
	inside := contained(t, "claude", "/nowhere/at/all")
	outside := named(t, "claude", 0)
	self := must.Get(os.ReadFile("/proc/self/exe"))(t)
	dir := must.Get(os.MkdirTemp("", "rollcall-contained"))(t)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	copied := filepath.Join(dir, "look")
	for _, err := range []error{os.WriteFile(copied, self, 0o755), os.Chmod(dir, 0o755)} {
		must.Do(t, err)
	}
	cmd := exec.Command(copied, "-test.run=^TestContainersOfRoot$", "-test.v")
	cmd.Dir = "/"
	cmd.Env = []string{"HOME=/", "TMPDIR=/tmp", fmt.Sprintf("ROLLCALL_TEST_LOOK_AT=%d %d", inside.PID, outside.PID)}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	for _, want := range []string{"containers: 1 claude process in a container whose files can't be read",
		"other users: 1 agent process of another user is not listed; run rollcall as root to list it"} {
		if err != nil || !strings.Contains(string(out), want) {
			t.Fatalf("%v; want %q in:\n%s", err, want, out)
		}
	}
}

// lookAt logs what doctor says of the processes.
func lookAt(t *testing.T, pids string) {
	table := proc.OpenAt("/proc", "/etc")
	var list []proc.Process
	for word := range strings.FieldsSeq(pids) {
		pid := must.Get(strconv.Atoi(word))(t)
		p := must.Get(table.Find(pid))(t)
		list = append(list, p)
	}
	found := findAgentProcesses(list, nil)
	for _, finding := range []func(proc.Lister) (checkJSON, bool){found.takeContained, found.othersCheck} {
		if check, ok := finding(table); ok {
			t.Logf("%s: %s", check.Name, check.Detail)
		}
	}
}
