package proc

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// socketTables list the sockets of this process's network, where its connections
// go. They are those of the running system, whatever tree a Table reads.
var socketTables = []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"}

// listeners returns the sockets that accept connections on a port. The kernel's tables in /proc are read only where it does not answer
// (sandboxes, kernels without inet_diag): for each reading it looks for connections as well, through a hash table of many megabytes.
func listeners(port uint16) ([]listener, error) {
	if list, err := askListeners(port, os.Getuid()); err == nil {
		return list, nil
	}
	return readListeners(port)
}

// readListeners reads the tables.
func readListeners(port uint16) ([]listener, error) { return readTables(socketTables, port) }

func readTables(paths []string, port uint16) ([]listener, error) {
	var all []listener
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // no such version of the protocol
		}
		if err != nil {
			return nil, err
		}
		list, err := parseListeners(string(text), port, os.Getuid())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, list...)
	}
	return all, nil
}

// parseListeners reads the listening sockets of a port, or for 0 of all ports, from a table such as
// /proc/net/tcp:
//
//	sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
//	 0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 31337 1 …
func parseListeners(table string, port uint16, user int) ([]listener, error) {
	const listening = "0A"
	var list []listener
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 10 || f[3] != listening {
			continue
		}
		host, number, _ := strings.Cut(f[1], ":")
		at, err := strconv.ParseUint(number, 16, 16)
		if err != nil {
			return nil, fmt.Errorf("port %q of a socket: %w", number, err)
		}
		if port != 0 && uint16(at) != port {
			continue
		}
		addr, err := parseSocketAddr(host)
		if err != nil {
			return nil, err
		}
		uid, err := strconv.Atoi(f[7])
		if err != nil {
			return nil, fmt.Errorf("user %q of a socket: %w", f[7], err)
		}
		inode, err := strconv.ParseUint(f[9], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("inode %q of a socket: %w", f[9], err)
		}
		list = append(list, listener{local: netip.AddrPortFrom(addr, uint16(at)), own: uid == user, root: uid == 0, holder: inode})
	}
	return list, nil
}

// parseSocketAddr reads an address as the kernel prints it: words of 32 bits, each
// in the byte order of the machine.
func parseSocketAddr(text string) (netip.Addr, error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != 4 && len(b) != 16 {
		return netip.Addr{}, fmt.Errorf("address %q of a socket is in an unknown form", text)
	}
	for i := 0; i < len(b); i += 4 {
		binary.NativeEndian.PutUint32(b[i:], binary.BigEndian.Uint32(b[i:]))
	}
	addr, _ := netip.AddrFromSlice(b)
	return addr, nil
}

// checkHolders returns an error unless every process that has the socket open is in the boundary of this one, and one is seen.
func (l *listener) checkHolders() error {
	table := openOwn() // who has a port of this machine is not in another tree
	entries, err := os.ReadDir(table.root)
	if err != nil {
		return err
	}
	seen := false
	for _, entry := range entries {
		pid, ok := parsePID(entry.Name())
		if !ok {
			continue
		}
		if holds, err := l.isOpenIn(table, pid); err != nil || !holds {
			continue
		}
		p, err := table.Find(pid)
		if err == nil {
			err = table.CheckBoundary(p.Identity)
		}
		switch {
		case errors.Is(err, ErrGone): // it has the socket no longer
		case err != nil:
			return err
		default:
			seen = true
		}
	}
	if !seen {
		return fmt.Errorf("%w, or as another user: no process is seen that has it open", ErrForeign)
	}
	return nil
}

// heldBy reports whether a process has the socket open.
func (l *listener) heldBy(id Identity) (bool, error) {
	table := Open()
	holds, err := detail(table, id, func() (bool, error) { return l.isOpenIn(table, id.PID) })
	if errors.Is(err, ErrGone) {
		return false, nil // another process has the socket by now
	}
	return holds, err
}

var errFound = errors.New("found")

// isOpenIn reports whether a process of a table has the socket open, whichever process has that pid.
func (l *listener) isOpenIn(table *Table, pid int) (bool, error) {
	name := fmt.Sprintf("socket:[%d]", l.holder)
	err := table.eachFD(pid, func(_, target string) error {
		if target == name {
			return errFound
		}
		return nil
	})
	if errors.Is(err, errFound) {
		return true, nil
	}
	return false, err
}
