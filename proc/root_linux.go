package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// Root implements Details. A tree of another pid namespace does not show where its
// processes' files are here.
func (t *Table) Root(id Identity) (string, error) {
	if !t.ownNamespace {
		return "", nil
	}
	return detail(t, id, func() (string, error) {
		theirs, err := os.Readlink(t.path(id.PID, "ns/mnt"))
		if err != nil {
			return "", err
		}
		ours, err := os.Readlink(t.path(os.Getpid(), "ns/mnt"))
		if err != nil {
			return "", err
		}
		path := t.path(id.PID, "root")
		if theirs == ours {
			same, err := sameFolder(path+"/.", "/")
			if err != nil || same {
				return "", err
			}
		}
		return path, nil
	})
}

func sameFolder(a, b string) (bool, error) {
	var one, other unix.Stat_t
	if err := unix.Stat(a, &one); err != nil {
		return false, &os.PathError{Op: "stat", Path: a, Err: err}
	}
	if err := unix.Stat(b, &other); err != nil {
		return false, &os.PathError{Op: "stat", Path: b, Err: err}
	}
	return one.Dev == other.Dev && one.Ino == other.Ino, nil
}
