package termclient

import "os"

func isRemoved(os.FileInfo) bool { return false }

// ofRoot returns false: the owner of a file is not looked at here.
func ofRoot(os.FileInfo) bool { return false }
