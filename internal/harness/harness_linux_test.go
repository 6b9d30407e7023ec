package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/agents"
	"rollcall/internal/must"
	"rollcall/internal/pressure"
)

// Limits on an idle machine; a busy one gets the time that it makes programs wait.
const (
	trayLimit   = 3 * time.Second
	tellLimit   = 3 * time.Second
	keptLimit   = 3 * time.Second
	mostStalled = 20 * time.Second
	startLimit  = 30 * time.Second // for a tray that has just been started
)

// harness is one run.
type harness struct {
	*testing.T
	seed    uint64
	script  *script
	machine *machine
	desktop *desktop
	real    bool // the agents are the real ones
	// witnesses are those of the real sessions.
	witnesses map[*scene.Session]witness
	rollcall  *rollcall

	trayUp        bool
	trayReady     time.Time // when the tray was right for the first time since its start
	diskFull      bool
	forbidden     string               // what the settings forbid to tell
	obeyedFrom    time.Time            // since when that is obeyed
	launched      map[string]*launched // by folder
	manual        map[string]bool      // folders locked by hand
	manualInOrder []string
	forgotten     []*life // deleted a moment ago
	suspect       *life

	rounds   int
	rested   int // rounds at the last rest
	listings int // of the agents' own that were compared
	lags     []time.Duration
	did      map[string]int // kinds of damage
	stepsOf  map[string]int // by agent
	spent    map[string]time.Duration
	doing    string // the damage that lasts
	first    counts
	heaps    []uint64          // of the tray, after every tenth comparison
	counts   bool              // a difference is counted, and the run goes on
	found    map[string]string // the differences, by what they are about
	// unknown are the sessions whose status a list did not know, if only for a moment, by agent and reason.
	unknown map[string]map[string]bool
	alarms  alarms
	gaveUps int // turns whose agent gave up a request to the model by itself
	lates   int // answers of adapters that came too late on a busy machine
}

func TestHarness(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("ROLLCALL_HARNESS"))
	events, _ := strconv.Atoi(os.Getenv("ROLLCALL_HARNESS_STEPS"))
	if err != nil && events == 0 {
		t.Skip("neither ROLLCALL_HARNESS nor ROLLCALL_HARNESS_STEPS says for how long: see make harness")
	}
	if os.Getenv(stageKey) != asTest {
		enter(t)
		return
	}
	pressure.Watch()
	one := newHarness(t, seedOf(t))
	begun := time.Now()
	for events > 0 && one.script.steps < events || events == 0 && time.Since(begun) < length {
		before := one.script.steps
		if one.round(); one.script.steps/1000 > before/1000 {
			t.Logf("seed %d: %d events in %v", one.seed, one.script.steps, time.Since(begun).Round(time.Second))
		}
	}
	one.compareListings(true)
	one.flat()
	one.finish()
	one.report(time.Since(begun))
}

func seedOf(t *testing.T) uint64 {
	said := os.Getenv("ROLLCALL_HARNESS_SEED")
	if said == "" {
		return 1
	}
	seed := must.Get(strconv.ParseUint(said, 10, 64))(t)
	return seed
}

func newHarness(t *testing.T, seed uint64) *harness {
	t.Helper()
	dir := must.Get(os.MkdirTemp("", "t"))(t) // short: sockets are in it
	home := filepath.Join(dir, "home")
	var box *agents.Sandbox
	if areReal() {
		box = agents.NewSandbox(t)
		home = box.Home
	}
	must.Do(t, os.MkdirAll(filepath.Join(home, "hooks"), 0o700))
	one := &harness{real: box != nil, T: t, seed: seed, launched: map[string]*launched{}, manual: map[string]bool{}, did: map[string]int{}, stepsOf: map[string]int{},
		spent: map[string]time.Duration{}, unknown: map[string]map[string]bool{}, witnesses: map[*scene.Session]witness{},
		counts: os.Getenv("ROLLCALL_HARNESS_COUNT") != "", found: map[string]string{}}
	one.machine = newMachine(t, home)
	world := scene.On(t, home, one.machine)
	if one.real {
		mostLive = mostRealLive
		one.script = newScript(world, seed, realAgents(world, box, one))
	} else {
		one.script = newScript(world, seed, standIns(world))
	}
	one.script.most = mostRows
	one.machine.note = one.script.note
	one.desktop = newDesktop(t, filepath.Join(dir, "bus"))
	one.rollcall = newRollcall(t, home, filepath.Join(dir, "run"), one.desktop)
	one.rollcall.small()
	one.trayComes()
	one.settle()
	one.first = must.Get(one.rollcall.counts())(t)
	t.Cleanup(func() {
		if one.trayUp {
			one.rollcall.killTray()
		}
	})
	return one
}

