package agents

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// Each word of every plot is a step, or says where the agent runs; the same seed
// draws the same plots.
func TestStormPlots(t *testing.T) {
	where := []string{"own", "shared", "alone", "ephemeral"}
	draw := func(r Release, seed uint64) []string {
		rng := rand.New(rand.NewPCG(seed, 1))
		k := kindOf(r)
		plots := deck(rng, k, r)
		for range 200 {
			plots = append(plots, walk(rng, k, r))
		}
		return plots
	}
	for _, r := range stormReleases {
		steps := stormSteps
		if kindOf(r).comm == "" {
			steps = gatewaySteps
		}
		plots := draw(r, 7)
		for _, plot := range plots {
			words := strings.Fields(plot)
			for len(words) > 0 && slices.Contains(where, words[0]) {
				words = words[1:]
			}
			if len(words) == 0 {
				t.Errorf("%s: plot %q has no steps", r, plot)
			}
			for _, word := range words {
				if steps[strings.TrimSuffix(word, "!")] == nil {
					t.Errorf("%s: plot %q: no step %q", r, plot, word)
				}
			}
		}
		if again := draw(r, 7); !slices.Equal(plots, again) {
			t.Errorf("%s: other plots for the same seed", r)
		}
		if other := draw(r, 8); kindOf(r).comm != "" && slices.Equal(plots, other) {
			t.Errorf("%s: the same plots for another seed", r)
		}
	}
}

// theSession is a session of OpenCode's in its second turn.
func theSession(how turn, running bool) *stormSession {
	x := &stormSession{mark: "s101", kind: openCodeKind(OpenCodeNewest), release: OpenCodeNewest, folder: "/home/dev/storm1",
		turn: how, running: running, prompts: 2, began: time.Now().Add(-time.Minute)}
	if running {
		x.pid = 4711
	}
	return x
}

