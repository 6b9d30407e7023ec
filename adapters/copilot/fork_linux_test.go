package copilot

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
)

const idC = "cccccccc-0000-4000-8000-000000000003"

// What 1.0.102 records at /fork, in the session and in its copy.
func into(id string) string {
	return fmt.Sprintf(`session.info {"infoType":"fork","message":"Forked this session into \"do it (fork)\" (%s)."}`, id)
}

func from(source, id string) string {
	return fmt.Sprintf(`session.info {"infoType":"fork","message":"Forked from \"do it\" (%s) as \"do it (fork)\" (%s)."}`, source, id)
}

// TestFork: until its first prompt, a copy that the process of a session made is not held by it, and may be on its screen.
func TestFork(t *testing.T) {
	turn := []string{prompted, begun, answered, ended}
	with := func(records ...string) []string { return append(append([]string{}, turn...), records...) }
	tests := map[string]struct {
		a, b, c []string
		ago     time.Duration // since when A's process runs; zero: there is none
		want    map[string]string
		live    int // rows of the question for live sessions
	}{
		"just made": {with(into(idB)), with(from(idA, idB)), nil, time.Minute, map[string]string{idA: "idle completed", idB: "unknown"}, 2},
		"prompted, and its process is another one or none": {with(into(idB)), append(with(from(idA, idB), "session.resume"), turn...), nil, time.Minute,
			map[string]string{idA: "idle completed", idB: "stopped completed"}, 1},
		"ended": {with(into(idB)), with(from(idA, idB), "session.resume", "session.shutdown"), nil, time.Minute,
			map[string]string{idA: "idle completed", idB: "stopped completed"}, 1},
		"by an earlier process": {append(with(into(idB)), turn...), with(from(idA, idB)), nil, 2 * time.Second,
			map[string]string{idA: "idle completed", idB: "stopped completed"}, 1},
		"the process has ended": {with(into(idB)), with(from(idA, idB)), nil, 0, map[string]string{idA: "stopped completed", idB: "stopped completed"}, 0},
		"a copy of a copy": {with(into(idB)), with(from(idA, idB), into(idC)), with(from(idA, idB), from(idB, idC)), time.Minute,
			map[string]string{idA: "idle completed", idB: "unknown", idC: "unknown"}, 3},
		"a prompt that names it": {[]string{`user.message {"content":"Forked this session into \"x\" (` + idB + `)."}`, begun, answered, ended}, turn, nil, time.Minute,
			map[string]string{idA: "idle completed", idB: "stopped completed"}, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			for id, records := range map[string][]string{idA: test.a, idB: test.b, idC: test.c} {
				if records != nil {
					w.put(id, "1.0.102", records...)
				}
			}
			if test.ago != 0 {
				w.run(idA, test.ago, scene.Spec{})
			}
			for id, want := range test.want {
				row := w.one(t, id)
				if got := strings.TrimSpace(fmt.Sprint(scene.TruthOf(&row))); got != want {
					t.Errorf("%s is %q, want %q; evidence: %s", id[:1], got, want, row.Evidence)
				}
				alone := adaptertest.Discover(t, w.adapter(), adapters.Query{IDs: []string{id}}).Sessions
				if len(alone) != 1 || alone[0].Status != row.Status {
					t.Errorf("asked for %s alone: %v", id[:1], alone)
				}
			}
			if live := adaptertest.Discover(t, w.adapter(), adapters.Query{Since: time.Now()}).Sessions; len(live) != test.live {
				t.Errorf("%d are live, want %d: %v", len(live), test.live, live)
			}
		})
	}
}
