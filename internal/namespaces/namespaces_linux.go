package namespaces

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Furnish gives the namespaces of their first process their own /tmp, which is the
// folder work, their own /proc and a loopback. The folders keep stay visible,
// although they may be below /tmp.
func Furnish(work string, keep ...string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := os.Chmod(work, 0o777|os.ModeSticky); err != nil {
		return err
	}
	for _, folder := range keep {
		if err := keepVisible(folder, work); err != nil {
			return fmt.Errorf("keep %s visible: %w", folder, err)
		}
	}
	if err := unix.Mount(work, "/tmp", "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("mount /tmp: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	return loopbackUp()
}

// keepVisible mounts a folder where the new /tmp, which is work now, hides it.
func keepVisible(folder, work string) error {
	below, err := filepath.Rel("/tmp", folder)
	if err != nil || strings.HasPrefix(below, "..") {
		return nil // not hidden
	}
	point := filepath.Join(work, below)
	if err := os.MkdirAll(point, 0o755); err != nil {
		return err
	}
	return unix.Mount(folder, point, "", unix.MS_BIND|unix.MS_REC, "")
}

func loopbackUp() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	defer unix.Close(socket)
	device, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	device.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, device); err != nil {
		return fmt.Errorf("loopback up: %w", err)
	}
	return nil
}

// Again starts this program once more, with the same arguments, with env besides its
// own environment, and with its temporary files in /tmp. It reaps whatever is orphaned
// meanwhile, as process 1 has to, and returns the program's exit code.
func Again(env ...string) (code int, err error) {
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = append(append(os.Environ(), "TMPDIR=/tmp", "GOTMPDIR=/tmp"), env...)
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start the tests: %w", err)
	}
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, fmt.Errorf("wait for the tests: %w", err)
		case pid != cmd.Process.Pid:
		case status.Signaled():
			return 128 + int(status.Signal()), nil
		case status.Exited():
			return status.ExitStatus(), nil
		}
	}
}
