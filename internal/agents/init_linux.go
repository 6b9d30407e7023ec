package agents

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// initNamespaces is process 1: it makes the namespaces usable, starts the tests,
// and reaps whatever is orphaned, as an init does. With its end the kernel ends
// everything inside.
func initNamespaces() int {
	if err := furnish(os.Getenv(workKey), strings.Split(os.Getenv(keepKey), "\n")); err != nil {
		fmt.Fprintln(os.Stderr, "agents: namespaces:", err)
		return 1
	}
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), stageKey+"="+stageInside)
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "agents: start the tests:", err)
		return 1
	}
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			fmt.Fprintln(os.Stderr, "agents: wait for the tests:", err)
			return 1
		case pid != cmd.Process.Pid:
		case status.Signaled():
			return 128 + int(status.Signal())
		case status.Exited():
			return status.ExitStatus()
		}
	}
}

// furnish gives the namespaces their own /tmp and /proc, and a loopback device.
func furnish(work string, keep []string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := os.Chmod(work, 0o777|os.ModeSticky); err != nil {
		return err
	}
	for _, folder := range keep {
		below, err := filepath.Rel("/tmp", folder)
		if err != nil || strings.HasPrefix(below, "..") {
			continue // not hidden by the new /tmp
		}
		point := filepath.Join(work, below)
		if err := os.MkdirAll(point, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(folder, point, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("keep %s visible: %w", folder, err)
		}
	}
	// Agents put sockets into /tmp under names made of process ids, which
	// would collide with those of the user's own agents.
	if err := unix.Mount(work, "/tmp", "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("mount /tmp: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	return loopbackUp()
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
	device.SetUint16(syscall.IFF_UP | syscall.IFF_RUNNING)
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, device); err != nil {
		return fmt.Errorf("loopback up: %w", err)
	}
	return nil
}
