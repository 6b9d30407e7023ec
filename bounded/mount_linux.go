package bounded

import (
	"os"
	"strconv"
	"strings"
)

// mountOf returns the mount point of a path as it is written, without a look at the path itself. It returns "" for a path of the root or
// of the file system that has the user's home: what is slow there says nothing of the rest.
func mountOf(path string) string {
	text, err := os.ReadFile("/proc/self/mountinfo") // the kernel's memory: it answers
	if err != nil {
		return ""
	}
	longest := ""
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line) // ID PARENT DEVICE ROOT MOUNT…, blanks as \040
		if len(fields) < 5 {
			continue
		}
		mount, err := strconv.Unquote(`"` + strings.ReplaceAll(fields[4], `"`, `\"`) + `"`)
		if err == nil && len(mount) > len(longest) && isBelow(path, mount) {
			longest = mount
		}
	}
	if home, err := os.UserHomeDir(); longest == "/" || err == nil && isBelow(home, longest) {
		return ""
	}
	return longest
}

func isBelow(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}
