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

// TestNewest: of very many files those are left out for which there is no time, the ones written first; of few none are.
func TestNewest(t *testing.T) {
	now := time.Now()
	files := func(n int) []time.Time {
		list := make([]time.Time, n)
		for i := range list {
			list[i] = now.Add(-time.Duration(i*7%n) * time.Second) // each second once
		}
		return list
	}
	short, cancel := context.WithTimeout(t.Context(), -time.Hour)
	defer cancel()
	long, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	for _, c := range []struct {
		ctx  context.Context
		n    int
		took time.Duration
		late int
	}{
		{short, alwaysRead, time.Minute, 0},
		{short, 3 * alwaysRead, time.Minute, 2 * alwaysRead},
		{long, 3 * alwaysRead, time.Minute, 0},
		{long, 3 * alwaysRead, 24 * time.Hour, 2 * alwaysRead},
		{t.Context(), 3 * alwaysRead, time.Minute, 0},
	} {
		since, late := Newest(c.ctx, files(c.n), c.took)
		if late != c.late || late > 0 != !since.IsZero() || late > 0 && !since.Equal(now.Add(-time.Duration(c.n-late-1)*time.Second)) {
			t.Errorf("%d files in %v: %d left out, since %v before", c.n, c.took, late, now.Sub(since))
		}
	}
}
