//go:build linux

package main

import (
	"fmt"
	"io"
	"time"
)

const (
	// worse is the factor from which on a ratio counts as worse: by more than a quarter.
	worse = 1.25
	// leastTime is the difference below which a time counts as the same: starting a process
	// varies by that much.
	leastTime = 8 * time.Millisecond
	// leastMemory is the same for memory, in bytes.
	leastMemory = 4 << 20
)

// compare says which rows got worse than the committed ones. It returns an error if there is one.
func compare(w io.Writer, committed, now *figures) error {
	compared, bad := 0, 0
	for i := range now.Rows {
		row := &now.Rows[i]
		at := committed.index(row)
		if at < 0 || row.Missing != "" || committed.Rows[at].Missing != "" {
			continue
		}
		compared++
		for _, line := range row.worseThan(&committed.Rows[at]) {
			bad++
			fmt.Fprintf(w, "worse: %d sessions, %s: %s\n", row.N, row.Name, line)
		}
	}
	if compared == 0 {
		return fmt.Errorf("nothing to compare with: run make bench with the same BENCH_N first")
	}
	if bad > 0 {
		return fmt.Errorf("%d figures of %d rows are worse by more than a quarter", bad, compared)
	}
	fmt.Fprintf(w, "none of %d rows is worse by more than a quarter\n", compared)
	return nil
}

// worseThan lists what is worse than before: the times as ratios to the floor of their own run, so that two machines can
// be compared; the memory as it is.
func (f *figure) worseThan(before *figure) (list []string) {
	times := func(name string, now, nowFloor, was, wasFloor time.Duration) {
		if now <= 0 || nowFloor <= 0 || was <= 0 || wasFloor <= 0 {
			return
		}
		a, b := float64(now)/float64(nowFloor), float64(was)/float64(wasFloor)
		expected := time.Duration(b * float64(nowFloor))
		if a > worse*b && now-expected > leastTime {
			list = append(list, fmt.Sprintf("%s is %s × the floor, was %s × (%s, expected %s)", name, number(a), number(b), seconds(now), seconds(expected)))
		}
	}
	times("wall time", f.Warm.Wall, f.Floor.Wall, before.Warm.Wall, before.Floor.Wall)
	times("processor time", f.Warm.CPU, f.Floor.CPU, before.Warm.CPU, before.Floor.CPU)
	if a, b := f.Warm.Memory, before.Warm.Memory; b > 0 && float64(a) > worse*float64(b) && a-b > leastMemory {
		list = append(list, fmt.Sprintf("memory is %s, was %s", bytesText(a), bytesText(b)))
	}
	if a, b := f.Value, before.Value; a > 0 && b > 0 && a > worse*b {
		list = append(list, fmt.Sprintf("%s, was %s", f.Text, before.Text))
	}
	return list
}
