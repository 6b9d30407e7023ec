//go:build !linux

package instance

// sinceBoot returns 0: see checkPeer.
func sinceBoot() uint64 { return 0 }
