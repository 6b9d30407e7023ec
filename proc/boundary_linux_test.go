package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"rollcall/internal/must"
)

// checkedVariable is the pid that the role "check boundary" checks.
const checkedVariable = "ROLLCALL_PROC_TEST_CHECKED"

func init() {
	if _, ok := os.LookupEnv(roleVariable); ok {
		runtime.LockOSThread() // restrictions are those of the main thread, of which /proc/PID/status is
	}
	roles["no new privileges"] = func() error {
		noNewPrivs()
		return ready("ready")
	}
	roles["seccomp"] = func() error {
		if err := filterNothing(); err != nil {
			return err
		}
		return ready("ready")
	}
	roles["check boundary"] = func() error {
		pid, err := strconv.Atoi(os.Getenv(checkedVariable))
		if err != nil {
			return err
		}
		return ready(checkText(pid))
	}
	roles["check boundary without new privileges"] = func() error {
		noNewPrivs()
		return roles["check boundary"]()
	}
	roles["check boundary with seccomp"] = func() error {
		if err := filterNothing(); err != nil {
			return err
		}
		return roles["check boundary"]()
	}
	roles["check a root folder on a bind mount"] = bindRoot
}

// checkText returns the result of CheckBoundary for the process with a pid: "in" if there is no error.
func checkText(pid int) string {
	p, err := Open().Find(pid)
	if err == nil {
		err = CheckBoundary(p.Identity)
	}
	switch {
	case err == nil:
		return "in"
	case !errors.Is(err, ErrForeign):
		return "another error: " + err.Error()
	}
	return err.Error()
}

func noNewPrivs() {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		panic(err)
	}
}

// filterNothing sets a seccomp filter that allows everything. A user without rights must give up new privileges first.
func filterNothing() error {
	if os.Getuid() != 0 {
		noNewPrivs()
	}
	allow := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}}
	program := unix.SockFprog{Len: uint16(len(allow)), Filter: &allow[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	return nil
}

// bindRoot runs in a mount namespace of its own. It prints the results for a process whose root folder is a bind mount of the root
// folder, and for one with the same root folder.
func bindRoot() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "root")
	if err != nil {
		return err
	}
	defer os.Remove(dir)
	if err := unix.Mount("/", dir, "", unix.MS_BIND, ""); err != nil {
		return err
	}
	defer func() { _ = unix.Unmount(dir, unix.MNT_DETACH) }()
	var said []string
	for _, root := range []string{dir, ""} {
		cmd := exec.Command("/bin/sleep", "60")
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
		if err := cmd.Start(); err != nil {
			return err
		}
		said = append(said, checkText(cmd.Process.Pid))
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	return ready(strings.Join(said, "; "))
}

// sandbox is a way to start a process.
type sandbox struct {
	role  string
	attr  syscall.SysProcAttr
	root  bool     // only root can start it
	wants []string // words, one of which the reason contains; none: it is in the boundary
}

const restricted = "runs in a container or sandbox: "

var sandboxes = map[string]sandbox{
	"none":              {role: "wait"},
	"mount namespace":   {role: "wait", root: true, attr: syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}, wants: []string{"another mount namespace"}},
	"pid namespace":     {role: "wait", root: true, attr: syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID}, wants: []string{"another pid namespace"}},
	"user namespace":    {role: "wait", attr: syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}, wants: []string{"another user namespace", "namespaces cannot be read: permission denied"}},
	"rootless":          {role: "wait", attr: syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID}, wants: []string{"another mount namespace", "namespaces cannot be read: permission denied"}},
	"no new privileges": {role: "no new privileges", wants: []string{"no_new_privs"}},
	"seccomp":           {role: "seccomp", wants: []string{"seccomp", "no_new_privs"}},
}

// start starts a process in a sandbox, as a user.
func (s *sandbox) start(t *testing.T, uid int) *child {
	t.Helper()
	attr := s.attr
	if uid != os.Getuid() {
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
	}
	if attr.Cloneflags&unix.CLONE_NEWUSER != 0 {
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappingsEnableSetgroups = os.Getuid() == 0
	}
	return start(t, s.role, func(cmd *exec.Cmd) { cmd.Path, cmd.SysProcAttr = "/proc/self/exe", &attr }) // the user may not reach the test's folder
}

// check returns the result of CheckBoundary by another process, of the given user.
func check(t *testing.T, role string, uid, pid int) string {
	t.Helper()
	return start(t, role, func(cmd *exec.Cmd) {
		cmd.Path = "/proc/self/exe"
		cmd.Env = append(cmd.Env, checkedVariable+"="+strconv.Itoa(pid))
		if uid != os.Getuid() {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
		}
	}).said
}

