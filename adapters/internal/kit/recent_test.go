package kit

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// Recent forgets a folder a day after its last use, and keeps the newest of many.
func TestRecent(t *testing.T) {
	var r Recent
	now := time.Now()
	for i := range 2 * maxRecent {
		r.Use([]string{fmt.Sprintf("/home/%03d", i)}, now.Add(time.Duration(i)*time.Second))
	}
	last := now.Add((2*maxRecent - 1) * time.Second)
	newest := fmt.Sprintf("/home/%03d", 2*maxRecent-1)
	if got := r.Use(nil, last); len(got) != maxRecent || got[len(got)-1] != newest {
		t.Errorf("%d folders, the last %s", len(got), got[len(got)-1])
	}
	if got := r.Use(nil, last.Add(RecentTime)); !slices.Equal(got, []string{newest}) {
		t.Errorf("a day later: %q", got)
	}
	r.Use([]string{"/home/again"}, last)
	r.Use([]string{"/home/again"}, last.Add(time.Hour))
	if got := r.Use(nil, last.Add(RecentTime+time.Minute)); !slices.Equal(got, []string{"/home/again"}) {
		t.Errorf("%q, want the folder that was used again", got)
	}
}
