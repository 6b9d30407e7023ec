package proc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// diagInfo is INET_DIAG_INFO of linux/inet_diag.h, the attribute with struct tcp_info; lastDataReceived is the offset of its tcpi_last_data_recv, in
// milliseconds.
const (
	diagInfo         = 2
	lastDataReceived = 52
)

// errOtherNetwork reports that a process has another network than this one, whose connections are not seen from here.
var errOtherNetwork = errors.New("the process is in another network namespace")

// LastReceived implements Details. The kernel keeps for each connection how long ago data came.
func (t *Table) LastReceived(id Identity) (last time.Time, err error) {
	sockets, err := t.targets(id, isSocket)
	if err != nil || len(sockets) == 0 {
		return last, err
	}
	if !t.ownNamespace || !t.hasOurNetwork(id) {
		return last, errOtherNetwork
	}
	err = askSockets(stateEstablished, 0, 1<<(diagInfo-1), func(s *diagSocket, attributes []byte) {
		info := attributeOf(attributes, diagInfo)
		if len(info) < lastDataReceived+4 || !slices.Contains(sockets, fmt.Sprintf("socket:[%d]", s.Inode)) {
			return
		}
		ago := time.Duration(binary.NativeEndian.Uint32(info[lastDataReceived:])) * time.Millisecond
		if at := time.Now().Add(-ago); at.After(last) {
			last = at
		}
	})
	return last, err
}

// isSocket reports whether the link of a descriptor leads to a socket.
func isSocket(target string) bool { return strings.HasPrefix(target, "socket:[") }

// hasOurNetwork reports whether a process uses the network of this one.
func (t *Table) hasOurNetwork(id Identity) bool {
	its, err := os.Readlink(t.path(id.PID, "ns/net"))
	ours, err2 := os.Readlink("/proc/self/ns/net")
	return err == nil && err2 == nil && its == ours
}

// attributeOf returns the value of a netlink attribute; nil: there is none of that type.
func attributeOf(list []byte, kind uint16) []byte {
	for len(list) >= unix.SizeofNlAttr {
		size := int(binary.NativeEndian.Uint16(list))
		if size < unix.SizeofNlAttr || size > len(list) {
			return nil
		}
		if binary.NativeEndian.Uint16(list[2:]) == kind {
			return list[unix.SizeofNlAttr:size]
		}
		list = list[min((size+3)&^3, len(list)):]
	}
	return nil
}
