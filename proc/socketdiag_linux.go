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

// stateListen is TCP_LISTEN of the kernel.
const stateListen = 10

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

// askListeners asks the kernel for the sockets of this process's network that listen on a port, and for no others (sock_diag(7)).
func askListeners(port uint16, user int) ([]listener, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	limit := unix.Timeval{Sec: 1}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit); err != nil {
		return nil, err
	}
	var all []listener
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		request := diagRequest{Family: family, Protocol: unix.IPPROTO_TCP, States: 1 << stateListen}
		request.NlMsghdr = unix.NlMsghdr{Len: uint32(binary.Size(request)), Type: unix.SOCK_DIAG_BY_FAMILY, Flags: unix.NLM_F_REQUEST | unix.NLM_F_DUMP}
		binary.BigEndian.PutUint16(request.ID.Port[:], port)
		var message bytes.Buffer
		if err := binary.Write(&message, binary.NativeEndian, &request); err != nil {
			return nil, err
		}
		if err := unix.Sendto(fd, message.Bytes(), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
			return nil, err
		}
		all, err = receiveListeners(fd, port, user, all)
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// receiveListeners appends the sockets of one answer to list.
func receiveListeners(fd int, port uint16, user int, list []listener) ([]listener, error) {
	buffer := make([]byte, 64<<10)
	for {
		n, from, err := unix.Recvfrom(fd, buffer, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if kernel, ok := from.(*unix.SockaddrNetlink); !ok || kernel.Pid != 0 {
			return nil, fmt.Errorf("an answer about sockets from %v instead of the kernel", from)
		}
		messages, err := syscall.ParseNetlinkMessage(buffer[:n])
		if err != nil {
			return nil, err
		}
		for _, m := range messages {
			switch m.Header.Type {
			case unix.NLMSG_DONE:
				return list, nil
			case unix.SOCK_DIAG_BY_FAMILY:
			default:
				return nil, fmt.Errorf("the kernel does not list sockets (message %d)", m.Header.Type)
			}
			var s diagSocket
			if _, err := binary.Decode(m.Data, binary.NativeEndian, &s); err != nil {
				return nil, err
			}
			if s.State == stateListen && binary.BigEndian.Uint16(s.ID.Port[:]) == port {
				list = append(list, s.listener(port, user))
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
