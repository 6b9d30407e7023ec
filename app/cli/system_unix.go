//go:build unix

package cli

import "golang.org/x/sys/unix"

// systemVersion returns the version of the kernel.
func systemVersion() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}
