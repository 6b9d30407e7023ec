package kit

import (
	"time"
)

// Delay returns how long an agent may take now for a step that takes it at most d on an idle
// machine: three times as long if some program is always waiting for a processor. pressure is
// that of proc.Lister. At a load of 30 on two processors, Claude Code 2.1.100 took 3 s from
// recording a call to starting its command, and less than 2 s otherwise.
func Delay(d time.Duration, pressure float64) time.Duration {
	return d + time.Duration(2*pressure*float64(d))
}
