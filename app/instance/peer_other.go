//go:build !linux && !darwin

package instance

import "net"

// checkPeer returns nil: here the system does not tell whose process is at the other end. The access list of the folder
// admits the user's own processes only.
func checkPeer(net.Conn) error { return nil }
