//go:build unix

package instance

import (
	"syscall"
	"testing"

	"rollcall/internal/must"
)

// connections is how many TestFlood makes: 10,000, or as many as this process has
// descriptors for.
func connections(t *testing.T) int {
	t.Helper()
	const wanted, others = 10_000, 2 * maxPeers
	var limit syscall.Rlimit
	must.Do(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	if limit.Cur >= wanted+others {
		return wanted
	}
	t.Logf("only %d descriptors are allowed", limit.Cur)
	return int(limit.Cur) - others
}
