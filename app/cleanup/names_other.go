//go:build !unix && !windows

package cleanup

import "io/fs"

// names is not told by a file's description here.
func names(string, fs.FileInfo) uint64 { return 1 }
