package proc

import "os"

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
