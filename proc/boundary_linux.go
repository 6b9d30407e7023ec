package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// CheckBoundary does the same as the function CheckBoundary, for a process of the table. This process is always that of /proc.
func (t *Table) CheckBoundary(id Identity) error {
	if err := t.check(id); err != nil {
		return err
	}
	_, err := detail(t, id, func() (struct{}, error) { return struct{}{}, t.compareBoundary(id.PID) })
	return err
}

// namespaces are those that a process in the boundary shares, by their files in /proc/PID/ns.
var namespaces = []struct{ file, word string }{{"mnt", "mount"}, {"pid", "pid"}, {"user", "user"}}

func (t *Table) compareBoundary(pid int) error {
	own := openOwn()
	for _, n := range namespaces {
		ours, err := os.Readlink(own.root + "/self/ns/" + n.file)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a kernel without these namespaces
		}
		if err != nil {
			return unreadable("namespaces", err)
		}
		theirs, err := os.Readlink(t.path(pid, "ns/"+n.file))
		if err != nil {
			return unreadable("namespaces", err)
		}
		if theirs != ours {
			return fmt.Errorf("%w: another %s namespace", ErrForeign, n.word)
		}
	}
	if err := compareRoot(t.path(pid, "root/.")); err != nil {
		return err
	}
	theirs, err := t.readLimits(strconv.Itoa(pid))
	if err != nil {
		return unreadable("restrictions", err)
	}
	ours, err := own.readLimits("self")
	if err != nil {
		return unreadable("restrictions", err)
	}
	return theirs.compare(ours)
}

// compareRoot compares a root folder with that of this process: the folder and, where the kernel reports it (5.8 and later), the mount. A bind
// mount of the same folder can lack what is mounted below it.
func compareRoot(path string) error {
	const wanted = unix.STATX_INO | unix.STATX_MNT_ID
	var theirs, ours unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, unix.AT_STATX_DONT_SYNC, wanted, &theirs); err != nil {
		return unreadable("root folder", err)
	}
	if err := unix.Statx(unix.AT_FDCWD, "/", unix.AT_STATX_DONT_SYNC, wanted, &ours); err != nil {
		return unreadable("root folder", err)
	}
	if theirs.Ino != ours.Ino || theirs.Dev_major != ours.Dev_major || theirs.Dev_minor != ours.Dev_minor || theirs.Mnt_id != ours.Mnt_id {
		return fmt.Errorf("%w: another root folder", ErrForeign)
	}
	return nil
}

// limits are the restrictions that a process keeps for ever, from /proc/PID/status.
type limits struct{ noNewPrivs, seccomp, filters int }

func (t *Table) readLimits(pid string) (l limits, err error) {
	path := t.root + "/" + pid + "/status"
	status, err := readAll(path, maxStatus)
	if err != nil {
		return l, err
	}
	for name, to := range map[string]*int{"NoNewPrivs:": &l.noNewPrivs, "Seccomp:": &l.seccomp, "Seccomp_filters:": &l.filters} {
		value, ok := field(status, name)
		if !ok && to != &l.noNewPrivs { // kernels without seccomp; the number of filters is known since 5.9
			continue
		}
		*to, err = strconv.Atoi(value)
		if err != nil {
			return l, fmt.Errorf("%s: no number in line %q", path, name)
		}
	}
	return l, nil
}

// compare returns an error if a process has restrictions that this process does not have.
func (l limits) compare(ours limits) error {
	switch {
	case l.noNewPrivs > ours.noNewPrivs:
		return fmt.Errorf("%w: it may gain no privileges (no_new_privs)", ErrForeign)
	case l.seccomp != 0 && l.seccomp != ours.seccomp, l.filters > ours.filters:
		return fmt.Errorf("%w: its system calls are filtered (seccomp)", ErrForeign)
	}
	return nil
}

// unreadable returns the error for a process of which something cannot be read. A process that is ending gives up its namespaces and
// root folder while the process table still lists it.
func unreadable(what string, err error) error {
	if isGone(err) {
		return ErrGone
	}
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		err = path.Err // without the name of the system call
	}
	return fmt.Errorf("%w, or as another user: its %s cannot be read: %w", ErrForeign, what, err)
}