// What is listed is right, wrong or unknown.
func TestStormJudge(t *testing.T) {
	row := func(status, outcome string, pid int) Session {
		return Session{ID: "ses_1", Agent: "opencode", Status: status, Outcome: outcome, PID: pid, FirstPrompt: "s101 p1 go", CWD: "/home/dev/storm1"}
	}
	suspended := row("idle", "", 4711)
	suspended.Suspended = true
	process := Session{ID: "process-4711-9", Agent: "opencode", Status: "idle", PID: 4711, CWD: "/home/dev/storm1"}
	other := row("working", "", 4712)
	other.ID, other.FirstPrompt = "ses_2", "s1011 p1 go"
	stopped := theSession(inTurn, true)
	stopped.suspended = true
	fresh := theSession(noTurn, true)
	fresh.prompts = 0
	elsewhere := theSession(completed, false)
	elsewhere.home = "/home/dev/elsewhere"
	tests := []struct {
		name string
		x    *stormSession
		rows []Session
		want string // beginning of what is wrong; "unknown": unknown
	}{
		{"works", theSession(inTurn, true), []Session{row("working", "", 4711), other}, ""},
		{"idle while it works", theSession(inTurn, true), []Session{row("idle", "completed", 4711)}, "idle/completed"},
		{"another process", theSession(inTurn, true), []Session{row("working", "", 4712)}, "process 4712"},
		{"twice", theSession(inTurn, true), []Session{row("working", "", 4711), process}, "listed 2 times"},
		{"missing", theSession(inTurn, true), []Session{other}, "not listed"},
		{"unknown", theSession(inTurn, true), []Session{row("unknown", "", 4711)}, "unknown"},
		{"suspended", stopped, []Session{suspended}, ""},
		{"not suspended", stopped, []Session{row("working", "", 4711)}, "working"},
		{"died", theSession(killedOpen, false), []Session{row("stopped", "died", 0)}, ""},
		{"not died", theSession(completed, false), []Session{row("stopped", "died", 0)}, "stopped/died"},
		{"taken back", theSession(takenBack, false), []Session{row("stopped", "died", 0)}, "stopped/died"},
		{"no prompt yet", fresh, []Session{process}, ""},
		{"no prompt yet, not listed", fresh, nil, "not listed"},
		{"over, in a home elsewhere", elsewhere, nil, ""},
	}
	for _, test := range tests {
		v := test.x.judge(Roll{Sessions: test.rows})
		got := v.wrong
		if v.unknown != "" || test.want == "unknown" && test.rows[0].Status == "unknown" {
			got = "unknown"
		}
		if !strings.HasPrefix(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// Each end and wait is told once, and nothing else is.
func TestStormAccounts(t *testing.T) {
	began := time.Now().Add(-time.Hour)
	at := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	end := func(seconds int, outcome string) telling {
		return telling{at: at(seconds), kind: endedKind, mark: "s101", outcome: outcome, gone: true, text: fmt.Sprint(seconds)}
	}
	tests := []struct {
		name string
		told []telling
		want account
	}{
		{"once", []telling{end(101, "died")}, account{told: 1}},
		{"never", nil, account{missing: 1}},
		{"much later", []telling{end(150, "died")}, account{missing: 1, strange: 1}},
		{"twice", []telling{end(101, "died"), end(104, "died")}, account{told: 1, double: 1}},
		{"before it happened", []telling{end(50, "died")}, account{missing: 1, strange: 1}},
		{"late", []telling{end(120, "died")}, account{told: 1, late: 1}},
		{"as something else", []telling{end(101, "completed")}, account{told: 1, lies: 1}},
		{"of another session", []telling{{at: at(101), kind: endedKind, mark: "s7"}}, account{missing: 1, strange: 1}},
		{"a wait", []telling{{at: at(101), kind: waitKind, mark: "s101"}}, account{missing: 1, strange: 1}},
	}
	for _, test := range tests {
		x := theSession(inTurn, true)
		x.known = at(10)
		st := &storm{t: t, began: began, sessions: []*stormSession{x}}
		st.owes(x, endedKind, at(99), at(100), killedOpen)
		a := st.settleAccounts("tray", test.told)
		got := account{told: a.told, missing: a.missing, double: a.double, strange: a.strange, late: a.late, lies: a.lies, standing: a.standing}
		if fmt.Sprint(got) != fmt.Sprint(test.want) {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

// TestStormTwoEnds: of two ends within a second the first that is told is the first that happened.
func TestStormTwoEnds(t *testing.T) {
	began := time.Now().Add(-time.Hour)
	at := func(s float64) time.Time { return began.Add(time.Duration(s * float64(time.Second))) }
	x := theSession(inTurn, true)
	x.known = at(10)
	st := &storm{t: t, began: began, sessions: []*stormSession{x}}
	st.owes(x, endedKind, at(99), at(100), killedOpen)
	x.turn = killedOpen // opened again and closed
	st.owes(x, endedKind, at(100.5), at(105), killedOpen)
	told := []telling{{at: at(100), kind: endedKind, mark: "s101", outcome: "died"}, {at: at(105), kind: endedKind, mark: "s101"}}
	if a := st.settleAccounts("tray", told); a.told != 2 || a.lies+a.double+a.missing+a.strange+a.late > 0 {
		t.Errorf("%+v", a)
	}
}

// A notification of a wait goes when the wait is over.
func TestStormWaitStands(t *testing.T) {
	for _, gone := range []bool{true, false} {
		x := theSession(waitsPermission, true)
		x.known = time.Now().Add(-time.Minute)
		st := &storm{t: t, began: time.Now(), sessions: []*stormSession{x}}
		now := time.Now()
		st.owes(x, waitKind, now, now, waitsPermission)
		st.waitOver(x, now.Add(20*time.Second))
		a := st.settleAccounts("tray", []telling{{at: now, kind: waitKind, mark: "s101", gone: gone}})
		if (a.standing == 0) != gone || a.told != 1 {
			t.Errorf("withdrawn %v: %+v", gone, a)
		}
	}
}

// A process that began another session, of which nothing is written, ends as the
// one before: its end may be told, once.
func TestStormEndAfterNew(t *testing.T) {
	old, next := theSession(completed, false), theSession(noTurn, true)
	old.kind, old.replaced = piKind(PiNewest), true
	next.kind, next.mark, next.prompts, next.hidden, next.before = old.kind, "s102", 0, true, old
	st := &storm{t: t, began: time.Now(), sessions: []*stormSession{old, next}}
	now := time.Now()
	(&lane{st: st, x: next}).over(now, false)
	end := telling{at: now, kind: endedKind, mark: old.mark, outcome: "completed", gone: true}
	for told, want := range map[int]account{0: {}, 1: {told: 1}, 2: {told: 1, double: 1}} {
		for _, o := range st.owed {
			o.told = map[string][]telling{}
		}
		a := st.settleAccounts("tray", slices.Repeat([]telling{end}, told))
		if a.missing != 0 || a.strange != 0 || a.told != want.told || a.double != want.double {
			t.Errorf("told %d times: %+v", told, a)
		}
	}
}

// TestStormExitTakenForPrompt: the end of a session that its driver lost is told under the command that was to end it,
// if the agent took that for a prompt.
func TestStormExitTakenForPrompt(t *testing.T) {
	now := time.Now()
	for _, lost := range []bool{true, false} {
		x := theSession(completed, false)
		x.lost = lost
		st := &storm{t: t, began: now.Add(-time.Minute), sessions: []*stormSession{theSession(completed, false), x}}
		told := telling{at: now, kind: endedKind, place: "storm1", agent: "OpenCode ended", text: "OpenCode ended in storm1 | /exit\nTurn complete, ran 1 s"}
		if a := st.settleAccounts("tray", []telling{told}); (a.strange == 0) != lost {
			t.Errorf("lost %v: %d strange", lost, a.strange)
		}
	}
}

// TestStormSettings: what the settings forbid must not be told, what they allow must, and what happens while they change may be told or not.
func TestStormSettings(t *testing.T) {
	began := time.Now().Add(-time.Hour)
	at := func(s int) time.Time { return began.Add(time.Duration(s) * time.Second) }
	waits := func(kind owedKind, _ string) bool { return kind == waitKind }
	folder := func(_ owedKind, place string) bool { return place == "storm1" }
	other := func(_ owedKind, place string) bool { return place == "storm2" }
	tests := []struct {
		name              string
		forbids           func(owedKind, string) bool
		happened, told    int // 0: not told
		missing, unwanted int
	}{
		{"obeyed", waits, 230, 0, 0, 0},
		{"not obeyed", waits, 230, 231, 0, 1},
		{"while it changes", waits, 201, 202, 0, 0},
		{"while it changes, not told", waits, 201, 0, 0, 0},
		{"told afterwards", waits, 230, 304, 0, 0},
		{"long before", waits, 100, 0, 1, 0},
		{"long afterwards", waits, 400, 0, 1, 0},
		{"muted", folder, 230, 231, 0, 1},
		{"another folder is muted", other, 230, 231, 0, 0},
		{"another folder is muted, not told", other, 230, 0, 1, 0},
	}
	for _, test := range tests {
		x := theSession(waitsPermission, true)
		x.known = at(10)
		st := &storm{t: t, began: began, sessions: []*stormSession{x}}
		st.restrictions = []*restriction{{what: test.name, forbids: test.forbids, from: at(200), obeyed: at(203), to: at(300), lifted: at(303)}}
		st.owes(x, waitKind, at(test.happened), at(test.happened), waitsPermission)
		var told []telling
		if test.told > 0 {
			told = []telling{{at: at(test.told), kind: waitKind, mark: x.mark, place: "storm1"}}
		}
		st.release()
		a := st.settleAccounts("tray", told)
		if unwanted := st.unwanted(told); a.missing != test.missing || a.strange > 0 || unwanted != test.unwanted {
			t.Errorf("%s: %d missing, %d that did not happen, %d unwanted", test.name, a.missing, a.strange, unwanted)
		}
	}
}
