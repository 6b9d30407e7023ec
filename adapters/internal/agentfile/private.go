package agentfile

import (
	"fmt"
	"io/fs"
	"runtime"
)

// ReadPrivate reads a small file with a secret. It returns an error for a file that others than its user can read or write: they may
// know the secret, or have written it.
func ReadPrivate(path string, limit int64) ([]byte, error) {
	data, info, err := ReadSmall(path, limit)
	if err == nil && !IsPrivate(info) {
		return nil, fmt.Errorf("%s: others can read or write it, so it is not used", path)
	}
	return data, err
}

// IsPrivate reports whether a file belongs to this user, and others can neither read nor write it.
func IsPrivate(info fs.FileInfo) bool {
	return OwnedByUser(info) && (runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0)
}