// needUserNamespaces skips the test where a user cannot make user namespaces.
func needUserNamespaces(t *testing.T) {
	t.Helper()
	probe := exec.Command("/bin/true")
	probe.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}
	if err := probe.Run(); err != nil {
		must.Skip(t, fmt.Sprintf("no user namespace: %v", err))
	}
}

// TestBoundary: a process is in the boundary only if nothing that this process can do is denied to it. The same user and root see it the
// same way.
func TestBoundary(t *testing.T) {
	needUserNamespaces(t)
	users := []int{os.Getuid()}
	if os.Getuid() == 0 {
		users = append(users, stranger)
	}
	for name, s := range sandboxes {
		for _, uid := range users {
			t.Run(fmt.Sprintf("%s/%d", name, uid), func(t *testing.T) {
				if s.root && os.Getuid() != 0 {
					t.Skip("only root can start this without a user namespace")
				}
				c := s.start(t, uid)
				for _, by := range slices.Compact([]int{uid, os.Getuid()}) {
					got := check(t, "check boundary", by, c.Process.Pid)
					wanted := got == "in" && len(s.wants) == 0
					for _, w := range s.wants {
						wanted = wanted || strings.HasPrefix(got, "runs in a container or sandbox") && strings.Contains(got, w)
					}
					if !wanted {
						t.Errorf("user %d: %q, want %q", by, got, s.wants)
					}
				}
			})
		}
	}
}

// TestBoundaryOfRestricted: a process that is restricted itself accepts one with the same restrictions, and none with more.
func TestBoundaryOfRestricted(t *testing.T) {
	noNew, filtered := sandboxes["no new privileges"], sandboxes["seccomp"]
	uid := os.Getuid()
	for _, c := range []struct {
		role   string
		other  sandbox
		accept bool
	}{
		{"check boundary without new privileges", noNew, true},
		{"check boundary without new privileges", filtered, false},
		{"check boundary with seccomp", filtered, true},
	} {
		got := check(t, c.role, uid, c.other.start(t, uid).Process.Pid)
		if (got == "in") != c.accept || !c.accept && !strings.HasPrefix(got, restricted) {
			t.Errorf("%s of %q: %s", c.role, c.other.role, got)
		}
	}
}

// TestBoundaryOfRoots: a process with another root folder is foreign, also if the folder is a bind mount of ours.
func TestBoundaryOfRoots(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can change a root folder")
	}
	said := start(t, "check a root folder on a bind mount", func(cmd *exec.Cmd) {
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	}).said
	if want := restricted + "another root folder; in"; said != want {
		t.Errorf("%q, want %q", said, want)
	}
}

// TestBoundaryOfReusedPID: the process that has the pid now is not the one that is meant.
func TestBoundaryOfReusedPID(t *testing.T) {
	self := Self()
	if err := CheckBoundary(self); err != nil {
		t.Error(err)
	}
	self.Start++
	for _, id := range []Identity{self, {}} {
		if err := CheckBoundary(id); !errors.Is(err, ErrGone) {
			t.Errorf("%v: %v", id, err)
		}
	}
}

// TestBoundaryUnreadable: a process whose namespaces cannot be read is foreign. One that has none is ending: the kernel drops them before
// the process becomes a zombie.
func TestBoundaryUnreadable(t *testing.T) {
	tree := t.TempDir()
	self := Self()
	folder := filepath.Join(tree, strconv.Itoa(self.PID))
	must.Do(t, os.MkdirAll(filepath.Join(folder, "ns"), 0o755))
	text := must.Get(os.ReadFile("/proc/self/stat"))(t)
	must.Do(t, os.WriteFile(filepath.Join(folder, "stat"), text, 0o600))
	t.Setenv("HOST_PROC", tree)
	if err := CheckBoundary(self); !errors.Is(err, ErrGone) || errors.Is(err, ErrForeign) {
		t.Errorf("without namespaces: %v", err)
	}
	must.Do(t, os.WriteFile(filepath.Join(folder, "ns", "mnt"), nil, 0o600))
	if err := CheckBoundary(self); !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), "its namespaces cannot be read") {
		t.Errorf("with a file in the place of the link: %v", err)
	}
}

// TestBoundaryOfEnding: a process that ends while it is checked is in the boundary or gone, never foreign.
func TestBoundaryOfEnding(t *testing.T) {
	for range 50 {
		c := start(t, "wait", nil)
		id := c.identity(t, Open())
		must.Do(t, c.Process.Kill())
		for {
			err := CheckBoundary(id)
			if errors.Is(err, ErrGone) {
				break
			}
			must.Do(t, err)
		}
	}
}
