package places

import (
	"strings"
	"syscall"
	"testing"
)

// The advice is one that the system has: only Linux knows inotify.
func TestExplain(t *testing.T) {
	for system, want := range map[string]string{"linux": "fs.inotify.max_user_instances", "darwin": "launchctl limit maxfiles"} {
		if got := explain(system, "/a", syscall.EMFILE); !strings.Contains(got, want) {
			t.Errorf("%s: %s", system, got)
		}
	}
	for _, system := range []string{"darwin", "windows"} {
		if got := explain(system, "/a", syscall.ENOSPC); strings.Contains(got, "inotify") {
			t.Errorf("%s: %s", system, got)
		}
	}
}
