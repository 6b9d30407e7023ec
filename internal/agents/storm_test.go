//go:build agents && linux

package agents

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestStorm runs for as long as ROLLCALL_STORM says; without it, not at all. SEED
// chooses what happens, STORM_AGENTS how many agents run at once, STORM_PLOT
// plays given plots instead: see storm_plot_linux.go.
func TestStorm(t *testing.T) {
	length := os.Getenv("ROLLCALL_STORM")
	if length == "" {
		t.Skip("set ROLLCALL_STORM to a duration, or run make storm")
	}
	o := stormOptions{seed: 1, lanes: len(stormReleases)}
	var err error
	if o.length, err = time.ParseDuration(length); err != nil {
		t.Fatalf("ROLLCALL_STORM: %v", err)
	}
	if seed := os.Getenv("SEED"); seed != "" {
		if o.seed, err = strconv.ParseUint(seed, 10, 64); err != nil {
			t.Fatalf("SEED: %v", err)
		}
	}
	if lanes := os.Getenv("STORM_AGENTS"); lanes != "" {
		if o.lanes, err = strconv.Atoi(lanes); err != nil || o.lanes < 1 {
			t.Fatalf("STORM_AGENTS=%q: want a number from 1 on", lanes)
		}
	}
	for plot := range strings.SplitSeq(os.Getenv("STORM_PLOT"), ";") {
		if plot = strings.TrimSpace(plot); plot != "" {
			o.plots = append(o.plots, plot)
		}
	}
	desktop := newDesktop(t)
	st := newStorm(t, o, desktop)
	tray := startTray(st.s, desktop)
	st.run()
	tray.stop()
}
