package notify

import "testing"

// RememberedWaits returns how many waits are remembered in a folder.
func RememberedWaits(t *testing.T, folder string) int {
	t.Helper()
	s, err := newMemory(folder).read()
	if err != nil {
		t.Fatal(err)
	}
	return len(s.Waits)
}
