package kit

import (
	"strings"
	"time"
)

// StartSlack is the precision of the start of a process.
const StartSlack = 20 * time.Millisecond

// Option returns the value of an option of a command line; "" if it has none.
func Option(args []string, name string) string {
	for i, arg := range args {
		if value, joined := strings.CutPrefix(arg, name+"="); joined {
			return value
		}
		if arg == name && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}
