package proc

import (
	"errors"
	"net/netip"

	"github.com/shirou/gopsutil/v3/net"
	"golang.org/x/sys/windows"
)

// listeners returns the sockets that accept connections on a port.
func listeners(port uint16) ([]listener, error) {
	all, err := net.Connections("tcp")
	if err != nil {
		return nil, err
	}
	var list []listener
	for _, c := range all {
		addr, err := netip.ParseAddr(c.Laddr.IP)
		if c.Status != "LISTEN" || c.Laddr.Port != uint32(port) || err != nil {
			continue
		}
		own, err := isOwnProcess(uint32(c.Pid))
		if err != nil {
			return nil, err
		}
		list = append(list, listener{local: netip.AddrPortFrom(addr, port), own: own, holder: uint64(c.Pid)})
	}
	return list, nil
}

// isOwnProcess reports whether a process belongs to the user that this one runs as. It
// returns false for a process that may not be opened.
func isOwnProcess(pid uint32) (bool, error) {
	handle, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = windows.CloseHandle(handle) }()
	var token windows.Token
	if err := windows.OpenProcessToken(handle, windows.TOKEN_QUERY, &token); err != nil {
		if errors.Is(err, windows.ERROR_ACCESS_DENIED) {
			return false, nil
		}
		return false, err
	}
	defer token.Close()
	theirs, err := token.GetTokenUser()
	if err != nil {
		return false, err
	}
	ours, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return false, err
	}
	return theirs.User.Sid.Equals(ours.User.Sid), nil
}
