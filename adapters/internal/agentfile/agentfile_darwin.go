package agentfile

import "syscall"

// changedAt returns the time of the last change of a file's contents or attributes.
func changedAt(st *syscall.Stat_t) int64 { return st.Ctimespec.Nano() }
