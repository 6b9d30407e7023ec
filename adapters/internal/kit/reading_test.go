package kit

import (
	"context"
	"testing"
	"time"
)

// The more files are read, the more time is kept for the answer, up to a third.
func TestReadingTime(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	end, _ := ctx.Deadline()
	for n, kept := range map[int]time.Duration{0: 0, 1000: 1000 * perFile, 1 << 36: 20 * time.Minute} {
		reading, cancel := ReadingTime(ctx, n)
		got, _ := reading.Deadline()
		cancel()
		if off := end.Sub(got) - kept; off.Abs() > time.Minute {
			t.Errorf("%d files: %s kept, want %s", n, end.Sub(got), kept)
		}
	}
	if reading, _ := ReadingTime(t.Context(), 1); reading != t.Context() {
		t.Error("a deadline where there is none")
	}
}
