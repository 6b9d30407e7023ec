package proc

import (
	"os"
	"sync"
)

// Space identifies the process table that this process is in: the boot of the machine and, on Linux, the pid namespace.
// Processes of one space can see each other. It is empty if the boot is not known.
func Space() string {
	boot := Self().Boot
	if boot == "" {
		return ""
	}
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return boot
	}
	return boot + " " + namespace
}

// Host returns the name of this machine or container, or an empty text.
var Host = sync.OnceValue(func() string { name, _ := os.Hostname(); return name })

// IsElsewhere reports whether a record with this Host and Space was made on another machine, or in another container, that
// shares the user's files. Nothing is known here about the processes there. After a restart a machine has another space,
// and after a change of its network maybe another name, but hardly both at once.
func IsElsewhere(host, space string) bool {
	return host != "" && host != Host() && space != "" && space != Space()
}
