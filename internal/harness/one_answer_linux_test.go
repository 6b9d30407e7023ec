package harness

import (
	"context"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/all"
	"rollcall/app"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/eventually"
)

// TestOneAnswer compares, after every step, what a core answers that has run since the
// beginning with what one answers that begins now, in all fields, and both with the truth.
func TestOneAnswer(t *testing.T) {
	steps, _ := strconv.Atoi(os.Getenv("ROLLCALL_ONE_ANSWER"))
	if steps == 0 {
		t.Skip("ROLLCALL_ONE_ANSWER does not say how many steps: see make one-answer")
	}
	world := scene.New(t)
	h := &harness{T: t, seed: seedOf(t), script: newScript(world, seedOf(t), standIns(world)), launched: map[string]*launched{}, did: map[string]int{}}
	h.script.share = true
	d := &differences{harness: h, examples: map[string]string{}, count: map[string]int{}}
	ctx, cancel := context.WithCancel(t.Context())
	old, done := d.core(app.All), make(chan error, 1)
	go func() { done <- old.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	for h.script.steps < steps {
		if h.step() {
			h.damaged(old)
			d.compare(old)
			d.tell()
		}
	}
	t.Logf("seed %d: %d steps, %d sessions begun, damage %v", h.seed, h.script.steps, h.script.begun, h.did)
	d.report()
}

// differences are those of a run, by agent and field.
type differences struct {
	*harness
	examples map[string]string // the first of each kind
	count    map[string]int    // of steps
	last     int               // the latest step that had one
	n        int
	told     int // how many times the progress was told
}

// core returns one that waits for its answers also while the machine does nothing for this test.
func (d *differences) core(since time.Duration) *app.Core {
	w := d.script.world
	return app.New(app.Config{Adapters: all.New(w.Table, all.Config{Home: w.Home}), Table: w.Table, Since: since, Totals: true, Limit: time.Minute})
}

// compare asks both.
func (d *differences) compare(old *app.Core) {
	d.Helper()
	ask := func(c *app.Core) *app.Snapshot {
		var all sync.WaitGroup
		for _, troop := range d.script.troops {
			all.Go(func() { c.RefreshOne(d.Context(), troop.agent.Name()) })
		}
		all.Wait()
		return c.Snapshot()
	}
	d.script.untilSeen()
	fresh := ask(d.core(app.All))
	d.liveFirst(old, fresh)
	d.between(byKey(ask(old)), byKey(fresh))
	d.between(liveByKey(ask(d.core(0))), liveByKey(fresh))
	for _, wrong := range d.wrongList(listedOf(fresh)) {
		d.differ("truth: "+identifiers.ReplaceAllString(wrong, "…"), wrong)
	}
}

// identifiers are what differs between two cases of the same kind.
var identifiers = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]+|ses_\w+|\d+`)

// ages are for how long, and how long ago, something was: they grow between two answers.
var ages = regexp.MustCompile(`\b(for )?\d+(\.\d+)? (ms|s|min|h|days?)( ago)?\b|just now`)

// between notes in which fields two answers differ.
func (d *differences) between(old, fresh map[string]app.Session) {
	for key, was := range old {
		now, listed := fresh[key]
		if !listed {
			d.differ(string(was.Agent)+" only by the old core", fmt.Sprintf("%s: %s, %s", key, scene.TruthOf(&was.Session), was.Evidence))
			continue
		}
		a, b := reflect.ValueOf(was.Session), reflect.ValueOf(now.Session)
		for i := range a.NumField() {
			name := a.Type().Field(i).Name
			if x, y := a.Field(i).Interface(), b.Field(i).Interface(); !same(x, y) {
				d.differ(fmt.Sprintf("%s %s", was.Agent, name), fmt.Sprintf("%s: old %+v, fresh %+v", key, show(x), show(y)))
			}
		}
		if (was.Stale == nil) != (now.Stale == nil) {
			d.differ(string(was.Agent)+" Stale", fmt.Sprintf("%s: old %+v, fresh %+v", key, was.Stale, now.Stale))
		}
	}
	for key, now := range fresh {
		if _, listed := old[key]; !listed {
			d.differ(string(now.Agent)+" only by the fresh core", fmt.Sprintf("%s: %s, %s", key, scene.TruthOf(&now.Session), now.Evidence))
		}
	}
}

func same(x, y any) bool {
	if text, ok := x.(string); ok {
		return ages.ReplaceAllString(text, "") == ages.ReplaceAllString(y.(string), "")
	}
	return reflect.DeepEqual(x, y)
}

func show(x any) any {
	if v := reflect.ValueOf(x); v.Kind() == reflect.Pointer && !v.IsNil() {
		return v.Elem().Interface()
	}
	return x
}

// tell says every 500 steps how far the run has come.
func (d *differences) tell() {
	if steps := d.script.steps / 500; steps > d.told {
		d.told = steps
		d.Logf("seed %d: %d steps, %d of them differ", d.seed, d.script.steps, d.n)
	}
}

func (d *differences) differ(kind, example string) {
	d.count[kind]++
	if d.last != d.script.steps {
		d.last, d.n = d.script.steps, d.n+1
	}
	if d.examples[kind] == "" {
		d.examples[kind] = fmt.Sprintf("step %d: %s", d.script.steps, example)
		for _, x := range d.script.lives() {
			if strings.Contains(example, x.ID) {
				d.examples[kind] += "\n      " + strings.Join(x.history[max(0, len(x.history)-6):], "; ")
			}
		}
		d.Logf("%s: %s", kind, d.examples[kind])
	}
}

func (d *differences) report() {
	d.Helper()
	var kinds []string
	for kind := range d.count {
		kinds = append(kinds, kind)
	}
	slices.SortFunc(kinds, func(a, b string) int { return d.count[b] - d.count[a] })
	for _, kind := range kinds {
		d.Errorf("%d times %s\n   %s", d.count[kind], kind, d.examples[kind])
	}
	if len(kinds) > 0 {
		d.Errorf("seed %d: %d of %d steps differ; again: make one-answer SEED=%d STEPS=%d", d.seed, d.n, d.script.steps, d.seed, d.script.steps)
	}
}

func byKey(s *app.Snapshot) map[string]app.Session {
	out := map[string]app.Session{}
	for x := range s.All() {
		out[string(x.Agent)+" "+x.ID] = *x
	}
	return out
}

// liveFirst compares what the old core shows when it has asked for the live sessions, and not yet for the others: the live ones are the same, and
// of those that it showed before none has vanished that still exists.
func (d *differences) liveFirst(old *app.Core, fresh *app.Snapshot) {
	eventually.True(d.T, "the old core's questions are answered", func() bool { return !old.Snapshot().Refreshing })
	before := byKey(old.Snapshot())
	snap := old.RefreshLive(d.Context())
	d.between(liveByKey(snap), liveByKey(fresh))
	shown := byKey(snap)
	for key, x := range byKey(fresh) {
		_, was := before[key]
		if now, is := shown[key]; was && !is {
			d.differ(string(x.Agent)+" vanished", key)
		} else if was && now.Live() != x.Live() {
			d.differ(string(x.Agent)+" live", fmt.Sprintf("%s: old %s, fresh %s", key, now.Status, x.Status))
		}
	}
}

// liveByKey returns the live sessions alone: those are the same whatever else was asked for.
func liveByKey(s *app.Snapshot) map[string]app.Session {
	out := byKey(s)
	maps.DeleteFunc(out, func(_ string, x app.Session) bool { return !x.Live() })
	return out
}

// listedOf is what list --json would print, as far as it is looked at.
func listedOf(s *app.Snapshot) (l listed) {
	for x := range s.All() {
		r := row{ID: x.ID, Agent: string(x.Agent), Status: string(x.Status), Outcome: string(x.Outcome), Evidence: x.Evidence, CWD: x.CWD,
			Parent: x.Parent, WaitingFor: string(x.WaitingFor), Suspended: x.Suspended, PID: x.Process.PID}
		if x.Stale != nil {
			r.Stale = &struct{ Reason string }{x.Stale.Reason}
		}
		l.Sessions = append(l.Sessions, r)
	}
	for _, a := range s.Adapters {
		h := struct{ Name, State, Error string }{Name: string(a.Name), State: string(a.State)}
		if len(a.Problems) > 0 {
			h.Error = fmt.Sprint(a.Problems)
		}
		l.Adapters = append(l.Adapters, h)
	}
	return l
}

// damaged now and then damages a store, lets the old core look at it, and mends it: what it has seen must not last.
func (t *harness) damaged(old *app.Core) {
	t.Helper()
	if !t.script.chance(5) {
		return
	}
	kinds := []func() *damage{t.renamed, t.truncated, t.entryTruncated}
	d := kinds[t.script.rng.IntN(len(kinds))]()
	if d == nil {
		return
	}
	t.did[strings.Fields(d.name)[0]]++
	d.begin()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, name := range d.agents {
		old.RefreshOne(ctx, name)
	}
	d.end()
	for _, x := range t.script.lives() {
		if slices.Contains(d.agents, adapters.Name(x.Agent)) {
			x.history = append(x.history, d.name+", and mended")
		}
	}
}
