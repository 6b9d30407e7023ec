// Package localsocket checks the Unix sockets of other programs before Rollcall uses them: their folder and owner, and the process that
// listens on them.
package localsocket

import (
	"errors"
	"time"
)

// ErrUnsupported is returned where this package is not implemented: on systems other than Linux and macOS.
var ErrUnsupported = errors.New("sockets of terminals are not used on this system")

// answerLimit is how long Listener waits for a connection.
const answerLimit = 2 * time.Second
