package proc

import (
	"bytes"
	"fmt"
	"strconv"
)

// InnerPIDs implements Details. A tree without NSpid, as of kernels before 4.1 or
// of a recording, has none.
func (t *Table) InnerPIDs(id Identity) ([]int, error) {
	return detail(t, id, func() ([]int, error) {
		b, err := readAll(t.path(id.PID, "status"), 1<<20)
		if err != nil {
			return nil, err
		}
		return parseInnerPIDs(b)
	})
}

// parseInnerPIDs reads the line "NSpid: OWN INNER…" of /proc/PID/status, which
// begins with the pid in the namespace that the tree shows.
func parseInnerPIDs(status []byte) ([]int, error) {
	for line := range bytes.Lines(status) {
		list, found := bytes.CutPrefix(line, []byte("NSpid:"))
		if !found {
			continue
		}
		var pids []int
		for i, field := range bytes.Fields(list) {
			pid, err := strconv.Atoi(string(field))
			if err != nil {
				return nil, fmt.Errorf("%w: bad NSpid", errStat)
			}
			if i > 0 {
				pids = append(pids, pid)
			}
		}
		return pids, nil
	}
	return nil, nil
}
