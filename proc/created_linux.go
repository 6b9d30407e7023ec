package proc

import (
	"time"

	"golang.org/x/sys/unix"
)

// Created returns the time at which a file or folder was made; zero where the system does not show it. Its file system may not answer.
func Created(path string) time.Time {
	var known unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_STATX_DONT_SYNC, unix.STATX_BTIME, &known)
	if err != nil || known.Mask&unix.STATX_BTIME == 0 {
		return time.Time{}
	}
	return time.Unix(known.Btime.Sec, int64(known.Btime.Nsec))
}
