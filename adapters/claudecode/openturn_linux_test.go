package claudecode

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
)

// closing is the last record of a process that ends in an orderly way.
func closing(began time.Time) string {
	return fmt.Sprintf(`{"type":"cost-state","sessionId":%q,"startTime":%d,"totalCostUSD":0}`+"\n", id(1), began.UnixMilli())
}

// How an open last turn ended in a session without a process: what its process
// left behind, or wrote last, tells whether it was killed.
func TestOpenTurnOfStopped(t *testing.T) {
	turn := []string{ago(doneLine("m"), time.Hour), ago(promptLine("open"), 30*time.Minute)}
	before, after := time.Now().Add(-2*time.Hour), time.Now().Add(-10*time.Minute)
	busy := map[string]any{"status": "busy", "startedAt": before.UnixMilli(), "statusUpdatedAt": time.Now().Add(-29 * time.Minute).UnixMilli()}
	for _, c := range []struct {
		name, want, evidence string
		lines                []string
		entry                map[string]any
	}{
		{"ended in an orderly way", "stopped interrupted", "orderly", append(turn, closing(before)), nil},
		{"killed, and its entry removed", "stopped died", "did not record its end", turn, nil},
		{"killed", "stopped died", "left over", turn, busy},
		{"killed, opened again and closed", "stopped died", "left over", append(turn, closing(after)), busy},
		{"killed, entry removed, opened again and closed", "stopped died", "did not record its end", append(turn, closing(after)), nil},
		{"closed, opened again and killed", "stopped interrupted", "orderly", append(turn, closing(before)),
			map[string]any{"status": "idle", "startedAt": after.UnixMilli(), "statusUpdatedAt": after.UnixMilli()}},
		{"closed, opened again and killed in its first turn", "stopped died", "left over", append(turn, closing(before)),
			map[string]any{"status": "busy", "startedAt": after.UnixMilli(), "statusUpdatedAt": after.UnixMilli()}},
		{"before it recorded its end", "stopped", "records nothing that distinguishes", ofVersion("2.1.170", turn...), nil},
		{"older", "stopped", "records nothing that distinguishes", ofVersion("2.0.50", turn...), nil},
		{"older, in another program", "stopped died", "left its turn open", []string{ofVersion("2.1.83", turn[0])[0],
			strings.Replace(ofVersion("2.1.83", turn[1])[0], `"gitBranch"`, `"entrypoint":"sdk-ts","gitBranch"`, 1)}, nil},
		{"completed", "stopped completed", "end of turn", []string{ago(promptLine("hi"), time.Hour), ago(doneLine("m"), time.Hour), closing(before)}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newFixture(t)
			w.transcript(1, c.lines...)
			if c.entry != nil {
				w.entry(w.gone(), id(1), c.entry)
			}
			sessions, _, _ := w.discover(adapters.Query{})
			if s := w.expect(sessions, 1, c.want); !strings.Contains(s.Evidence, c.evidence) {
				t.Errorf("evidence %q, want %q in it", s.Evidence, c.evidence)
			}
		})
	}
}

// A session that was killed with its first question for a permission on the
// screen died, although its transcript is not written yet.
func TestKilledAtItsFirstPermission(t *testing.T) {
	for _, lines := range [][]string{nil, {ago(promptLine("earlier"), time.Hour), ago(doneLine("m"), time.Hour)}} {
		w := newFixture(t)
		if lines != nil {
			w.transcript(1, lines...)
		}
		w.entry(w.gone(), id(1), map[string]any{"status": "waiting", "waitingFor": "permission prompt"})
		sessions, _, _ := w.discover(adapters.Query{})
		w.expect(sessions, 1, "stopped died")
	}
}

// While the process lives, its registry tells a prompt that was taken back from
// a turn that is open: the transcript is the same.
func TestPromptTakenBack(t *testing.T) {
	w := newFixture(t)
	p := w.start(filepath.Join(w.home, "proj"))
	w.config.Table = shifted{w.ownTable(), map[int]time.Duration{p.PID: time.Hour}}
	w.transcript(1, ago(promptLine("hi"), 50*time.Minute), ago(doneLine("m"), 50*time.Minute), ago(promptLine("taken back"), 20*time.Minute))
	w.entry(p, id(1), map[string]any{"status": "idle", "startedAt": time.Now().Add(-time.Hour).UnixMilli(), "statusUpdatedAt": time.Now().Add(-19 * time.Minute).UnixMilli()})
	sessions, _, _ := w.discover(adapters.Query{})
	if s := w.expect(sessions, 1, "idle interrupted"); !strings.Contains(s.Evidence, "taken back") {
		t.Errorf("evidence %q", s.Evidence)
	}
}

// A session that was killed in mid-turn and opened again without a prompt is
// idle, and its last turn died.
func TestOpenedAgainAfterDeath(t *testing.T) {
	w := newFixture(t)
	p := w.start(filepath.Join(w.home, "proj"))
	lines := []string{ago(doneLine("m"), time.Hour), ago(promptLine("open"), 30*time.Minute)}
	for want, more := range map[string]string{"idle died": "", "idle interrupted": closing(time.Now().Add(-2 * time.Hour))} {
		w.transcript(1, append(lines, more)...)
		for _, since := range []time.Duration{0, time.Minute} {
			w.entry(p, id(1), map[string]any{"status": "idle", "statusUpdatedAt": time.Now().Add(-since).UnixMilli()})
			sessions, _, _ := w.discover(adapters.Query{})
			w.expect(sessions, 1, want)
		}
	}
}

// "dialog open" is the user's own dialog while no turn is open, and one that
// Claude Code opened by itself when it holds up a turn.
func TestDialogOpen(t *testing.T) {
	w := newFixture(t)
	p := w.start(filepath.Join(w.home, "proj"))
	w.config.Table = shifted{w.ownTable(), map[int]time.Duration{p.PID: 2 * time.Hour}}
	const opened = 10 * time.Minute
	w.entry(p, id(1), map[string]any{"status": "waiting", "waitingFor": "dialog open", "startedAt": time.Now().Add(-2 * time.Hour).UnixMilli(),
		"statusUpdatedAt": time.Now().Add(-opened).UnixMilli()})
	open := []string{ago(doneLine("m"), time.Hour), ago(promptLine("open"), 30*time.Minute)}
	for _, c := range []struct {
		name, want string
		lines      []string
		typed      string
		at         time.Duration
	}{
		{"before the first prompt", "idle", nil, "/config", opened},
		{"after a turn", "idle completed", []string{ago(promptLine("hi"), time.Hour), ago(doneLine("m"), time.Hour)}, "/model", opened},
		{"after a turn, by a key", "idle completed", []string{ago(promptLine("hi"), time.Hour), ago(doneLine("m"), time.Hour)}, "hi", time.Hour},
		{"after a prompt that was taken back", "idle interrupted", open, "/resume", opened},
		{"in a turn", "waiting question", open, "open", 30 * time.Minute},
		{"in a turn, after a command", "waiting question", open, "/config", 20 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := *w
			w.TB = t
			w.transcript(1, c.lines...)
			w.write(w.path("history.jsonl"), said(time.Now().Add(-c.at), 1, c.typed))
			sessions, _, _ := w.discover(adapters.Query{})
			w.expect(sessions, 1, c.want)
		})
	}
}
