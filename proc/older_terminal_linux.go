package proc

import (
	"errors"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// terminalSlack is more than a program takes from the opening of a terminal until it starts the first process in it.
const terminalSlack = 15 * time.Second

// OlderTerminal implements Details. The leader of a session starts right after its terminal was opened, and the kernel keeps the time of that as the
// last change of the device, unless its rights are changed, which makes it later.
func (t *Table) OlderTerminal(id Identity) (bool, error) {
	return detail(t, id, func() (bool, error) {
		s, err := t.stat(id.PID)
		name := terminalName(uint64(uint32(s.terminal)))
		if err != nil || !strings.HasPrefix(name, "/dev/pts/") {
			return false, err
		}
		leader, err := t.Find(s.sid)
		var device unix.Stat_t
		err = errors.Join(err, unix.Stat(t.path(id.PID, "root"+name), &device))
		if err != nil {
			return false, &os.PathError{Op: "stat", Path: name, Err: err}
		}
		return time.Unix(device.Ctim.Unix()).Add(terminalSlack).Before(leader.Started), nil
	})
}
