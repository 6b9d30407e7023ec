package notify

import (
	"testing"

	"rollcall/internal/must"
)

// RememberedWaits returns how many waits are remembered in a folder.
func RememberedWaits(t *testing.T, folder string) int {
	t.Helper()
	s := must.Get(newMemory(folder).read())(t)
	return len(s.Waits)
}
