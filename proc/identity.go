package proc

import (
	"os"
	"strconv"
	"sync"
)

// String returns the process for a message: "pid 1234 (started 403845)".
func (id Identity) String() string {
	if id.IsZero() {
		return "no process"
	}
	return "pid " + strconv.Itoa(id.PID) + " (started " + strconv.FormatUint(id.Start, 10) + ")"
}

// Self returns the identity of the calling process on this machine, whatever
// HOST_PROC says. It is zero only where the system's own table can't be read.
func Self() Identity { return self() }

var self = sync.OnceValue(func() Identity {
	p, err := openOwn().Find(os.Getpid())
	if err != nil {
		return Identity{}
	}
	return p.Identity
})
