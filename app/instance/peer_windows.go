package instance

import "net"

// checkPeer returns nil: the pipe admits the user's own processes only, and whoever connects to it checks whose it is.
func checkPeer(net.Conn) error { return nil }
