package proc

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// The kernel limits arguments and environment together to 6 MiB.
const maxArgs = 8 << 20

const deletedSuffix = " (deleted)"

// Args implements Details. Trailing empty arguments are dropped: a process that has
// shortened its title (Pi 1.5.2 does) leaves its old arguments as zero bytes, which
// look like empty arguments. Kernel threads have no arguments.
func (t *Table) Args(id Identity) ([]string, error) {
	args, err := detail(t, id, func() ([]string, error) { return t.zeroSeparated(id.PID, "cmdline") })
	for len(args) > 0 && args[len(args)-1] == "" {
		args = args[:len(args)-1]
	}
	return args, err
}

// Env implements Details. It returns the environment that the process was started with;
// variables that the process set later are missing. For another user's process it
// returns fs.ErrPermission.
func (t *Table) Env(id Identity) ([]string, error) {
	return detail(t, id, func() ([]string, error) { return t.zeroSeparated(id.PID, "environ") })
}

// Exe implements Details. A binary that was replaced or removed since the start has its
// old path.
func (t *Table) Exe(id Identity) (string, error) { return t.link(id, "exe") }

// CWD implements Details. A folder that was removed since has its old path.
func (t *Table) CWD(id Identity) (string, error) { return t.link(id, "cwd") }

// OpenFiles implements Details. Files that were removed or replaced while open are left
// out: the file that has their name now is another one. So are devices, pipes and
// sockets. An open folder may be among the paths: recognising a folder takes a stat,
// which never returns on a dead network mount.
func (t *Table) OpenFiles(id Identity) ([]string, error) {
	return detail(t, id, func() ([]string, error) { return readFDs(t.path(id.PID, "fd")) })
}

// RemovedFiles implements Details.
func (t *Table) RemovedFiles(id Identity) (map[string]string, error) {
	return detail(t, id, func() (map[string]string, error) {
		folder := t.path(id.PID, "fd")
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, err
		}
		var removed map[string]string
		for _, e := range entries {
			descriptor := filepath.Join(folder, e.Name())
			target, err := os.Readlink(descriptor)
			path, gone := strings.CutSuffix(target, deletedSuffix)
			if err != nil || !gone || !isFile(path) || strings.HasPrefix(path, "/memfd:") {
				continue
			}
			if removed == nil {
				removed = map[string]string{}
			}
			removed[path] = descriptor
		}
		return removed, nil
	})
}

func (t *Table) zeroSeparated(pid int, name string) ([]string, error) {
	b, err := readAll(t.path(pid, name), maxArgs)
	if err != nil || len(b) == 0 {
		return nil, err
	}
	return strings.Split(string(bytes.TrimSuffix(b, []byte{0})), "\x00"), nil
}

func (t *Table) link(id Identity, name string) (string, error) {
	target, err := detail(t, id, func() (string, error) { return os.Readlink(t.path(id.PID, name)) })
	return strings.TrimSuffix(target, deletedSuffix), err
}

// readFDs returns the files that the links of a /proc/PID/fd folder name, each once.
func readFDs(folder string) ([]string, error) {
	dir, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var paths []string
	seen := make(map[string]bool, len(names))
	buffer := make([]byte, unix.PathMax)
	for _, name := range names {
		n, err := unix.Readlinkat(int(dir.Fd()), name, buffer)
		if err != nil {
			if isGone(err) || err == unix.EINVAL {
				continue // closed meanwhile
			}
			return paths, &fs.PathError{Op: "readlink", Path: folder + "/" + name, Err: err}
		}
		if target := string(buffer[:n]); isFile(target) && !seen[target] {
			seen[target] = true
			paths = append(paths, target)
		}
	}
	return paths, nil
}

// isFile reports whether the target of a descriptor's link is a file. Pipes and sockets
// read "pipe:[7]", memory files "/memfd:name (deleted)".
func isFile(target string) bool {
	return strings.HasPrefix(target, "/") && !strings.HasSuffix(target, deletedSuffix) &&
		!strings.HasPrefix(target, "/dev/") && !strings.HasPrefix(target, "/proc/")
}

// FileLocks implements Lister. The pid is that of the process that took the lock; a
// flock may outlive that process in a child that inherited the descriptor, so check
// that the process is alive. A process that waits for a lock does not hold it. On file
// systems with separate device numbers (btrfs, overlayfs) the kernel may list another
// device than stat returns: compare the inode, then.
func (t *Table) FileLocks() (map[FileID]int, error) {
	b, err := readAll(t.root+"/locks", 64<<20)
	if err != nil {
		return nil, fmt.Errorf("file locks: %w", err)
	}
	locks := make(map[FileID]int)
	for line := range bytes.Lines(b) {
		if file, pid, ok := parseLock(string(line)); ok {
			locks[file] = pid
		}
	}
	return locks, nil
}
