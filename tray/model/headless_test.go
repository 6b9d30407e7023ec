package model_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/assets"
	"rollcall/tray/model"
)

// TestBuildHeadless: headless sessions are folded, but for those that Rollcall launched and those that need the user, of this machine and of others.
func TestBuildHeadless(t *testing.T) {
	headless := func(id string, status adapters.Status, age time.Duration) app.Session {
		s := session(id, status, id, age)
		s.Headless = true
		return s
	}
	launched := headless("launched", adapters.Working, 2*time.Minute)
	launched.Launch = &app.Launch{ID: "l-1"}
	all := []app.Session{headless("waits", adapters.Waiting, 1*time.Minute), launched, headless("a", adapters.Working, 3*time.Minute), headless("b", adapters.Idle, 4*time.Minute)}
	others := []app.Session{headless("c", adapters.Working, 5*time.Minute)}
	for mode, want := range map[app.Headless]struct {
		sessions []string
		last     string
	}{
		"": {[]string{"waits", "launched"}, "3 headless"}, app.FoldHeadless: {[]string{"waits", "launched"}, "3 headless"},
		app.QuietHeadless: {[]string{"waits", "launched"}, ""}, app.ShowHeadless: {[]string{"waits", "launched", "a", "c", "b"}, ""},
	} {
		m := model.Build(&app.Snapshot{At: now, Own: all, Others: others, Headless: mode}, nil, now)
		var shown []string
		last := ""
		for _, r := range m.Rows {
			if r.Kind == model.Session {
				shown = append(shown, r.Session)
			} else {
				last = r.Label()
			}
		}
		if diff := cmp.Diff(want.sessions, shown); diff != "" || last != want.last || m.Count != 1 {
			t.Errorf("%q: %s, %q, %d wait", mode, diff, last, m.Count)
		}
	}
	m := model.Build(&app.Snapshot{At: now, Own: all[2:]}, nil, now)
	if diff := cmp.Diff([]string{"No agents at work", "2 headless"}, labels(m)); diff != "" || m.Icon != assets.Quiet {
		t.Errorf("%s, icon %v", diff, m.Icon)
	}
}
