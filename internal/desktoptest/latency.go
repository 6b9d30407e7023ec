//go:build linux

package desktoptest

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Latencies are durations in ascending order.
type Latencies []time.Duration

// Percentile returns the duration that p percent of the runs did not exceed.
func (l Latencies) Percentile(p float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	i := int(float64(len(l))*p/100+0.999999) - 1
	return l[min(max(i, 0), len(l)-1)]
}

func (l Latencies) String() string {
	return fmt.Sprintf("%d runs: p50 %v, p99 %v, max %v", len(l), l.Percentile(50), l.Percentile(99), l.Percentile(100))
}

// MeasureNotifications measures how long it takes from what trigger does to the
// call of Notify on the bus, runs times, one after the other. trigger returns
// when, on this process's clock, it did the thing. Each run must make exactly
// one notification; within is how long to wait for it.
func (d *Desktop) MeasureNotifications(ctx context.Context, runs int, within time.Duration, trigger func(run int) (time.Time, error)) (Latencies, error) {
	var all Latencies
	for run := range runs {
		before := len(d.Notifications())
		at, err := trigger(run)
		if err != nil {
			return all, fmt.Errorf("run %d: %w", run, err)
		}
		limit, cancel := context.WithTimeout(ctx, within)
		seen, err := d.WaitNotifications(limit, func(l []Notification) bool {
			return len(l) > before && !l[len(l)-1].Answered.IsZero()
		})
		cancel()
		if err != nil {
			return all, fmt.Errorf("run %d: no notification within %v: %w", run, within, err)
		}
		if len(seen) != before+1 {
			return all, fmt.Errorf("run %d: %d notifications, want one", run, len(seen)-before)
		}
		all = append(all, seen[before].At.Sub(at))
	}
	slices.Sort(all)
	return all, nil
}
