package proc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"
)

// stateEstablished and stateListen are TCP_ESTABLISHED and TCP_LISTEN of the kernel.
const (
	stateEstablished = 1
	stateListen      = 10
)

// socketID is struct inet_diag_sockid of linux/inet_diag.h. Its ports and addresses are in network byte order.
type socketID struct {
	Port, RemotePort [2]byte
	Local, Remote    [16]byte
	Interface        uint32
	Cookie           [2]uint32
}

// diagRequest is a netlink message with struct inet_diag_req_v2.
type diagRequest struct {
	unix.NlMsghdr
	Family, Protocol, Extensions, _ uint8
	States                          uint32
	ID                              socketID
}

// diagSocket is struct inet_diag_msg.
type diagSocket struct {
	Family, State, Timer, Retransmits uint8
	ID                                socketID
	Expires, Received, Unsent         uint32
	UID, Inode                        uint32
}

// askListeners asks the kernel for the sockets of this process's network that listen on a port, and for no others.
func askListeners(port uint16, user int) (list []listener, err error) {
	err = askSockets(stateListen, port, 0, func(s *diagSocket, _ []byte) {
		if binary.BigEndian.Uint16(s.ID.Port[:]) == port {
			list = append(list, s.listener(port, user))
		}
	})
	return list, err
}

// askSockets asks the kernel for the TCP sockets of this process's network in a state, of one port or (0) of all, and calls do for each (sock_diag(7)).
// attributes are those that the extensions ask for.
func askSockets(state uint8, port uint16, extensions uint8, do func(s *diagSocket, attributes []byte)) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	limit := unix.Timeval{Sec: 1}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit); err != nil {
		return err
	}
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		request := diagRequest{Family: family, Protocol: unix.IPPROTO_TCP, Extensions: extensions, States: 1 << state}
		request.NlMsghdr = unix.NlMsghdr{Len: uint32(binary.Size(request)), Type: unix.SOCK_DIAG_BY_FAMILY, Flags: unix.NLM_F_REQUEST | unix.NLM_F_DUMP}
		binary.BigEndian.PutUint16(request.ID.Port[:], port)
		var message bytes.Buffer
		if err := binary.Write(&message, binary.NativeEndian, &request); err != nil {
			return err
		}
		if err := unix.Sendto(fd, message.Bytes(), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
			return err
		}
		if err := receiveSockets(fd, state, do); err != nil {
			return err
		}
	}
	return nil
}

// receiveSockets calls do for the sockets of one answer that are in a state.
func receiveSockets(fd int, state uint8, do func(s *diagSocket, attributes []byte)) error {
	buffer := make([]byte, 64<<10)
	for {
		n, from, err := unix.Recvfrom(fd, buffer, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		if kernel, ok := from.(*unix.SockaddrNetlink); !ok || kernel.Pid != 0 {
			return fmt.Errorf("an answer about sockets from %v instead of the kernel", from)
		}
		messages, err := syscall.ParseNetlinkMessage(buffer[:n])
		if err != nil {
			return err
		}
		for _, m := range messages {
			switch m.Header.Type {
			case unix.NLMSG_DONE:
				return nil
			case unix.SOCK_DIAG_BY_FAMILY:
			default:
				return fmt.Errorf("the kernel does not list sockets (message %d)", m.Header.Type)
			}
			var s diagSocket
			size, err := binary.Decode(m.Data, binary.NativeEndian, &s)
			if err != nil {
				return err
			}
			if s.State == state {
				do(&s, m.Data[size:])
			}
		}
	}
}

func (s *diagSocket) listener(port uint16, user int) listener {
	addr := netip.AddrFrom16(s.ID.Local)
	if s.Family == unix.AF_INET {
		addr = netip.AddrFrom4([4]byte(s.ID.Local[:4]))
	}
	return listener{local: netip.AddrPortFrom(addr, port), own: int(s.UID) == user, root: s.UID == 0, holder: uint64(s.Inode)}
}
