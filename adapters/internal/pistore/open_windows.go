package pistore

import (
	"errors"
	"io/fs"
	"os"

	"rollcall/adapters/internal/shared"
)

var errNotRegular = errors.New("not a regular file")

func openRegular(path string) (*os.File, fs.FileInfo, error) {
	f, err := shared.Open(path)
	if err != nil {
		return nil, nil, err
	}
	return checkRegular(f, path)
}

// ownedByUser is always true: another user's process doesn't show its
// environment, so its folder isn't found in the first place.
func ownedByUser(fs.FileInfo) bool { return true }

// homeVariable names the home folder in a process's environment.
const homeVariable = "USERPROFILE"
