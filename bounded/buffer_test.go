package bounded_test

import (
	"io"
	"strings"
	"testing"

	"rollcall/bounded"
)

// A buffer keeps its limit for every way of writing, also for io.Copy.
func TestBuffers(t *testing.T) {
	head, tail := bounded.Buffer{Max: 4}, bounded.Tail{Max: 4}
	for _, text := range []string{"ab", "cdef", "", "gh"} {
		for _, w := range []io.Writer{&head, &tail} {
			if n, err := io.Copy(w, strings.NewReader(text)); n != int64(len(text)) || err != nil {
				t.Errorf("%q: %d, %v", text, n, err)
			}
		}
		if full := len(text) > 2; full && !head.IsFull() {
			t.Error("a buffer that dropped bytes is not full")
		}
	}
	if head.String() != "abcd" || string(head.Bytes()) != "abcd" || tail.String() != "efgh" {
		t.Errorf("%q, %q", head.String(), tail.String())
	}
	exact := bounded.Buffer{Max: 1}
	_, _ = exact.Write([]byte("a"))
	if exact.IsFull() {
		t.Error("a buffer that dropped nothing is full")
	}
}
