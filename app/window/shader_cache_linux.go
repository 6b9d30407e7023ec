//go:build !headless

package window

import (
	"os"

	"golang.org/x/sys/unix"
)

// shaderCacheSpace is the free space in bytes that Mesa's cache of compiled shaders must have. It is more than the window's shaders need.
const shaderCacheSpace = 16 << 20

// spareShaderCache disables Mesa's cache of compiled shaders if the disk of the caches has less than shaderCacheSpace, or
// can't be written. Mesa maps a file of that cache into memory, and the process dies with SIGBUS when it writes there on a
// full disk (seen with Mesa 22.3).
func spareShaderCache(caches string) {
	var disk unix.Statfs_t
	if err := unix.Statfs(caches, &disk); err == nil && disk.Flags&unix.ST_RDONLY == 0 && disk.Bavail*uint64(max(disk.Bsize, 0)) >= shaderCacheSpace {
		return
	}
	_ = os.Setenv("MESA_SHADER_CACHE_DISABLE", "true")
}
