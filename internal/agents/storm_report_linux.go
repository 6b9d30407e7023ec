package agents

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// mostUnknown is the share of checks that may say unknown, in thousandths. A short storm has too few checks for a share: fewUnknown may
// say so in any (the first turn of one Pi before 0.87 is as many).
const (
	mostUnknown = 3
	fewUnknown  = 5
)

// report prints what the storm found, and fails the test for what is wrong.
func (st *storm) report() {
	st.t.Helper()
	if st.tally.lists == 0 {
		return // it did not begin
	}
	notifications := st.notifications()
	st.mu.Lock()
	defer st.mu.Unlock()
	watch := st.settleAccounts("watch", st.watched())
	st.release() // the settings do not count for watch
	tray := st.settleAccounts("tray", notifications)
	tray.unwanted = st.unwanted(notifications)
	t := &st.tally
	fmt.Printf("\nstorm: seed %d, %v, %d agents at once, %d steps, %d changes of the settings, %d lives, %d sessions, %d troubles of the driver\n", st.options.seed,
		time.Since(st.began).Round(time.Second), st.options.lanes, st.steps, 2*len(st.restrictions), st.lives, len(st.sessions), len(st.troubles))
	fmt.Printf("storm: %d lists (slowest %.1f s, %d failed), %d checks: %d wrong, %d unknown (%.2f %%)\n", t.lists, t.slowest.Seconds(), t.failures,
		t.checks, t.wrong, t.unknowns, percent(t.unknowns, t.checks))
	for _, reason := range slices.Sorted(maps.Keys(t.unknown)) {
		fmt.Printf("storm:   unknown %5.2f %%: %s\n", percent(t.unknown[reason], t.checks), reason)
	}
	for _, a := range []*account{tray, watch} {
		fmt.Printf("storm: %-5s: %d owed, %d told, %d missing, %d double, %d that did not happen, %d with a wrong outcome, %d left standing, "+
			"%d despite the settings, %d late; delay p50 %.2f s, p99 %.2f s (%d need not be told)\n", a.channel, a.due, a.told, a.missing, a.double, a.strange, a.lies,
			a.standing, a.unwanted, a.late, quantile(a.delays, 50).Seconds(), quantile(a.delays, 99).Seconds(), a.optional)
		if bad := a.missing + a.double + a.strange + a.lies + a.standing + a.unwanted; bad > 0 {
			st.t.Errorf("%s: %d missing, %d double, %d that did not happen, %d with a wrong outcome, %d left standing, %d despite the settings",
				a.channel, a.missing, a.double, a.strange, a.lies, a.standing, a.unwanted)
		}
	}
	for _, text := range st.troubles {
		fmt.Println("storm: driver:", text)
	}
	if t.wrong > 0 || t.failures > 0 {
		st.t.Errorf("%d of %d checks wrong, %d lists failed", t.wrong, t.checks, t.failures)
	}
	if t.unknowns*1000 >= mostUnknown*t.checks && t.unknowns > fewUnknown {
		st.t.Errorf("%.2f %% of the checks unknown, want less than %.1f %%", percent(t.unknowns, t.checks), mostUnknown/10.0)
	}
	if t.checks == 0 || len(st.troubles)*5 > st.lives {
		st.t.Errorf("%d checks, %d troubles of the driver in %d lives: the storm shows less than it should", t.checks, len(st.troubles), st.lives)
	}
}

func percent(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

// quantile of sorted durations, in percent.
func quantile(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, len(sorted)*percent/100)]
}
