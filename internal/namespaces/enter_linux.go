package namespaces

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"rollcall/internal/must"
)

// Main furnishes the namespaces of which this process is the first with work, calls prepare unless that is nil, runs the tests in
// them with env, and ends the process.
func Main(work, env string, prepare func() error) {
	code, err := 0, Furnish(work)
	if err == nil && prepare != nil {
		err = prepare()
	}
	if err == nil {
		code, err = Again(env)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "namespaces:", err)
		code = 1
	}
	os.Exit(code)
}

// Enter runs a test again as the first process of new namespaces, with env, by which TestMain knows that it must call Main. It skips the
// test where namespaces are not permitted; in CI it fails.
func Enter(t *testing.T, env ...string) {
	t.Helper()
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWNET}
	if os.Getuid() != 0 {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	probe := exec.Command("true")
	probe.SysProcAttr = attr
	if err := probe.Run(); err != nil {
		must.Skip(t, "namespaces are not permitted here: ", err)
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.count=1", "-test.timeout=0", "-test.v="+fmt.Sprint(testing.Verbose()))
	cmd.Env, cmd.SysProcAttr = append(append(os.Environ(), "GORACE=atexit_sleep_ms=0"), env...), attr
	out := t.Output() // not only at the end: the test may run for hours
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
}
