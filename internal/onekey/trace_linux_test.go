package onekey

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// event is what a system call does, as far as the oracle forbids it.
type event struct {
	what string // "write", "open", "execute", "socket" or "signal"
	file string // its absolute name; "": it has none
}

func (e event) String() string { return strings.TrimSpace(e.what + " " + e.file) }

var (
	callLine   = regexp.MustCompile(`^(\w+)\((.*)\) += (.*)$`)
	resumed    = regexp.MustCompile(`^<\.\.\. \w+ resumed>(.*)$`)
	atFolder   = regexp.MustCompile(`^(?:AT_FDCWD|\d+)<([^>]*)>`)
	quotedText = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)
	opened     = regexp.MustCompile(`^\d+<([^>]*)>`)
)

// changes are the calls that change a file or its attributes, whatever their arguments are.
var changes = strings.Fields(`creat mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 link linkat symlink symlinkat mknod mknodat chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat truncate ftruncate fallocate
	utime utimes futimesat utimensat setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr mount umount2 pivot_root chroot swapon acct quotactl`)

// traced are all calls that the tracer reports.
var traced = "?" + strings.Join(append(strings.Fields("open openat openat2 execve execveat chdir fchdir socket socketpair kill pidfd_send_signal ptrace process_vm_writev clock_settime settimeofday sethostname bpf io_uring_setup open_by_handle_at"), changes...), ",?")

// eventsOf returns what the calls of a trace do, without those that are always allowed. cwd is the folder in which it began.
func eventsOf(trace, cwd string) (events []event) {
	begun := map[string]string{} // what a process has begun and not ended
	folders := map[string]string{}
	for line := range strings.Lines(trace) {
		pid, rest, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok {
			continue
		}
		rest = strings.TrimLeft(rest, " ")
		if before, ok := strings.CutSuffix(rest, " <unfinished ...>"); ok {
			begun[pid] = before
			continue
		}
		if m := resumed.FindStringSubmatch(rest); m != nil {
			rest = begun[pid] + m[1]
		}
		m := callLine.FindStringSubmatch(rest)
		if m == nil {
			continue
		}
		folder, ok := folders[pid]
		if !ok {
			folder = cwd
		}
		if e, ok := eventOf(m[1], m[2], m[3], folder); ok {
			if name, own := strings.CutPrefix(e.file, "/proc/"+pid+"/"); own {
				e.file = "/proc/self/" + name
			}
			events = append(events, e)
		}
		if m[1] == "chdir" && m[3] == "0" {
			folders[pid] = resolved(m[2], folder)
		}
	}
	return events
}

// resolved returns the absolute name of the first file among the arguments of a call.
func resolved(args, cwd string) string {
	if m := atFolder.FindStringSubmatch(args); m != nil {
		cwd = m[1]
	}
	m := quotedText.FindStringSubmatch(args)
	if m == nil {
		return ""
	}
	if path.IsAbs(m[1]) {
		return path.Clean(m[1])
	}
	return path.Join(cwd, m[1])
}

func eventOf(call, args, result, cwd string) (event, bool) {
	file := resolved(args, cwd)
	switch {
	case strings.HasPrefix(call, "open"):
		if m := opened.FindStringSubmatch(result); m != nil {
			file = m[1] // with its links followed
		}
		if strings.Contains(args, "O_WRONLY") || strings.Contains(args, "O_RDWR") || strings.Contains(args, "O_CREAT") || strings.Contains(args, "O_TRUNC") || strings.Contains(args, "O_TMPFILE") {
			return event{"write", file}, file != "/dev/null" && file != "/dev/tty"
		}
		return event{"open", file}, true
	case call == "execve" || call == "execveat":
		if list := quotedText.FindAllStringSubmatch(args, 2); file == "/proc/self/exe" && len(list) == 2 { // busybox, which has the program in it
			file = "/bin/" + list[1][1]
		}
		return event{"execute", file}, true
	case call == "socket" || call == "socketpair":
		return event{"socket", ""}, true
	case call == "chdir" || call == "fchdir":
		return event{}, false
	case slices.Contains(changes, call):
		return event{"write", file}, true
	}
	return event{"signal", call}, true
}

// ofSystem are the files outside of the folder that a program opens by itself: the system's libraries with their locales and time zones, what the kernel
// says of the machine and of the process itself, and the program's own configuration of the machine.
var ofSystem = []string{"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/", "/usr/lib32/", "/etc/ld.so.cache", "/etc/ld.so.preload", "/usr/share/locale/", "/usr/share/zoneinfo/", "/etc/localtime", "/etc/locale.alias", "/dev/null",
	"/proc/filesystems", "/proc/self/maps", "/proc/self/cgroup", "/proc/self/mountinfo", "/sys/fs/cgroup/", "/sys/fs/selinux", "/usr/share/fish/functions/", "/etc/selinux/", "/etc/gitconfig", "/usr/share/git-core/", "/etc/busybox.conf", "/sys/devices/system/cpu/"}

// ofHome is the configuration of programs in the user's home.
var ofHome = []string{"/.gitconfig", "/.config/git/"}

// isForbidden reports whether a command that names a program may not do what an event is.
func (e event) isForbidden(program, project, home string) bool {
	switch e.what {
	case "open":
		if e.file == project || strings.HasPrefix(e.file, project+"/") || slices.ContainsFunc(ofSystem, func(p string) bool { return strings.HasPrefix(e.file, p) || e.file == strings.TrimSuffix(p, "/") }) {
			return false
		}
		return !slices.ContainsFunc(ofHome, func(p string) bool { return strings.HasPrefix(e.file, home+p) })
	case "execute":
		return path.Base(e.file) != program || !slices.Contains([]string{"/bin", "/usr/bin", "/usr/local/bin", "/usr/lib/git-core"}, path.Dir(e.file))
	}
	return true
}
