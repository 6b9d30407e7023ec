package proc

import (
	"testing"
	"time"
)

// On a busy machine a process is interrupted between two readings of the clocks.
func TestDifferenceOfClocks(t *testing.T) {
	booted := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
	for name, held := range map[string][]time.Duration{ // before each reading
		"never":                 {},
		"before the wall clock": {0, 300 * time.Millisecond, 0},
		"after the wall clock":  {0, 0, 300 * time.Millisecond},
		"often":                 {0, time.Second, 0, 0, 20 * time.Millisecond, 0, 0, 0, 2 * time.Second, 0, 0, 0},
		"always":                {1, 3e6, 3e6, 1, 3e6, 3e6, 1, 3e6, 3e6, 1, 3e6, 3e6, 1, 3e6, 3e6, 1, 3e6, 3e6, 1, 3e6, 3e6},
	} {
		t.Run(name, func(t *testing.T) {
			ran := time.Hour
			read := func() time.Duration {
				if len(held) > 0 {
					ran, held = ran+held[0], held[1:]
				}
				ran += 100 * time.Nanosecond
				return ran
			}
			got, ok := bootTimeFrom(func() (time.Duration, bool) { return read(), true }, func() time.Time { return booted.Add(read()) })
			if off := got.Sub(booted).Abs(); !ok || off > sameBoot {
				t.Errorf("off by %v, %v", off, ok)
			}
		})
	}
	if _, ok := bootTimeFrom(func() (time.Duration, bool) { return 0, false }, time.Now); ok {
		t.Error("a clock that can't be read tells something")
	}
}