// round takes steps, most of them in good times, and compares.
func (t *harness) round() {
	t.timed("steps", t.act)
	t.settle()
	if t.rounds > t.rested+restAfter {
		t.timed("rest", t.rest)
		t.settle()
	}
	t.sample()
	if !t.script.chance(35) {
		return
	}
	d := t.anyDamage()
	if d == nil {
		return
	}
	t.did[strings.Fields(d.name)[0]]++
	t.doing = d.name
	t.script.note("begins: %s", d.name)
	for _, name := range d.agents {
		t.script.frozen[name] = true
		for _, x := range t.script.troop(name).live {
			if !x.asked.IsZero() {
				x.waits.may++ // it may be lost from sight, and found waiting
			}
		}
	}
	t.timed("damage", d.begin)
	t.script.steps++
	t.timed("steps", t.act)
	if d.name != "no notification service" { // what is to be told waits
		t.settle()
	}
	t.timed("damage", d.end)
	t.script.steps++
	t.doing = "mended: " + d.name
	t.script.note("mended")
	clear(t.script.frozen)
	t.settle()
	t.doing = ""
}

// act takes steps for a moment.
func (t *harness) act() {
	s, n := t.script, 10+t.script.rng.IntN(30)
	if t.real { // a step of theirs takes seconds
		n = 2 + n/5
	}
	for range n {
		switch roll := s.rng.IntN(1000); {
		case t.diskFull || roll >= 30 || t.real && roll < 24:
			t.step()
		case roll < 14:
			t.launch()
		case roll < 24:
			t.stop()
		default:
			t.lock()
		}
		time.Sleep(time.Duration(s.rng.IntN(10)) * time.Millisecond)
	}
}

// count notes a difference, once for each session.
func (t *harness) count(x *life, text string) {
	t.Helper()
	key := about(text)
	if x != nil {
		text += fmt.Sprintf(" (%s %s: %s)", x.Agent, x.ID, strings.Join(x.history[max(0, len(x.history)-6):], "; "))
		key = string(x.Agent) + " " + x.ID + " " + key
	}
	if t.found[key] == "" {
		t.Errorf("seed %d, step %d (%s): %s", t.seed, t.script.steps, t.doing, text)
	}
	t.found[key] = text
}

// about returns the beginning of what a difference says: its subject.
func about(text string) string {
	words := strings.Fields(text)
	return strings.Join(words[:min(5, len(words))], " ")
}

// differs ends the run at its first difference, or counts it.
func (t *harness) differs(x *life, format string, args ...any) {
	t.Helper()
	text := fmt.Sprintf(format, args...)
	if t.counts {
		t.count(x, text)
		return
	}
	if x != nil {
		text += fmt.Sprintf("\n   %s session %s in %s, process %d, is %v after %v, ends %+v, waits %+v:\n      %s", x.Agent, x.ID, x.CWD, x.Process.PID,
			x.Truth(), x.Past(), x.ends, x.waits, strings.Join(x.history[max(0, len(x.history)-15):], "\n      "))
	}
	if x != nil && !x.Remote && x.Truth().Status != adapters.Stopped {
		text += t.machine.fate(x.Process)
	}
	rows, err := t.desktop.rows()
	if os.Getenv("ROLLCALL_HARNESS_KEEP") != "" {
		stacks, _ := t.rollcall.ask("stacks")
		t.Log(strings.Join(t.script.diary[max(0, len(t.script.diary)-200):], "\n"), stacks)
		t.Log(t.rollcall.command("list", "--json"), t.rollcall.command("doctor"))
		t.desktop.open()
		time.Sleep(3 * time.Second)
		again, err := t.desktop.rows()
		t.Logf("the menu, opened: %q %v", again, err)
	}
	t.Fatalf("seed %d, step %d (%s): %s\n   the menu: %q %v\n   the tray printed: %s\n   again: make harness SEED=%d STEPS=%d",
		t.seed, t.script.steps, t.doing, text, rows, err, t.rollcall.said(), t.seed, t.script.steps+1)
}

// sample notes how much memory the tray uses.
func (t *harness) sample() {
	t.Helper()
	if t.trayUp && t.rounds%10 == 0 {
		now := must.Get(t.rollcall.counts())(t)
		t.heaps = append(t.heaps, now.Heap)
	}
}

