package claudecode

import (
	"io/fs"
	"os"
	"syscall"

	"rollcall/adapters/internal/shared"
)

func openFile(path string) (*os.File, error) { return shared.Open(path) }

// ownedByUser is always true: another user's process doesn't show its
// environment, so its folder isn't found in the first place.
func ownedByUser(fs.FileInfo) bool { return true }

// homeVariable names the home folder in a process's environment.
const homeVariable = "USERPROFILE"

// errNotDir: a link to something else than a folder.
var errNotDir error = syscall.ENOTDIR
