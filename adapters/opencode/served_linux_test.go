package opencode

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
)

// A session of 2.0 whose turn is over is in the service that had it since its start, or that a terminal shows it with. One that was not used
// since a day before that start is in no process, and the service is named.
func TestServedSince(t *testing.T) {
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		service, used, viewed time.Duration // how long ago; viewed 0: never
		terminal              bool
		want                  adapters.Status
	}{
		"of this service":                    {5 * day, 3 * day, 0, false, adapters.Idle},
		"restarted within a day":             {time.Minute, time.Hour, 0, false, adapters.Idle},
		"restarted within a day, days ago":   {5 * day, 5*day + 6*time.Hour, 0, false, adapters.Idle},
		"not used since its start":           {time.Hour, 3 * day, 0, false, adapters.Stopped},
		"viewed since":                       {time.Hour, 3 * day, time.Minute, false, adapters.Idle},
		"a terminal shows it":                {time.Hour, 3 * day, 0, true, adapters.Idle},
		"viewed by a terminal of before":     {time.Hour, 3 * day, 2 * day, false, adapters.Stopped},
		"restarted, and used the day before": {time.Hour, 25 * time.Hour, 23 * time.Hour, false, adapters.Idle},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, strings.Replace(nextTables, "time_suspended integer", "time_viewed integer, time_suspended integer", 1))
			now := time.Now()
			at := now.Add(-c.used).UnixMilli()
			s.sessionNext(sesA, at, "hello")
			s.row(sesA, "assistant", at+1, at3(nextDone, at+1))
			s.exec("UPDATE session_v2 SET time_idle = ?, idle_outcome = 'succeeded'", at+2)
			if c.viewed > 0 {
				s.exec("UPDATE session_v2 SET time_viewed = ?", now.Add(-c.viewed).UnixMilli())
			}
			w := scene.New(t)
			start := func(ago time.Duration, args ...string) {
				w.Procs.Start(scene.Spec{Comm: "opencode", Exe: "/opt/opencode", CWD: s.home, Args: append([]string{"opencode"}, args...),
					Env: []string{"HOME=" + s.home}, Files: []string{filepath.Join(s.data, "opencode.db")}, Started: now.Add(-ago)})
			}
			start(c.service, "serve", "--service")
			if c.terminal {
				start(time.Minute, "-s", sesA)
			}
			a := New(adapters.Config{Home: s.home, Env: func(string) string { return "" }, Table: w.Table})
			sessions, _, _ := asked(t, a, adapters.Query{Since: now.Add(-6 * day)})
			if c.want != adapters.Stopped {
				sessions, _, _ = asked(t, a, adapters.Query{Since: now})
			}
			got := sessions[sesA]
			if got.Status != c.want || got.Outcome != adapters.Completed || c.want == adapters.Stopped && !strings.Contains(got.Evidence, "has not had it since its start") {
				t.Errorf("%s %s (%s), want %s", got.Status, got.Outcome, got.Evidence, c.want)
			}
		})
	}
}