// flat compares what the tray used in the last quarter with the quarter before.
func (t *harness) flat() {
	t.Helper()
	quarter := len(t.heaps) / 4
	if quarter == 0 {
		return
	}
	third, last := mean(t.heaps[2*quarter:3*quarter]), mean(t.heaps[3*quarter:])
	t.Logf("mean heap of the tray in the third quarter %.2f MB, in the last %.2f MB", float64(third)/(1<<20), float64(last)/(1<<20))
	if last > third+growth/8 {
		t.Errorf("the heap of the tray grew from %d to %d bytes in the second half", third, last)
	}
}

func mean(list []uint64) uint64 {
	sum := uint64(0)
	for _, n := range list {
		sum += n
	}
	return sum / uint64(len(list))
}

// finish ends every session, and compares what is left with a fresh tray.
func (t *harness) finish() {
	for _, troop := range t.script.troops {
		for len(troop.live) > 0 {
			t.end(troop, 0, troop.live[0].Kill, "SIGKILL at the end")
		}
	}
	for _, dir := range t.manualInOrder {
		t.rollcall.command("unlock", dir)
		delete(t.manual, dir)
	}
	t.settle()
	if locks := t.rollcall.locked(); len(locks) > 0 {
		t.Errorf("locks are left: %v", locks)
	}
	old, stacks := t.quiet(), t.stacks()
	t.trayGoes(false)
	t.rollcall.killTray()
	t.trayComes()
	t.settle()
	fresh := t.quiet()
	t.Logf("the tray at the end: %v; a fresh one: %v; at the beginning: %v", old, fresh, t.first)
	if old.Goroutines > fresh.Goroutines || old.descriptors > fresh.descriptors {
		for by, n := range t.stacks() {
			stacks[by] -= n
			if stacks[by] <= 0 {
				delete(stacks, by)
			}
		}
		t.Errorf("left: %v, a fresh tray has %v; goroutines by what began them: %v", old, fresh, stacks)
	}
	if old.Heap > fresh.Heap+growth {
		t.Errorf("the heap of the tray is %d bytes, that of a fresh one %d", old.Heap, fresh.Heap)
	}
}

// stacks counts the tray's goroutines by what began them.
func (t *harness) stacks() map[string]int {
	t.Helper()
	text := must.Get(t.rollcall.ask("stacks"))(t)
	out := map[string]int{}
	for line := range strings.Lines(text) {
		if by, found := strings.CutPrefix(line, "created by "); found {
			by, _, _ = strings.Cut(strings.TrimSpace(by), " in goroutine")
			out[by]++
		}
	}
	return out
}

// growth is how much more memory an old tray may use than a fresh one.
const growth = 8 << 20

// quiet counts until nothing becomes less for a second.
func (t *harness) quiet() counts {
	t.Helper()
	best := must.Get(t.rollcall.counts())(t)
	for last := time.Now(); time.Since(last) < 2*time.Second; time.Sleep(100 * time.Millisecond) {
		now := must.Get(t.rollcall.counts())(t)
		if now.Goroutines < best.Goroutines || now.descriptors < best.descriptors || now.Heap+1<<20 < best.Heap {
			best, last = now, time.Now()
		}
	}
	return best
}

func (t *harness) report(took time.Duration) {
	slices.Sort(t.lags)
	at := func(percent int) time.Duration {
		return t.lags[(len(t.lags)-1)*percent/100].Round(time.Millisecond)
	}
	t.Logf("seed %d: %d events in %v, %d comparisons, %d sessions begun, %d launched, %d trays started, %d notifications; damage %v; "+
		"the tray was right after %v (median), %v (95 %%), %v (at most); time went to %v",
		t.seed, t.script.steps, took.Round(time.Second), t.rounds, t.script.begun, len(t.launched), t.rollcall.starts, t.desktop.lastID, t.did, at(50), at(95), at(100), t.spent)
	t.Logf("%d listings of the agents' own were compared; steps by agent: %v", t.listings, t.stepsOf)
	t.Logf("without a sign of life: %d sessions; beside %d that ran a command; left behind: %d", len(t.alarms.quiet), len(t.alarms.ran), len(t.alarms.left))
	t.Logf("%d turns in which the agent gave up a request; %d answers of adapters came too late on a busy machine", t.gaveUps, t.lates)
	if t.counts {
		t.Logf("%d differences", len(t.found))
	}
	for reason, sessions := range t.unknown {
		t.Logf("unknown in %d sessions, if only for a moment: %s", len(sessions), reason)
	}
}
