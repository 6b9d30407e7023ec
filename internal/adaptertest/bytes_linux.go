package adaptertest

import (
	"fmt"
	"os"
	"testing"
)

// BytesRead returns how many bytes this process has read so far, from files and everything else.
func BytesRead(t testing.TB) (n int64) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/io")
	if err == nil {
		_, err = fmt.Sscanf(string(b), "rchar: %d", &n)
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}
