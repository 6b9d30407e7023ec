package kit

import (
	"runtime"
	"strings"
)

// Home is the name of the variable that holds the user's home folder.
var Home = map[bool]string{true: "USERPROFILE", false: "HOME"}[runtime.GOOS == "windows"]

// Get returns the value of a variable in a list of NAME=value, or "".
func Get(env []string, name string) string {
	for _, v := range env {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}
