package places

import (
	"strings"
	"syscall"
	"testing"
)

// The advice is one that the system has: macOS knows no inotify.
func TestExplain(t *testing.T) {
	for system, want := range map[string]string{"linux": "fs.inotify.max_user_instances", "darwin": "launchctl limit maxfiles"} {
		if got := explain(system, "/a", syscall.EMFILE); !strings.Contains(got, want) {
			t.Errorf("%s: %s", system, got)
		}
	}
}
