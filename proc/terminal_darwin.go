package proc

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// majorTTYS is the major device number of macOS's pseudo-terminals, /dev/ttys000 and on.
const majorTTYS = 16

// Terminal returns the device of the controlling terminal of a process, such as "/dev/ttys003"; empty: it has none. This was
// compiled and vetted, not run.
func (t *Table) Terminal(id Identity) (string, error) {
	return detail(t, id, func() (string, error) {
		k, err := unix.SysctlKinfoProc("kern.proc.pid", id.PID)
		if err != nil {
			return "", err
		}
		number := k.Eproc.Tdev
		if number == -1 || number == 0 {
			return "", nil
		}
		major, minor := uint32(number)>>24, uint32(number)&0xffffff
		if major == majorTTYS {
			return fmt.Sprintf("/dev/ttys%03d", minor), nil
		}
		return fmt.Sprintf("terminal %d:%d", major, minor), nil
	})
}
