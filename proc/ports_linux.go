package proc

import (
	"fmt"
	"slices"
)

// Ports returns the TCP ports on which a process accepts connections, in ascending order. It returns ErrUnsupported except on Linux.
func (t *Table) Ports(id Identity) ([]uint16, error) {
	all, err := readTables([]string{t.path(id.PID, "net/tcp"), t.path(id.PID, "net/tcp6")}, 0)
	if err != nil {
		return nil, err
	}
	sockets, err := t.targets(id, isSocket)
	if err != nil {
		return nil, err
	}
	var ports []uint16
	for _, l := range all {
		if slices.Contains(sockets, fmt.Sprintf("socket:[%d]", l.holder)) {
			ports = append(ports, l.local.Port())
		}
	}
	slices.Sort(ports)
	return slices.Compact(ports), nil
}
