//go:build unix

package instance

import (
	"syscall"
	"testing"
)

// connections is how many TestFlood makes: 10,000, or as many as this process has
// descriptors for.
func connections(t *testing.T) int {
	t.Helper()
	const wanted, others = 10_000, 2 * maxPeers
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if limit.Cur >= wanted+others {
		return wanted
	}
	t.Logf("only %d descriptors are allowed", limit.Cur)
	return int(limit.Cur) - others
}
