//go:build agents && linux

package agents

import (
	"regexp"
	"testing"
	"time"
)

// A resumed thread began long before its last turn, and it is the turn whose
// length the user is told.
func TestTrayTellsHowLongTheTurnRan(t *testing.T) {
	nightly(t)
	desktop := newDesktop(t)
	for _, c := range []struct {
		release Release
		resume  func(id, prompt string) []string
	}{
		{CodexNewest, func(id, prompt string) []string { return []string{"exec", "resume", id, prompt} }},
		{OpenCodeNewest, func(id, prompt string) []string { return []string{"run", "-s", id, prompt} }},
	} {
		t.Run(c.release.String(), func(t *testing.T) {
			s := NewSandbox(t)
			const first, second = "a long one [[delay 15]]", "a short one [[delay 2]]"
			_, agent := detach(s, c.release, first)
			tray := startTray(s, desktop)
			tray.Shows("proj")
			before := len(desktop.Shown())
			s.Gone(agent)
			tray.notified(before, time.Time{}, time.Now())
			session := s.Becomes(byPrompt("a long one"), time.Now(), soon, "stopped/completed")
			resumed := time.Now()
			s.Detached(s.Argv(c.release, c.resume(session.ID, second)...)...)
			s.Asked(second)
			s.Becomes(byID(session.ID), time.Now(), time.Minute, "stopped/completed")
			n := tray.notified(before+1, time.Time{}, time.Now())
			if took, most := ranFor(n.Body), n.At.Sub(resumed)+time.Second; took < time.Second || took > most {
				t.Errorf("a turn of at most %v was told as %q", most, n.Body)
			}
			tray.stop()
		})
	}
}

var ranPattern = regexp.MustCompile(`ran (\d+) (s|m)$`)

// ranFor returns how long a turn ran at least, by the words of a notification.
func ranFor(body string) time.Duration {
	m := ranPattern.FindStringSubmatch(body)
	if m == nil {
		return 0
	}
	took, _ := time.ParseDuration(m[1] + m[2])
	return took
}
