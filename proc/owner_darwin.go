package proc

import "golang.org/x/sys/unix"

// UID returns the real user id of a live process, or ErrGone.
func (t *Table) UID(id Identity) (int, error) {
	return detail(t, id, func() (int, error) {
		k, err := unix.SysctlKinfoProc("kern.proc.pid", id.PID)
		if err != nil {
			return 0, err
		}
		return int(k.Eproc.Pcred.P_ruid), nil
	})
}
