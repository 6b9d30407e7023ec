package kit

import (
	"runtime"
	"strings"
)

// Home is the name of the variable that holds the user's home folder.
var Home = map[bool]string{true: "USERPROFILE", false: "HOME"}[runtime.GOOS == "windows"]

// Get returns the value of a variable in a list of NAME=value, or "". Windows does not tell names apart by their case.
func Get(env []string, name string) string {
	for _, v := range env {
		if len(v) <= len(name) || v[len(name)] != '=' {
			continue
		}
		if found := v[:len(name)]; found == name || runtime.GOOS == "windows" && strings.EqualFold(found, name) {
			return v[len(name)+1:]
		}
	}
	return ""
}
