package proc

import (
	"fmt"
	"os"
	"syscall"
)

// Surroundings returns identifiers of the resources that this process shares with others besides the process table, each
// under a word for the resource: its network, its mounts, its users, its shared memory, its host name, its clock and its
// root folder. What cannot be read is left out.
func Surroundings() map[string]string {
	out := map[string]string{}
	for file, word := range map[string]string{"net": "network", "mnt": "mounts", "user": "users", "ipc": "shared memory", "uts": "host name", "time": "clock"} {
		if to, err := os.Readlink("/proc/self/ns/" + file); err == nil {
			out[word] = to
		}
	}
	if info, err := os.Stat("/"); err == nil {
		if s, ok := info.Sys().(*syscall.Stat_t); ok {
			out["root folder"] = fmt.Sprintf("%d:%d", s.Dev, s.Ino)
		}
	}
	return out
}
