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
	o := stormOptions{seed: stormSeed(t), lanes: len(stormReleases)}
	var err error
	if o.length, err = time.ParseDuration(length); err != nil {
		t.Fatalf("ROLLCALL_STORM: %v", err)
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
	playStorm(t, o)
}

// TestDay is a day of steps, of real agents of five kinds and of a user who changes the settings meanwhile: each event
// that the settings allow is notified of once, nothing is notified of that they forbid, and each notification of a wait is
// withdrawn when the wait is over. ROLLCALL_DAY is the number of steps, SEED chooses them.
func TestDay(t *testing.T) {
	o := stormOptions{seed: stormSeed(t), lanes: 6, length: 30 * time.Minute, settings: true, steps: 60}
	if text := os.Getenv("ROLLCALL_DAY"); text != "" {
		var err error
		if o.steps, err = strconv.Atoi(text); err != nil || o.steps < 1 {
			t.Fatalf("ROLLCALL_DAY=%q: want a number from 1 on", text)
		}
	}
	playStorm(t, o)
}

// stormSeed returns SEED, or 1.
func stormSeed(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("SEED")
	if text == "" {
		return 1
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("SEED: %v", err)
	}
	return seed
}

// playStorm runs a storm beside a tray.
func playStorm(t *testing.T, o stormOptions) {
	t.Helper()
	desktop := newDesktop(t)
	st := newStorm(t, o, desktop)
	tray := startTray(st.s, desktop)
	st.run()
	tray.stop()
}
