package proc

import (
	"errors"
	"fmt"
	"net/netip"
)

// ErrForeignListener reports that an address of this machine is served by a process
// that may not be trusted with the user's secrets.
var ErrForeignListener = errors.New("the port is not served by a process of this user")

// privileged is the first port that every user may listen on.
const privileged = 1024

// listener is a socket that accepts connections at an address.
type listener struct {
	local  netip.AddrPort
	own    bool   // its process is of the user that this one runs as
	root   bool   // its process is root's
	holder uint64 // Linux: the socket's inode; elsewhere its process's pid
}

// CheckListener returns nil if every process that accepts connections at a loopback
// address is this user's and in the boundary of this process, or root's for a port below 1024. Otherwise the error wraps
// ErrForeignListener; any other error means that the owner is not known. Call it with
// the address of an open connection, before anything secret is sent: before the
// connection is open, another process may start to listen there. A process that listens
// on behalf of others, such as the port proxy of a container, counts as its own user's: that
// of a container without root runs in a sandbox and is refused.
// On macOS other users' listeners are not visible, so a listener of another user cannot
// be detected there.
func CheckListener(addr netip.AddrPort) error {
	_, err := checkedListeners(addr)
	return err
}

// CheckListenedBy does the same as CheckListener, and returns an error unless the
// listener is the given process.
func CheckListenedBy(addr netip.AddrPort, id Identity) error {
	list, err := checkedListeners(addr)
	if err != nil {
		return err
	}
	for _, l := range list {
		holds, err := l.heldBy(id)
		if err != nil {
			return fmt.Errorf("the process that serves port %d is not known: %w", addr.Port(), err)
		}
		if !holds {
			return fmt.Errorf("%w: port %d is not served by process %d", ErrForeignListener, addr.Port(), id.PID)
		}
	}
	return CheckBoundary(id)
}

// checkedListeners returns the listeners that accept connections at an address, or an
// error if one of them is not trusted.
func checkedListeners(addr netip.AddrPort) ([]listener, error) {
	all, err := listeners(addr.Port())
	if err != nil {
		return nil, fmt.Errorf("the process that serves port %d is not known: %w", addr.Port(), err)
	}
	var list []listener
	for _, l := range all {
		if !l.accepts(addr) {
			continue
		}
		if !l.trusted(addr.Port()) {
			return nil, fmt.Errorf("%w: port %d belongs to another user", ErrForeignListener, addr.Port())
		}
		if err := l.checkHolders(); l.own && err != nil {
			return nil, fmt.Errorf("%w here: the one of port %d %w", ErrForeignListener, addr.Port(), err)
		}
		list = append(list, l)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: no process of this user listens on port %d", ErrForeignListener, addr.Port())
	}
	return list, nil
}

// trusted reports whether secrets may be sent to the listener of a port.
func (l *listener) trusted(port uint16) bool { return l.own || l.root && port < privileged }

// accepts reports whether connections to an address can reach the listener. A listener on all
// IPv6 addresses may accept connections to IPv4 addresses too.
func (l *listener) accepts(addr netip.AddrPort) bool {
	local, to := l.local.Addr().Unmap(), addr.Addr().Unmap()
	if l.local.Port() != addr.Port() {
		return false
	}
	if local.IsUnspecified() {
		return local.Is6() || to.Is4()
	}
	return local == to
}
