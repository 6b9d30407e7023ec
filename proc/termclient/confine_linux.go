package termclient

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	mayRead    = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	mayExecute = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE
	mayWrite   = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE
)

// confinedName is the name by which this program, or a test's, starts itself to become a confined client. The arguments are the client's path and arguments.
const confinedName = "rollcall-confined-client"

func init() {
	if os.Args[0] == confinedName && len(os.Args) > 1 {
		fmt.Fprintln(os.Stderr, becomeClient(os.Args[1], os.Args[1:]))
		os.Exit(1)
	}
}

// startConfined starts a client that can read everything, execute only itself, and neither write files nor use TCP. With a kernel without
// Landlock (before 5.13, or where it is off) the client is not confined. Restrictions are for ever, and a thread of this process that ended with
// them would take along what it had started before, so this program is started again, restricts itself and becomes the client.
func startConfined(cmd *exec.Cmd) error {
	cmd.Args = append([]string{confinedName, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/proc/self/exe" // also if the file was replaced
	return cmd.Start()
}

// becomeClient restricts this thread and replaces the process by a client. It returns only an error.
func becomeClient(path string, argv []string) error {
	runtime.LockOSThread()
	rules, err := ruleset(path)
	if err == nil && rules >= 0 {
		err = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		if err == nil {
			_, err = call(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(rules), 0, 0)
		}
	}
	if err != nil {
		return fmt.Errorf("%s cannot be confined: %w", path, err)
	}
	return fmt.Errorf("%s cannot be started: %w", path, unix.Exec(path, argv, os.Environ()))
}

// call makes a system call with three arguments, as those of Landlock have no functions in x/sys.
func call(number, a, b, c uintptr) (int, error) {
	r, _, errno := unix.Syscall(number, a, b, c)
	if errno != 0 {
		return -1, errno
	}
	return int(r), nil
}

// ruleset returns the rules for a client as a descriptor, or -1 if the kernel has no Landlock.
func ruleset(program string) (rules int, err error) {
	version, err := call(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) {
		return -1, nil
	}
	if err != nil {
		return -1, err
	}
	attr := handled(version)
	rules, err = call(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if err != nil {
		return -1, err
	}
	err = errors.Join(allow(rules, "/", mayRead), allow(rules, "/dev/null", mayWrite))
	for _, path := range executed(program) {
		err = errors.Join(err, allow(rules, path, mayExecute))
	}
	if err != nil {
		_ = unix.Close(rules)
		return -1, err
	}
	return rules, nil
}

// handled returns everything that a version of Landlock can deny, up to version 5.
func handled(version int) unix.LandlockRulesetAttr {
	fs := uint64(unix.LANDLOCK_ACCESS_FS_MAKE_SYM)<<1 - 1
	if version >= 2 {
		fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= 3 {
		fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: fs}
	if version >= 4 {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if version >= 5 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return attr
}

// allow adds a rule for a file, or for a folder and everything below it.
func allow(rules int, path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("%s cannot be opened: %w", path, err)
	}
	defer unix.Close(fd)
	attr := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// executed returns what a client must be able to execute: itself and its dynamic linker. A script can execute everything, because it needs
// its interpreter and the programs that it calls.
func executed(program string) []string {
	file, err := elf.Open(program)
	if err != nil {
		return []string{"/"}
	}
	defer func() { _ = file.Close() }()
	list := []string{program}
	for _, p := range file.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		if name, err := io.ReadAll(io.LimitReader(p.Open(), unix.PathMax)); err == nil {
			list = append(list, strings.TrimRight(string(name), "\x00"))
		}
	}
	return list
}
